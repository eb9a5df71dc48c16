"""Clients of which a fact is not known, or is known for another step of the upgrade: none may be called safe for it.

Each row of facts_not_known.csv is a client as a list has it, an upgrade with its options, the verdicts that would be
wrong, the only right ones where there are such, and why.
"""

import csv
from pathlib import Path

import pytest
from client_telemetry.cli.compatibility import main

TABLE = Path(__file__).parents[2] / "data/compatibility/facts_not_known.csv"
INPUT = ("client", "client_software_name", "client_software_version", "client_id", "api_uses", "security_protocol", "sasl_mechanism")  # fmt: skip


def cases():
    with TABLE.open(newline="", encoding="utf-8") as file:
        return [pytest.param(row, id=row["case"]) for row in csv.DictReader(file)]


def judged(row: dict[str, str], folder: Path) -> dict[str, str]:
    """The row of verdicts that `client-telemetry compatibility` writes for the client."""
    clients, verdicts = folder / "clients.csv", folder / "verdicts.csv"
    with clients.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, INPUT, extrasaction="ignore")
        writer.writeheader()
        writer.writerow(row)
    command = ["--from", row["from"], "--to", row["to"], *row["options"].split()]
    assert main([*command, "--input", str(clients), "--output", str(verdicts)]) == 0
    with verdicts.open(newline="", encoding="utf-8") as file:
        (verdict,) = csv.DictReader(file)
    return verdict


@pytest.mark.parametrize("row", cases())
def test_what_is_not_known_is_not_taken_for_safe(row, tmp_path):
    verdict = judged(row, tmp_path)
    assert verdict["verdict"] not in row["not_verdicts"].split(";"), verdict["explanation"]
    if row["verdicts"]:
        assert verdict["verdict"] in row["verdicts"].split(";"), verdict["explanation"]
