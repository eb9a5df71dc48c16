"""A log with server lines gives the same numbers in every wrapping × layout × form of time × compression.

tests/data/sources/server_lines.log is the start of a laboratory broker, 60 requests of three connections, a refusal and two
failed logins; the table of docs/sources.md names where each wrapping comes from.
"""

import bz2
import csv
import gzip
import io
import json
import lzma
import random
import re
import zipfile
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import NamedTuple

import lz4.frame
import ncompress
import pytest
import zstandard
from client_telemetry.sources.log_files import find_logs
from client_telemetry.sources.request_log.broker_releases import BrokerReleases
from client_telemetry.sources.request_log.broker_survey import survey
from client_telemetry.sources.request_log.conversion import convert
from client_telemetry.sources.request_log.unread import reading_warnings

DATA = Path(__file__).parents[3] / "data/sources/server_lines.log"
YEAR = 2026
EXPECTED = (60, 1, 1, 2, 3, 0)
"""Entries, forwarded ones, refusals, failed logins, connections, unreadable lines."""


class Record(NamedTuple):
    at: datetime
    level: str
    message: str
    logger: str
    thrown: tuple[str, ...]


def _records() -> list[Record]:
    records: list[Record] = []
    for line in DATA.read_text().splitlines():
        match = re.match(r"\[(.{23})\] (\w+) (.*) \(([\w.$]+)\)$", line)
        if match is None:
            last = records.pop()
            records.append(last._replace(thrown=(*last.thrown, line)))
            continue
        at = datetime.strptime(match[1], "%Y-%m-%d %H:%M:%S,%f").replace(tzinfo=UTC)
        records.append(Record(at, match[2], match[3], match[4], ()))
    return records


RECORDS = _records()


def _millis(at: datetime) -> str:
    return f"{at.microsecond // 1000:03d}"


def _offset(at: datetime, hours: int, form: str) -> str:
    local = at.astimezone(timezone(timedelta(hours=hours)))
    return f"{local:%Y-%m-%dT%H:%M:%S},{_millis(at)}{form}"


TIMES: dict[str, Callable[[datetime], str]] = {
    "ISO8601": lambda at: f"{at:%Y-%m-%d %H:%M:%S},{_millis(at)}",
    "with T and Z": lambda at: f"{at:%Y-%m-%dT%H:%M:%S}.{_millis(at)}Z",
    "offset of hours": lambda at: _offset(at, 2, "+02"),
    "offset without a colon": lambda at: _offset(at, -5, "-0500"),
    "offset with a name": lambda at: _offset(at, 2, " GMT+02:00"),
    "DATE": lambda at: f"{at:%d %b %Y %H:%M:%S},{_millis(at)}",
    "year first, slashes": lambda at: f"{at:%Y/%m/%d %H:%M:%S}.{_millis(at)}",
    "month first": lambda at: f"{at:%m/%d/%Y %I:%M:%S}.{_millis(at)} {at:%p}",
    "ISO8601_BASIC": lambda at: f"{at:%Y%m%dT%H%M%S},{_millis(at)}",
    "UNIX_MILLIS": lambda at: str(int(at.timestamp() * 1000 + 0.5)),
    "without a year": lambda at: f"{at:%b %d %H:%M:%S}",
}
LAYOUTS: dict[str, Callable[[Record, str], str]] = {
    "Kafka": lambda r, t: f"[{t}] {r.level} {r.message} ({r.logger})",
    "Strimzi": lambda r, t: f"{t} {r.level} {r.message} ({r.logger}) [main]",
    "logger before": lambda r, t: f"{t} {r.level:<5} [main] {r.logger.rpartition('.')[2]}:82 - {r.message}",
    "whole logger before": lambda r, t: f"{t} [main] {r.level:<5} {r.logger} - {r.message}",
}


def _lines(record: Record, layout: str, time: str) -> list[str]:
    return [*LAYOUTS[layout](record, TIMES[time](record.at)).split("\n"), *record.thrown]


def _zulu(record: Record) -> str:
    return f"{record.at:%Y-%m-%dT%H:%M:%S}.{_millis(record.at)}000000Z"


def _aws_millis(record: Record) -> int:
    return int(record.at.timestamp() * 1000 + 0.5)


def _per_line(wrap: Callable[[Record, str], str]) -> Callable[[str, str], str]:
    def text(layout: str, time: str) -> str:
        lines = (wrap(r, line) for r in RECORDS for line in _lines(r, layout, time))
        return "\n".join(lines) + "\n"

    return text


def _in_document(document: Callable[[list[tuple[Record, str]]], str]) -> Callable[[str, str], str]:
    def text(layout: str, time: str) -> str:
        return document([(r, line) for r in RECORDS for line in _lines(r, layout, time)])

    return text


def _cut_for_cri(record: Record, line: str) -> str:
    begin = f"{_zulu(record)} stdout"
    parts = [line[at : at + 700] for at in range(0, len(line), 700)] or [""]
    return "\n".join([*(f"{begin} P {part}" for part in parts[:-1]), f"{begin} F {parts[-1]}"])


def _cut_for_docker(record: Record, line: str) -> str:
    line += "\n"
    parts = [line[at : at + 900] for at in range(0, len(line), 900)]
    return "\n".join(
        json.dumps({"log": part, "stream": "stdout", "time": _zulu(record)}, separators=(",", ":"))
        for part in parts
    )


def _csv(rows: list[tuple[Record, str]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(["@timestamp", "@message"])
    writer.writerows((f"{r.at:%Y-%m-%d %H:%M:%S}.{_millis(r.at)}", line) for r, line in rows)
    return text.getvalue()


def _cloudwatch(rows: list[tuple[Record, str]]) -> str:
    events = [
        {"logStreamName": "Broker-1", "timestamp": int(r.at.timestamp() * 1000), "message": line}
        for r, line in rows
    ]
    return json.dumps({"events": events, "searchedLogStreams": []}, indent=4)


def _loki(rows: list[tuple[Record, str]]) -> str:
    values = [[f"{int(r.at.timestamp() * 1000)}000000", line] for r, line in rows]
    result = [{"stream": {"pod": "kafka-1"}, "values": values}]
    return json.dumps({"status": "success", "data": {"resultType": "streams", "result": result}})


def _gcloud(rows: list[tuple[Record, str]]) -> str:
    return json.dumps(
        [{"timestamp": _zulu(r), "textPayload": line, "labels": {}} for r, line in rows], indent=2
    )


def _firehose(rows: list[tuple[Record, str]]) -> str:
    return "".join(
        json.dumps({"timestamp": int(r.at.timestamp() * 1000), "message": line}) for r, line in rows
    )


WRAPPINGS: dict[str, Callable[[str, str], str]] = {
    "plain": _per_line(lambda r, line: line),
    "Docker json-file": _per_line(
        lambda r, line: json.dumps({"log": line + "\n", "stream": "stdout", "time": _zulu(r)})
    ),
    "Docker json-file, cut lines": _per_line(_cut_for_docker),
    "docker compose": _per_line(lambda r, line: f"kafka-1  | {line}"),
    "container runtime": _per_line(lambda r, line: f"{_zulu(r)} stdout F {line}"),
    "container runtime, cut lines": _per_line(_cut_for_cri),
    "kubectl --prefix": _per_line(lambda r, line: f"[pod/kafka-1/kafka] {line}"),
    "syslog": _per_line(lambda r, line: f"<30>{r.at:%b %d %H:%M:%S} broker-1 kafka[1234]: {line}"),
    "RFC 5424": _per_line(lambda r, line: f"<30>1 {_zulu(r)} broker-1 kafka 1234 - - {line}"),
    "journalctl": _per_line(
        lambda r, line: f"{r.at:%b %d %H:%M:%S} broker-1 kafka-server-start.sh[99]: {line}"
    ),
    "journalctl -o json": _per_line(
        lambda r, line: json.dumps(
            {"__REALTIME_TIMESTAMP": str(int(r.at.timestamp() * 1e6)), "_HOSTNAME": "b1", "MESSAGE": line}
        )
    ),
    "Fluent Bit": _per_line(lambda r, line: json.dumps({"date": r.at.timestamp(), "log": line})),
    "Filebeat": _per_line(
        lambda r, line: json.dumps({"@timestamp": _zulu(r), "host": {"name": "b1"}, "message": line})
    ),
    "Datadog": _per_line(
        lambda r, line: json.dumps({"id": "x", "attributes": {"timestamp": _zulu(r), "message": line}})
    ),
    "Graylog": _per_line(
        lambda r, line: json.dumps(
            {"version": "1.1", "host": "b1", "short_message": line[:60], "full_message": line, "level": 6}
        )
    ),
    "Dynatrace": _per_line(
        lambda r, line: json.dumps({"timestamp": _zulu(r), "status": "INFO", "content": line})
    ),
    "Elasticsearch fields": _per_line(
        lambda r, line: json.dumps({"_index": "x", "fields": {"@timestamp": [_zulu(r)], "message": [line]}})
    ),
    "Fluent Bit stdout": _per_line(
        lambda r, line: f'[0] kafka: [[{r.at.timestamp():.9f}, {{}}], {{"log"=>"{line}"}}]'
    ),
    "logfmt": _per_line(lambda r, line: f"ts={_zulu(r)} stream=stdout msg={json.dumps(line)}"),
    "jq": _per_line(lambda r, line: json.dumps(line)),
    "list in YAML": _per_line(lambda r, line: f"- {json.dumps(line)}"),
    "aws logs --output text": _per_line(
        lambda r, line: f"EVENTS\t{_aws_millis(r)}\tbroker-1\t{line}\t{_aws_millis(r)}"
    ),
    "CloudWatch": _in_document(_cloudwatch),
    "Loki": _in_document(_loki),
    "gcloud": _in_document(_gcloud),
    "Firehose": _in_document(_firehose),
    "CSV": _in_document(_csv),
}


def _zip(data: bytes) -> bytes:
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("logs/kafka.log", data)
    return archive.getvalue()


COMPRESSIONS: dict[str, Callable[[bytes], bytes]] = {
    "none": lambda data: data,
    "gzip": gzip.compress,
    "zstd": zstandard.compress,
    "xz": lzma.compress,
    "bz2": bz2.compress,
    "lz4": lz4.frame.compress,
    "zip": _zip,
    "compress": ncompress.compress,
    "UTF-16": lambda data: data.decode().encode("utf-16"),
}
COMBINATIONS = [(w, layout, time) for w in WRAPPINGS for layout in LAYOUTS for time in TIMES]


def numbers(path: Path, raw: Path) -> tuple[object, ...]:
    seen = survey(find_logs([str(path)]), year=YEAR)
    done = convert(seen, BrokerReleases.parse("3.9.1"), "x", raw)
    (broker,) = seen.brokers
    release = [incarnation.release for incarnation in broker.incarnations]
    server = next(file.counted for file in seen.files)
    return (
        done.entries, done.forwarded, done.refused, done.failed_logins, done.connections, done.unreadable.total(),
        broker.broker_id, broker.last // 10**9, release, sorted(server.items()), seen.is_deprecated_only,
    )  # fmt: skip


@pytest.mark.parametrize("wrapping", WRAPPINGS)
def test_the_same_numbers_in_every_wrapping_layout_time_and_compression(tmp_path, wrapping):
    expected = numbers(DATA, tmp_path / "plain")
    assert expected[:6] == EXPECTED
    assert ["3.9.1"] in expected
    chance = random.Random(wrapping)
    for number, (_, layout, time) in enumerate(c for c in COMBINATIONS if c[0] == wrapping):
        compression = chance.choice(list(COMPRESSIONS))
        path = tmp_path / f"{number}.log"
        path.write_bytes(COMPRESSIONS[compression](WRAPPINGS[wrapping](layout, time).encode()))
        case = (wrapping, layout, time, compression)
        assert (case, numbers(path, tmp_path / str(number))) == (case, expected)


@pytest.mark.parametrize("wrap", ["awslogs", "pssh", "tabs", "quotes"])
def test_what_carries_lines_in_the_layout_of_kafka_alone(tmp_path, wrap):
    lines = DATA.read_text().splitlines()
    texts = {
        "awslogs": [f"/aws/msk/orders Broker-1 {line}" for line in lines],
        "pssh": [f"broker1: {line}" for line in lines],
        "tabs": ["\t".join("\n".join(_lines(r, "Kafka", "ISO8601")) for r in RECORDS)],
        "quotes": [f"'{line}'" for line in lines],
    }
    path = tmp_path / "kafka.log"
    path.write_text("\n".join(texts[wrap]) + "\n")
    assert numbers(path, tmp_path / "wrapped") == numbers(DATA, tmp_path / "plain")


def test_server_lines_that_end_in_something_unknown_are_said_to_be_unread(tmp_path):
    path = tmp_path / "kafka.log"
    path.write_text("".join(f"{line} <br>\n" for line in DATA.read_text().splitlines()))
    seen = survey(find_logs([str(path)]), year=YEAR)
    assert any("server lines" in warning and "not read" in warning for warning in reading_warnings(seen))


SETTINGS = (DATA.parent / "server_log/settings_3.9.1.txt").read_text()


@pytest.mark.parametrize("wrapping", WRAPPINGS)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_settings_are_read_in_every_wrapping_and_layout(tmp_path, monkeypatch, wrapping, layout):
    printed = Record(
        RECORDS[0].at, "INFO", f"KafkaConfig values: \n{SETTINGS}", "kafka.server.KafkaConfig", ()
    )
    monkeypatch.setitem(globals(), "RECORDS", [RECORDS[0], printed, *RECORDS[1:]])
    path = tmp_path / "kafka.log"
    path.write_text(WRAPPINGS[wrapping](layout, "ISO8601"))
    seen = survey(find_logs([str(path)]), year=YEAR)
    (broker,) = seen.brokers
    (incarnation,) = broker.incarnations
    assert broker.broker_id == 1 and incarnation.release == "3.9.1"
    assert incarnation.settings == {
        "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
        "delegation.token.master.key": "[set]",
        "delegation.token.secret.key": "null",
        "inter.broker.protocol.version": "3.9-IV0",
        "listener.security.protocol.map": "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,SASL:SASL_PLAINTEXT,"
        "OAUTH:SASL_PLAINTEXT,TLS:SSL",
        "listeners": "PLAINTEXT,SASL,OAUTH,TLS,CONTROLLER",
        "log.segment.bytes": "1073741824",
        "process.roles": "[broker, controller]",
        "sasl.enabled.mechanisms": "[GSSAPI]",
        "sasl.oauthbearer.expected.audience": "null",
        "sasl.oauthbearer.expected.issuer": "null",
        "sasl.oauthbearer.jwks.endpoint.url": "null",
        "sasl.oauthbearer.token.endpoint.url": "null",
        "zookeeper.connect": "null",
    }


def test_the_table_of_the_docs_names_each_wrapping_that_is_tested():
    text = (Path(__file__).parents[4] / "docs/sources.md").read_text()
    rows = [line.split("|") for line in text.splitlines() if line.startswith("| ") and line.count("|") == 4]
    named = {name.strip() for row in rows for name in row[2].split(";")}
    assert set(WRAPPINGS) <= named


def test_there_are_enough_combinations():
    assert len(COMBINATIONS) >= 400


@pytest.mark.parametrize("wrapping", WRAPPINGS)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_entries_at_info_are_known_to_be_deprecated_requests_only(tmp_path, monkeypatch, wrapping, layout):
    at_info = [record._replace(level=record.level.replace("DEBUG", "INFO")) for record in RECORDS]
    monkeypatch.setitem(globals(), "RECORDS", at_info)
    path = tmp_path / "kafka.log"
    path.write_text(WRAPPINGS[wrapping](layout, "ISO8601"))
    assert survey(find_logs([str(path)]), year=YEAR).is_deprecated_only


def test_server_lines_without_a_logger_are_said_to_be_unread(tmp_path):
    path = tmp_path / "server.log"
    lines = [f"{TIMES['ISO8601'](r.at)} {r.level} {r.message}" for r in RECORDS]
    path.write_text("\n".join(lines) + "\n")
    assert any(
        "server lines" in warning and "not read" in warning
        for warning in reading_warnings(survey(find_logs([str(path)])))
    )
