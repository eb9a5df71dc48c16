import pytest
from client_telemetry.compatibility import ClientEvidence, judge, parse_api_uses


def fix(
    uses: str, target: str, client_id: str | None = None, name: str | None = None, version: str | None = None
):
    return judge(ClientEvidence(name, version, client_id, parse_api_uses(uses)), "3.9.1", target).fix


SARAMA = "Fetch:4 ListOffsets:1 Metadata:5 OffsetCommit:1 OffsetFetch:1 JoinGroup:1 SyncGroup:0 Heartbeat:0"


@pytest.mark.parametrize(
    ("uses", "target", "client_id", "says", "does_not_say"),
    [
        (SARAMA, "4.0.0", "sarama", "upgrade sarama to 1.41.0 or later; otherwise", "Retention"),
        (SARAMA, "4.0.1", "sarama", "or set Consumer.Offsets.Retention above 0", "upgrade the brokers"),
        (
            "Produce:2",
            "4.0.0",
            "kafka-python-producer-1",
            "take api_version out of its configuration",
            "sarama",
        ),
        ("Produce:2", "4.0.0", "orders", "find out which client library it is", "as it looks like"),
        ("Produce:2 ListOffsets:0 Fetch:2", "4.0.0", "kafka-node-client", "replace kafka-node", "1.41.0"),
    ],
)
def test_advice_for_libraries_that_tell_no_name(uses, target, client_id, says, does_not_say):
    found = fix(uses, target, client_id)
    assert says in found and does_not_say not in found


def test_a_binding_is_named_by_its_own_release():
    found = fix("Fetch:11 JoinGroup:5", "4.0.0", None, "confluent-kafka-python", "1.7.0-rdkafka-1.7.0")
    assert found == "upgrade confluent-kafka-python to 1.8.2 or later (librdkafka 1.8.2)"


def test_a_pinned_sarama_that_tells_its_name():
    found = fix("Produce:2 Fetch:3 ListOffsets:1", "4.0.0", None, "sarama", "v1.61.1")
    assert found == "raise config.Version to 2.1.0 or later"


def test_another_target_release_is_offered_only_where_it_cures_all():
    assert "or upgrade the brokers to 4.0.1 or later instead" in fix(
        SARAMA.replace("OffsetCommit:1", "OffsetCommit:2"), "4.0.0"
    )
    assert "upgrade the brokers" not in fix(SARAMA, "4.0.0")
