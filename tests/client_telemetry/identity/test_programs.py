"""Several programs behind one client id."""

from client_telemetry.identity.programs import Seen, may_be_several, programs

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
