"""What people reported of real upgrades and rollbacks: nothing that broke is called safe without a condition, and nothing that
worked is called broken.

Each row of field_reports.csv is a client as a list names it, an upgrade with its options, what happened (`broke`, `worked`,
`broke if configured`: with a setting, ACL or build that the row does not show, `broke if it happens`: at an event) and where.
"""

import csv
from itertools import groupby
from pathlib import Path

import pytest
from client_telemetry.cli.compatibility import main

TABLE = Path(__file__).parents[2] / "data/compatibility/field_reports.csv"
INPUT = ("case", "library", "library_version", "api_uses", "security_protocol", "sasl_mechanism")


def _question(row: dict[str, str]) -> tuple[str, ...]:
    return row["from"], row["to"], row["options"]


def questions():
    with TABLE.open(newline="", encoding="utf-8") as file:
        rows = sorted(csv.DictReader(file), key=_question)
    return [pytest.param(*key, list(of_it), id=" ".join(key)) for key, of_it in groupby(rows, _question)]


def verdicts(source: str, target: str, options: str, rows: list[dict[str, str]], folder: Path):
    """Case -> the row that `client-telemetry compatibility` writes."""
    clients, written = folder / "clients.csv", folder / "verdicts.csv"
    with clients.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(("client", *INPUT[1:]))
        writer.writerows([row[column] for column in INPUT] for row in rows)
    command = ["--from", source, "--to", target, *options.split()]
    assert main([*command, "--input", str(clients), "--output", str(written)]) == 0
    with written.open(newline="", encoding="utf-8") as file:
        return {row["client"]: row for row in csv.DictReader(file)}


@pytest.mark.parametrize(("source", "target", "options", "rows"), questions())
def test_what_happened_is_not_contradicted(source, target, options, rows, tmp_path):
    by_case = verdicts(source, target, options, rows, tmp_path)
    for row in rows:
        verdict = by_case[row["case"]]
        said = (row["case"], verdict["explanation"])
        if row["happened"] == "worked":
            assert verdict["verdict"] in ("safe", "insufficient_evidence"), said
        elif row["happened"] == "broke":
            assert verdict["verdict"] != "safe", said
        else:
            assert verdict["verdict"] != "safe" or verdict["condition"], said
