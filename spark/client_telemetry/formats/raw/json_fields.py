"""Typed access to the values of a JSON document; errors name the place in the document.

A reader takes (value, path) and returns the value as a Python object, or raises `BadManifest` with the path.
manifest.py says what a manifest consists of.
"""

import json
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields
from datetime import UTC, datetime
from types import NoneType
from typing import Annotated, NoReturn, TypeVar, cast, get_args, get_origin, get_type_hints

from client_telemetry.formats.raw.errors import BadManifest

_LARGEST = 2**63 - 1
_LARGEST_COUNT = 2**40
"""More than a broker does in an hour; a manifest of 16 MiB full of such counts still sums to less than 64 bits."""
_MESSAGE_CHARACTERS = 500

T = TypeVar("T")
Reader = Callable[[object, str], T]


def parse_json(data: bytes) -> object:
    """A JSON document (RFC 8259). Raises `BadManifest` for what other readers would read differently or tables cannot
    store: a key that occurs twice in an object, half a surrogate pair in a key, NaN and infinities.
    """
    try:
        document: object = json.loads(data, object_pairs_hook=_json_object, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise BadManifest(f"not JSON: {error}") from None
    return document


def _json_object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    values: dict[str, object] = {}
    for name, value in pairs:
        if _has_surrogate(name):
            raise BadManifest(f"key {_shortened(name)} is not text")
        if name in values:
            raise BadManifest(f"key {_shortened(name)} occurs twice in one object")
        values[name] = value
    return values


def _refuse_constant(name: str) -> NoReturn:
    raise BadManifest(f"not JSON: {name} is not a JSON number")


def _has_surrogate(value: str) -> bool:
    return any("\ud800" <= character <= "\udfff" for character in value)


def _shortened(value: object) -> str:
    """The value as JSON, cut to 100 characters; ASCII, so that it can be stored and shown."""
    try:
        return json.dumps(value)[:100]
    except RecursionError:
        return "a deeply nested value"


def wrong(path: str, value: object, expected: str) -> BadManifest:
    """The error to raise if the value at `path` is not what was expected."""
    place = path if len(path) <= _MESSAGE_CHARACTERS else f"{path[:_MESSAGE_CHARACTERS]}…"
    return BadManifest(f"{place or 'the manifest'}: {_shortened(value)} is not {expected}")


def json_object(value: object, path: str) -> Mapping[str, object]:
    if not isinstance(value, dict):
        raise wrong(path, value, "an object")
    return value


def text(value: object, path: str) -> str:
    """Text that can be encoded as UTF-8: JSON may escape half a surrogate pair, which tables cannot store."""
    if not isinstance(value, str) or _has_surrogate(value):
        raise wrong(path, value, "text")
    return value


def boolean(value: object, path: str) -> bool:
    if not isinstance(value, bool):
        raise wrong(path, value, "true or false")
    return value


def integer(value: object, path: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or abs(value) > _LARGEST:
        raise wrong(path, value, "a whole number of 64 bits")
    return value


def small_integer(value: object, path: str) -> int:
    """Kafka's int32: node ids, versions, intervals."""
    whole = integer(value, path)
    if not -(2**31) <= whole < 2**31:
        raise wrong(path, value, "a whole number of 32 bits")
    return whole


def count(value: object, path: str) -> int:
    """How many there were in an hour."""
    whole = integer(value, path)
    if not 0 <= whole <= _LARGEST_COUNT:
        raise wrong(path, value, f"a count of up to {_LARGEST_COUNT:,}")
    return whole


def sequence(value: object, path: str) -> int:
    """A record's place in its incarnation."""
    whole = integer(value, path)
    if whole < 0:
        raise wrong(path, value, "a sequence number")
    return whole


def number(value: object, path: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise wrong(path, value, "a number")
    try:
        if math.isfinite(value):
            return float(value)
    except OverflowError:  # a whole number that no float holds
        pass
    raise wrong(path, value, "a number of 64 bits")


def time(value: object, path: str) -> datetime:
    """An aware time, in UTC."""
    try:
        moment = datetime.fromisoformat(text(value, path))
        if moment.tzinfo is None:
            raise wrong(path, value, "a time with a time zone (end it in Z)")
        return moment.astimezone(UTC)
    except BadManifest:
        raise
    except (ValueError, OverflowError):
        raise wrong(path, value, "an ISO 8601 time") from None


def hex_digits(length: int) -> Reader[str]:
    def read(value: object, path: str) -> str:
        digits = text(value, path)
        if not re.fullmatch(f"[0-9a-f]{{{length}}}", digits):
            raise wrong(path, value, f"text of {length} lower-case hex digits")
        return digits

    return read


def many(read_one: Reader[T]) -> Reader[tuple[T, ...]]:
    def read(value: object, path: str) -> tuple[T, ...]:
        if not isinstance(value, list):
            raise wrong(path, value, "a list")
        return tuple(read_one(item, f"{path}[{i}]") for i, item in enumerate(value))

    return read


def mapping(read_one: Reader[T]) -> Reader[dict[str, T]]:
    def read(value: object, path: str) -> dict[str, T]:
        return {name: read_one(item, f"{path}.{name}") for name, item in json_object(value, path).items()}

    return read


def record(kind: type[T]) -> Reader[T]:
    """JSON objects as a dataclass. The type of a field says how it is read (`Annotated`: by which reader); one that has a default, or
    may be None, may be absent or null. Other keys are ignored.
    """
    types = get_type_hints(kind, include_extras=True)
    readers = {name: _reader_of(type_) for name, type_ in types.items()}
    may_be_none = {name: None for name, type_ in types.items() if NoneType in get_args(type_)}
    has_default = {
        field.name
        for field in fields(kind)  # type: ignore[arg-type]
        if (field.default, field.default_factory) != (MISSING, MISSING)
    }

    def read(value: object, path: str) -> T:
        values, arguments = json_object(value, path), dict[str, object](may_be_none)
        for name, read_field in readers.items():
            place = f"{path}.{name}" if path else name
            if values.get(name) is not None:
                arguments[name] = read_field(values[name], place)
            elif name not in may_be_none and name not in has_default:
                raise BadManifest(f"{place}: required, but {'null' if name in values else 'absent'}")
        return kind(**arguments)

    return read


_READERS: dict[object, Reader[object]] = {str: text, bool: boolean, int: integer, datetime: time}


def _reader_of(type_: object) -> Reader[object]:
    arguments = get_args(type_)
    if NoneType in arguments:
        return _reader_of(arguments[0])
    if get_origin(type_) is Annotated:
        return cast("Reader[object]", arguments[1])
    if get_origin(type_) is tuple:
        return many(_reader_of(arguments[0]))
    if get_origin(type_) is dict:
        return mapping(_reader_of(arguments[1]))
    return _READERS.get(type_) or record(cast("type[object]", type_))
