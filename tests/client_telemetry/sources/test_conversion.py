import pytest
from client_telemetry.sources.conversion import UnusableSource, declared


def test_options_that_an_adapter_does_not_take_are_refused():
    with pytest.raises(
        UnusableSource, match="release, zone and year are of request_log, not of collector_json"
    ):
        declared('{"format": "collector_json", "files": ["a"], "zone": "UTC"}')
