"""What becomes of a broker's settings on another release. What brokers do with them was tried on their classes (docs/knowledge.md)."""

import pytest
from client_telemetry import knowledge
from client_telemetry.compatibility import configuration_changes
from client_telemetry.compatibility.java_properties import parse
from client_telemetry.knowledge import broker_classes
from client_telemetry.knowledge_package import brokers

ACL_AUTHORIZER = "kafka.security.authorizer.AclAuthorizer"
KRAFT = "process.roles=broker\nnode.id=1\n"


def of(text: str, from_release: str = "3.9.1", to_release: str = "4.0.0"):
    settings = configuration_changes.of_environment(parse(text))
    return configuration_changes.of_settings(settings, from_release, to_release)


def keys(found):
    return [each.setting.key for each in found]


def test_keys_that_the_target_does_not_have():
    found = of(KRAFT + "zookeeper.connect=zk:2181\nlog.message.format.version=2.8\nlog.dirs=/a\n")
    assert keys(found.gone) == ["zookeeper.connect", "log.message.format.version"]
    assert found.gone[0].setting.line == 3


@pytest.mark.parametrize(
    ("setting", "pair", "loses"),
    [
        ("zookeeper.connect=zk:2181", ("3.9.1", "4.0.0"), False),
        ("password.encoder.secret=a", ("3.9.1", "4.0.0"), False),
        ("log.message.timestamp.difference.max.ms=60000", ("3.9.1", "4.0.0"), True),
        ("metrics.jmx.blacklist=a", ("3.9.1", "4.0.0"), True),
        ("port=9093", ("2.8.2", "3.9.1"), True),
        ("group.share.max.groups=5", ("4.0.0", "4.4.0"), True),  # No document says what takes its place.
        ("log.message.timestamp.after.max.ms=1", ("4.0.0", "3.5.2"), True),
    ],
)
def test_a_key_that_is_ignored_matters_if_the_broker_loses_something_or_if_that_is_not_known(
    setting, pair, loses
):
    found = of(f"{KRAFT}{setting}\n", *pair)
    assert keys(found.gone) == [setting.partition("=")[0]] and found.must_change == loses


@pytest.mark.parametrize(
    ("settings", "pair", "loses"),
    [
        ("metric.reporters=a.B", ("3.9.1", "4.0.0"), True),
        ("metric.reporters=a.B", ("2.8.2", "4.1.0"), True),
        ("metric.reporters=a.B,org.apache.kafka.common.metrics.JmxReporter", ("3.9.1", "4.0.0"), False),
        ("metric.reporters=a.B\nauto.include.jmx.reporter=false", ("3.9.1", "4.0.0"), False),
        ("metric.reporters=", ("3.9.1", "4.0.0"), True),
        ("metric.reporters=${env:A}", ("3.9.1", "4.0.0"), False),
        ("metric.reporters=a.B", ("3.5.2", "3.9.1"), False),
        ("metric.reporters=a.B", ("4.0.0", "4.4.0"), False),
        ("metric.reporters=a.B", ("4.0.0", "3.9.1"), False),
        ("log.dirs=/a", ("3.9.1", "4.0.0"), False),
    ],
)
def test_reporters_that_are_set_without_jmx(settings, pair, loses):
    found = of(f"{KRAFT}{settings}\n", *pair)
    assert bool(found.loses_jmx) == loses and (found.must_change or not loses)


def test_keys_of_reporters_are_read_until_they_are_removed():
    assert keys(of(f"{KRAFT}metrics.jmx.whitelist=a\n", "3.7.0", "3.9.1").gone) == []
    assert keys(of(f"{KRAFT}metrics.jmx.whitelist=a\n", "4.0.0", "4.4.0").in_neither) == [
        "metrics.jmx.whitelist"
    ]
    assert keys(of(f"{KRAFT}metrics.jmx.whitelist=a\n", "4.0.0", "3.9.1").takes_effect) == [
        "metrics.jmx.whitelist"
    ]


def test_what_takes_the_place_of_what_is_gone():
    found = of(f"{KRAFT}zookeeper.connect=zk\nauthorizer.class.name={ACL_AUTHORIZER}\n")
    assert "controller.quorum.voters" in found.gone[0].removed.instead
    assert [each.instead for each in found.gone_classes] == [
        "org.apache.kafka.metadata.authorizer.StandardAuthorizer"
    ]


def test_a_rollback_finds_what_the_older_release_does_not_know():
    found = of(KRAFT + "share.coordinator.threads=2\n", "4.0.0", "3.9.1")
    assert keys(found.gone) == ["share.coordinator.threads"]
    prepared = of(KRAFT + "share.coordinator.threads=2\n")
    assert keys(prepared.takes_effect) == ["share.coordinator.threads"] and not prepared.must_change


def test_required_keys_and_their_synonym():
    assert of("broker.id=1\nzookeeper.connect=zk\n").missing == ("process.roles",)
    assert of("log.dirs=/a\nzookeeper.connect=zk\n").missing == ("node.id", "process.roles")
    assert of("process.roles=broker\nbroker.id=1\n").missing == ()


def test_of_a_part_of_the_settings_nothing_is_missing():
    """As the config of a Strimzi resource and an MSK configuration, to which others add the rest."""
    part = of("min.insync.replicas=2\n", "3.7.0", "4.1.0")
    assert (part.missing, part.is_whole, part.must_change) == ((), False, False)
    assert of(KRAFT).is_whole and of("broker.id=1\nzookeeper.connect=zk\n").is_whole


def subjects(found):
    return [each.subject for each in found.blockers]


def test_what_stops_the_upgrade():
    zookeeper = of("broker.id=1\nzookeeper.connect=zk\n", "3.7.0", "4.1.0")
    assert set(subjects(zookeeper)) == {"ZooKeeper mode"} and zookeeper.must_change
    assert subjects(of(KRAFT)) == [] and subjects(of("zookeeper.connect=zk\n", "2.8.2", "3.9.1")) == []
    tokens = KRAFT + "delegation.token.master.key=a\n"
    assert subjects(of(tokens)) == ["delegation.token.master.key"]
    assert subjects(of(tokens + "delegation.token.secret.key=a\n")) == []
    assert subjects(of("delegation.token.master.key=a\n")) == []
    url = "sasl.oauthbearer.jwks.endpoint.url"
    assert subjects(of(f"{KRAFT}listener.name.a.oauthbearer.{url}=https://a\n")) == [url]
    assert subjects(of(KRAFT + "zookeeper.connect=zk\n", "4.0.0", "3.9.1")) == []


def test_what_is_refused_is_not_said_twice():
    found = of(KRAFT + "log.segment.bytes=1000\n")
    assert len(found.refused) == 1 and subjects(found) == []


def names(found):
    return [each.name for each in found]


@pytest.mark.parametrize(
    ("setting", "pair", "gone"),
    [
        (f"authorizer.class.name={ACL_AUTHORIZER}", ("3.9.1", "4.0.0"), [ACL_AUTHORIZER]),
        (f"authorizer.class.name = {ACL_AUTHORIZER} ", ("2.8.2", "3.9.1"), []),
        (f"authorizer.class.name={ACL_AUTHORIZER}", ("2.4.0", "2.3.1"), [ACL_AUTHORIZER]),
        ("authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer", ("3.9.1", "4.4.0"), []),
        (
            "authorizer.class.name=kafka.security.auth.SimpleAclAuthorizer",
            ("2.8.2", "3.9.1"),
            ["kafka.security.auth.SimpleAclAuthorizer"],
        ),
        (
            "principal.builder.class=org.apache.kafka.common.security.auth.DefaultPrincipalBuilder",
            ("2.8.2", "3.0.0"),
            ["org.apache.kafka.common.security.auth.DefaultPrincipalBuilder"],
        ),
        (
            "listener.name.a.oauthbearer.sasl.server.callback.handler.class="
            "org.apache.kafka.common.security.oauthbearer.secured.OAuthBearerValidatorCallbackHandler",
            ("3.9.1", "4.0.0"),
            ["org.apache.kafka.common.security.oauthbearer.secured.OAuthBearerValidatorCallbackHandler"],
        ),
        (
            "metric.reporters=org.apache.kafka.common.metrics.JmxReporter, kafka.metrics.KafkaCSVMetricsReporter",
            ("3.9.1", "4.4.0"),
            [],
        ),
        (
            "config.providers=env\nconfig.providers.env.class=org.apache.kafka.common.config.provider.EnvVarConfigProvider",
            ("3.9.1", "3.4.1"),
            ["org.apache.kafka.common.config.provider.EnvVarConfigProvider"],
        ),
        (
            "sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required user=a;",
            ("1.0.0", "0.10.1.1"),
            [],  # The key is not read there.
        ),
        ("group.consumer.assignors=uniform,range", ("3.9.1", "4.0.0"), []),
    ],
)  # fmt: skip
def test_classes_of_kafka_that_the_target_does_not_have(setting, pair, gone):
    found = of(f"{KRAFT}{setting}\n", *pair)
    assert names(found.gone_classes) == gone
    assert found.must_change or not gone
    assert found.classes_not_judged == ()


def test_classes_of_others_are_not_judged():
    text = (
        "authorizer.class.name=io.strimzi.kafka.oauth.server.authorizer.KeycloakAuthorizer\n"
        "metric.reporters=org.apache.kafka.common.metrics.JmxReporter,kafka.metrics.OwnReporter\n"
        "sasl.jaas.config=com.sun.security.auth.module.Krb5LoginModule required;\n"
        "client.quota.callback.class=${file:/a:b}\n"
    )
    found = of(KRAFT + text)
    assert names(found.classes_not_judged) == [
        "io.strimzi.kafka.oauth.server.authorizer.KeycloakAuthorizer",
        "kafka.metrics.OwnReporter",
    ]
    assert (found.gone_classes, found.must_change) == ((), False)


def test_classes_of_kafka_are_not_judged_by_a_package_without_them():
    knowledge.use_package(brokers.base().with_texts({broker_classes.FILE: ",".join(broker_classes.COLUMNS)}))
    try:
        found = of(f"{KRAFT}authorizer.class.name={ACL_AUTHORIZER}\n")
    finally:
        knowledge.use(None)
    assert names(found.classes_not_judged) == [ACL_AUTHORIZER] and found.gone_classes == ()


def test_a_class_that_is_gone_is_not_said_twice():
    text = "zookeeper.connect=zk\nauthorizer.class.name=kafka.security.auth.SimpleAclAuthorizer\n"
    found = of(text, "2.8.2", "3.9.1")
    assert len(found.gone_classes) == 1 and subjects(found) == []


def test_config_providers_are_read_by_releases_that_do_not_define_them():
    text = KRAFT + "config.providers=file\nconfig.providers.file.class=a.B\n"
    for pair in (("2.8.2", "3.9.1"), ("3.9.1", "4.2.0"), ("4.2.0", "3.9.1")):
        found = of(text, *pair)
        assert keys(found.not_judged) == ["config.providers", "config.providers.file.class"]
        assert not (found.gone or found.in_neither or found.takes_effect)


def test_of_a_value_that_is_elsewhere_only_that_it_is_set_counts():
    found = of(
        KRAFT + "log.segment.bytes=${env:BYTES}\nauthorizer.class.name={{ authorizer }}\nlog.dirs=/a\n"
    )
    assert keys(found.values_not_known) == ["log.segment.bytes", "authorizer.class.name"]
    assert (found.refused, found.gone_classes, found.classes_not_judged) == ((), (), ())
    secret = "delegation.token.master.key=${file:/a:b}\n"
    assert subjects(of(KRAFT + secret)) == ["delegation.token.master.key"]


def test_a_mode_in_a_part_of_the_settings_counts_and_nothing_is_missing():
    settings = parse("zookeeper.connect=zk\n")
    found = configuration_changes.of_settings(settings, "3.9.1", "4.0.0", is_part=True)
    assert (found.is_zookeeper, found.is_whole, found.missing) == (True, False, ())
    assert "ZooKeeper mode" in subjects(found)


def test_values_outside_of_the_range_of_the_target():
    found = of(KRAFT + "log.segment.bytes=1000\nnum.io.threads=${threads}\n")
    assert [(each.setting.key, each.valid_range) for each in found.refused] == [
        ("log.segment.bytes", "[1048576,...]")
    ]
    assert of(KRAFT + "log.segment.bytes=1048576\n").refused == ()


@pytest.mark.parametrize(
    ("setting", "pair", "valid"),
    [
        ("inter.broker.protocol.version=3.9", ("3.9.1", "3.5.1"), ["up to 3.5-IV2"]),
        ("inter.broker.protocol.version = 3.9-IV0 ", ("3.9.1", "3.8.1"), ["up to 3.8-IV0"]),
        ("log.message.format.version=3.6", ("3.6.2", "3.5.1"), ["up to 3.5-IV2"]),
        ("inter.broker.protocol.version=1.0", ("1.0.2", "0.11.0.3"), ["up to 0.11.0-IV2"]),
        ("inter.broker.protocol.version=3.5.1", ("3.9.1", "3.5.1"), []),
        ("inter.broker.protocol.version=0.10.2", ("3.9.1", "0.11.0.3"), []),
        ("inter.broker.protocol.version=2.8-IV1", ("2.8.2", "3.9.1"), []),
        ("inter.broker.protocol.version=3.9", ("3.9.1", "4.0.0"), []),  # It is ignored there.
        ("inter.broker.protocol.version=${env:A}", ("3.9.1", "3.5.1"), []),
    ],
)
def test_protocols_of_releases_that_come_later_are_refused(setting, pair, valid):
    found = of(f"broker.id=1\nzookeeper.connect=zk\n{setting}\n", *pair)
    assert [each.valid_range for each in found.refused] == valid


@pytest.mark.parametrize(
    ("setting", "to_release", "valid"),
    [
        ("group.coordinator.rebalance.protocols=classic, consumer, streams", "4.0.0", ["classic,consumer"]),
        ("group.coordinator.rebalance.protocols=classic,streams", "3.9.1", ["classic,consumer"]),
        ("group.coordinator.rebalance.protocols=classic,streams", "4.1.0", []),
        ("group.coordinator.rebalance.protocols=classic,streams", "3.6.2", []),  # The key is not read there.
        ("group.consumer.assignors=range", "3.9.1", ["org.apache.kafka.coordinator.group.assignor.RangeAssignor"]),
        ("group.consumer.assignors=uniform,range", "4.0.0", []),
        ("group.consumer.assignors=a.B", "3.9.1", []),
    ],
)  # fmt: skip
def test_names_that_only_later_releases_know_are_refused(setting, to_release, valid):
    found = of(f"{KRAFT}{setting}\n", "4.3.1", to_release)
    assert [each.valid_range for each in found.refused] == valid


def test_an_id_that_the_broker_gives_itself_is_refused_as_that_of_a_node():
    (refused,) = of("process.roles=broker\nbroker.id=-1\n").refused
    assert (refused.setting.key, refused.valid_range) == ("broker.id", "[0,...]")
    assert of("broker.id=-1\nzookeeper.connect=zk\n", "2.8.2", "3.9.1").refused == ()
    assert of(f"{KRAFT}broker.id=-1\n").refused == ()


def test_a_default_changes_only_where_the_key_is_not_set():
    recovery = "num.recovery.threads.per.data.dir"
    assert recovery in [each.key for each in of(KRAFT).defaults]
    assert recovery not in [each.key for each in of(f"{KRAFT}{recovery}=8\n").defaults]


def test_kraft_does_not_read_the_protocol_version():
    def changed(text):
        return [each.key for each in of(text, "3.7.0", "3.9.1").defaults]

    protocol = configuration_changes.PROTOCOL
    assert protocol in changed("broker.id=1\nzookeeper.connect=zk\n") and protocol not in changed(KRAFT)


def test_keys_of_listeners_are_those_that_they_set_for_them():
    found = of(
        KRAFT
        + "listener.name.internal.scram-sha-256.sasl.jaas.config=x\n"
        + "listener.name.internal.ssl.keystore.location=x\n"
        + "listener.name.internal.max.connections=5\n"
    )
    assert (found.gone, found.not_judged) == ((), ())
    assert keys(of("listener.name.a.b.c=1\n").not_judged) == ["listener.name.a.b.c"]


def test_what_no_release_defines_is_not_judged():
    found = of(KRAFT + "confluent.license=a\nsuper.users=User:a\nauthorizer.class.name=x\n")
    assert keys(found.not_judged) == ["confluent.license", "super.users"]


def test_what_only_other_releases_define():
    assert keys(of(KRAFT + "port=9092\n").in_neither) == ["port"]


def test_variables_of_container_images():
    found = of(
        "KAFKA_ZOOKEEPER_CONNECT=zk:2181\nKAFKA_NODE_ID=1\nKAFKA_PROCESS_ROLES=broker\nKAFKA_HEAP_OPTS=-Xmx1g\n"
    )
    assert keys(found.gone) == ["zookeeper.connect"] and found.missing == () and found.not_judged == ()


def test_variables_as_people_keep_them():
    for text in (
        "KAFKA_CFG_NODE_ID=1\nKAFKA_CFG_PROCESS_ROLES=broker\nKAFKA_CFG_LOG_SEGMENT_BYTES=5\n",
        "export KAFKA_NODE_ID=1\nexport KAFKA_PROCESS_ROLES='broker'\nexport KAFKA_LOG_SEGMENT_BYTES=\"5\"\n",
        "export KAFKA_NODE_ID=1 KAFKA_PROCESS_ROLES='broker'; export KAFKA_LOG_SEGMENT_BYTES=5\n",
        "environment:\n  - KAFKA_NODE_ID=1\n  - 'KAFKA_PROCESS_ROLES=broker'\n  - KAFKA_LOG_SEGMENT_BYTES=5\n",
        "environment:\n  KAFKA_NODE_ID: 1\n  KAFKA_PROCESS_ROLES: broker\n  KAFKA_LOG_SEGMENT_BYTES: '5'\n",
    ):
        found = of(text)
        assert (found.is_whole, found.missing) == (True, ())
        assert [(each.key, each.setting.value) for each in found.refused] == [("log.segment.bytes", "5")]


def test_the_last_of_equal_keys_counts():
    assert of(KRAFT + "log.segment.bytes=1\nlog.segment.bytes=2000000\n").refused == ()
