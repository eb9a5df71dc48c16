"""Metrics by release: gone is only what the jars no longer have, and a release that was not run is not known."""

import pytest
from client_telemetry import knowledge
from client_telemetry.knowledge import DamagedKnowledge, broker_metrics, releases
from client_telemetry.knowledge.broker_metrics import Metric
from client_telemetry.knowledge.broker_release import csv_text
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


def test_brokers_of_every_release_were_run():
    assert broker_metrics.not_known_for(*releases.known()) == ()


def test_a_release_that_was_not_run_is_not_known():
    written({"2.4.0": frozenset(), "4.0.0": frozenset()}, {})
    assert broker_metrics.not_known_for("2.3.1", "4.0.0") == ("2.3.1",)
    with pytest.raises(KeyError):
        broker_metrics.seen("2.3.1")


@pytest.mark.parametrize(
    ("kip", "before", "since", "names"),
    [
        ("KIP-188", "0.11.0.3", "1.0.0", {"ErrorsPerSec", "RequestBytes", "TemporaryMemoryBytes", "MessageConversionsTimeMs"}),
        ("KIP-164", "0.11.0.3", "1.0.0", {"UnderMinIsrPartitionCount", "UnderMinIsr"}),
        ("KIP-227", "1.0.2", "1.1.0", {"IncrementalFetchSessionEvictionsPerSec", "NumIncrementalFetchSessions"}),
    ],
)  # fmt: skip
def test_metrics_are_new_in_the_release_that_their_proposal_names(kip, before, since, names):
    assert names <= {each.name for each in broker_metrics.changes(before, since).new}
    assert names <= {each.name for each in broker_metrics.changes(since, before).gone}


NONE_RUN = {
    broker_metrics.FILE: f"{HEADER}\n",
    broker_metrics.RELEASES_FILE: ",".join(broker_metrics.RELEASES_COLUMNS) + "\n",
}


def written(seen, names):
    """Use a package of these releases alone; gives its rows."""
    knowledge.use_package(brokers.base().with_texts(NONE_RUN))
    rows = list(broker_metrics.with_runs(seen, names))
    sources = [(release, "s") for release in seen]
    texts = {
        broker_metrics.FILE: csv_text(broker_metrics.COLUMNS, rows),
        broker_metrics.RELEASES_FILE: csv_text(broker_metrics.RELEASES_COLUMNS, sources),
    }
    knowledge.use_package(brokers.base().with_texts(texts))
    return rows


@pytest.mark.parametrize("later", ["the newest", "the oldest", "3.0.0", "3.9.2"])
def test_a_release_that_is_run_later_gives_the_same_rows(later):
    rows = [tuple(cells) for _, cells in knowledge.rows(broker_metrics.FILE, broker_metrics.COLUMNS)]
    run = broker_metrics.read()
    seen = {release: broker_metrics.seen(release) for release in run}
    having = {each: broker_metrics.ever_in_jars(each) for each in frozenset().union(*seen.values())}
    names = {
        release: frozenset(metric.constant for metric, releases in having.items() if release in releases)
        for release in run
    }
    later = {"the newest": run[-1], "the oldest": run[0]}.get(later, later)
    of_it = {later: seen.pop(later)}
    written(seen, {release: names[release] for release in seen})
    if all(map(broker_metrics.ever_in_jars, of_it[later])):
        names = {later: names[later]}
    assert list(broker_metrics.with_runs(of_it, names)) == rows


def test_a_metric_that_no_release_showed_before_may_be_in_older_jars():
    written({"3.9.0": frozenset((C,)), "4.0.0": frozenset((C,))}, {"3.9.0": {"C"}, "4.0.0": {"C"}})
    assert broker_metrics.ever_in_jars(C) == {"3.9.0", "4.0.0"} and not broker_metrics.ever_in_jars(B)
    names = {"3.9.0": {"C"}, "4.0.0": {"B", "C"}, "4.1.0": {"B", "C"}}
    (row, _) = broker_metrics.with_runs({"4.1.0": frozenset((B, C))}, names)
    assert row == ("kafka.server", "T", "B", "", "4.1.0", "", "4.0.0", "", "a broker of 4.1.0 was run")


def test_a_name_that_is_put_together_in_some_releases_is_gone_from_those_that_had_it_whole():
    """As PartitionReassignmentRateAndTimeMs: 2.3 puts it together, 2.4 has it in a class, 4.0 has neither it nor the metric."""
    seen = {"2.3.0": {A}, "2.4.0": {A}, "4.0.0": set()}
    names = {"2.3.0": frozenset(), "2.4.0": frozenset("A"), "4.0.0": frozenset()}
    rows = written({release: frozenset(metrics) for release, metrics in seen.items()}, names)
    assert [row[4:8] for row in rows] == [("2.3.0", "2.3.0", "", ""), ("2.4.0", "2.4.0", "2.3.0", "2.4.0")]
    assert broker_metrics.changes("2.4.0", "4.0.0") == ((A,), (), (), ())
    assert broker_metrics.changes("2.3.0", "4.0.0") == ((), (), (), (A,))
    later = list(broker_metrics.with_runs({"3.9.0": frozenset((A,))}, {"3.9.0": frozenset("A")}))
    assert [row[4:8] for row in later] == [("2.3.0", "2.3.0", "", ""), ("2.4.0", "3.9.0", "2.3.0", "3.9.0")]


def test_what_is_not_seen_is_gone_only_where_the_jars_lack_its_name():
    everywhere = frozenset("ABC")
    written(
        {"3.9.0": frozenset((A, B, C)), "4.0.0": frozenset((C,)), "4.1.0": frozenset((B, C))},
        {"3.9.0": everywhere, "4.0.0": everywhere - {"A"}, "4.1.0": everywhere - {"A"}},
    )
    assert broker_metrics.changes("3.9.0", "4.0.0") == ((A,), (), (), (B,))
    assert broker_metrics.changes("4.0.0", "3.9.0") == ((), (A,), (), ())
    assert broker_metrics.seen("4.1.0") == {B, C}


def test_the_only_changes_of_tags_since_0_10_are_those_that_kafka_documents():
    """KIP-272 in 2.0, and the listener that 0.11 names beside its processors; back again in a rollback."""
    requests, versions = (
        Metric("kafka.network", "RequestMetrics", "RequestsPerSec", tags)
        for tags in (("request",), ("request", "version"))
    )
    sockets, listeners = (
        Metric("kafka.server", "socket-server-metrics", "", tags)
        for tags in (("networkProcessor",), ("listener", "networkProcessor"))
    )
    changes = broker_metrics.changes("1.1.1", "2.0.0")
    assert changes.retagged == ((requests, versions),)
    assert not {requests, versions} & {*changes.gone, *changes.new, *changes.not_seen}
    found = {
        each
        for before in broker_metrics.read()
        for after in broker_metrics.read()
        for each in broker_metrics.changes(before, after).retagged
    }
    both = {(requests, versions), (sockets, listeners)}
    assert found == both | {(after, before) for before, after in both}


def test_a_name_that_no_class_has_is_never_gone():
    written({"3.9.0": frozenset((A,)), "4.0.0": frozenset()}, {"3.9.0": frozenset(), "4.0.0": frozenset()})
    assert broker_metrics.changes("3.9.0", "4.0.0") == ((), (), (), (A,))


@pytest.mark.parametrize(
    ("row", "says"),
    [
        ("kafka.server,T,A,,4.0.0,,4.0.1,,s", "whose jars do not have its name"),
        ("kafka.server,T,A,,4.0.1,4.0.0,,,s", "4.0.1 is newer than 4.0.0"),
        ("kafka.server,T,A,,4.0.0,,,,s\nkafka.server,T,A,,4.0.1,,,,s", "ranges overlap"),
        ("kafka.server,T,A,,2.3.9,,,,s", "2.3.9 is not in broker_metrics_releases.csv"),
    ],
)
def test_rows_that_contradict_each_other_are_refused(row, says):
    texts = {broker_metrics.FILE: f"{HEADER}\n{row}\n"}
    knowledge.use_package(brokers.base().with_texts(texts))
    with pytest.raises(DamagedKnowledge, match=says):
        broker_metrics.check()
