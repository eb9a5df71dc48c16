"""Values of dataclasses from parsed JSON, by the types of their fields: what `reports/json_text.py` and `json.dumps` of their
fields write."""

from collections.abc import Callable
from dataclasses import fields, is_dataclass
from datetime import date, datetime
from functools import cache
from types import NoneType
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

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
    if is_dataclass(kind):
        made: Any = kind
        types = get_type_hints(kind)
        members = {field.name: _reader(types[field.name]) for field in fields(kind)}
        return lambda values: made(
            **{name: read(values[name]) for name, read in members.items() if name in values}
        )
    return kind.fromisoformat if kind in (date, datetime) else lambda value: value
