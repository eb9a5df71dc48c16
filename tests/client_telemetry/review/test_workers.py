"""Spark's workers find what one process finds of all clients together."""

import random
from typing import Any

import pytest
import scenarios
from client_telemetry.review import in_parts, workers
from client_telemetry.review.activity import Activity, Evidence
from client_telemetry.review.in_parts import assembled, part, review, setting
from client_telemetry.review.metric_changes import CLIENT, Group
from client_telemetry.review.metric_review import metric_review
from client_telemetry.review.model import Review, WindowWithoutData
from client_telemetry.tables.upgrade_findings import UPGRADE_FINDINGS
from client_telemetry.tables.upgrade_verdicts import UPGRADE_VERDICTS

LIBRARIES = ("unknown", "apache-kafka-java 3.9.1", "confluent-kafka-python 2.3.0-rdkafka-2.3.0")
DID = (
    "Produce:9@0-900/2",
    "Produce:9@0-450/1 Produce:9@450-900/4",
    "Produce:2@0-379/2 Metadata:1@0-900/5",
    "Produce:2@0-379/2 Metadata:1@0-900/5 Produce:2@320-900/2x",
    "Fetch:4@0-900/1 Heartbeat:0@0-900/3 OffsetCommit:1@0-320/1",
    "Produce:2@0-320/2",
    "Produce:7@0-330/2",
    "Produce:10@10-12/1 Produce:10@290-292/1",
)


def fleet() -> Evidence:
    """Clients of all kinds, some with changing ids, some that may have sent what was refused on connections without a name."""
    clients = []
    for number in range(40):
        who = scenarios.client(f"app-{number % 30}-{'x' * (number % 3)}", LIBRARIES[number % 3])
        who = who._replace(principal=f"User:{number % 4}", address=f"10.0.0.{number % 9}")
        clients.append((who, DID[number % len(DID)]))
    evidence = scenarios.evidence(clients, "Produce:2@320-900/1", "330-900/2")
    evidence.unnamed_refusals = [
        each._replace(address=f"10.0.0.{index % 3}") for index, each in enumerate(evidence.unnamed_refusals)
    ]
    return evidence


def in_portions(evidence: Evidence, number: int) -> Review:
    common = setting(evidence, "3.9.1", "4.0.1")
    shares: dict[int, list[Activity]] = {}
    portion_of: dict[str, int] = {}
    chance = random.Random(number)
    for activity in evidence.activities:
        # Whole clients: those with changing parts in their ids are of one principal here.
        share = portion_of.setdefault(activity.client.principal, chance.randrange(number))
        shares.setdefault(share, []).append(activity)
    made = [part(own, common)[0] for own in shares.values()]
    return assembled(made, evidence, common)[0]


@pytest.mark.parametrize("number", [2, 3, 5])
def test_a_review_in_parts_is_the_review_of_all(number: int) -> None:
    evidence = fleet()
    whole = review(evidence, "3.9.1", "4.0.1")
    divided = in_portions(evidence, number)
    assert divided == whole
    assert divided.answered == whole.answered
    kinds = {each.kind for client in whole.clients for each in client.outcomes}
    assert {"refused", "silent_function", "partly", None} <= kinds


def test_nothing_of_any_client_is_refused() -> None:
    evidence = scenarios.evidence([])
    with pytest.raises(WindowWithoutData, match="nothing was recorded of any client"):
        review(evidence, "3.9.1", "4.0.1")
    brokers_alone = scenarios.evidence([(scenarios.client("broker-1-fetcher-0"), "Fetch:17@0-900/1")])
    with pytest.raises(WindowWithoutData, match="nothing was recorded of any client"):
        review(brokers_alone, "3.9.1", "4.0.1")


def use_rows(evidence: Evidence) -> list[dict[str, Any]]:
    """As table_evidence.uses gives them, with refusals of a client apart from its answered requests of the slot."""
    rows = []
    for activity in evidence.activities:
        for (api_key, version), use in activity.uses.items():
            times = [at for at in (use.first, use.last, use.failed_first, use.failed_last) if at is not None]
            row = dict(zip(workers.CLIENT, activity.client, strict=True))
            row |= {"broker_id": activity.broker_id, "broker_incarnation": activity.incarnation}
            row |= {"api_key": api_key, "version": version, "slot": int(activity.since // scenarios.SLOT)}
            row |= {"requests": use.answered, "rejected": use.refused, "groups": ["g"]}
            rows.append({**row, "first": min(times), "last": max(times)})
    return rows


def test_workers_find_what_one_process_finds(spark: Any) -> None:
    evidence = fleet()
    rows = use_rows(evidence)
    uses = spark.createDataFrame(
        rows,
        ", ".join(f"{name} string" for name in workers.CLIENT)
        + ", broker_id int, broker_incarnation string, api_key int, version int, slot long, requests long, "
        "rejected long, groups array<string>, first double, last double",
    )
    opened = spark.createDataFrame(
        [{**rows[0], "opened": 3}],
        ", ".join(f"{name} string" for name in workers.CLIENT)
        + ", broker_id int, broker_incarnation string, slot long, opened long",
    )
    one = evidence.activities[0].client
    identity = {
        "client_id": one.client_id,
        "principal": one.principal,
        "client_software_name": one.software_name,
        "client_software_version": one.software_version,
        "program": None,
    }
    verdict = {**identity, "verdict": "breaks", "mixed_verdict": "safe", "confidence": "observed"}
    finding = {**identity, "rule_id": "a_rule", "verdict": "breaks", "when": "at_once", "api_key": 0}

    def table(declared: Any, row: dict[str, Any]) -> Any:
        return spark.createDataFrame([{c.name: row.get(c.name) for c in declared.columns}], declared.schema)

    client_rows = workers.client_rows(
        uses, opened, table(UPGRADE_VERDICTS, verdict), table(UPGRADE_FINDINGS, finding)
    )
    known = workers.summary(uses, int(scenarios.SLOT))
    assert known.rows == len(rows) and known.first == evidence.first

    common = setting(evidence, "3.9.1", "4.0.1")
    made = list(workers.parts(client_rows, common, known.rows))
    found, comparisons, curves = assembled(made, evidence, common)

    gathered = in_parts_of(rows, evidence)
    assert {(c.client_id, c.principal) for c in found.clients} == {
        (c.client_id, c.principal) for c in gathered.clients
    }
    for own, expected in zip(found.clients, gathered.clients, strict=True):
        assert own.outcomes == expected.outcomes
        if (own.client_id, own.principal) != (one.client_id, one.principal):
            assert own.prediction == expected.prediction
    (predicted,) = [
        c
        for c in found.clients
        if c.prediction and c.prediction.rules and c.prediction.rules[0].rule_id == "a_rule"
    ]
    assert predicted.prediction is not None and predicted.prediction.verdict == "breaks"

    wanted = [
        Group(CLIENT, c.client_id, c.principal, c.software_name, c.software_version, None)
        for c in found.clients[:2]
    ]
    tracks = workers.tracks_of(client_rows, common, wanted)
    assert {(g.client_id, g.principal) for g in wanted} <= {
        (t.key.client_id, t.key.principal) for t in tracks
    }
    metrics = metric_review(
        found, common, comparisons, curves, lambda clients: workers.tracks_of(client_rows, common, clients)
    )
    assert metrics.versions


def in_parts_of(rows: list[dict[str, Any]], evidence: Evidence) -> Review:
    """The review by one process, of the same rows."""
    import pyarrow as pa
    from client_telemetry.review.table_evidence import Gathering

    gathering = Gathering(scenarios.SLOT)
    gathering.add_uses(pa.Table.from_pylist(rows))
    evidence.activities = gathering.activities()
    return in_parts.review(evidence, "3.9.1", "4.0.1")
