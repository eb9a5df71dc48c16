"""Values of dataclasses from parsed JSON and from rows of tables, by the types of their fields."""

from collections.abc import Callable, Hashable, Mapping
from dataclasses import is_dataclass
from datetime import date, datetime
from functools import cache, partial
from types import NoneType
from typing import Any, TypeVar, cast, get_args, get_origin, get_type_hints

_T = TypeVar("_T")
_Read = Callable[[Any], object]
_TIMES: dict[Hashable, _Read] = {date: date.fromisoformat, datetime: datetime.fromisoformat}


def typed(kind: type[_T], value: object) -> _T:
    """`kind`: a dataclass, a tuple, a date or time (ISO 8601), any of them or None, nested as needed; values of all other kinds are
    taken as they are. A field that is missing has its default. Raises LookupError, TypeError, ValueError or AttributeError.

    >>> typed(tuple[date, ...], ["2026-12-05"])
    (datetime.date(2026, 12, 5),)
    """
    return cast(_T, _reader(cast(Hashable, kind))(value))


def of_row(kind: type[_T], row: Mapping[str, object], /, **others: object) -> _T:
    """From the columns of a row that are fields of the dataclass, and `others`, which come before columns. A column that rows of
    older versions lack is null, and a list that is null is empty, unless the field may be None."""
    readers = _readers(cast(Hashable, kind))
    values = {name: row.get(name) for name in readers} | others
    for name, empty in _lists(cast(Hashable, kind)).items():
        if name not in others:
            values[name] = readers[name](empty if values[name] is None else values[name])
    return kind(**values)


@cache
def _readers(kind: Hashable) -> dict[str, _Read]:
    return {name: _reader(of_field) for name, of_field in get_type_hints(kind).items()}


@cache
def _lists(kind: Hashable) -> dict[str, tuple[()] | None]:
    """Field that is a tuple, or a tuple or None -> what a list that is null is in it."""
    kinds = {name: (of_field, *get_args(of_field)) for name, of_field in get_type_hints(kind).items()}
    return {
        name: None if NoneType in own else ()
        for name, own in kinds.items()
        if any(get_origin(each) is tuple for each in (own if NoneType in own else own[:1]))
    }


@cache
def _reader(kind: Hashable) -> _Read:
    arguments = get_args(kind)
    if NoneType in arguments:
        [given] = [_reader(each) for each in arguments if each is not NoneType]
        return lambda value: None if value is None else given(value)
    if get_origin(kind) is tuple:
        if arguments[-1] is Ellipsis:
            item = _reader(arguments[0])
            return tuple if item is _as_it_is else lambda values: tuple(map(item, values))
        items = [_reader(each) for each in arguments]
        return lambda values: tuple(read(value) for read, value in zip(items, values, strict=True))
    if isinstance(kind, type) and is_dataclass(kind):
        return partial(_made, kind)
    return _TIMES.get(kind, _as_it_is)


def _as_it_is(value: object) -> object:
    return value


def _made(kind: type, values: Mapping[str, object]) -> object:
    return kind(**{name: read(values[name]) for name, read in _readers(kind).items() if name in values})
