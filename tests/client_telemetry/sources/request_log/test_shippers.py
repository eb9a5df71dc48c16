"""Further layouts that people post: each gives the same numbers as the log itself."""

import bz2
import csv
import gzip
import io
import json
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard
from client_telemetry.sources.log_files import find_logs
from client_telemetry.sources.request_log.broker_survey import survey
from client_telemetry.sources.request_log.unread import reading_warnings, reasons_for_nothing

LINES = (Path(__file__).parents[3] / "data/sources/server_lines.log").read_text().splitlines()
AT = "2026-11-22T10:48:20.123Z"


def _each(wrap: Callable[[str], object]) -> str:
    return (
        "\n".join(text if isinstance(text := wrap(line), str) else json.dumps(text) for line in LINES) + "\n"
    )


def _csv(header: list[str], wrap: Callable[[str], list[str]]) -> str:
    text = io.StringIO()
    csv.writer(text).writerows([header, *map(wrap, LINES)])
    return text.getvalue()


def _each_of_seven() -> str:
    batches = ["\n".join(LINES[at : at + 7]) for at in range(0, len(LINES), 7)]
    return "".join(json.dumps({"host": "b1", "message": batch}) + "\n" for batch in batches)


def _journal(line: str, **fields: object) -> dict[str, object]:
    return {"__REALTIME_TIMESTAMP": "1795344500123000", "_HOSTNAME": "b1", "MESSAGE": line, **fields}


SHIPPERS = {
    "OpenShift": _each(
        lambda x: {"@timestamp": AT, "kubernetes": {"pod_name": "kafka-1"}, "message": x, "hostname": "n"}
    ),
    "Elasticsearch, scroll": json.dumps(
        {"hits": {"hits": [{"_index": "a", "_source": {"@timestamp": AT, "message": x}} for x in LINES]}}
    ),
    "Kibana": _csv(
        ["@timestamp", "host.name", "message"], lambda x: ["Nov 22, 2026 @ 10:48:20.123", "b1", x]
    ),
    "Azure Monitor": json.dumps(
        {
            "tables": [
                {
                    "columns": [
                        {"name": "TenantId"},
                        {"name": "TimeGenerated"},
                        {"name": "Computer"},
                        {"name": "LogMessage"},
                    ],
                    "rows": [["t", AT, "b1", x] for x in LINES],
                }
            ]
        }
    ),
    "Splunk, rows": json.dumps({"fields": ["_raw", "_time"], "rows": [[x, AT] for x in LINES]}),
    "Splunk, HTTP event collector": _each(lambda x: {"time": 1795344500.123, "host": "b1", "event": x}),
    "Grafana, CSV": _csv(
        ["Time", "Line", "tsNs"], lambda x: ["2026-11-22 10:48:20.123", x, "1795344500123000000"]
    ),
    "Heroku": _each(lambda x: f"2026-11-22T10:48:20.123456+00:00 app[kafka.1]: {x}"),
    "rsyslog, CEE": _each(lambda x: f"Nov 22 10:48:20 b1 kafka[1]: @cee: {json.dumps({'msg': x})}"),
    "Fluentd, out_file": _each(lambda x: f"2026-11-22T10:48:20+00:00\tkube.kafka\t{json.dumps({'log': x})}"),
    "Fluent Bit, stdout": _each(
        lambda x: f"[0] kube.kafka: [[1795344500.123000000, {{}}], {json.dumps({'log': x})}]"
    ),
    "journalctl -o json, colours": _each(lambda x: _journal(x, MESSAGE=[*f"\x1b[0m{x}".encode()])),
    "journalctl -o export": _each(
        lambda x: f"__REALTIME_TIMESTAMP=1795344500123000\n_HOSTNAME=b1\nMESSAGE={x}\n"
    ),
    "grep over several files": _each(lambda x: f"logs/broker1/kafka-request.log.2026-11-22-10:{x}"),
    "stern": _each(lambda x: f"\x1b[91mkafka-1\x1b[0m › kafka {x}"),
    "colours": _each(lambda x: f"\x1b[32m{x}\x1b[0m"),
    "a list of texts": json.dumps(LINES),
    "Aiven": json.dumps(
        {"logs": [{"time": AT, "unit": "kafka.service", "hostname": "k-1", "msg": x} for x in LINES]}
    ),
}


@pytest.mark.parametrize("shipper", SHIPPERS)
def test_the_numbers_are_those_of_the_log_itself(tmp_path, shipper):
    path = tmp_path / "kafka.log"
    path.write_text(SHIPPERS[shipper])
    seen = survey(find_logs([str(path)]), year=2026)
    (file,) = seen.files
    (broker,) = seen.brokers
    assert (file.entries, file.counted["refused"], file.counted["login_failed"]) == (60, 1, 2)
    assert [incarnation.release for incarnation in broker.incarnations] == ["3.9.1"]
    assert broker.last // 10**9 in (1795344510, 1795344500)  # by the log's times, or by the shipper's


def _syslog(line: str) -> str:
    message = f"<134>1 2026-11-22T10:48:20.123Z b1 kafka 1 - - {line}"
    return f"{len(message)} {message}"


def _tar(members: dict[str, bytes]) -> bytes:
    stored = io.BytesIO()
    with tarfile.open(fileobj=stored, mode="w") as archive:
        for name, content in members.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return stored.getvalue()


TEXT = "".join(f"{line}\n" for line in LINES).encode()
HALVES = ["".join(f"{line}\n" for line in half).encode() for half in (LINES[:30], LINES[30:])]
FRAMES = {
    "carriage returns": TEXT.replace(b"\n", b"\r"),
    "syslog over TCP": "".join(map(_syslog, LINES)).encode(),
    "syslog over TCP, with line feeds": "".join(_syslog(f"{line}\n") for line in LINES).encode(),
    "jq -Rs": json.dumps(TEXT.decode()).encode(),
    "several lines in each record": _each_of_seven().encode(),
    "tar": _tar({"b1/kafka.log": HALVES[0], "b1/notes": b"without an end", "b1/kafka.log.1": HALVES[1]}),
    "gzip in gzip": gzip.compress(gzip.compress(TEXT)),
    "zstd in bzip2 in gzip": gzip.compress(bz2.compress(zstandard.compress(TEXT))),
    "tar in tar": _tar({"support.tgz": gzip.compress(_tar({"b1/kafka.log": TEXT}))}),
    "tar, compressed and within": gzip.compress(_tar({"kafka.log.gz": gzip.compress(TEXT)})),
}


@pytest.mark.parametrize("frame", FRAMES)
def test_no_line_is_lost_however_lines_are_put_into_a_file(tmp_path, frame):
    path = tmp_path / "kafka.log"
    path.write_bytes(FRAMES[frame])
    seen = survey(find_logs([str(path)]), year=2026)
    counted = [(file.entries, file.counted["refused"], file.counted["login_failed"]) for file in seen.files]
    assert tuple(map(sum, zip(*counted, strict=True))) == (60, 1, 2)
    assert len(seen.brokers) == 1 and not reading_warnings(seen)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (TEXT.replace(b"\n", b" "), "several in one line, of which one is read"),
        (HALVES[0] + HALVES[1].replace(b"\n", b" "), "several in one line, of which one is read"),
        (HALVES[0] + HALVES[1].decode().encode("utf-16-le"), "in UTF-16 within a file that begins otherwise"),
        (_tar({"a.log": HALVES[0], "b.log": HALVES[1]})[:-30_000], "a damaged archive"),
        (_tar({"a.log": HALVES[0], "b.log.gz": gzip.compress(HALVES[1])[:-100]}), "not whole JSON"),
    ],
)  # fmt: skip
def test_lines_that_are_not_read_are_said(tmp_path, content, says):
    path = tmp_path / "kafka.log"
    path.write_bytes(content)
    assert says in " ".join(reading_warnings(survey(find_logs([str(path)]))))


def test_what_a_client_writes_commands_no_terminal(tmp_path):
    path = tmp_path / "kafka.log"
    damaged = next(line for line in LINES if "Completed request" in line)[:300]
    path.write_bytes(TEXT + damaged.replace('"clientId":"', '"clientId":"\x1b]0;x\x07\u202e\x9b31m').encode())
    (warning,) = reading_warnings(survey(find_logs([str(path)])))
    assert "not whole JSON" in warning and warning.isprintable()


def test_a_record_that_has_its_line_twice_is_one_line(tmp_path):
    """Logstash keeps the original beside the message; a client's text may look like an entry."""
    path = tmp_path / "kafka.json"
    path.write_text(_each(lambda x: {"@timestamp": AT, "message": x, "event": {"original": x}}))
    seen = survey(find_logs([str(path)]))
    assert seen.files[0].entries == 60 and not reading_warnings(seen)


def test_messages_that_journalctl_left_out_are_said(tmp_path):
    path = tmp_path / "kafka.json"
    path.write_text(_each(lambda x: _journal(x, MESSAGE=None if len(x) > 4096 else x)))
    assert "run it with --all" in " ".join(reading_warnings(survey(find_logs([str(path)]))))
    path.write_text(_each(lambda x: _journal(x, MESSAGE=None)))
    assert "journalctl -o json needs --all" in reasons_for_nothing(survey(find_logs([str(path)])))
