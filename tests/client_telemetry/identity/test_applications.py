"""What is one program, by ids that real ones sent (Kafka Streams, Connect, MirrorMaker 2, goka, Kafka's tools)."""

import datetime as dt
import random
import time
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace
from itertools import permutations

import pytest
from client_telemetry.identity.applications import (
    BY_PLACE,
    CALLED_AS_A_BROKER,
    DEFAULT_ID,
    MAYBE_TWO,
    MOST_DEFAULT_IDS,
    OF_A_MIRROR,
    OF_THE_TOOL,
    SEVERAL_PROGRAMS,
    SEVERAL_VERSIONS,
    SHARED_ID,
    Application,
    Client,
    applications,
)
from client_telemetry.knowledge import apis
from client_telemetry.knowledge.vocabulary import APPLICATION_KINDS

NOON = dt.datetime(2026, 11, 21, 12, tzinfo=dt.UTC)
HOUR = dt.timedelta(hours=1)
JAVA = ("apache-kafka-java", "3.9.1")
PROCESS = "4efc20b4-55db-4613-a647-74511e0162b8"


def client(
    client_id: str | None,
    software: tuple[str, str] = ("unknown", "unknown"),
    versions: dict[int, int] | None = None,
    address: str = "10.0.0.1",
    start: dt.datetime = NOON,
    **more: object,
) -> Client:
    sent = {key: frozenset((version,)) for key, version in (versions or {}).items()}
    columns = {
        "principal": "User:a",
        "owner": None,
        "addresses": frozenset((address,)),
        "versions": sent,
    } | more
    return Client(
        client_id=client_id,
        software_name=software[0],
        software_version=software[1],
        first_seen_at=start,
        last_seen_at=start + HOUR,
        **columns,  # type: ignore[arg-type]
    )


def parts(clients: Iterable[Client]) -> dict[Application, set[str | None]]:
    clients = list(clients)
    found: dict[Application, set[str | None]] = defaultdict(set)
    for each, application in zip(clients, applications(clients), strict=True):
        found[application].add(each.client_id)
    return dict(found)


def only(clients: Iterable[Client]) -> Application:
    (application,) = parts(clients)
    return application


def test_threads_and_instances_of_a_streams_application_are_one():
    thread = f"shop-{PROCESS}-StreamThread-1"
    ids = [f"{thread}-{role}" for role in ("consumer", "producer", "restore-consumer", "0_1-producer")]
    other = f"shop-{PROCESS.replace('4', '5')}-StreamThread-2-consumer"
    application = only(client(each, JAVA) for each in [*ids, f"shop-{PROCESS}-admin", other])
    assert (application.name, application.kind, application.product) == ("shop", "streams", "Kafka Streams")
    assert application.notes == ()


def test_a_worker_and_its_connectors_are_one():
    ids = [
        "connect-10.0.0.1:8083",
        "connector-consumer-sink-0",
        "connector-producer-source-0",
        "adminclient-1",
    ]
    ids += [f"pipes-{end}" for end in ("configs", "offsets", "statuses", "shared-admin")]
    application = only(client(each, JAVA) for each in ids)
    assert (application.name, application.kind) == ("pipes", "connect")
    assert application.notes == (BY_PLACE,)


def test_mirrormaker_brings_default_ids_with_it():
    ids = [
        "connect-1",
        "connector-producer-MirrorSourceConnector-0",
        "consumer-null-7",
        "producer-3",
        "adminclient-9",
    ]
    application = only(client(each, JAVA) for each in ids)
    assert (application.kind, application.product) == ("mirrormaker", "MirrorMaker 2")


def test_default_ids_of_another_version_place_or_time_stay_apart():
    worker = client("connector-consumer-sink-0", JAVA)
    others = [
        client("producer-1", ("apache-kafka-java", "3.1.2")),
        client("producer-2", JAVA, address="10.0.0.2"),
        client("producer-3", JAVA, start=NOON + 3 * HOUR),
        client("producer-4", JAVA, principal="User:b"),
        client("producer-5", JAVA, owner="team"),
    ]
    assert len(parts([worker, *others])) == 6


def test_one_end_alone_makes_no_worker():
    assert only([client("orders-offsets", JAVA)]).kind == "application"


def test_default_ids_of_one_process():
    ids = ["kafka-python-1.4.5", "kafka-python-producer-1"]
    application = only(client(each, versions={3: 1}, groups=frozenset(("reports",))) for each in ids)
    assert (application.name, application.kind, application.notes) == (
        "reports",
        "default_client_id",
        (DEFAULT_ID, BY_PLACE),
    )
    found = parts([client("kafka-python-1.4.5"), client("kafka-python-1.0.2")])
    assert len(found) == 2, "one process has one version"
    assert DEFAULT_ID in only([client("sarama")]).notes


def test_the_consumer_of_an_old_group_tool_is_the_tools():
    """kafka-consumer-groups 0.11 to 1.1: `admin-1` whatever is configured, and a consumer with the configured id."""
    tool = client("admin-1", versions={3: 5, 9: 3, 10: 1, 15: 1})
    ends = client("lag-check", versions={2: 2, 3: 5})
    together = only((tool, ends))
    assert (together.name, together.kind, together.notes) == ("admin-1", "tool", (OF_THE_TOOL,))
    for other in (
        client("lag-check", versions={1: 7, 2: 2, 3: 5}),  # it reads records
        client("lag-check", versions={2: 2, 3: 6}),  # of another release
        client("lag-check", JAVA, {2: 2, 3: 5}),
        client("lag-check", versions={2: 2, 3: 5}, address="10.0.0.2"),
        client("lag-check", versions={2: 2, 3: 5}, start=NOON + 2 * HOUR),
    ):
        assert len(parts((tool, other))) == 2
    assert len(parts((client("admin-1", versions={3: 5, 21: 0}), ends))) == 2, "kafka-delete-records has none"


def test_programs_behind_one_client_id_are_put_to_the_clients_that_were_there_with_them():
    now, later = NOON, NOON + 6 * HOUR
    clients = [
        client("kafka-python-producer-1", versions={0: 3}, program="Produce v3"),
        client("kafka-python-producer-1", versions={0: 0}, start=later, program="Produce v0"),
        client("kafka-python-1.4.5", versions={1: 4}, start=now),
        client("kafka-python-1.0.2", versions={1: 0}, start=later),
    ]
    names = [each.name for each in applications(clients)]
    assert names == ["kafka-python-1.4.5", "kafka-python-1.0.2"] * 2
    alone = parts(clients[:2])
    assert sorted(each.name for each in alone) == [
        "kafka-python-producer-1 (Produce v0)",
        "kafka-python-producer-1 (Produce v3)",
    ]
    assert {each.notes for each in alone} == {(DEFAULT_ID, SEVERAL_PROGRAMS)}
    whole_day = replace(clients[0], last_seen_at=later)  # it can still be several
    assert len(parts((whole_day, clients[2]))) == 2


def test_a_default_id_that_can_be_of_two_versions_is_of_none():
    """kafka-python's SimpleClient has no version in its id; beside two that have one it was whoever's came first."""
    of_two = [client("kafka-python"), client("kafka-python-1.0.2"), client("kafka-python-1.4.5")]
    for clients in permutations(of_two):
        assert sorted(parts(clients).values(), key=str) == [
            {"kafka-python"},
            {"kafka-python-1.0.2"},
            {"kafka-python-1.4.5"},
        ]
    assert only(of_two[:2]).notes == (DEFAULT_ID, BY_PLACE)


def test_the_order_of_clients_decides_nothing():
    """Spark hands them over in any."""
    clients = [
        client(f"app-{PROCESS}-StreamThread-1-consumer", JAVA),
        client("consumer-1", JAVA, {3: 12}),
        client("adminclient-1", JAVA),
        client("producer-1", JAVA, {0: 11}),
        client("orders-7d9f8b6c54-x2x7k"),
        client("orders-7d9f8b6c54-q9w2z"),
        client("sarama", versions={9: 1}),
        client("sarama", ("sarama", "1.46.0")),
        client("kminion", ("kgo", "0.1.0")),
        client("kminion", ("kminion", "v2")),
        client("kafka-python", versions={0: 0}),
        client("kafka-python-1.4.5", versions={0: 3}),
    ]
    expected = parts(clients)
    for seed in range(50):
        shuffled = random.Random(seed).sample(clients, len(clients))
        assert parts(shuffled) == expected, seed


def test_pods_of_a_deployment_are_one_through_a_rolling_deploy():
    names = ["shop-7d9f8b6c54-x2x7k", "shop-7d9f8b6c54-b9c8d", "shop-66d8b7f9c4-q2w4z"]
    versions = [JAVA, JAVA, ("apache-kafka-java", "4.3.1")]
    application = only(client(n, v, address=n) for n, v in zip(names, versions, strict=True))
    assert (application.name, application.notes) == ("shop-{pod}", (SEVERAL_VERSIONS,))


def test_a_number_in_the_id_is_another_instance_only_if_it_does_the_same():
    assert len(parts([client("pay-1", versions={0: 3}), client("pay-2", versions={0: 3})])) == 1
    assert len(parts([client("pay-182", versions={0: 3}), client("pay-260", versions={0: 10})])) == 2


def test_two_names_of_one_library_are_one_program():
    application = only([client("kminion", ("kgo", "0.1.0")), client("kminion", ("kminion", "v2"))])
    assert (application.name, application.product, application.notes) == ("kminion", "kminion", ())


def test_two_libraries_under_one_client_id_are_two_programs():
    found = parts([client("orders", JAVA), client("orders", ("librdkafka", "2.3.0"))])
    assert {each.name for each in found} == {"orders (apache-kafka-java 3.9.1)", "orders (librdkafka 2.3.0)"}
    assert all(each.notes == (SHARED_ID,) for each in found)


def test_what_related_says_of_unnamed_connections():
    unknown = ("unknown", "unknown")
    two = parts([client("a", JAVA), client("a", not_same_as=frozenset((JAVA,)))])
    assert [each.notes for each in two] == [(SHARED_ID,)] * 2
    assert only([client("a", JAVA, same_as=frozenset((unknown,))), client("a")]).notes == ()
    assert only([client("a", JAVA), client("a")]).notes == (MAYBE_TWO,)


def test_tools_that_share_their_id_stay_apart():
    found = parts([client("GetOffsetShell", JAVA), client("GetOffsetShell")])
    assert len(found) == 2 and all(SHARED_ID in each.notes for each in found)


def test_goka_brings_saramas_default_id():
    ids = ["goka-emitter-clicks", "goka-processor-g", "goka-topic-manager", "sarama"]
    application = only(client(each, versions={3: 5}) for each in ids)
    assert (application.product, application.notes) == ("goka", (BY_PLACE,))
    assert len(parts([client("goka-topic-manager", versions={3: 5}), client("sarama", versions={3: 7})])) == 2


def test_a_hundred_thousand_clients_take_seconds():
    clients = [
        client(f"producer-{n % 90}", JAVA, address=f"10.0.{n % 200}.1", principal=f"User:{n % 300}")
        for n in range(50_000)
    ]
    clients += [client(f"app{n}-{PROCESS}-StreamThread-1-consumer", JAVA) for n in range(25_000)]
    clients += [client(f"connector-consumer-c{n}-0", JAVA) for n in range(25_000)]
    started = time.process_time()
    applications(clients)
    assert time.process_time() - started < 30


def test_two_versions_of_one_api_are_two_programs():
    """admin-1 of Kafka 0.11 (Metadata 4) and 1.1 (Metadata 5); a group's id that two releases share."""
    both = {3: frozenset((4, 5))}
    assert SEVERAL_PROGRAMS in only([replace(client("admin-1"), versions=both)]).notes
    assert SEVERAL_PROGRAMS in only([replace(client("orders"), versions={11: frozenset((1, 5))})]).notes
    assert only([replace(client("orders"), versions=both)]).notes == (), (
        "kafka-python sends several Metadata versions"
    )
    rolling = replace(client("orders"), versions={11: frozenset((1, 5))}, on_one_release=False)
    assert only([rolling]).notes == ()


def test_who_is_called_as_a_replica_fetcher_is_a_client_with_a_note():
    found = parts(
        [client("broker-1-fetcher-0", versions={1: 11}), client("broker-fetcher", versions={1: 11})]
    )
    notes = {application.name: application.notes for application in found}
    assert notes == {"broker-1-fetcher-0": (CALLED_AS_A_BROKER,), "broker-fetcher": ()}


def mirror(at: dt.datetime = NOON) -> list[Client]:
    """MirrorMaker 1 with two streams: consumers named after their group, and a producer with a configured id."""
    consumers = [
        client(f"edge-{n}", versions={1: 8, 3: 6, 11: 3}, groups=frozenset(("edge",)), start=at)
        for n in (0, 1)
    ]
    return [*consumers, client("edge-out", versions={0: 6, 3: 6}, start=at + dt.timedelta(seconds=1))]


def test_mirror_maker_1_is_its_consumers_and_the_producer_that_came_and_went_with_them():
    assert parts(mirror()) == {
        Application("edge-0", "application", None, (OF_A_MIRROR,)): {"edge-0", "edge-1", "edge-out"}
    }


def test_a_producer_beside_such_consumers_is_anothers_if_anything_speaks_against_it():
    def together(producer: Client, *others: Client) -> bool:
        return len(parts([*mirror()[:2], producer, *others])) == 1

    producer = mirror()[2]
    assert together(producer)
    assert not together(replace(producer, addresses=frozenset(("10.0.0.2",))))
    assert not together(replace(producer, principal="User:b"))
    assert not together(replace(producer, first_seen_at=NOON + HOUR / 4))
    assert not together(replace(producer, last_seen_at=NOON + 2 * HOUR))
    assert not together(replace(producer, versions={0: frozenset((6,)), 3: frozenset((5,))}))
    assert not together(replace(producer, versions=producer.versions | {1: frozenset((8,))}))
    assert not together(replace(producer, software_name="librdkafka", software_version="2.3.0"))
    assert len(parts([*mirror(), replace(producer, client_id="metrics-out")])) == 3
    consumer = replace(mirror()[0], groups=frozenset(("other",)))
    assert len(parts([consumer, producer])) == 2


def test_instances_of_kafka_streams_with_client_ids_of_their_own_are_one_by_their_group():
    """Whatever `client.id` is configured for each, group.id is the application.id (StreamsConfig)."""
    instances = [
        client(f"{host}-StreamThread-1-{role}", JAVA, groups=groups, address=address)
        for host, address in (("fraud-north", "10.0.0.1"), ("fraud-south", "10.0.0.2"))
        for role, groups in (("consumer", frozenset(("fraud",))), ("producer", frozenset()))
    ]
    other = client("fraud-east-StreamThread-1-consumer", JAVA, groups=frozenset(("fraud-test",)))
    found = {application.name: ids for application, ids in parts([*instances, other]).items()}
    assert found == {
        "fraud": {each.client_id for each in instances},
        "fraud-test": {"fraud-east-StreamThread-1-consumer"},
    }


@pytest.mark.parametrize("ids", [
    (f"spark-kafka-source-{PROCESS}-17-driver", "spark-kafka-source-0efc20b4-55db-4613-a647-74511e0162b8--5-driver"),
    (f"billing-{PROCESS}", "billing-0efc20b4-55db-4613-a647-74511e0162b8"),
    ("billing.vPeOCWypqUOSepEvx0cboA", "billing.7PeOCWypqUOSepEvx0cboQ"),
    ("billing-01ARZ3NDEKTSV4RRFFQ69G5FAV", "billing-01BX5ZZKBKACTAV9WEVGEMMVRZ"),
    ("billing-7d9c5b8f6c-x2x4z", "billing-7d9c5b8f6c-k8q5t"),
    ("billing-2026-11-21T12:30", "billing-2026-11-22T09:15"),
    ("billing-10.0.0.1", "billing-10.0.0.2"),
], ids=["spark", "uuid", "kafka_uuid", "ulid", "pod", "time", "address"])  # fmt: skip
def test_ids_that_differ_in_what_a_start_or_a_host_brings_about_are_one_program_whatever_they_send(ids):
    sent = ({0: 3, 1: 4}, {0: 9, 1: 12})
    found = parts(client(name, versions=of_one) for name, of_one in zip(ids, sent, strict=True))
    assert list(found.values()) == [set(ids)]


def test_programs_side_by_side_on_one_host_are_told_apart_by_what_their_libraries_declare():
    """They start by turns; the default ids of each are one program all the same."""
    second = dt.timedelta(seconds=1)
    versions = (JAVA, ("apache-kafka-java", "4.0.0"))
    clients = [
        client(f"{role}-1", software, start=NOON + (2 * turn + number) * second)
        for turn, role in enumerate(("producer", "consumer", "adminclient"))
        for number, software in enumerate(versions)
    ]
    assert len(parts(clients)) == 2
    assert len(parts([client("sarama"), client("kafka-python")])) == 2


def test_programs_of_two_hosts_that_start_by_turns_are_one_for_each_host():
    second = dt.timedelta(seconds=1)
    clients = [
        client(f"{role}-{turn}", JAVA, address=address, start=NOON + (2 * turn + number) * second)
        for turn, role in enumerate(("producer", "consumer", "adminclient"))
        for number, address in enumerate(("10.0.0.1", "10.0.0.2"))
    ]
    assert len(parts(clients)) == 2


@pytest.mark.parametrize("more", [0, 1])
def test_more_default_ids_on_one_host_than_one_program_has_are_not_put_together(more):
    count = MOST_DEFAULT_IDS + more
    producers = [client(f"producer-{n}", JAVA) for n in range(count)]
    assert len(parts(producers)) == (count if more else 1)
    worker = [client(f"connector-consumer-sink-{n}", JAVA) for n in range(count)]
    assert len(parts([*worker, producers[0]])) == 1 + more
    tools = [client(f"admin-{n}", versions={3: 5, 10: 1}, address=f"10.0.1.{n}") for n in range(count)]
    ends = client("lag-check", versions={2: 2, 3: 5}, address="10.0.1.7")
    assert len(parts([*tools, ends])) == count + more
    consumers = [client(f"edge-{n}", versions={1: 8}, groups=frozenset(("edge",))) for n in range(count)]
    producer = client("edge-out", versions={0: 6})
    assert len(parts([*consumers, producer])) == 1 + more


def test_every_kind_of_application_is_described():
    ids = [
        "billing",
        f"shop-{PROCESS}-StreamThread-1-consumer",
        "connector-consumer-sink-0",
        "connector-producer-MirrorSourceConnector-0",
        "GetOffsetShell",
        "kminion",
        "sarama",
    ]
    found = {
        application.kind
        for n, each in enumerate(ids)
        for application in applications([client(each, principal=f"User:{n}")])
    }
    assert found == APPLICATION_KINDS.keys()


def test_a_default_id_beside_the_one_configured_id_that_it_can_belong_to():
    """`related` says which: the same requests from the same address."""
    orders = client("orders", versions={1: 4})
    default = client("sarama", versions={3: 1}, beside=frozenset(("orders",)))
    assert only((orders, default)) == Application("orders", "application", None, (BY_PLACE,))
    assert len(parts((replace(orders, addresses=frozenset(("10.0.0.2",))), default))) == 2
    assert len(parts((orders, replace(default, beside=frozenset(("orders", "bills")))))) == 2
    assert len(parts((orders, client("not-default", versions={3: 1}, beside=default.beside)))) == 2
    assert len(parts((orders, replace(default, beside=frozenset())))) == 2
    two = [client("orders", JAVA), client("orders", ("librdkafka", "2.3.0"))]
    assert len(parts((*two, default))) == 3, "of which of the two nobody knows"


def test_clients_up_to_a_minute_apart_are_together():
    minute, second = dt.timedelta(minutes=1), dt.timedelta(seconds=1)
    first = client("kafka-python-1.4.5")
    for more, count in ((0 * second, 1), (second, 2)):
        after = client("kafka-python-producer-1", start=NOON + HOUR + minute + more)
        assert len(parts((first, after))) == count
        before = client("kafka-python-producer-1", start=NOON - HOUR - minute - more)
        assert len(parts((first, before))) == count


def test_a_default_id_is_a_products_if_it_was_there_in_its_time():
    minute, second = dt.timedelta(minutes=1), dt.timedelta(seconds=1)
    worker = client("connector-consumer-sink-0", JAVA)
    for more, count in ((0 * second, 1), (second, 2)):
        early = replace(client("producer-1", JAVA), first_seen_at=NOON - minute - more)
        late = replace(client("producer-1", JAVA), last_seen_at=NOON + HOUR + minute + more)
        assert len(parts((worker, early))) == len(parts((worker, late))) == count
    longer = client("connector-consumer-sink-1", JAVA, start=NOON + HOUR / 2)
    assert len(parts((worker, longer, late))) == 1, "all clients of the worker count"
    both = client("producer-1", JAVA, versions={}, address="10.0.0.1")
    assert len(parts((worker, replace(both, versions={11: frozenset((1, 5))})))) == 2, (
        "it is of several programs"
    )


def test_a_mirror_came_and_went_within_ten_seconds():
    second = dt.timedelta(seconds=1)
    for seconds, count in ((10, 1), (11, 2)):
        for moment in ("first_seen_at", "last_seen_at"):
            consumers, producer = mirror()[:2], mirror()[2]
            own = {"first_seen_at": NOON, "last_seen_at": NOON + HOUR}
            own[moment] += seconds * second
            assert len(parts([consumers[0], replace(producer, **own)])) == count
    everything = dict.fromkeys((*apis.SET_UP, 0, 3, 22, 71, 72), frozenset((0,)))
    asks_all = replace(mirror()[2], versions=everything | {3: frozenset((6,))})
    assert len(parts([*mirror()[:2], asks_all])) == 1


def test_a_client_between_two_versions_is_of_the_one_that_came_first():
    """The versionless one was there with 1.4.5, the producer with both, and 1.0.2 later."""
    minute = dt.timedelta(minutes=1)

    def there(client_id: str, since: int, until: int) -> Client:
        return replace(
            client(client_id), first_seen_at=NOON + since * minute, last_seen_at=NOON + until * minute
        )

    clients = [
        there("kafka-python", 0, 60),
        there("kafka-python-1.4.5", 0, 30),
        there("kafka-python-producer-1", 50, 120),
        there("kafka-python-1.0.2", 90, 120),
    ]
    assert sorted(map(len, parts(clients).values())) == [1, 3]
    assert {"kafka-python-1.0.2"} in parts(clients).values()
