import csv
import datetime as dt
from pathlib import Path

import pytest
from client_telemetry.compatibility.applications import Connections, relation
from client_telemetry.compatibility.evidence import parse_api_uses

with (Path(__file__).parents[2] / "data/compatibility/applications.csv").open(newline="") as table:
    CASES = list(csv.DictReader(table))
NOON = dt.datetime(2026, 11, 21, 12, tzinfo=dt.UTC)


def connections(software: str, uses: str, releases: str, first: str, last: str) -> Connections:
    name, version = software.split("/")
    versions: dict[int, set[int]] = {}
    for use in parse_api_uses(uses):
        versions.setdefault(use.api_key, set()).add(use.version)
    return Connections(
        name,
        version,
        {key: frozenset(of_api) for key, of_api in versions.items()},
        tuple(releases.split()),
        *(NOON + dt.timedelta(minutes=int(minute)) for minute in (first, last)),
    )


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["case"])
def test_relations_by_truth_table(case: dict):
    """Times are minutes after noon; a `?` after the release: the source cannot tell names."""
    software = "unknown/unknown" if not case["releases"].endswith("?") else "/"
    releases = case["releases"].rstrip("?")
    named = connections(case["named"], case["named_uses"], releases, case["named_from"], case["named_until"])
    unnamed = connections(
        software, case["unnamed_uses"], releases, case["unnamed_from"], case["unnamed_until"]
    )
    found = relation(named, unnamed)
    assert (found.kind, case["because"] in found.because) == (case["kind"], True), found.because
