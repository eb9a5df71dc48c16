"""What each reader of a manifest's fields takes of each value, as tests/data/raw/json_values.txt keeps it."""

import json
from dataclasses import dataclass
from typing import Annotated

from client_telemetry.formats.raw import json_fields
from client_telemetry.formats.raw.errors import BadManifest

VALUES = (
    None, True, False, 0, 1, -1, 2**31 - 1, 2**31, -(2**31), -(2**31) - 1, 2**63 - 1, 2**63, -(2**63), 0.5, float("inf"), "", "text",
    "\ud7ff", "\ud800", "\udfff", "\ue000", "12ab", "12AB", "12abc", "2026-11-20", "2026-11-20T13:00:00", "2026-11-20T13:00:00Z",
    "2026-11-20T13:00:00.25+02:00", "0001-01-01T00:00:00+05:00", "2026-13-01T00:00:00Z", [], [1], ["a", 2], {}, {"a": 1}, {"a": "b"},
    "x" * 200,
)  # fmt: skip
READERS = {
    "object": json_fields.json_object,
    "text": json_fields.text,
    "boolean": json_fields.boolean,
    "integer": json_fields.integer,
    "small integer": json_fields.small_integer,
    "count": json_fields.count,
    "number": json_fields.number,
    "time": json_fields.time,
    "hex digits": json_fields.hex_digits(4),
    "many counts": json_fields.many(json_fields.count),
    "counts by name": json_fields.mapping(json_fields.count),
}


@dataclass
class Required:
    key: Annotated[int, json_fields.count]


@dataclass
class Optional:
    key: Annotated[int, json_fields.count] | None


RECORDS = {"required": Required, "optional": Optional}


def test_what_each_reader_takes(same_as_kept):
    lines = []
    for name, read in READERS.items():
        lines.append(f"# {name}")
        for value in VALUES:
            try:
                said = f"taken: {json.dumps(str(read(value, 'files[3].bytes')))}"
            except BadManifest as refused:
                said = str(refused)
            lines.append(f"{json.dumps(value)[:40]}: {said}")
    for of, values in (("absent", {}), ("null", {"key": None}), ("there", {"key": 7})):
        for path in ("", "files[3]"):
            for name, kind in RECORDS.items():
                try:
                    said = str(json_fields.record(kind)(values, path).key)
                except BadManifest as refused:
                    said = str(refused)
                lines.append(f"{name}, {of}, {path!r}: {said}")
    try:
        json_fields.text(1, "")
    except BadManifest as refused:
        lines.append(str(refused))
    same_as_kept("raw", {"json_values.txt": "\n".join(lines) + "\n"})
