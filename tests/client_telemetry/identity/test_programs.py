"""Several programs behind one client id."""

import pytest
from client_telemetry.identity.programs import Seen, may_be_several, programs, sends_two_versions
from client_telemetry.knowledge import apis

SECOND = 1_000_000
PRODUCE, FETCH, METADATA, OFFSET_FETCH, FIND_COORDINATOR, JOIN_GROUP = 0, 1, 3, 9, 10, 11


def seen(at: int, *uses: tuple[int, int], address: str = "10.0.0.1", until: int | None = None) -> Seen:
    return Seen(address, at * SECOND, (until or at) * SECOND, frozenset(uses))


def test_an_old_and_a_new_console_producer_are_two():
    old = [seen(0, (METADATA, 2)), seen(1, (PRODUCE, 2), (METADATA, 2))]
    new = [seen(100, (METADATA, 4)), seen(101, (PRODUCE, 3))]

    found = programs("console-producer", [*old, *new])

    assert [set(each) for each in found] == [
        {"Produce v2"},
        {"Produce v2"},
        {"Produce v3"},
        {"Produce v3"},
    ]


def test_at_the_same_time_from_one_address_they_are_told_apart_by_what_they_send():
    found = programs(
        "console-producer",
        [
            seen(0, (PRODUCE, 2), until=90),
            seen(0, (PRODUCE, 3), until=90),
            seen(1, (METADATA, 2), (PRODUCE, 2)),
        ],
    )
    assert [set(each) for each in found] == [{"Produce v2"}, {"Produce v3"}, {"Produce v2"}]


def test_a_connection_that_can_be_of_either_counts_for_both():
    found = programs(
        "sarama",
        [
            seen(0, (OFFSET_FETCH, 1), (METADATA, 5)),
            seen(200, (OFFSET_FETCH, 2), (METADATA, 5)),
            seen(400, (METADATA, 5)),
        ],
    )
    assert found == [("OffsetFetch v1",), ("OffsetFetch v2",), ("OffsetFetch v1", "OffsetFetch v2")]


def test_a_library_that_sends_two_versions_of_metadata_in_one_process_is_one_program():
    first = [seen(0, (METADATA, 0)), seen(1, (METADATA, 1), (JOIN_GROUP, 2)), seen(2, (PRODUCE, 7))]
    again = [seen(900, (METADATA, 1))]
    assert programs("kafka-python-2.0.2", [*first, *again]) == [()] * 4


def test_an_own_client_id_is_several_programs_only_where_no_process_sends_both():
    assert not may_be_several("orders", {METADATA: {1, 5}, OFFSET_FETCH: {1, 2}})
    assert may_be_several("orders", {JOIN_GROUP: {1, 5}})
    assert may_be_several("sarama", {OFFSET_FETCH: {1, 2}})
    assert may_be_several("admin-1", {METADATA: {4, 5}})
    # Kafka's own consumers fetch with and without topic ids, and ask for the coordinator one by one where they must.
    assert not may_be_several("orders", {FETCH: {12, 13}, FIND_COORDINATOR: {2, 3}})


def test_versions_before_a_login_tell_nothing():
    assert not may_be_several("admin-1", {18: {0, 3}, 17: {0, 1}, 36: {0, 1}})


def test_too_many_connections_are_not_told_apart():
    many = [seen(n, (PRODUCE, n % 2)) for n in range(20_001)]
    assert programs("console-producer", many) == [()] * 20_001


def test_a_dozen_programs_are_told_apart_and_no_more():
    for number, expected in ((2, 2), (12, 12), (13, 1)):
        found = programs(
            "console-producer", [seen(100 * n, (PRODUCE, n), (METADATA, n)) for n in range(number)]
        )
        assert len(set(found)) == expected, number
    assert programs("console-producer", []) == []


def test_the_next_connection_of_a_java_client_opens_as_soon_as_a_broker_has_named_the_others():
    """kafka-consumer-groups 1.1.1 and, less than two seconds later, 0.11.0.3: the newer one asked DescribeGroups too, which
    says nothing about whose the second connection of the older one is."""

    def tool(at: int, metadata: int) -> list[Seen]:
        micros = at * SECOND
        first = Seen(
            "10.0.0.1", micros, micros + 15_000, frozenset(((METADATA, metadata), (FIND_COORDINATOR, 1)))
        )
        again = Seen("10.0.0.1", micros + 11_000, micros + 16_000, frozenset(((OFFSET_FETCH, 3), (15, 1))))
        return [first, again]

    found = programs("admin-1", [*tool(0, 5), *tool(2, 4)])
    assert found == [("Metadata v5",), ("Metadata v5",), ("Metadata v4",), ("Metadata v4",)]


def test_a_connection_of_a_java_client_is_rather_of_the_program_that_just_ended():
    """Though an earlier one has sent the same request."""
    earlier = seen(0, (METADATA, 5), (OFFSET_FETCH, 3))
    just_ended = seen(10, (METADATA, 4))
    found = programs("admin-1", [earlier, just_ended, seen(11, (OFFSET_FETCH, 3))])
    assert found == [("Metadata v5",), ("Metadata v4",), ("Metadata v4",)]


def test_of_which_apis_a_process_sends_one_version():
    """What no process of benchmarks/matrix did; kafka-clients does it with a few, and before it knows its broker."""
    once = (
        "OffsetCommit JoinGroup Heartbeat LeaveGroup SyncGroup DescribeGroups DeleteTopics InitProducerId "
        "AddPartitionsToTxn EndTxn DescribeConfigs"
    )
    several = (
        "Fetch ListOffsets OffsetFetch FindCoordinator ListGroups SaslHandshake ApiVersions SaslAuthenticate"
    )

    def telling(is_java: bool) -> set[str]:
        return {apis.name(key) for key in apis.by_key() if sends_two_versions({key: {1, 2}}, is_java)}

    assert telling(is_java=False) == set(once.split())
    assert telling(is_java=True) == {each.name for each in apis.by_key().values()} - set(several.split())
    assert not sends_two_versions({11: {1}, 12: {2}}, is_java=True)


def at(micros: int, *uses: tuple[int, int], until: int | None = None) -> Seen:
    return Seen("10.0.0.1", micros, micros if until is None else until, frozenset(uses))


def test_within_two_seconds_a_process_may_send_another_version_of_what_many_do():
    for micros, count in ((2 * SECOND, 1), (2 * SECOND + 1, 2)):
        found = programs("sarama", [at(0, (METADATA, 1)), at(micros, (METADATA, 5))])
        assert len(set(found)) == count


def test_a_connection_within_a_minute_is_of_the_run_before():
    other = at(1000 * SECOND, (PRODUCE, 3), (OFFSET_FETCH, 1))
    for micros, names in ((60 * SECOND, 1), (60 * SECOND + 1, 2)):
        found = programs("sarama", [at(0, (PRODUCE, 2), (OFFSET_FETCH, 1)), at(micros, (METADATA, 4)), other])
        assert len(found[1]) == names, "otherwise it can be of either"


def test_how_soon_a_java_client_opens_its_next_connection():
    """Within 100 ms it is the next one of the process that opened last, within two seconds of one that is there still; later
    it is rather of the one that has asked the same."""
    begin = 100 * SECOND
    last = at(begin, (METADATA, 4))
    for pause, ended, name in (
        (100_000, 1 * SECOND, "Metadata v4"),
        (100_001, 1 * SECOND, "Metadata v5"),
        (2 * SECOND, 1 * SECOND, "Metadata v4"),
        (2 * SECOND + 1, 1 * SECOND, "Metadata v5"),
    ):
        earlier = at(begin - 10 * SECOND, (METADATA, 5), (OFFSET_FETCH, 3), until=begin - ended)
        found = programs("admin-1", [earlier, last, at(begin + pause, (OFFSET_FETCH, 3))])
        assert found[2] == (name,), pause


def test_programs_are_named_by_three_versions_at_most_and_numbered_where_that_is_not_enough():
    first = ((PRODUCE, 1), (FETCH, 1), (2, 1), (JOIN_GROUP, 1))
    second = ((PRODUCE, 1), (FETCH, 1), (2, 1), (JOIN_GROUP, 2))
    third = ((PRODUCE, 2), (FETCH, 2), (2, 2), (JOIN_GROUP, 3))
    found = programs("sarama", [seen(200 * n, *uses) for n, uses in enumerate((first, second, third))])
    alike = "Produce v1; Fetch v1; ListOffsets v1"
    assert found == [(f"{alike} (1)",), (f"{alike} (2)",), ("Produce v2",)]


def test_as_much_as_is_told_apart():
    for runs, count in ((500, 2), (501, 1)):
        found = programs("console-producer", [seen(100 * n, (PRODUCE, n % 2)) for n in range(runs)])
        assert len(set(found)) == count
    many = [at(n * 1000, (PRODUCE, n % 2)) for n in range(20_000)]
    assert len(set(programs("console-producer", many))) == 2


@pytest.mark.parametrize(("client_id", "versions", "expected"), [
    ("orders", {PRODUCE: {3, 7}}, True),
    ("orders", {FETCH: {10, 11}}, False),
    ("17", {FETCH: {10, 11}}, True),
    ("", {FETCH: {10, 11}}, True),
    (None, {FETCH: {10, 11}, METADATA: {5}}, True),
    (None, {FETCH: {11}, METADATA: {5}}, False),
])  # fmt: skip
def test_ids_behind_which_several_programs_are_looked_for(client_id, versions, expected):
    assert may_be_several(client_id, versions) == expected


def test_two_producers_of_different_versions_behind_one_id_are_told_apart_by_address():
    old = Seen("10.0.0.1", 0, 9 * SECOND, frozenset(((PRODUCE, 3), (METADATA, 4))))
    new = Seen("10.0.0.2", 0, 9 * SECOND, frozenset(((PRODUCE, 7), (METADATA, 4))))
    for client_id in ("orders", None, "1"):
        assert programs(client_id, [old, new]) == [("Produce v3",), ("Produce v7",)]
    both = old._replace(address="10.0.0.2", first=1)
    assert programs("orders", [new, both]) == [(), ()], "one process may send both"
