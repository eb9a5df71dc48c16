"""Metrics by release: gone is only what the jars no longer have, and a release that was not run is not known."""

import pytest
from client_telemetry import knowledge
from client_telemetry.knowledge import DamagedKnowledge, broker_metrics, releases
from client_telemetry.knowledge.broker_metrics import Metric
from client_telemetry.knowledge_package import brokers

ZOOKEEPER = Metric("kafka.server", "ZooKeeperClientMetrics", "ZooKeeperRequestLatencyMs", ())
BYTES_IN = Metric("kafka.server", "BrokerTopicMetrics", "BytesInPerSec", ("topic",))
A, B, C = (Metric("kafka.server", "T", name, ()) for name in "ABC")
HEADER = ",".join(broker_metrics.COLUMNS)


@pytest.fixture(autouse=True)
def _shipped_again():
    yield
    knowledge.use(None)


def test_zookeeper_metrics_are_gone_in_4_0():
    changes = broker_metrics.changes("3.9.2", "4.0.0")
    assert ZOOKEEPER in changes.gone and ZOOKEEPER in broker_metrics.changes("4.0.0", "3.9.2").new
    # Upgrade notes of 4.0: KRaft has no ControllerState and no ZkMigrationState.
    names = {each.name for each in changes.gone}
    assert {"ControllerState", "ZkMigrationState", "MigratingZkBrokerCount"} <= names


def test_the_metrics_of_every_dashboard_are_seen_everywhere():
    assert all(BYTES_IN in broker_metrics.seen(release) for release in broker_metrics.read())
    assert BYTES_IN.text() == "kafka.server:type=BrokerTopicMetrics,name=BytesInPerSec,topic=*"


def test_releases_before_2_4_were_not_run():
    known = [release for release in releases.known() if releases.parse(release) >= (2, 4)]
    assert broker_metrics.not_known_for(*known) == ()
    assert broker_metrics.not_known_for("2.3.1", "4.0.0") == ("2.3.1",)
    with pytest.raises(KeyError):
        broker_metrics.seen("2.3.1")


def written(seen, names):
    rows = broker_metrics.rows_of(seen, names)
    texts = {
        broker_metrics.FILE: "\n".join([HEADER, *(",".join(row) for row in rows)]) + "\n",
        broker_metrics.RELEASES_FILE: "release,source\n" + "".join(f"{release},s\n" for release in seen),
    }
    knowledge.use_package(brokers.base().with_texts(texts))


def test_what_is_not_seen_is_gone_only_where_the_jars_lack_its_name():
    everywhere = frozenset("ABC")
    written(
        {"3.9.0": frozenset((A, B, C)), "4.0.0": frozenset((C,)), "4.1.0": frozenset((B, C))},
        {"3.9.0": everywhere, "4.0.0": everywhere - {"A"}, "4.1.0": everywhere - {"A"}},
    )
    assert broker_metrics.changes("3.9.0", "4.0.0") == ((A,), (), (B,))
    assert broker_metrics.changes("4.0.0", "3.9.0") == ((), (A,), ())
    assert broker_metrics.seen("4.1.0") == {B, C}


def test_a_name_that_no_class_has_is_never_gone():
    written({"3.9.0": frozenset((A,)), "4.0.0": frozenset()}, {"3.9.0": frozenset(), "4.0.0": frozenset()})
    assert broker_metrics.changes("3.9.0", "4.0.0") == ((), (), (A,))


@pytest.mark.parametrize(
    ("row", "says"),
    [
        ("kafka.server,T,A,,4.0.0,,4.0.1,,s", "whose jars do not have its name"),
        ("kafka.server,T,A,,4.0.1,4.0.0,,,s", "4.0.1 is newer than 4.0.0"),
        ("kafka.server,T,A,,4.0.0,,,,s\nkafka.server,T,A,,4.0.1,,,,s", "ranges overlap"),
        ("kafka.server,T,A,,2.3.1,,,,s", "2.3.1 is not in broker_metrics_releases.csv"),
    ],
)
def test_rows_that_contradict_each_other_are_refused(row, says):
    texts = {broker_metrics.FILE: f"{HEADER}\n{row}\n"}
    knowledge.use_package(brokers.base().with_texts(texts))
    with pytest.raises(DamagedKnowledge, match=says):
        broker_metrics.check()
