import csv
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from client_telemetry.compatibility import ClientEvidence, ClientVerdict, judge, parse_api_uses
from client_telemetry.nearby_targets import NearbyTargets, decided_by, what_decides_of

FLEET = Path(__file__).parents[1] / "data/compatibility/fleet_3.9.1_to_4.0.0.csv"


def client(uses: str, **told) -> ClientEvidence:
    return ClientEvidence(api_uses=parse_api_uses(uses), **told)


JOINS_WITH_1 = client(
    "JoinGroup:1x12 SyncGroup:1 Heartbeat:1 OffsetCommit:2 OffsetFetch:1 Fetch:4 ListOffsets:1"
)
PRODUCES_WITH_2 = client("Produce:2x7 Metadata:1")


@pytest.fixture(scope="module")
def fleet() -> list[ClientEvidence]:
    rows = csv.DictReader(FLEET.read_text(encoding="utf-8").splitlines())
    return [
        ClientEvidence(
            row["client_software_name"],
            row["client_software_version"],
            row["client_id"],
            parse_api_uses(row["api_uses"]),
            security_protocol=row["security_protocol"],
        )
        for row in rows
    ]


def test_a_client_that_fails_on_4_0_0_only_names_the_request():
    nearby = NearbyTargets("3.9.1", "4.0.0")
    _, differing = nearby.judged(JOINS_WITH_1)
    assert [each["to_release"] for each in differing] == list(nearby.compared)
    assert {each["reason"] for each in differing} == {"JoinGroup 1"}
    assert "breaks" not in {each["verdict"] for each in differing}


def test_where_it_fares_the_same_nothing_is_listed():
    nearby = NearbyTargets("3.9.1", "4.0.1")
    assert nearby.judged(JOINS_WITH_1)[1] == []


def test_the_reason_is_of_the_release_that_refuses():
    nearby = NearbyTargets("3.4.1", "3.5.0")
    _, differing = nearby.judged(PRODUCES_WITH_2)
    assert {(row["verdict"], row["when"], row["reason"]) for row in differing} == {
        ("breaks", "at_once", "Produce 2")
    }
    assert all(row["to_release"].startswith("4.") for row in differing)


def test_counts_are_of_every_client_on_every_release():
    nearby = NearbyTargets("3.9.1", "4.0.0")
    for each in (JOINS_WITH_1, PRODUCES_WITH_2, PRODUCES_WITH_2):
        nearby.judged(each)
    counts = {row["to_release"]: row for row in nearby.counts()}
    assert list(counts) == ["4.0.0", *nearby.compared]
    assert counts["4.0.0"]["breaks_at_once"] == 3
    assert counts["4.0.1"]["breaks_at_once"] == 2
    assert all(sum(n for name, n in row.items() if name != "to_release") == 3 for row in counts.values())


def test_no_verdict_depends_on_what_is_left_out(fleet):
    for release in ("4.0.0", "4.0.1", "3.9.0"):
        for each in fleet:
            whole, short = (judge(e, "3.9.1", release) for e in (each, what_decides_of(each)))
            assert without_amounts(whole) == without_amounts(short), each
            assert decided_by(whole) == decided_by(short), each


def without_amounts(verdict: ClientVerdict) -> ClientVerdict:
    findings = [
        replace(finding, requests=bool(finding.requests), first_seen=None, last_seen=None)
        for finding in verdict.findings
    ]
    return replace(verdict, findings=tuple(findings))


def test_alike_clients_are_judged_once(monkeypatch):
    from client_telemetry import nearby_targets

    judged = Counter()

    def counting(evidence, *releases):
        judged[evidence] += 1
        return judge(evidence, *releases)

    nearby = NearbyTargets("3.9.1", "4.0.0")
    monkeypatch.setattr(nearby_targets, "judge", counting)
    for number in range(50):
        uses = [use._replace(requests=number + 1, first_seen=number) for use in PRODUCES_WITH_2.api_uses]
        nearby.judged(replace(PRODUCES_WITH_2, client_id=f"shop-{number}", api_uses=tuple(uses)))
    assert judged.total() == 1 + len(nearby.compared)


def test_a_default_client_id_decides_and_is_kept():
    assert (
        what_decides_of(client("Produce:2", client_id="kafka-python-1.4.7")).client_id == "kafka-python-1.4.7"
    )
    assert what_decides_of(client("Produce:2", client_id="shop-7")).client_id is None


def test_a_rollback_compares_older_releases():
    nearby = NearbyTargets("4.0.1", "3.9.1")
    assert nearby.compared and all(release.startswith("3.") for release in nearby.compared)
