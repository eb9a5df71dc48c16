"""A client that logs in, of which the library or its version is not known, is never plainly safe where some library that
it could be is locked out."""

import pytest
from client_telemetry.compatibility import ClientEvidence, ClientVerdict, judge, parse_api_uses

FROM, TO = "3.9.1", "4.0.1"
MODERN = parse_api_uses("Produce:11 Metadata:12 InitProducerId:5 ApiVersions:3")


def verdict(*uses, source: str = FROM, target: str = TO, features=None, **told) -> ClientVerdict:
    told = {"security_protocol": "SASL_SSL", "api_uses": uses or MODERN} | told
    return judge(ClientEvidence(**told), source, target, features=features)


def test_a_name_that_is_not_known_may_be_any_library():
    found = verdict(client_software_name="my-client", client_software_version="1.0")
    assert found.verdict == "insufficient_evidence"
    assert "sends its own nonce twice" in found.condition and "its library and version" in found.condition


@pytest.mark.parametrize(
    "mechanism",
    [
        "SCRAM-SHA-512", "scram-sha-256", "SCRAM_SHA_256", "SCRAM", "SASL/SCRAM", "SASL_SCRAM_SHA512", "sha-512",
        "org.apache.kafka.common.security.scram.ScramLoginModule",
    ],
)  # fmt: skip
def test_so_with_scram_however_it_is_written(mechanism):
    known = {"client_software_name": "my-client", "sasl_mechanism": mechanism}
    assert verdict(**known).verdict == "insufficient_evidence"
    old = {"client_software_name": "librdkafka", "client_software_version": "2.3.0"}
    assert verdict(*parse_api_uses("Produce:7"), **old, sasl_mechanism=mechanism).verdict == "breaks"


@pytest.mark.parametrize("excluded", [{"sasl_mechanism": "PLAIN"}, {"security_protocol": "SSL"}])
def test_not_so_where_the_mechanism_excludes_it(excluded):
    assert verdict(client_software_name="my-client", **excluded).verdict == "safe"


def test_what_says_nothing_of_the_mechanism_is_not_a_mechanism():
    old = {"client_software_name": "librdkafka", "client_software_version": "2.3.0"}
    for text in (
        "unknown", "-", "none", "PLAIN,SCRAM-SHA-512", "user/password", "yes", "SASL_PLAINTEXT", "sasl_ssl", "LDAP", "mTLS",
    ):  # fmt: skip
        assert (
            verdict(*parse_api_uses("Produce:7"), **old, sasl_mechanism=text).verdict
            == "insufficient_evidence"
        )


@pytest.mark.parametrize(
    ("offered", "expected"),
    [(("PLAIN",), "safe"), (("yes",), "insufficient_evidence"), (("PLAIN", "?"), "insufficient_evidence"), (("LDAP",), "insufficient_evidence")],
)  # fmt: skip
def test_what_a_listener_offers_is_known_only_where_each_name_is(offered, expected):
    old = {"client_software_name": "librdkafka", "client_software_version": "2.3.0"}
    found = verdict(*parse_api_uses("Produce:7"), **old, offered_sasl_mechanisms=offered)
    assert found.verdict == expected


@pytest.mark.parametrize("version", [None, "unknown", "dev"])
def test_any_version_of_a_known_library(version):
    found = verdict(client_software_name="librdkafka", client_software_version=version)
    assert "it is librdkafka 0.9.0 to 2.6.0 and it uses SCRAM" in found.condition
    assert found.verdict == "insufficient_evidence"


def test_a_default_client_id_is_a_suspicion():
    uses = parse_api_uses("Produce:7 Metadata:4 ApiVersions:0")
    assert verdict(*uses, client_id="rdkafka", sasl_mechanism="SCRAM-SHA-256").verdict != "safe"


def test_a_patch_that_checks_nonces_locks_out_old_erlang_clients():
    sends = parse_api_uses(
        "Produce:5 Fetch:7 ListOffsets:2 Metadata:2 OffsetFetch:2 FindCoordinator:0 ApiVersions:0"
    )
    found = verdict(*sends, source="3.7.1", target="3.7.2", client_id="brod")
    assert found.verdict != "safe" and "brod 2.4.0 to 3.16.8" in found.condition


def test_a_transaction_of_no_known_library_may_choose_what_waits_for_a_feature():
    """Of 4.x at transaction.version 0; what kafkajs and Sarama send, no newer library does."""
    uses = parse_api_uses(
        "InitProducerId:4 AddPartitionsToTxn:3 EndTxn:3 Produce:11 Metadata:12 ApiVersions:3"
    )
    plain = {"security_protocol": "PLAINTEXT", "features": {"transaction.version": 0}}
    for name, version in (("my-client", "1.0"), ("kgo", "unknown")):
        told = {"client_software_name": name, "client_software_version": version}
        assert verdict(*uses, **told, **plain).verdict == "insufficient_evidence", name
        assert verdict(*uses, **told, security_protocol="PLAINTEXT").verdict == "safe", name
    old = parse_api_uses("InitProducerId:1 AddPartitionsToTxn:1 EndTxn:1 Produce:7 Metadata:6 ApiVersions:2")
    assert verdict(*old, client_id="kafkajs", **plain).verdict == "safe"


@pytest.mark.parametrize("version", ["v2.3.0", "v0.3.0", "1.46.3", "v1.50.0", "dev", None])
def test_the_version_that_sarama_declares_is_that_of_the_application(version):
    """Before 1.47.0 it declares debug.ReadBuildInfo().Main.Version (IBM/sarama: version.go): no number of it tells that its
    Kerberos tokens follow SaslHandshake, as they do since 1.46.1. Its requests can: Produce v9 came later.
    """
    told = {"client_software_name": "sarama", "client_software_version": version, "sasl_mechanism": "GSSAPI"}
    assert verdict(*parse_api_uses("Produce:7 Metadata:7"), **told).verdict == "insufficient_evidence"
    assert verdict(*parse_api_uses("Produce:9 Metadata:7"), **told).verdict == "safe"


@pytest.mark.parametrize("name", ["sarama", None])
def test_where_not_even_the_protocol_is_known_the_doubt_is_said(name):
    """Few use Kerberos: the client is not held back, but it is not plainly safe."""
    told = {"client_software_name": name, "client_id": "orders", "security_protocol": None}
    found = verdict(*parse_api_uses("Produce:7 Metadata:7"), **told)
    assert "it is sarama 1.23.0 to 1.46.0 and it authenticates with SASL GSSAPI" in found.condition


def test_a_commit_of_a_go_module_may_be_any_version():
    told = {"client_software_name": "kgo", "client_software_version": "v0.0.0-20211011101112-abcdefabcdef"}
    found = verdict(*MODERN, **told, sasl_mechanism="SCRAM-SHA-512", source="2.8.1", target="3.9.1")
    assert found.verdict == "insufficient_evidence"
    assert "it is franz-go 0.6.0 to 1.2.6 and it uses SCRAM" in found.condition


def test_a_library_of_unknown_version_has_the_latent_issues_of_all_its_versions_as_conditions():
    """librdkafka 2.5.0 to 2.5.2 abort once a subscription matches none of their metrics (KIP-714, brokers from 3.7)."""
    for version, condition in (("2.5.1", ""), ("", "it is librdkafka 2.5.0 to 2.5.2 and "), ("2.6.1", None)):
        verdict = judge(ClientEvidence("librdkafka", version), "3.6.2", "3.9.1")
        expected = f"breaks later if {condition}a KIP-714 subscription matches none of its metrics"
        assert (expected in verdict.condition) == (condition is not None), version
