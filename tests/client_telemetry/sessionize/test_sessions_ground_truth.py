"""Sessions of the two real captures against what is known of their clients."""

import base64
import csv
import datetime as dt
import json
from collections import Counter
from pathlib import Path

import pytest

DATA = Path(__file__).parents[2] / "data" / "sessionize"
CLOCK_AHEAD = {"j431-prod-skew": 300_000, "py-new-skew": 300_000}
with (DATA / "telemetry_cluster.csv").open(newline="") as table:
    PROCESSES = list(csv.DictReader(table))


def instance_id(text: str) -> bytes:
    """Kafka prints ids in URL-safe base64, librdkafka logs them in the standard one."""
    return base64.urlsafe_b64decode(text.replace("+", "-").replace("/", "_") + "==")


def millis(at: dt.datetime) -> int:
    return (at.replace(tzinfo=dt.UTC) - dt.datetime(1970, 1, 1, tzinfo=dt.UTC)) // dt.timedelta(
        milliseconds=1
    )


def by_instance(capture) -> dict[bytes, dict]:
    rows = [row.asDict() for row in capture.sessions.collect()]
    assert {row["cluster_id"] for row in rows} == {capture.cluster_id}
    found = {bytes(row["client_instance_id"]): row for row in rows}
    assert len(found) == len(rows)
    return found


@pytest.fixture(scope="module")
def sessions(telemetry_cluster) -> dict[bytes, dict]:
    return by_instance(telemetry_cluster)


@pytest.fixture(scope="module")
def log(telemetry_cluster) -> dict[str, dict[str, dict]]:
    """Events of truth.jsonl by process and kind; the last of a kind."""
    found: dict[str, dict[str, dict]] = {}
    for line in (telemetry_cluster.folder / "truth.jsonl").read_text().splitlines():
        event = json.loads(line)
        if "label" in event:
            found.setdefault(event["label"], {})[event["event"]] = event
    return found


@pytest.mark.parametrize("process", PROCESSES, ids=lambda process: process["case"])
def test_sessions_of_the_telemetry_cluster(process: dict, sessions: dict[bytes, dict]):
    session = sessions.get(instance_id(process["client_instance_id"]))
    if process["end_reason"] == "none":
        assert session is None
        return
    found = {
        "client_software_name": session["client_software_name"],
        "client_software_version": session["client_software_version"],
        "first_push": session["first_evidence_at"].strftime("%H:%M:%S.%f")[:-3],
        "last_push": session["last_evidence_at"].strftime("%H:%M:%S.%f")[:-3],
        "pushes": str(session["pushes"]),
        "end_reason": session["end_reason"],
        "ended": session["ended_at"].strftime("%H:%M:%S.%f")[:-3],
        "brokers": " ".join(map(str, session["broker_ids"])),
        "gaps": str(session["gaps"]),
    }
    assert found == {name: process[name] for name in found}
    assert session["started_at"] == session["first_evidence_at"], "no process is older than the dump"
    assert session["flags"] == (["client_clock_off"] if process["label"] in CLOCK_AHEAD else [])
    ahead = CLOCK_AHEAD.get(process["label"], 0)
    assert session["clock_skew_ms"] is None or -50 <= session["clock_skew_ms"] + ahead < 1000


def test_no_other_instance_pushed(sessions: dict[bytes, dict]):
    known = {instance_id(p["client_instance_id"]) for p in PROCESSES if p["end_reason"] != "none"}
    assert sessions.keys() == known


@pytest.mark.parametrize("process", PROCESSES, ids=lambda process: process["label"])
def test_the_log_agrees(process: dict, log: dict, sessions: dict[bytes, dict]):
    """What the table of expected sessions says can be read off the log."""
    events = log[process["label"]]
    if "instance" in events:
        assert events["instance"]["client_instance_id"] == process["client_instance_id"]
    if "as_logged" in events.get("instance", {}):
        assert instance_id(events["instance"]["as_logged"]) == instance_id(process["client_instance_id"])
    session = sessions.get(instance_id(process["client_instance_id"]))
    if session is None:
        return
    client_id = events["start"]["client_id"]
    assert session["client_id"] == {None: "producer-1", "@none": "kgo"}.get(client_id, client_id)
    ahead = CLOCK_AHEAD.get(process["label"], 0)
    gone = min(events["exit"]["at_ms"], events.get("end", events["exit"])["at_ms"] - ahead)
    if process["label"] == "py-new-skew":
        gone = events["exit"]["at_ms"] - ahead
    assert events["spawn"]["at_ms"] < millis(session["first_evidence_at"])
    # The broker's log line of a push is written when the answer is sent.
    assert millis(session["last_evidence_at"]) <= gone + 50
    if events.get("signal", {}).get("signal") in ("SIGKILL", "SIGTERM") and process["label"] != "py-new-skew":
        assert session["end_reason"] == "connection_closed"
    if session["end_reason"] == "connection_closed":
        assert 0 <= events["exit"]["at_ms"] - millis(session["ended_at"]) < 500
    if session["end_reason"] == "terminating_push":
        assert gone - millis(session["last_evidence_at"]) < 20_000


def test_gap_of_the_suspended_producer(log: dict, sessions: dict[bytes, dict]):
    process = next(p for p in PROCESSES if p["label"] == "j431-prod-stopcont")
    session = sessions[instance_id(process["client_instance_id"])]
    assert log["j431-prod-stopcont"]["signal"]["signal"] == "SIGCONT"
    assert 60 < session["gap_seconds"] < 60 + 2 * 8


def test_intervals_of_the_telemetry_cluster(sessions: dict[bytes, dict]):
    """The subscriptions asked for 2, 3, 4, 5 (later 8) and 10 s."""
    for session in sessions.values():
        interval = session["push_interval_ms"]
        if session["push_interval_source"] == "broker":
            assert interval in (2000, 3000, 4000, 5000, 8000, 10000, 300000)
        elif session["pushes"] > 10:
            assert (
                min(abs(interval - configured) for configured in (2000, 3000, 4000, 5000, 8000, 10000)) < 200
            )


def test_instances_of_the_fleet(fleet):
    sessions = by_instance(fleet)
    with (fleet.folder / "instances.csv").open(newline="") as file:
        instances = list(csv.DictReader(file))
    assert sessions.keys() == {instance_id(i["client_instance_id"]) for i in instances}
    for instance in instances:
        session = sessions[instance_id(instance["client_instance_id"])]
        found = {
            "client_id": session["client_id"],
            "principal": session["principal"].removeprefix("User:"),
            "software_name": session["client_software_name"],
            "software_version": session["client_software_version"],
            "first_push_ms": str(millis(session["first_evidence_at"])),
            "last_push_ms": str(millis(session["last_evidence_at"])),
            "pushes": str(session["pushes"]),
            "terminating_pushes": str(session["terminating_pushes"]),
        }
        assert found == {name: instance[name] for name in found}
        assert session["end_reason"] == (
            "terminating_push" if int(instance["terminating_pushes"]) else "connection_closed"
        )
        brokers = {int(each[4]) for each in instance["pushes_per_life"].split()}
        assert session["broker_ids"] == sorted(brokers)


def test_no_push_and_no_point_is_lost(telemetry_cluster, fleet):
    for capture, pushes, points in ((telemetry_cluster, 3163, 225_275), (fleet, 1725, None)):
        total = Counter()
        for session in capture.sessions.collect():
            total += Counter(pushes=session["pushes"], points=session["points"])
        assert total["pushes"] == pushes == capture.pushes.count()
        assert total["points"] == capture.pushes.groupBy().sum("points").first()[0]
        assert points in (None, total["points"])


def test_connections_of_the_captures(telemetry_cluster, fleet):
    for capture, connections in ((telemetry_cluster, 239), (fleet, 75_416)):
        rows = capture.connections
        assert rows.count() == connections
        assert rows.groupBy().sum("events").first()[0] == capture.events.count()
        assert rows.where("broker_software_version is null").count() == 0
        # Nothing goes on when its broker started again: only the last incarnation of a broker may have open ones.
        open_on = rows.where("end_known_by = 'still_open'").select("broker_incarnation").distinct().collect()
        last = {}
        for broker in sorted(capture.brokers.collect(), key=lambda row: row["started_at"]):
            last[broker["broker_id"]] = broker["broker_incarnation"]
        assert {row[0] for row in open_on} <= set(last.values())
