import pytest
from client_telemetry.compatibility import ApiUse, ClientEvidence, judge, parse_api_uses


def fix(
    uses: str, target: str, client_id: str | None = None, name: str | None = None, version: str | None = None
):
    evidence = ClientEvidence(name, version, client_id, parse_api_uses(uses), security_protocol="PLAINTEXT")
    return judge(evidence, "3.9.1", target).fix


SARAMA = "Fetch:4 ListOffsets:1 Metadata:5 OffsetCommit:1 OffsetFetch:1 JoinGroup:1 SyncGroup:0 Heartbeat:0"


@pytest.mark.parametrize(
    ("uses", "target", "client_id", "says", "does_not_say"),
    [
        (SARAMA, "4.0.0", "sarama", "probably sarama", "Retention"),
        (SARAMA, "4.0.1", "sarama", "or set Consumer.Offsets.Retention > 0", "upgrade the brokers"),
        (
            "Produce:2",
            "4.0.0",
            "kafka-python-producer-1",
            "take api_version out of its configuration",
            "sarama",
        ),
        ("Produce:2", "4.0.0", "orders", "library not identified: if it is kafka-", "find out"),
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


def test_another_target_release_is_offered_only_where_all_later_ones_cure_it_too():
    """franz-go before 1.3.0 logs in to 3.8.0, and not to 3.8.1, 3.9.0 and later (CVE-2024-56128)."""
    evidence = ClientEvidence(
        "kgo",
        "1.2.3",
        None,
        parse_api_uses("Metadata:9 Produce:8"),
        "SCRAM-SHA-256",
        security_protocol="SASL_SSL",
    )
    assert judge(evidence, "3.7.1", "3.7.2").fix == "upgrade franz-go to 1.19.1 or later"


def way_back(uses: str, source: str, target: str, name: str | None = None, version: str | None = None) -> str:
    return judge(ClientEvidence(name, version, None, parse_api_uses(uses)), source, target).fix


def test_what_to_change_before_the_brokers_go_back():
    assert way_back("JoinGroup:1", "4.0.1", "4.0.0").startswith("before the rollback, use a version")
    group = "ConsumerGroupHeartbeat:1 Fetch:17"
    assert way_back(group, "4.0.1", "3.6.2") == (
        "set group.protocol=classic in its consumers before the rollback"
    )


def test_a_rollback_may_stop_on_the_way_but_not_at_a_release_to_skip():
    assert way_back("JoinGroup:1", "4.3.1", "4.0.0").endswith(
        "or go back to 4.0.1 only, which accepts these versions"
    )
    assert "go back to" not in way_back("JoinGroup:1", "4.0.1", "4.0.0")
    assert way_back("", "2.8.2", "2.6.3", "librdkafka", "2.6.0") == (
        "upgrade librdkafka to 2.6.1 or later, or go back to 2.7.0 only"
    )
    assert "4.0.0" not in way_back("ConsumerGroupHeartbeat:1", "4.0.1", "3.9.1")


def test_a_workaround_where_no_version_helps():
    assert way_back("Produce:9", "3.9.1", "2.0.1", "apache-kafka-java", "4.1.1").startswith(
        "take it back to kafka-clients 3.9 for these brokers"
    )


@pytest.mark.parametrize(
    ("case", "mechanism", "cures"),
    [
        ("SCRAM: the login too", "SCRAM-SHA-256", "2.6.1"),
        ("perhaps SCRAM: the login too", None, "2.6.1"),
        ("PLAIN: the offset look-up alone", "PLAIN", "1.8.2"),
    ],
)
def test_one_version_cures_all_that_ails_a_client(case, mechanism, cures):
    evidence = ClientEvidence(
        "confluent-kafka-python",
        "1.7.0-rdkafka-1.7.0",
        None,
        parse_api_uses("Fetch:11 JoinGroup:5 OffsetFetch:7 Metadata:4"),
        mechanism,
        "SASL_SSL",
    )
    found = judge(evidence, "3.9.1", "4.0.1").fix
    assert found == f"upgrade confluent-kafka-python to {cures} or later (librdkafka {cures})", case


@pytest.mark.parametrize(
    ("client_id", "product", "fix"),
    [
        ("vector", None, "upgrade Vector to 0.52.0 or later (librdkafka 2.10.0)"),
        (
            "rdkafka",
            "syslog-ng",
            "upgrade the host's librdkafka to 2.6.1 or later: syslog-ng links the system library",
        ),
        ("rdkafka", None, "upgrade librdkafka to 2.6.1 or later"),
    ],
)
def test_a_product_that_cannot_log_in_is_named_with_its_own_release(client_id, product, fix):
    evidence = ClientEvidence(
        "librdkafka",
        "2.3.0",
        client_id,
        parse_api_uses("Produce:7 Metadata:12"),
        "SCRAM-SHA-256",
        "SASL_SSL",
        product=product,
    )
    assert judge(evidence, "3.9.1", "4.0.1").fix == fix


def test_a_product_that_a_person_names_has_its_own_fix():
    evidence = ClientEvidence(
        None,
        None,
        "sarama",
        parse_api_uses("OffsetCommit:1 JoinGroup:1"),
        product="Grafana Promtail (kafka target)",
    )
    assert judge(evidence, "3.9.1", "4.0.0").fix.startswith("upgrade Promtail to 3.3.0 or later")


def test_who_is_told_to_replace_a_library_is_not_asked_which_it_is():
    verdict = judge(
        ClientEvidence(client_id="kafka-node-client", api_uses=(ApiUse(3, 0, 10),)), "3.9.1", "4.0.1"
    )
    assert verdict.verdict == "breaks" and "replace kafka-node" in verdict.fix
    assert verdict.missing == ()
