"""Verdicts for a list of clients, without data of a cluster.

python -m client_telemetry.compatibility --from 3.9.1 --to 4.0.1 --input clients.csv --output verdicts.csv

Exit code 0; 1 when some rows could not be judged (the others were); 2 for arguments or files that cannot be
used. Columns are described in docs/knowledge-base.md, an example is docs/examples/clients.csv.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from client_telemetry.compatibility import client_list, releases
from client_telemetry.compatibility.client_list import BadRow, UnreadableList
from client_telemetry.compatibility.judgement import judge


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m client_telemetry.compatibility",
        description="Which clients of a list break when their Kafka brokers are upgraded.",
    )
    parser.add_argument(
        "--from", dest="source", required=True, metavar="V", help="release that the brokers run"
    )
    parser.add_argument("--to", dest="target", required=True, metavar="V", help="release they are to run")
    parser.add_argument("--input", required=True, type=Path, metavar="FILE", help="clients, .csv or .json")
    parser.add_argument("--output", required=True, type=Path, metavar="FILE", help="verdicts, .csv or .json")
    given = parser.parse_args(arguments)
    try:
        source, target = releases.upgrade(given.source, given.target)
        entries = client_list.read(given.input)
    except (releases.UnusableRelease, UnreadableList) as error:
        print(error, file=sys.stderr)
        return 2
    rows, bad = [], 0
    for entry in entries:
        if isinstance(entry, BadRow):
            print(entry, file=sys.stderr)
            bad += 1
            continue
        rows.append(client_list.verdict_row(entry.client, judge(entry.evidence, source, target)))
    try:
        client_list.write(given.output, rows)
    except OSError as error:
        print(f"{given.output}: {error.strerror}", file=sys.stderr)
        return 2
    return 1 if bad else 0
