"""Rows about what differs between two releases, for programs."""

import csv
import json
import re
import sys
from collections.abc import Iterable, Sequence

from client_telemetry.console.formulas import guarded

_NUMBER = re.compile(r"-?\d+")


def print_rows(
    as_: str, pair: tuple[str, str], columns: Sequence[str], rows: Iterable[Sequence[str]]
) -> None:
    """`as_`: json or csv."""
    if as_ == "json":
        changes = [dict(zip(columns, row, strict=True)) for row in rows]
        document = {"from_release": pair[0], "to_release": pair[1], "changes": changes}
        print(json.dumps(document, indent=1, ensure_ascii=False))
        return
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow(columns)
    for row in rows:
        out.writerow([cell if _NUMBER.fullmatch(cell) else guarded(cell) for cell in row])
