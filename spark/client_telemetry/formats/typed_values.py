"""Values of dataclasses from parsed JSON and from rows of tables, by the types of their fields."""

from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from datetime import date, datetime
from functools import cache, partial
from types import NoneType
from typing import Any, TypeVar, cast, get_args, get_origin, get_type_hints

_T = TypeVar("_T")


def typed(kind: type[_T], value: object) -> _T:
    """`kind`: a dataclass, a tuple, a date or time (ISO 8601), any of them or None, nested as needed; values of all other kinds are
    taken as they are. A field that is missing has its default. Raises LookupError, TypeError, ValueError or AttributeError.

    >>> typed(tuple[date, ...], ["2026-12-05"])
    (datetime.date(2026, 12, 5),)
    """
    kind_of_value: Any = kind
    found: _T = _reader(kind_of_value)(value)
    return found


def of_row(kind: type[_T], row: Mapping[str, object], **others: object) -> _T:
    """From the columns of a row that are fields of the dataclass, and `others`, which come before columns. A column that rows of
    older versions lack is null, and a list that is null is empty."""
    kind_of_row: Any = kind
    values = {name: row.get(name) for name in _readers(kind_of_row)} | others
    for name, read in _list_readers(kind_of_row).items():
        if name not in others:
            values[name] = read(values[name] or ())
    return kind(**values)


@cache
def _readers(kind: Any) -> dict[str, Callable[[Any], Any]]:
    types = get_type_hints(kind)
    return {field.name: _reader(types[field.name]) for field in fields(kind)}


@cache
def _list_readers(kind: Any) -> dict[str, Callable[[Any], Any]]:
    types = get_type_hints(kind)
    return {name: read for name, read in _readers(kind).items() if get_origin(types[name]) is tuple}


@cache
def _reader(kind: Any) -> Callable[[Any], Any]:
    arguments = get_args(kind)
    if NoneType in arguments:
        [given] = [_reader(each) for each in arguments if each is not NoneType]
        return lambda value: None if value is None else given(value)
    if get_origin(kind) is tuple:
        if arguments[-1] is Ellipsis:
            item = _reader(arguments[0])
            return lambda values: tuple(map(item, values))
        items = [_reader(each) for each in arguments]
        return lambda values: tuple(read(value) for read, value in zip(items, values, strict=True))
    if kind in (date, datetime):
        return cast("Callable[[Any], Any]", kind.fromisoformat)
    return partial(_made, kind) if is_dataclass(kind) else lambda value: value


def _made(kind: Any, values: Any) -> object:
    return kind(**{name: read(values[name]) for name, read in _readers(kind).items() if name in values})
