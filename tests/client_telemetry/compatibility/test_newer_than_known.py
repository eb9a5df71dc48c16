"""Versions newer than the newest known one are judged as that one, and the verdict says so."""

import csv
from pathlib import Path

import pytest
from client_telemetry.compatibility import ClientEvidence, inference, judge, parse_api_uses
from client_telemetry.compatibility.case import Case
from client_telemetry.knowledge import client_ranges, client_versions

PROGRAMS = Path(__file__).parents[3] / "benchmarks/programs/evidence.csv"


@pytest.mark.parametrize(("version", "uses", "confidence", "says"), [
    ("3.9.9", "", "inferred", True),
    ("3.9.9", "Produce:9x9 Metadata:12", "observed", False),
    ("2.3.0", "", "declared", False),
])  # fmt: skip
def test_a_newer_version_is_judged_as_the_newest_known(version, uses, confidence, says):
    evidence = ClientEvidence("librdkafka", version, "x", parse_api_uses(uses), security_protocol="PLAINTEXT")
    verdict = judge(evidence, "3.9.1", "4.0.1")
    newest = client_versions.text(client_ranges.newest("librdkafka"))
    text = f"Judged as librdkafka {newest}, the newest known on {client_ranges.KNOWN_ON}."
    assert (verdict.verdict, verdict.confidence) == ("safe", confidence)
    assert (text in verdict.explanation) == says


def test_a_verdict_considers_no_library_that_its_words_do_not_name():
    with PROGRAMS.open(encoding="utf-8", newline="") as opened:
        rows = list(csv.DictReader(opened))
    compared = 0
    for row in rows:
        for name in (None, "a name of its own"):
            evidence = ClientEvidence(name, name and "1", "zz", parse_api_uses(row["api_uses"]))
            case = Case.of(evidence, row["release"], "4.0.1")
            if case.looks_like:
                named = {candidate.library for candidate in case.looks_like.candidates}
                assert {profile.library for profile in inference.candidates(case)} <= named, row["case"]
                compared += 1
    assert compared > 200
