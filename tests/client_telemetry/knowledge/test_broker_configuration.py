"""Configuration keys by release: what Kafka documents, exact per patch, and nothing of a release that was not read."""

import pytest
from client_telemetry import knowledge
from client_telemetry.knowledge import DamagedKnowledge, broker_configuration, releases
from client_telemetry.knowledge.broker_configuration import BROKER, REQUIRED, TOPIC
from client_telemetry.knowledge_package import brokers

HEADER = ",".join(broker_configuration.COLUMNS)


@pytest.fixture(autouse=True)
def _shipped_again():
    yield
    knowledge.use(None)


def use(**texts: str) -> None:
    knowledge.use_package(brokers.base().with_texts({f"{name}.csv": text for name, text in texts.items()}))


def defaults(scope, key, *of_releases):
    return [broker_configuration.of(scope, release)[key].default for release in of_releases]


def test_every_known_release_was_read():
    assert broker_configuration.not_known_for(*releases.known()) == ()


@pytest.mark.parametrize(
    ("scope", "key", "before", "after"),
    [
        # Upgrade notes of 4.0, "Notable changes in 4.0.0" (KIP-1030).
        (BROKER, "num.recovery.threads.per.data.dir", "1", "2"),
        (BROKER, "log.message.timestamp.after.max.ms", "9223372036854775807", "3600000"),
        (TOPIC, "message.timestamp.after.max.ms", "9223372036854775807", "3600000"),
        (BROKER, "remote.log.manager.copier.thread.pool.size", "-1", "10"),
        (BROKER, "remote.log.manager.expiration.thread.pool.size", "-1", "10"),
        # KIP-848: the new group protocol is on.
        (BROKER, "group.coordinator.rebalance.protocols", "classic", "classic,consumer"),
        # KIP-500: there is no ZooKeeper.
        (BROKER, "process.roles", "", REQUIRED),
    ],
)
def test_documented_changes_of_4_0(scope, key, before, after):
    assert defaults(scope, key, "3.9.2", "4.0.0") == [before, after]
    (changed,) = [
        each for each in broker_configuration.changes(scope, "3.9.2", "4.0.0").defaults if each.key == key
    ]
    assert (changed.before.default, changed.after.default) == (before, after)


@pytest.mark.parametrize(
    ("scope", "key"),
    [
        (BROKER, "zookeeper.connect"),
        (BROKER, "inter.broker.protocol.version"),
        (BROKER, "log.message.format.version"),
        (BROKER, "log.message.timestamp.difference.max.ms"),
        (BROKER, "delegation.token.master.key"),
        (TOPIC, "message.format.version"),
        (TOPIC, "message.timestamp.difference.max.ms"),
    ],
)
def test_documented_removals_of_4_0(scope, key):
    assert key in broker_configuration.of(scope, "3.9.2")
    assert key in dict(broker_configuration.changes(scope, "3.9.2", "4.0.0").gone)
    assert key in dict(broker_configuration.changes(scope, "4.0.0", "3.9.2").new)


def test_documented_changes_of_other_releases():
    # Upgrade notes of 3.0 (KIP-679 is of clients): log.cleaner is not among them; KIP-724 fixed the message format.
    assert defaults(BROKER, "log.message.format.version", "2.8.2", "3.0.0") == ["2.8-IV1", "3.0-IV1"]
    # Upgrade notes of 1.0.0: port and host.name went in 3.0 (KAFKA-12945).
    assert "port" in dict(broker_configuration.changes(BROKER, "2.8.2", "3.0.0").gone)
    # KIP-1030: segments of at least 1 MiB. The brokers' key got it in 4.0, that of topics in 4.1.
    ranges = [
        broker_configuration.of(BROKER, each)["log.segment.bytes"].valid_range for each in ("3.9.2", "4.0.0")
    ]
    assert ranges == ["[14,...]", "[1048576,...]"]
    ranges = [
        broker_configuration.of(TOPIC, each)["segment.bytes"].valid_range for each in ("4.0.2", "4.1.0")
    ]
    assert ranges == ["[14,...]", "[1048576,...]"]


def test_keys_that_kafka_does_not_document_are_marked_and_no_change():
    assert broker_configuration.of(BROKER, "2.8.0")["process.roles"].is_internal
    assert not broker_configuration.of(BROKER, "3.0.0")["process.roles"].is_internal
    internal = [key for key, each in broker_configuration.of(BROKER, "4.0.0").items() if each.is_internal]
    assert internal and not set(internal) & set(
        dict(broker_configuration.changes(BROKER, "3.9.2", "4.0.0").new)
    )


def test_an_open_range_does_not_cover_a_release_that_was_not_read():
    """Neither one in the middle nor the newest: unknown, never the nearest."""
    for unread in ("4.0.1", releases.known()[-1]):
        knowledge.use(None)
        without = [
            line
            for line in knowledge.shipped_texts()[broker_configuration.RELEASES_FILE].splitlines()
            if not line.startswith(f"{unread},")
        ]
        rows = [
            line
            for line in knowledge.shipped_texts()[broker_configuration.FILE].splitlines()
            if f",{unread}," not in line
        ]
        use(
            broker_configuration_releases="\n".join(without) + "\n",
            broker_configuration="\n".join(rows) + "\n",
        )
        assert broker_configuration.not_known_for("3.9.1", unread) == (unread,)
        with pytest.raises(KeyError):
            broker_configuration.of(BROKER, unread)
        assert "node.id" in broker_configuration.of(BROKER, "4.0.0")


def test_a_package_from_before_these_files_knows_no_configuration():
    package = brokers.base()
    knowledge.use_package(
        type(package)(
            package.origin,
            package.built_at,
            {name: each for name, each in package.compressed.items() if "configuration" not in name},
        )
    )
    assert broker_configuration.not_known_for("4.0.0") == ("4.0.0",)


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        (["broker,a,4.0.0,4.0.2,int,1,,,s", "broker,a,4.0.1,,int,2,,,s"], "broker key a of 4.0.1 is already in the row before"),
        (["broker,a,4.0.1,4.0.0,int,1,,,s"], "release_from 4.0.1 is newer than release_to 4.0.0"),
        (["broker,b,4.0.0,,int,1,,,s", "broker,a,4.0.0,,int,1,,,s"], "a comes too late"),
    ],
)  # fmt: skip
def test_rows_that_contradict_each_other_are_refused(rows, says):
    use(broker_configuration="\n".join([HEADER, *rows]) + "\n")
    with pytest.raises(DamagedKnowledge, match=says):
        broker_configuration.ever(BROKER)


def test_rows_written_from_what_is_read_are_the_file():
    known = {
        release: {scope: broker_configuration.of(scope, release) for scope in broker_configuration.SCOPES}
        for release in broker_configuration.read()
    }
    rows = list(broker_configuration.rows_of(known, broker_configuration.sources()))
    assert rows == [
        tuple(cells) for _, cells in knowledge.rows(broker_configuration.FILE, broker_configuration.COLUMNS)
    ]


def test_the_order_of_a_map_is_no_change():
    """Of listener.security.protocol.map, which 3.8 writes in another order."""
    changed = [each.key for each in broker_configuration.changes("broker", "3.7.0", "4.2.0").defaults]
    assert "listener.security.protocol.map" not in changed and "num.recovery.threads.per.data.dir" in changed
