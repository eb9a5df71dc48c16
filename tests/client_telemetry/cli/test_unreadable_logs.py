"""The same logs give the same reason and exit code in `convert`, `report` and `review`."""

import json
import os
import re
from pathlib import Path

import pytest
from client_telemetry.cli import convert, report, review

ENTRY = (Path(__file__).parents[2] / "data/sources/server_lines.log").read_text().splitlines()
SAMPLE = Path(__file__).parents[3] / "include/sample/request_logs"
REQUESTS = [line for line in ENTRY if "Completed request:" in line]


def commands(logs: Path, tmp_path: Path, *more: str) -> dict[str, int]:
    """Exit codes by command."""
    release = ["--from=3.9.1", "--to=4.0.1"]
    return {
        "convert": convert.main(
            ["request_log", "--cluster=x", f"--raw={tmp_path / 'raw'}", "--release=3.9.1", *more, str(logs)]
        ),
        "report": report.main([*release, f"--out={tmp_path / 'out'}", *more, str(logs)]),
        "review": review.main([*release, f"--publish={tmp_path / 'published'}", *more, str(logs)]),
    }


CONNECT = """\
[2026-11-22 10:48:59,123] INFO Kafka version: 3.7.1 (org.apache.kafka.common.utils.AppInfoParser:124)
[2026-11-22 10:48:59,126] INFO [AdminClient clientId=connect] Failed authentication with kafka/10.0.0.9 (channelId=-1) \
(Authentication failed: Invalid username or password) (org.apache.kafka.common.network.Selector:684)
[2026-11-22 10:48:59,200] INFO [Worker clientId=connect-1, groupId=c] Started (org.apache.kafka.connect.runtime.Worker:1)"""

REFUSED = {
    "damaged": (
        "[2026-11-22 10:48:20,123] DEBUG Completed request:{cut (kafka.request.logger)",
        "not whole JSON",
    ),
    "another logger": (
        "[2026-11-22 10:48:20,123] INFO [LogCleaner] done (kafka.log.LogCleaner)",
        "1 lines, of other loggers of Kafka; none is an entry of kafka.request.logger; to log requests, set",
    ),
    "the request logger at WARN": (
        "[2026-11-22 10:48:20,123] WARN Slow (kafka.request.logger)",
        "kafka-request.log is of kafka.request.logger, at a level at which it logs no requests; to log requests, set "
        "kafka.request.logger to DEBUG",
    ),
    "an authorizer": (
        "[2026-11-22 10:48:20,123] INFO Principal = User:bob is Denied operation = DESCRIBE from host = 10.0.0.7 on resource = "
        "Topic:LITERAL:orders for request = Metadata with resourceRefCount = 1 (kafka.authorizer.logger)",
        "is the authorizer's log: it has principals and addresses, and not which versions of requests they send",
    ),
    "a controller": (
        "[2026-11-22 10:48:20,123] INFO [QuorumController id=1] Becoming the active controller at epoch 1 "
        "(org.apache.kafka.controller.QuorumController)",
        "is a controller's log: it has no requests of clients",
    ),
    "states of partitions": (
        "[2026-11-22 10:48:20,123] INFO [Broker id=1] Transitioning 1 partition(s) to local leaders. (state.change.logger)",
        "is a state-change log: it has partitions, and no requests",
    ),
    "garbage collection": (
        "[2026-11-22T12:04:54.123+0000][0.006s][info][gc] Using G1",
        "is a log of the JVM's garbage collection",
    ),
    "ZooKeeper": (
        "[2026-11-22 10:48:20,123] INFO binding to port 0.0.0.0/0.0.0.0:2181 (org.apache.zookeeper.server.NIOServerCnxnFactory)",
        "is a log of ZooKeeper, not of a broker",
    ),
    "Kafka Connect": (
        CONNECT,
        "is a log of a client (kafka-clients 3.7.1), not of a broker",
    ),
    "Kafka Streams": (
        "2026-11-22 10:48:20,123 INFO  [main] o.a.k.s.KafkaStreams - stream-client [x] State transition from CREATED to REBALANCING\n"
        "2026-11-22 10:48:20,124 INFO  [main] o.a.kafka.common.utils.AppInfoParser - Kafka version: 3.7.1",
        "is a log of a client (kafka-clients 3.7.1), not of a broker",
    ),
    "another program": ("10.0.0.1 GET /index.html 200", "1 lines, none of which is an entry"),
    "empty": ("", "the files are empty"),
    "a zone name": (REQUESTS[0].replace("]", " CEST]", 1), "specify --zone=Europe/Berlin"),
    "day and month": (
        "03/04/2026 10:48:20,123" + REQUESTS[0][25:],
        "a date whose day and month cannot be told apart",
    ),
    "Parquet": ("PAR1", "a Parquet file: export the lines as text or JSON"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_read_is_refused_in_the_same_words(tmp_path, capsys, case):
    text, reason = REFUSED[case]
    path = tmp_path / "logs" / "kafka-request.log"
    path.parent.mkdir()
    path.write_text(text and f"{text}\n")
    assert commands(path.parent, tmp_path) == {"convert": 2, "report": 2, "review": 2}
    errors = [line for line in capsys.readouterr().err.splitlines() if line.startswith("client-telemetry")]
    said = {re.sub(r" \(make: [^)]*\)", "", line.partition(": ")[2]) for line in errors}
    assert len(errors) == 3 and len(said) == 1
    assert reason in said.pop()


def test_options_are_named_as_the_command_has_them(tmp_path, capsys):
    path = tmp_path / "kafka-request.log"
    path.write_text(REFUSED["a zone name"][0] + "\n")
    commands(path, tmp_path)
    converted, reported, reviewed = capsys.readouterr().err.splitlines()[-3:]
    assert "--zone=Europe/Berlin" in converted and "make:" not in converted
    for line in (reported, reviewed):
        assert "specify --zone=Europe/Berlin (make: ZONE=Europe/Berlin)" in line


def test_the_year_reaches_every_command(tmp_path, capsys):
    """The file's time would make it 2019."""
    path = tmp_path / "kafka-request.log"
    path.write_text("".join(f"Nov 22 10:48:20 {line[24:]}\n" for line in REQUESTS))
    os.utime(path, (1.577e9, 1.577e9))
    said = {}
    for year, options in ((2019, []), (2026, ["--year=2026"])):
        review.main(["--from=3.9.1", "--to=4.0.1", f"--publish={tmp_path / 'p'}", *options, str(path)])
        report.main(["--from=5=3.9.1", "--to=4.0.1", f"--out={tmp_path / 'o'}", *options, str(path)])
        convert.main(
            [
                "request_log",
                "--cluster=x",
                f"--raw={tmp_path / str(year)}",
                "--release=3.9.1",
                *options,
                str(path),
            ]
        )
        said[year] = capsys.readouterr()
        assert list((tmp_path / str(year)).glob(f"v1/**/dt={year}-11-22/**/*.*"))
    assert "specify --year=2026 (make: YEAR=2026) if the file was copied later" in said[2019].out
    assert "specify --year=2026 if the file was copied later" in said[2019].err
    assert "specify --year" not in said[2026].out + said[2026].err


def test_a_release_that_the_logs_leave_open_is_asked_for_with_each_commands_option(tmp_path, capsys):
    logs = str(SAMPLE / "kafka-2.7.2-text.request.log.zst")
    commands = {
        "--from": lambda: report.main(["--to=4.0.1", f"--out={tmp_path / 'out'}", logs]),
        "--release": lambda: convert.main(
            ["request_log", "--cluster=1o5EsAeXSL6vbIOiK644hw", f"--raw={tmp_path / 'raw'}", logs]
        ),
    }
    for option, command in commands.items():
        assert command() == 2
        refusal = capsys.readouterr().err
        assert "broker 1: 2.7.0 or 2.7.1 or 2.7.2" in refusal
        assert f"specify it with {option}" in refusal


SERVER_LINES = [line for line in ENTRY if "Completed request:" not in line]


def test_server_logs_alone_say_nothing_of_clients(tmp_path, capsys):
    logs = tmp_path / "logs"
    logs.mkdir()
    (logs / "server.log").write_text("\n".join(SERVER_LINES) + "\n")
    assert commands(logs, tmp_path) == {"convert": 0, "report": 2, "review": 2}
    said = capsys.readouterr()
    converted, reported, reviewed = [x for x in said.err.splitlines() if "there is no request log" in x]
    for line in (converted, reported, reviewed):
        assert (
            "of 3.9.1, with 1 start, 1 refused request and 2 failed logins, and not which clients are connected"
            in line
        )
        assert "--entity-type broker-loggers" in line and "kafka.request.logger=DEBUG" in line
    assert (
        "no request log; server logs of 1 brokers on 3.9.1: 1 requests refused, 2 failed logins" in said.out
    )
    assert " 0 requests" not in said.out + said.err


def test_failed_logins_of_an_unknown_broker_are_not_kept_as_none(tmp_path, capsys):
    """With 1=FILE, a later conversion reads what this one could not place."""
    login = (
        "[2026-11-22 10:48:20,123] INFO [SocketServer] Failed authentication with /10.0.0.7 (channelId=x) (Authentication failed) "
        "(org.apache.kafka.common.network.Selector)\n"
    )
    log = tmp_path / "server.log"
    log.write_text(login)
    options = ["request_log", "--cluster=x", f"--raw={tmp_path / 'raw'}"]
    assert convert.main([*options, str(log)]) == 2
    assert "nothing was read: 1 refused requests and failed logins were left out" in capsys.readouterr().err
    assert convert.main([*options, "--release=3.9.1", f"1={log}"]) == 0
    assert "0 requests refused, 1 failed logins" in capsys.readouterr().out


def test_a_request_log_that_cannot_be_read_is_not_called_missing(tmp_path, capsys):
    logs = tmp_path / "logs"
    logs.mkdir()
    (logs / "server.log").write_text("\n".join(SERVER_LINES) + "\n")
    (logs / "kafka-request.log").write_text(REFUSED["a zone name"][0] + "\n")
    assert commands(logs, tmp_path)["report"] == 2
    said = capsys.readouterr().err
    assert "no request was read: 1 lines begin an entry" in said and "specify --zone=Europe/Berlin" in said
    assert "there is no request log" not in said


def test_zeros_of_server_logs_are_not_said_where_there_are_none(tmp_path, capsys):
    (tmp_path / "kafka-request.log").write_text("\n".join(REQUESTS) + "\n")
    commands(tmp_path / "kafka-request.log", tmp_path)
    assert (
        "60 requests of 1 brokers on 3.9.1: 2 connections, 0 pushes, no server log" in capsys.readouterr().out
    )


def test_a_log_of_connect_beside_the_request_log_gives_no_release_and_no_login(tmp_path, capsys):
    (tmp_path / "kafka-request.log").write_text("\n".join(ENTRY) + "\n")
    (tmp_path / "connect.log").write_text(f"{CONNECT}\n")
    raw = tmp_path / "raw"
    assert convert.main(["request_log", "--cluster=x", f"--raw={raw}", str(tmp_path / "*.log")]) == 0
    assert "60 requests of 1 brokers on 3.9.1: 3 connections" in capsys.readouterr().out
    (manifest,) = (json.loads(file.read_text()) for file in raw.glob("v1/dataset=manifests/**/*.json"))
    assert (manifest["broker_software_version"], manifest["failed_logins"]) == ("3.9.1", 2)
