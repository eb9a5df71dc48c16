import csv
from pathlib import Path

import pytest
from client_telemetry.compatibility.evidence import ClientEvidence, declared_library
from client_telemetry.knowledge import client_versions, software

DATA = Path(__file__).parents[2] / "data" / "compatibility" / "software.csv"
with DATA.open(encoding="utf-8", newline="") as opened:
    CASES = list(csv.DictReader(opened))


@pytest.mark.parametrize("row", [pytest.param(row, id=row["case"]) for row in CASES])
def test_identity(row):
    found = declared_library(ClientEvidence(row["client_software_name"], row["client_software_version"]))
    if not row["library"]:
        assert found is None
        return
    assert found is not None
    assert (found.library, found.text) == (row["library"], row["identified_as"])
    assert found.version == (
        client_versions.parse(row["library_version"]) if row["library_version"] else None
    )


def test_bindings_of_known_software_are_known():
    for each in software.known().values():
        assert not each.binding or each.binding in software.bindings() or each.binding == "karafka"
