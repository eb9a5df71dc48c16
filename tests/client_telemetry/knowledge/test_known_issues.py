import pytest
from client_telemetry.compatibility.evidence import ClientEvidence, declared_library
from client_telemetry.knowledge import known_issues
from client_telemetry.knowledge.conditions import APACHE_KAFKA, Circumstances

ISSUES = {each.rule_id: each for each in known_issues.known()}


def concerned(name: str, version: str, source: str, target: str, client_roles: tuple[str, ...]) -> set[str]:
    identity = declared_library(ClientEvidence(name, version))
    assert identity is not None
    return {
        rule_id
        for rule_id, issue in ISSUES.items()
        if issue in known_issues.brought_by(source, target)
        and issue.concerns(identity.library, identity.version, identity.version, client_roles, target)
    }


def test_an_issue_belongs_to_the_upgrade_that_brings_it():
    consumer = ("group_consumer",)
    assert "librdkafka_list_offsets_0" in concerned("librdkafka", "1.7.0", "3.9.1", "4.1.0", consumer)
    assert "librdkafka_list_offsets_0" not in concerned("librdkafka", "1.7.0", "4.0.0", "4.1.0", consumer)
    assert "librdkafka_list_offsets_0" not in concerned("librdkafka", "1.8.0", "3.9.1", "4.1.0", consumer)
    assert "librdkafka_list_offsets_0" not in concerned(
        "librdkafka", "1.7.0", "3.9.1", "4.1.0", ("producer",)
    )


def test_broker_ranges_are_patch_exact():
    assert ISSUES["librdkafka_gssapi_join_group_0"].brokers == {"4.0.0"}
    assert "4.4.0" in ISSUES["librdkafka_list_offsets_0"].brokers


@pytest.mark.parametrize(
    ("evidence", "met"),
    [
        (ClientEvidence(sasl_mechanism="GSSAPI"), "yes"),
        (ClientEvidence(sasl_mechanism="PLAIN"), "no"),
        (ClientEvidence(security_protocol="SSL"), "no"),
        (ClientEvidence(security_protocol="SASL_SSL"), "unknown"),
        (ClientEvidence(), "unknown"),
    ],
)
def test_kerberos_condition(evidence, met):
    assert (
        ISSUES["librdkafka_gssapi_join_group_0"].condition_met(Circumstances(evidence, (), {}, APACHE_KAFKA))
        == met
    )


@pytest.mark.parametrize(
    ("subscriptions", "client_roles", "met"),
    [
        (None, ("producer",), "unknown"),
        ((), ("producer",), "no"),
        (("*",), ("producer",), "no"),
        (("",), ("producer",), "no"),
        (("org.apache.kafka.consumer.",), ("producer",), "yes"),
        (("org.apache.kafka.consumer.",), ("group_consumer",), "no"),
        (("org.apache.kafka.consumer.",), ("producer", "group_consumer"), "yes"),
        (("org.apache.kafka.consumer.",), (), "unknown"),
        (("org.apache.kafka.nosuchmetric.",), ("transactional_producer",), "yes"),
    ],
)
def test_subscription_condition(subscriptions, client_roles, met):
    evidence = ClientEvidence(subscriptions=subscriptions)
    assert (
        ISSUES["librdkafka_telemetry_abort"].condition_met(
            Circumstances(evidence, client_roles, {}, APACHE_KAFKA)
        )
        == met
    )


def test_an_issue_of_unknown_libraries_is_about_logging_in():
    unknown = [each for each in ISSUES.values() if each.library == known_issues.UNKNOWN_LIBRARY]
    assert unknown and all(each.condition_test.is_about_login for each in unknown)
