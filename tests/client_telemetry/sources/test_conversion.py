from datetime import timedelta

import pytest
from client_telemetry.sources.adapter import Source
from client_telemetry.sources.conversion import NothingRead, UnusableSource, convert_new, declared

from .conftest import FETCH, json_line


def test_options_that_an_adapter_does_not_take_are_refused():
    with pytest.raises(
        UnusableSource, match="release, zone and year are of request_log, not of collector_json"
    ):
        declared('{"format": "collector_json", "files": ["a"], "zone": "UTC"}')


@pytest.mark.parametrize("mark", ["Completed request:", "Handling request:"])
def test_a_file_of_damaged_entries_only_is_passed_on_or_refused(tmp_path, mark):
    log = tmp_path / "kafka.log"
    log.write_text(f"[2026-11-22 10:48:20,123] TRACE [KafkaApi-1] {mark}cut (kafka.server.KafkaApis)\n" * 3)
    source = Source("request_log", (str(log),))
    with pytest.raises(NothingRead, match="3 lines begin an entry"):
        convert_new(source, "c", tmp_path / "refused", timedelta(0), keep_unread=False)
    assert not list((tmp_path / "refused").glob("v1/**/*.*"))
    assert convert_new(source, "c", tmp_path / "raw", timedelta(0)).counts["converted_unreadable"] == 1


NOT_METRICS = {
    "another format": (
        "collector_proto",
        b'{"resourceMetrics": []}\n' * 3,
        "cannot be read as collector_proto",
    ),
    "text": ("collector_json", b"2026-11-22 10:48:20 INFO x\n" * 3, "cannot be read as collector_json"),
    "traces": ("collector_json", b'{"resourceSpans": []}\n' * 3, "all 3 messages are logs or traces"),
    "another cluster": (
        "collector_json",
        b'{"resourceMetrics": [{"resource": {"attributes": [{"key": "kafka.cluster.id", "value": {"stringValue": "b"}}]}, '
        b'"scopeMetrics": []}]}\n',
        "all 1 resources name another cluster",
    ),
    "no metrics": (
        "collector_json",
        b'{"resourceMetrics": []}\n' * 3,
        "3 messages in 1 files have no metrics",
    ),
}


@pytest.mark.parametrize("case", NOT_METRICS)
def test_opentelemetry_files_without_a_push_are_refused_with_the_reason(tmp_path, case):
    format_, data, reason = NOT_METRICS[case]
    path = tmp_path / "metrics"
    path.write_bytes(data)
    with pytest.raises(NothingRead, match=reason):
        convert_new(Source(format_, (str(path),)), "c", tmp_path / "raw", timedelta(0), keep_unread=False)
    assert not list((tmp_path / "raw").glob("v1/**/*.*"))


MASKED_ENTRY = (
    "[2026-11-22 10:48:20,123] TRACE [KafkaApi-1] Handling request:RequestHeader(apiKey=PRODUCE, apiVersion=2, clientId=a, "
    "correlationId=0, headerVersion=1) -- {acks=1} from connection CONNECTION;securityProtocol:SASL_SSL,principal:User:a "
    "(kafka.server.KafkaApis)\n"
)


@pytest.mark.parametrize(
    ("connection", "reason"),
    [("nonsense", "no id of a connection"), ("", "does not read as a request that KafkaApis took")],
)
def test_entries_whose_connection_says_nothing_are_refused_with_the_reason(tmp_path, connection, reason):
    log = tmp_path / "kafka.log"
    log.write_text(MASKED_ENTRY.replace("CONNECTION", connection) * 2)
    with pytest.raises(NothingRead, match=f"2 lines begin an entry; none of them can be read: {reason}"):
        convert_new(
            Source("request_log", (str(log),)), "c", tmp_path / "raw", timedelta(0), keep_unread=False
        )


CUT_ROW = '"2026-11-22 10:48:20.123","[2026-11-22 10:48:20,123] DEBUG Completed request:{""isForwarded"":false,""req"\n'


@pytest.mark.parametrize("name", ["export.csv", "export.xml", "logs-insights-results"])
def test_a_file_of_entries_that_cannot_be_read_is_not_skipped_for_its_name(tmp_path, name):
    logs = tmp_path / "logs"
    logs.mkdir()
    (logs / name).write_text("@timestamp,@message\n" + CUT_ROW * 5)
    source = Source("request_log", (str(logs),), release="3.9.1")
    with pytest.raises(NothingRead, match="5 lines begin an entry; none of them can be read: not whole JSON"):
        convert_new(source, "c", tmp_path / "alone", timedelta(0), keep_unread=False)
    (logs / "kafka-request.log").write_bytes(json_line(0, FETCH) + b"\n")
    done = convert_new(source, "c", tmp_path / "raw", timedelta(0), keep_unread=False)
    assert done.counts["converted_requests"] == 1
    assert "skipped" not in done.message
    assert any("5 lines begin an entry and were not used: not whole JSON" in text for text in done.warnings)


def test_a_readme_that_quotes_an_entry_is_no_log(tmp_path):
    (tmp_path / "kafka-request.log").write_bytes(json_line(0, FETCH) + b"\n")
    (tmp_path / "README.md").write_text(f"# Logs\n\nAn entry:\n\n    {CUT_ROW}\nThis is it.\n")
    done = convert_new(
        Source("request_log", (str(tmp_path),), release="3.9.1"), "c", tmp_path.parent / "raw", timedelta(0)
    )
    assert "skipped, as they are not request logs: README.md" in done.message
