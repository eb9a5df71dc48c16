"""From log files to evidence and to the command's words."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from client_telemetry.activity.log_evidence import from_logs
from client_telemetry.activity.records import Evidence
from client_telemetry.cli import review
from client_telemetry.knowledge import served
from client_telemetry.review.in_parts import review as review_of
from client_telemetry.sources.log_files import find_logs
from test_constructed_logs import CASES, written

SERVER = """\
[2026-11-22 12:00:00,000] INFO Registered kafka:type=kafka.Log4jController MBean (kafka.utils.Log4jControllerRegistration$)
[2026-11-22 12:00:01,000] INFO [BrokerServer id=1] Starting broker (kafka.server.BrokerServer)
[2026-11-22 12:00:02,000] INFO Kafka version: 3.9.1 (org.apache.kafka.common.utils.AppInfoParser)
[2026-11-22 12:05:00,000] INFO Terminating process due to signal SIGTERM (org.apache.kafka.common.utils.LoggingSignalHandler)
[2026-11-22 12:05:10,000] INFO Registered kafka:type=kafka.Log4jController MBean (kafka.utils.Log4jControllerRegistration$)
[2026-11-22 12:05:11,000] INFO [BrokerServer id=1] Starting broker (kafka.server.BrokerServer)
[2026-11-22 12:05:12,000] INFO Kafka version: 4.0.1 (org.apache.kafka.common.utils.AppInfoParser)
"""
REFUSED = """\
[2026-11-22 12:%02d:%02d,000] ERROR Exception while processing request from 10.0.0.1:9092-10.0.0.7:4%04d-1 (kafka.network.Processor)
org.apache.kafka.common.errors.UnsupportedVersionException: Received request for api with key 0 (Produce) and unsupported version 2
"""


def entry(minute: int, second: int, api: str, key: int, version: int, client_id: str, port: int) -> str:
    fields = {
        "requestHeader": {
            "requestApiKey": key,
            "requestApiVersion": version,
            "clientId": client_id,
            "requestApiKeyName": api,
        },
        "request": {},
        "response": {},
        "connection": f"10.0.0.1:9092-10.0.0.7:{port}-0",
        "totalTimeMs": 1.0,
        "securityProtocol": "PLAINTEXT",
        "principal": "User:ANONYMOUS",
        "listener": "PLAINTEXT",
        "clientInformation": {"softwareName": "unknown", "softwareVersion": "unknown"},
    }
    return f"[2026-11-22 12:{minute:02}:{second:02},000] DEBUG Completed request:{json.dumps(fields, separators=(',', ':'))} (kafka.request.logger)\n"


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    """One broker through its upgrade: `fine` goes on, `old` is refused from then on."""
    folder = tmp_path / "logs/broker-1"
    folder.mkdir(parents=True)
    requests = []
    server = SERVER
    for at in range(5, 900, 5):
        minute, second = divmod(at, 60)
        if 300 <= at <= 312:
            continue
        requests.append(entry(minute, second, "PRODUCE", 0, 9, "fine", 4000))
        if at < 300:
            requests.append(entry(minute, second, "PRODUCE", 0, 2, "old", 4001))
        else:
            server += REFUSED % (minute, second, at)
    (folder / "kafka-request.log").write_text("".join(requests))
    (folder / "server.log").write_text(server)
    return folder.parent


def ask(logs: Path, tmp_path: Path, *more: str) -> int:
    return review.main(
        [str(logs), "--from=3.9.1", "--to=4.0.1", f"--publish={tmp_path / 'published'}", *more]
    )


def test_a_review_from_logs(logs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code = ask(logs, tmp_path, "--name=shop")

    *_, sentence, path = capsys.readouterr().out.splitlines()
    folder = tmp_path / "published/upgrade_review/shop/3.9.1_to_4.0.1_20261122T120500Z"
    found = json.loads((folder / "review.json").read_text())
    assert code == 0
    assert sentence == found["sentence"]
    assert sentence.startswith(
        "Upgrade of shop from 3.9.1 to 4.0.1: 1 application is down; 1 of 1 predicted immediate break happened, 0 unexpected"
    )
    assert path == f"Review: {folder / 'index.html'}"
    assert {p.name for p in folder.iterdir()} >= {
        "index.html",
        "review.json",
        "outcomes.csv",
        "metric_changes.csv",
    }
    last = {c["client_id"]: (c["predicted"], c["outcome"], c["kind"], c["phase"]) for c in found["clients"]}
    assert last == {
        "fine": ("safe", "unaffected", None, "not_finalized"),
        "old": ("breaks", "failing", "refused", "not_finalized"),
    }


def test_a_move_to_measured_brokers_is_reviewed_as_that_to_a_release_that_they_answer_like(
    logs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The brokers declare 4.0.1, and those that were measured answer as 4.0.1 and 4.0.2 do."""
    target = Path(__file__).parents[2] / "data/probe/apache-4.0.1.json"
    arguments = [str(logs), "--from=3.9.1", f"--to={target}", f"--publish={tmp_path / 'published'}"]
    assert review.main([*arguments, "--name=shop"]) == 0
    assert (
        "from 3.9.1 to measured-a648720e: 1 application is down; 1 of 1 predicted" in capsys.readouterr().out
    )
    other = target.with_name("librdkafka-mock-2.16.1.json")
    assert review.main([*arguments[:2], f"--to={other}", arguments[-1]]) == 2
    assert "no broker went from 3.9.1 to measured-" in capsys.readouterr().err


def test_requests_and_server_lines_in_one_stream(
    logs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """As containers write them."""
    folder = logs / "broker-1"
    ask(logs, tmp_path)
    apart = [line for line in capsys.readouterr().out.splitlines() if line.startswith("Upgrade of")]
    events = (folder / "server.log").read_text().replace("\norg.apache", "\torg.apache").splitlines()
    requests = (folder / "kafka-request.log").read_text().splitlines()
    stream = sorted([*events, *requests], key=lambda line: line[:25])
    (folder / "kafka.log").write_text("\n".join(stream).replace("\torg.apache", "\norg.apache") + "\n")
    (folder / "server.log").unlink()
    (folder / "kafka-request.log").unlink()
    ask(logs, tmp_path)
    assert [line for line in capsys.readouterr().out.splitlines() if line.startswith("Upgrade of")] == apart


def test_requests_that_kafka_apis_took_at_trace(
    logs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    traced = (
        "[2026-11-22 12:{at},000] TRACE [KafkaApi-1] Handling request:RequestHeader(apiKey=PRODUCE, apiVersion={version}, "
        "clientId={client}, correlationId=1, headerVersion=1) -- {{acks=1}} from connection 10.0.0.1:9092-10.0.0.7:{port}-0;"
        "securityProtocol:PLAINTEXT,principal:User:ANONYMOUS (kafka.server.KafkaApis)\n"
    )
    requests = logs / "broker-1/kafka-request.log"
    lines = [
        traced.format(
            at=line[15:20],
            version=2 if '"old"' in line else 9,
            client="old" if '"old"' in line else "fine",
            port=4001 if '"old"' in line else 4000,
        )
        for line in requests.read_text().splitlines()
    ]
    requests.write_text("".join(lines))

    assert ask(logs, tmp_path) == 0

    out = capsys.readouterr().out
    assert "warning: lines of kafka.server.KafkaApis have no answers" in out
    assert "1 application is down; 1 of 1 predicted immediate break happened, 0 unexpected" in out


def test_a_log_at_info_is_called_what_it_is(
    logs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    requests = logs / "broker-1/kafka-request.log"
    requests.write_text(requests.read_text().replace("] DEBUG ", "] INFO "))
    ask(logs, tmp_path)
    out = capsys.readouterr().out
    assert "requests are deprecated ones, which Kafka 3.9.1 and later log at INFO" in out


def test_during_the_roll_it_says_stop(logs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = logs / "broker-2"
    other.mkdir()
    start = "\n".join(SERVER.splitlines()[:3]).replace("id=1", "id=2")
    (other / "server.log").write_text(
        start + "\n[2026-11-22 12:14:59,000] INFO still here (kafka.server.BrokerServer)\n"
    )

    code = ask(logs, tmp_path)

    assert code == 3
    assert "broker 1: stop: 1 application failing since it was upgraded" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("until", "code", "words"),
    [
        ("2026-11-22 12:05:40", 4, "broker 1: cannot tell: up for "),
        ("2026-11-22 12:15:00", 0, "broker 1: go: 1 application answered, none failing since its upgrade"),
    ],
)
def test_during_the_roll_it_waits_and_then_goes_on(
    logs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], until: str, code: int, words: str
) -> None:
    requests = logs / "broker-1/kafka-request.log"
    kept = [
        line for line in requests.read_text().splitlines(True) if line[1:20] < until and '"old"' not in line
    ]
    requests.write_text("".join(kept))
    (logs / "broker-1/server.log").write_text(SERVER)
    (logs / "broker-2").mkdir()
    start = "\n".join(SERVER.splitlines()[:3]).replace("id=1", "id=2")
    (logs / "broker-2/server.log").write_text(
        start + f"\n[{until},000] INFO still here (kafka.server.BrokerServer)\n"
    )

    assert ask(logs, tmp_path) == code
    assert words in capsys.readouterr().out


def test_a_roll_after_a_way_back_is_reviewed_by_itself(
    logs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    way_back = "".join(SERVER.splitlines(True)[3:]).replace("12:05", "12:07").replace("4.0.1", "3.9.1")
    again = "".join(SERVER.splitlines(True)[3:]).replace("12:05", "12:10")
    with (logs / "broker-1/server.log").open("a") as server:
        server.write(way_back + again)

    ask(logs, tmp_path, "--name=shop")

    (review_file,) = tmp_path.glob(
        "published/upgrade_review/shop/3.9.1_to_4.0.1_20261122T121000Z/review.json"
    )
    assert [phase["phase"] for phase in json.loads(review_file.read_text())["phases"]][-1] == "not_finalized"
    assert (
        "2 upgrades from 3.9.1 to 4.0.1, begun at 2026-11-22 12:05:00, 2026-11-22 12:10:00 UTC: this is the last"
    ) in capsys.readouterr().out


def test_own_knowledge_and_scram_users_are_read_before_the_logs(
    logs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    empty = tmp_path / "users.txt"
    empty.write_text("")
    assert ask(logs, tmp_path, f"--scram-users={empty}") == 2
    assert "run kafka-configs.sh --describe --entity-type users again" in capsys.readouterr().err
    assert ask(logs, tmp_path, f"--knowledge={tmp_path / 'none'}") == 2
    assert str(tmp_path / "none") in capsys.readouterr().err


@pytest.mark.parametrize(("user", "outcome"), [("orders", "failing"), ("other", "gone_or_locked_out")])
def test_a_client_without_scram_credentials_is_not_broken_by_a_rule_about_scram(
    user: str, outcome: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of a librdkafka before 2.6.1 that cannot log in any more, it is only known that its listener has SASL."""
    case = next(case for case in CASES if case["case"].startswith("cannot log in any more"))
    root = written(case, tmp_path / "brokers")
    users = tmp_path / "users.txt"
    users.write_text(
        f"SCRAM credential configs for user-principal '{user}' are SCRAM-SHA-256=iterations=8192\n"
    )
    assert ask(root, tmp_path, f"--scram-users={users}") == 0
    (document,) = tmp_path.glob("published/upgrade_review/*/*/review.json")
    assert {client["outcome"] for client in json.loads(document.read_text())["clients"]} == {outcome}


def test_an_upgrade_that_was_not(logs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code = review.main([str(logs), "--from=3.8.1", "--to=4.0.1", f"--publish={tmp_path}"])

    assert code == 2
    assert "no broker went from 3.8.1 to 4.0.1: broker 1: 3.9.1, then 4.0.1" in capsys.readouterr().err


def test_a_folder_without_a_request_log(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "logs"
    folder.mkdir()
    (folder / "server.log").write_text(SERVER)

    assert ask(folder, tmp_path) == 2
    assert "there is no request log: these are server logs of 3.9.1, 4.0.1" in capsys.readouterr().err


def greeting(release: str) -> str:
    """An ApiVersions request at 12:00:01, answered as brokers of a release do."""
    apis = [
        {"apiKey": key, "minVersion": api.served.min, "maxVersion": api.served.max}
        for key, api in served.by(release).items()
    ]
    line = entry(0, 1, "API_VERSIONS", 18, 3, "fine", 4000)
    return line.replace('"response":{}', f'"response":{json.dumps({"errorCode": 0, "apiKeys": apis})}')


def evidence(logs: Path) -> Evidence:
    return from_logs(find_logs([str(logs)]))


def counted(found: Evidence) -> list[object]:
    """All but the names of incarnations, which hold the time at which they started."""
    return [
        [(run.broker_id, run.releases, run.is_running) for run in found.runs],
        sum(each.requests for each in found.unnamed_refusals),
        found.slot_seconds,
        len(found.activities),
    ]


def test_rotated_server_logs_are_read_as_one(logs: Path) -> None:
    whole = evidence(logs)
    log = logs / "broker-1/server.log"
    lines = log.read_text().splitlines(True)
    middle = len(lines) // 2  # between an exception and its line
    (logs / "broker-1/server.log.2026-11-22-12").write_text("".join(lines[:middle]))
    log.write_text("".join(lines[middle:]))
    assert counted(evidence(logs)) == counted(whole)
    assert [run.started for run in evidence(logs).runs] == [run.started for run in whole.runs]


def test_a_start_that_is_in_no_file_any_more_is_known_by_the_requests(logs: Path) -> None:
    whole = evidence(logs)
    log = logs / "broker-1/server.log"
    first, second = log.read_text().split("[2026-11-22 12:05:00,000]")
    log.write_text(
        "[2026-11-22 12:02:00,000] INFO still here (kafka.server.BrokerServer)\n[2026-11-22 12:05:00,000]"
        + second
    )
    requests = logs / "broker-1/kafka-request.log"
    requests.write_text(greeting("3.9.1") + requests.read_text())
    before, after = evidence(logs).runs
    assert first and "3.9.1" in before.releases and after.releases == ("4.0.1",)
    assert (before.broker_id, after.broker_id) == (1, 1)
    assert before.started == datetime(2026, 11, 22, 12, 0, 1, tzinfo=UTC).timestamp(), "its first request"
    assert sum(each.requests for each in evidence(logs).unnamed_refusals) == sum(
        each.requests for each in whole.unnamed_refusals
    )


def test_what_a_process_prints_counts_once(logs: Path) -> None:
    whole = evidence(logs)
    log = logs / "broker-1/server.log"
    (logs / "broker-1/kafkaServer.out").write_text(log.read_text())
    assert counted(evidence(logs)) == counted(whole)


def test_brokers_that_ran_for_months_make_no_coarser_slots(logs: Path) -> None:
    log = logs / "broker-1/server.log"
    log.write_text(log.read_text().replace("2026-11-22 12:00:0", "2026-09-22 12:00:0"))
    assert evidence(logs).slot_seconds == 10.0


def test_slots_are_fine_from_shortly_before_the_first_stop_on(logs: Path) -> None:
    """The request log goes back ten hours; the broker was upgraded at 12:05."""
    log = logs / "broker-1/kafka-request.log"
    early = entry(0, 0, "PRODUCE", 0, 9, "fine", 4000).replace("12:00:00", "02:00:00")
    log.write_text(early + log.read_text())
    server = logs / "broker-1/server.log"
    server.write_text(server.read_text().replace("12:00:0", "01:00:0"))

    recorded = evidence(logs)

    stop = datetime(2026, 11, 22, 12, 5, tzinfo=UTC).timestamp()
    lengths = {
        activity.until - activity.since for activity in recorded.activities if activity.since > stop - 1800
    }
    assert lengths == {10.0} == {recorded.fine_slot_seconds}
    assert recorded.slot_seconds == 100.0 and recorded.fine_from == stop - 1800
    (first,) = [activity for activity in recorded.activities if activity.until < stop - 1800]
    assert first.until - first.since == 100.0
    outcomes = {
        client.client_id: client.last_outcome for client in review_of(recorded, "3.9.1", "4.0.1").clients
    }
    assert (outcomes["old"].kind, outcomes["fine"].outcome) == ("refused", "unaffected")


def test_a_controller_of_its_own_is_no_broker(logs: Path) -> None:
    whole = evidence(logs)
    (logs / "controller-9").mkdir()
    (logs / "controller-9/server.log").write_text(
        SERVER.replace(
            "[BrokerServer id=1] Starting broker (kafka.server.BrokerServer)",
            "[KafkaRaftServer nodeId=9] Kafka Server started (kafka.server.KafkaRaftServer)",
        )
    )
    assert counted(evidence(logs)) == counted(whole)
