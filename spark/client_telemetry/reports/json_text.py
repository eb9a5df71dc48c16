"""Models as JSON text, for documents with millions of values."""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields
from datetime import UTC, date, datetime
from functools import cache
from json.encoder import encode_basestring_ascii
from typing import Any


def json_text(value: Any, end: str = "\n") -> str:
    """As `json.dumps(value, indent=1, allow_nan=False)` writes it, with dataclasses as objects, tuples as arrays and times as text,
    in a small part of the time: json indents in Python, a few characters at a time. Keys are texts. `end`: what stands
    before a bracket that closes the value.

    >>> print(json_text({"versions": (3, None), "notes": []}))
    {
     "versions": [
      3,
      null
     ],
     "notes": []
    }
    """
    kind: Any = type(value)
    if write := _SCALARS.get(kind):
        return write(value)
    inner = end + " "
    if kind is tuple or kind is list:
        if not value:
            return "[]"
        return f"[{inner}{f',{inner}'.join([json_text(item, inner) for item in value])}{end}]"
    if kind is dict:
        if not value:
            return "{}"
        members = [f"{encode_basestring_ascii(key)}: {json_text(item, inner)}" for key, item in value.items()]
        return f"{{{inner}{f',{inner}'.join(members)}{end}}}"
    if kind is datetime:
        return f'"{timestamp(value)}"'
    if isinstance(value, date):
        return f'"{value.isoformat()}"'
    if names := _names(kind):
        members = [key + json_text(getattr(value, name), inner) for name, key in names]
        return f"{{{inner}{f',{inner}'.join(members)}{end}}}"
    return json.dumps(value, allow_nan=False)


_SCALARS: dict[type, Callable[[Any], str]] = {
    str: encode_basestring_ascii,
    int: repr,
    bool: lambda value: "true" if value else "false",
    type(None): lambda _: "null",
}


def json_pieces(document: Mapping[str, object]) -> Iterator[str]:
    """`json_text` of a document of at least one member, in pieces: one for each item of its lists. A list may be an iterator.

    >>> document = {"client": {"id": 1}, "notes": iter(()), "versions": iter((3, None))}
    >>> whole = {"client": {"id": 1}, "notes": [], "versions": [3, None]}
    >>> "".join(json_pieces(document)) == json_text(whole)
    True
    """
    before = "{\n "
    for key, value in document.items():
        yield f"{before}{encode_basestring_ascii(key)}: "
        before = ",\n "
        if not isinstance(value, list | tuple | Iterator):
            yield json_text(value, "\n ")
            continue
        opening = "["
        for item in value:
            yield opening + "\n  " + json_text(item, "\n  ")
            opening = ","
        yield "[]" if opening == "[" else "\n ]"
    yield "\n}"


def timestamp(moment: datetime) -> str:
    """ISO 8601 in UTC to the microsecond, `2026-11-21T05:47:54.130000Z`."""
    return moment.astimezone(UTC).isoformat(timespec="microseconds")[:26] + "Z"


@cache
def _names(kind: Any) -> tuple[tuple[str, str], ...]:
    """Fields of a dataclass, and how a member begins."""
    if not hasattr(kind, "__dataclass_fields__"):
        return ()
    return tuple((field.name, f"{encode_basestring_ascii(field.name)}: ") for field in fields(kind))
