"""Which requests libraries replace by older ones, and rows that cannot be read."""

import pytest
from client_telemetry.knowledge import DamagedKnowledge, api_fallbacks, client_versions
from client_telemetry.knowledge.api_key import ApiKey


@pytest.mark.parametrize(
    ("library", "version", "key", "instead"),
    [
        ("kafka-clients", "2.8.0", ApiKey.DESCRIBE_CLUSTER, ApiKey.METADATA),
        ("kafka-clients", "2.7.2", ApiKey.DESCRIBE_CLUSTER, None),
        ("kafka-clients", "4.4.0", ApiKey.CONSUMER_GROUP_DESCRIBE, ApiKey.DESCRIBE_GROUPS),
        ("librdkafka", "2.10.0", ApiKey.CONSUMER_GROUP_DESCRIBE, ApiKey.DESCRIBE_GROUPS),
        ("franz-go", "1.19.0", ApiKey.CONSUMER_GROUP_DESCRIBE, None),
    ],
)
def test_what_a_library_sends_instead(library, version, key, instead):
    assert api_fallbacks.instead(library, client_versions.parse(version), key) == instead


def test_a_row_whose_key_and_name_differ_says_its_line(monkeypatch):
    cells = ["kafka-clients", "2.8.0", "9999", "60", "DescribeCluster", "3", "Fetch", "source"]
    monkeypatch.setattr(api_fallbacks, "rows_if_there", lambda *_: [(2, cells)])
    api_fallbacks.every.cache_clear()
    with pytest.raises(DamagedKnowledge, match=r"line 2: instead_key 3 is Metadata, not Fetch"):
        api_fallbacks.every()
