"""Spark's workers find what one process finds of all clients together."""

import datetime as dt
import random
import shutil
from dataclasses import replace
from functools import partial
from math import inf
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
import scenarios
from client_telemetry.activity import event_files
from client_telemetry.activity.comparison import Pair
from client_telemetry.activity.event_files import CLIENT, Uses
from client_telemetry.activity.records import Activity, Evidence
from client_telemetry.activity.table_evidence import Gathering
from client_telemetry.compatibility.own_knowledge import use_folder
from client_telemetry.jobs import review_parts as written_parts
from client_telemetry.knowledge import known_issues
from client_telemetry.lake.files import PartitionFile
from client_telemetry.lake.writer import TablePlace, write_rows
from client_telemetry.reports.review.document import outcome_lines
from client_telemetry.review import applications, in_parts, workers
from client_telemetry.review.foreseen import evidence_of, predict
from client_telemetry.review.in_parts import assembled, part, review, setting
from client_telemetry.review.metric_changes import CLIENT as CLIENT_SCOPE
from client_telemetry.review.metric_changes import Compare, Group
from client_telemetry.review.metric_review import metric_review
from client_telemetry.review.model import Review, WindowWithoutData
from client_telemetry.review.outcome_rows import RowsOf
from client_telemetry.review.plain_clients import plain_clients
from client_telemetry.review.prediction import Prediction
from client_telemetry.review.setting import Setting
from client_telemetry.review.tracks import tracks
from client_telemetry.tables.clients import CLIENTS
from client_telemetry.tables.connection_events import CONNECTION_EVENTS
from client_telemetry.tables.table import Table
from client_telemetry.tables.upgrade_findings import UPGRADE_FINDINGS
from client_telemetry.tables.upgrade_verdicts import UPGRADE_VERDICTS

DAY = dt.date(2026, 11, 21)
EXAMPLE = Path(__file__).parents[3] / "docs/examples/knowledge"

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


GOES_ON = (
    "Produce:9@0-900/2",
    "Fetch:4@0-900/1 Heartbeat:4@0-900/3 OffsetCommit:3@0-900/5 JoinGroup:5@1-2/1 OffsetFetch:5@2-3/1",
    "Fetch:4@0-900/1 JoinGroup:5@330-331/1 OffsetFetch:5@331-332/1 Heartbeat:4@0-900/3",
    "JoinGroup:5@1-2/1 OffsetFetch:5@2-3/1 Heartbeat:4@0-900/3",
    "DescribeGroups:1@0-900/7 Metadata:5@0-900/60",
    "Produce:9@0-900/4 InitProducerId:1@1-2/1 EndTxn:1@0-900/5",
    "Produce:9@0-360/2",
    "Produce:9@400-900/2",
    "Metadata:5@0-900/60",
)


IN_FAMILIES = (
    *(GOES_ON[0], GOES_ON[0], GOES_ON[1], GOES_ON[0]),  # each goes on
    *(GOES_ON[0], GOES_ON[0], "Produce:9@0-360/2", GOES_ON[0]),  # one ends
    *(GOES_ON[0], "Produce:9@0-420/2", "Produce:9@350-900/2", GOES_ON[0]),  # one takes over from another
    *(GOES_ON[0], "Produce:9@0-500/2", "Produce:9@350-520/2", GOES_ON[0]),  # and ends, which the others show
)
"""What clients do of which four each have ids that differ by a number."""


def mostly_plain(evidence: Evidence) -> Evidence:
    """With clients that go on, or nearly so, at addresses where nothing was refused."""
    clients = []
    for number, did in enumerate(GOES_ON * 2):
        who = scenarios.client(f"steady-{'abcdefghijklmnopqr'[number]}", LIBRARIES[number % 3])
        clients.append((who._replace(address=f"10.0.1.{number}"), did))
    for number, did in enumerate(IN_FAMILIES):
        who = scenarios.client(f"family-{'abcd'[number // 4]}-{number % 4}", LIBRARIES[1])
        clients.append((who._replace(address=f"10.0.2.{number}"), did))
    for number, (here, there) in enumerate(ON_TWO_HOSTS):
        who = scenarios.client(f"hosts-{'abcd'[number]}", LIBRARIES[1])
        clients.append((who._replace(address="10.0.3.1"), here))
        clients.append((who._replace(address="10.0.3.2"), there))
    for number, did in enumerate(UNNAMED):
        who = scenarios.client(f"unnamed-{'abcd'[number]}")
        clients.append((who._replace(address=f"10.0.4.{number}"), did))
    evidence.activities += scenarios.evidence(clients).activities
    return evidence


CONSUMES = "Fetch:11@0-900/1 Heartbeat:3@0-900/3 OffsetCommit:7@0-900/5"
ON_TWO_HOSTS = [
    (CONSUMES, CONSUMES),
    (CONSUMES, CONSUMES.replace("OffsetCommit:7@0-900", "OffsetCommit:7@0-320")),
    (CONSUMES, "Fetch:11@0-320/1 Heartbeat:3@0-320/3 OffsetCommit:7@0-320/5"),
    (CONSUMES, CONSUMES.replace("@0-", "@400-")),
]


UNNAMED = [
    "Produce:9@0-900/2",
    "Produce:11@0-379/2 Produce:12@388-900/2",
    "Produce:2@0-318/2 Produce:7@322-900/2",
    "Produce:2@0-379/2 Produce:7@389-900/2",
]


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
    with pytest.raises(WindowWithoutData, match="no client was recorded"):
        review(evidence, "3.9.1", "4.0.1")
    sender = scenarios.client("broker-1-txn-marker-sender")
    brokers_alone = scenarios.evidence([(sender, "WriteTxnMarkers:1@0-900/1")])
    with pytest.raises(WindowWithoutData, match="no client was recorded"):
        review(brokers_alone, "3.9.1", "4.0.1")


def event_rows(evidence: Evidence) -> list[dict[str, Any]]:
    """As the broker plugin tells of them: a connection for each record."""
    rows = []
    for number, activity in enumerate(evidence.activities):
        uses = []
        for (api_key, version), use in activity.uses.items():
            times = [at for at in (use.first, use.last, use.failed_first, use.failed_last) if at is not None]
            told = {"api_key": api_key, "version": version, "requests": use.answered, "rejected": use.refused}
            told |= {"first_request_at": moment(min(times)), "last_request_at": moment(max(times))}
            uses.append(told)
        row = dict(zip(CLIENT, activity.client, strict=True)) | {"group_ids": ["g"], "api_uses": uses}
        row |= {"broker_id": activity.broker_id, "broker_incarnation": activity.incarnation}
        row |= {"connection_id": f"c-{number}", "opened_at": moment(activity.since), "sequence": number}
        row |= {"kind": "opened", "observed_at": moment(activity.until), "flags": [], "cut_fields": []}
        rows.append({**row, "cluster_id": "c", "dt": DAY})
    return rows


def moment(seconds: float) -> dt.datetime:
    return dt.datetime.fromtimestamp(seconds, dt.UTC)


def files(table: Table, rows: list[dict[str, Any]], folder: Path) -> list[PartitionFile]:
    place = TablePlace(f"file://{folder}")
    return [PartitionFile(url, "c", None, len(rows)) for url in write_rows(table, place, rows)]


def in_process(events: list[PartitionFile]) -> Uses:
    pieces = [piece for _, piece in event_files.read(events, 1)]
    found = event_files.differences(pieces, int(scenarios.SLOT), 1)
    return event_files.together([each for _, each in found if isinstance(each, Uses)])


def predictions_of(evidence: Evidence, common: Setting) -> dict[Any, Prediction]:
    """By what each did before, as a report would have it."""
    found = {}
    for track in tracks(evidence.activities, common.upgrade.began):
        own = predict(evidence_of(track, common.upgrade.old, common.upgrade.began), "3.9.1", "4.0.1")
        if own is not None:
            found[tuple(track.key)] = own
    return found


def gathered(uses: Uses, is_wanted: Any) -> list[Activity]:
    gathering = Gathering(scenarios.SLOT)
    gathering.add(uses, is_wanted)
    return gathering.activities()


@pytest.mark.parametrize(
    ("is_halted", "requests_until"), [(False, inf), (True, inf), (False, 870.0), (False, 610.0)]
)
def test_plain_clients_fare_as_one_by_one(is_halted: bool, requests_until: float, tmp_path: Path) -> None:
    evidence = mostly_plain(fleet())
    evidence.requests_until = requests_until
    uses = in_process(files(CONNECTION_EVENTS, event_rows(evidence), tmp_path))
    if is_halted:
        evidence.runs = [run for run in evidence.runs if "3.9.1" in run.releases or run.broker_id == 3]
        evidence.runs = [
            run if run.broker_id == 3 else run._replace(until=scenarios.END, is_running=True)
            for run in evidence.runs
        ]
    evidence.runs = [
        run._replace(started=run.started - 95) if "old" in run.incarnation else run for run in evidence.runs
    ]
    evidence.data_from = min(each.since for each in evidence.activities)
    common = setting(evidence, "3.9.1", "4.0.1")
    predictions = predictions_of(evidence, common)
    everybody = np.ones(len(uses.clients), bool)
    expected, _ = part(gathered(uses, everybody), common, predictions)
    plain, is_plain = plain_clients(uses, common, predictions)
    rest, _ = part(gathered(uses, ~is_plain), common, predictions)

    assert len(plain.clients) >= 6 and not is_plain.all()
    whole, comparisons, curves = assembled([expected], evidence, common)
    divided, own_comparisons, own_curves = assembled([plain, rest], evidence, common)
    assert divided.clients == whole.clients
    plain_ids = {client.client_id for client in plain.clients}
    assert not plain_ids & {"unnamed-c", "unnamed-d"}
    assert is_halted or plain_ids >= {"unnamed-a", "unnamed-b"}
    assert plain_ids & {"hosts-a", "hosts-b", "hosts-c", "hosts-d"} == {"hosts-a", "hosts-d"}
    assert divided.answered == whole.answered
    assert by_name(own_comparisons) == by_name(comparisons)
    assert own_curves.keys() == curves.keys()
    for key, sums in curves.items():
        assert own_curves[key].members == sums.members
        assert np.allclose(own_curves[key].total, sums.total)
        assert np.array_equal(own_curves[key].measured, sums.measured)


def by_name(comparisons: list[Compare]) -> dict[Any, Any]:
    def values(pair: Pair) -> list[Any]:
        numbers = [*pair.before, *pair.after, *pair.floor, *pair.independent]
        return [pair.scale, *(round(float(number), 9) for number in numbers)]

    return {(each.group, each.metric.name): values(each.pair) for each in comparisons}


def test_workers_find_what_one_process_finds(spark: Any, tmp_path: Path) -> None:
    evidence = fleet()
    events = files(CONNECTION_EVENTS, event_rows(evidence), tmp_path)
    one = evidence.activities[0].client
    identity = {
        "cluster_id": "c",
        "report_id": "r",
        "client_id": one.client_id,
        "principal": one.principal,
        "client_software_name": one.software_name,
        "client_software_version": one.software_version,
    }
    verdict = {**identity, "verdict": "breaks", "mixed_verdict": "safe", "confidence": "observed"}
    verdict["explanation"] = "it breaks"
    finding = {**identity, "rule_id": "a_rule", "verdict": "breaks", "when": "at_once", "api_key": 0}
    others = [{**verdict, "report_id": "other", "client_id": each.client.client_id, "principal": each.client.principal, "client_software_name": each.client.software_name} for each in evidence.activities[:9]]  # fmt: skip
    report = workers.ReportFiles(
        "r",
        files(UPGRADE_VERDICTS, [verdict], tmp_path) + files(UPGRADE_VERDICTS, others, tmp_path),
        files(UPGRADE_FINDINGS, [finding], tmp_path),
    )
    daily = [
        {
            "cluster_id": "c",
            "dt": DAY,
            "client_id": each.client.client_id,
            "principal": each.client.principal,
            "client_software_name": each.client.software_name,
            "application": f"of {each.client.principal}",
        }
        for each in evidence.activities
    ]
    profiled = files(CLIENTS, daily, tmp_path)
    rows = workers.ClientRows(spark, events, report, profiled, int(scenarios.SLOT))
    known = rows.known()
    assert known.first_slot is not None and known.first_slot * scenarios.SLOT == evidence.first

    common = setting(evidence, "3.9.1", "4.0.1")
    of_review = RowsOf("c", common.upgrade, "review", "r", moment(scenarios.END))
    place = TablePlace(f"file://{tmp_path}/outcomes")
    judged = rows.judged(common, partial(written_parts.outcomes, of_review, place))
    made = [one for each in judged for one in each.parts]
    found, comparisons, curves = assembled(made, evidence, common)
    uses = in_process(events)
    evidence.activities = gathered(uses, np.ones(len(uses.clients), bool))
    expected = in_parts.review(evidence, "3.9.1", "4.0.1")
    lines = {key: lines for each in judged for key, lines in each.written.lines.items()}
    suspects = {tuple(track.key) for one in made for track, _ in one.suspects}
    assert suspects and lines.keys().isdisjoint(suspects)
    for own, single in zip(found.clients, expected.clients, strict=True):
        application = f"of {own.principal}"
        if own.key in suspects:
            names = {key: name for each in judged for key, name in each.names.items()}
            assert own.outcomes == single.outcomes
            assert [each.application for each in applications.named([own], names)] == [application]
        else:
            assert own.outcomes == tuple(replace(each, rates=()) for each in single.outcomes)
            assert own.application == application
            whole = replace(own, outcomes=single.outcomes)
            assert lines.pop(own.key) == outcome_lines([whole])
        if (own.client_id, own.principal) != (one.client_id, one.principal):
            assert own.prediction == single.prediction
    assert not lines
    urls = [url for each in judged for url in each.written.urls]
    rows_written = [row for url in urls for row in pq.read_table(url.removeprefix("file://")).to_pylist()]
    assert len(rows_written) == (len(found.clients) - len(suspects)) * len(common.upgrade.phases[1:])
    assert all(row["rates"] for row in rows_written if row["outcome"] == "unaffected")
    (predicted,) = [
        c
        for c in found.clients
        if c.prediction and c.prediction.rules and c.prediction.rules[0].rule_id == "a_rule"
    ]
    assert predicted.prediction is not None and predicted.prediction.verdict == "breaks"

    wanted = [
        Group(CLIENT_SCOPE, c.client_id, c.principal, c.software_name, c.software_version, None)
        for c in found.clients[:2]
    ]
    assert {(t.key.client_id, t.key.principal) for t in rows.tracks_of(common, wanted)} >= {
        (g.client_id, g.principal) for g in wanted
    }
    metrics = metric_review(
        found, common, comparisons, curves, lambda clients: rows.tracks_of(common, clients)
    )
    assert metrics.versions
    rows.close()


OWN_LOGIN_RULE = (
    "shop_kafka_login,shop-kafka,2.0.0,2.2.0,4.0.0,,,,,it uses SCRAM,sasl_mechanism in SCRAM-SHA-256,"
    "breaks,at_once,,cannot log in,shop-kafka 2.3.0,,no,our issue 4712\n"
)


def test_rules_about_logging_in_are_those_of_the_knowledge_in_use(tmp_path: Path) -> None:
    """A process reviews again after a user's own knowledge was changed: rules and predictions are made anew."""
    said = workers._ReportAndNames()
    client = ("app", "User:app", "shop-kafka", "2.1.0", None)
    said._verdicts.append((client, ("breaks", "observed", "at_once", "it breaks", None, "breaks", None)))
    said._findings[client] = [("shop_kafka_login", "breaks", "at_once", 17, None, "cannot log in", "")]
    own = tmp_path / "knowledge"
    shutil.copytree(EXAMPLE, own)
    with (own / "known_issues.csv").open("a", encoding="utf-8") as opened:
        opened.write(OWN_LOGIN_RULE)

    def breaks_login() -> tuple[str, ...]:
        (found,) = said.predictions().values()
        return found.knowledge.breaks_login

    assert "shop_kafka_login" not in known_issues.login_rules() and breaks_login() == ()
    try:
        use_folder(own)
        assert "shop_kafka_login" in known_issues.login_rules() and breaks_login() == ("cannot log in",)
    finally:
        use_folder(None)
    assert "shop_kafka_login" not in known_issues.login_rules() and breaks_login() == ()
