"""Rows about what differs between two releases, for programs."""

import csv
import json
import re
import sys
from collections.abc import Iterable, Sequence

from client_telemetry.console.formulas import guarded

_NUMBER = re.compile(r"-?\d+")


def print_json(pair: tuple[str, str], columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    changes = [dict(zip(columns, row, strict=True)) for row in rows]
    document = {"from_release": pair[0], "to_release": pair[1], "changes": changes}
    print(json.dumps(document, indent=1, ensure_ascii=False))


def print_csv(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow(columns)
    for row in rows:
        out.writerow([cell if _NUMBER.fullmatch(cell) else guarded(cell) for cell in row])
