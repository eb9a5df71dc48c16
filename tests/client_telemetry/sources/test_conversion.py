from datetime import timedelta

import pytest
from client_telemetry.sources.adapter import Source
from client_telemetry.sources.conversion import NothingRead, UnusableSource, convert_new, declared


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
