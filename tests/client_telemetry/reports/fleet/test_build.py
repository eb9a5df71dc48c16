"""From rows to the model of a fleet page: what is counted, and what is not."""

from datetime import timedelta


def test_unidentified_connections_are_no_client_and_are_counted_apart(build, day_rows):
    nobody = day_rows.client(None, "unknown", "unknown", flags=["unidentified"], connections=500, refusals=3)
    fleet = build([day_rows.client(), nobody])
    assert (fleet.counts["clients"], fleet.counts["connections"]) == (1, 3)
    assert fleet.counts["unidentified_connections"] == 503


def test_sessions_that_ended_before_a_push_are_counted_with_their_client(build, day_rows):
    clients = [day_rows.client("a"), day_rows.client("b")]
    key = ("User:orders", "a", "apache-kafka-java", "3.9.1")
    fleet = build(clients, asked={key: 7})
    assert [client.asked_without_push for client in fleet.clients] == [7, 0]
    assert fleet.counts["asked_without_push"] == 7


def test_every_count_adds_up_over_the_software(build, day_rows):
    fleet = build(
        [
            day_rows.client("a", version="3.9.1"),
            day_rows.client("b", version="2.8.0", owner=None),
            day_rows.client("c", "unknown", "unknown"),
            day_rows.client("d", "", ""),
        ]
    )
    for what in ("clients", "connections", "instances", "requests"):
        assert sum(getattr(software, what) for software in fleet.software) == fleet.counts[what]
    assert (fleet.counts["clients_without_software"], fleet.counts["clients_without_owner"]) == (2, 1)


def test_a_version_names_who_would_feel_it_if_it_and_older_ones_were_refused(build, day_rows):
    versions = ["3.10.0", "2.8.0", "3.9.1", "2.8.0"]
    fleet = build([day_rows.client(f"c{i}", version=version) for i, version in enumerate(versions)])
    (java,) = fleet.software
    assert [(v.version, v.clients, v.clients_up_to_here) for v in java.versions] == [
        ("2.8.0", 2, 2),
        ("3.9.1", 1, 3),
        ("3.10.0", 1, 4),
    ]


def test_a_platform_release_stands_where_its_kafka_belongs(build, day_rows):
    versions = ["3.9.1", "5.5.3-ccs", "4.3.1", "7.6.1-14-ccs", "99.0.0-ccs", "2.8.1.amzn-0"]
    fleet = build([day_rows.client(f"c{i}", version=version) for i, version in enumerate(versions)])
    assert [(v.version, v.stands_for) for v in fleet.software[0].versions] == [
        ("5.5.3-ccs", "kafka-clients 2.5 of Confluent Platform 5.5.3-ccs"),
        ("2.8.1.amzn-0", None),
        ("7.6.1-14-ccs", "kafka-clients 3.6 of Confluent Platform 7.6.1-14-ccs"),
        ("3.9.1", None),
        ("4.3.1", None),
        ("99.0.0-ccs", "kafka-clients of Confluent Platform 99.0.0-ccs"),
    ]
    first = [client.client_software_version for client in fleet.clients[:3]]
    assert first == ["5.5.3-ccs", "2.8.1.amzn-0", "7.6.1-14-ccs"]


def test_a_binding_stands_where_its_librdkafka_belongs(build, day_rows):
    names = [("confluent-kafka-python", version) for version in ("2.9.0", "2.8.2-rdkafka-2.10.0", "own")]
    (python,) = build([day_rows.client(v, name, v) for name, v in names]).software
    assert [v.version for v in python.versions] == ["2.9.0", "2.8.2-rdkafka-2.10.0", "own"]
    assert python.versions[0].stands_for == "librdkafka 2.8.0 in confluent-kafka-python 2.9.0"


def test_versions_of_software_that_nobody_knows_are_in_their_own_order(build, day_rows):
    (own,) = build([day_rows.client(v, "own-proxy", v) for v in ("1.10.0", "1.9.0")]).software
    assert [(v.version, v.stands_for) for v in own.versions] == [("1.9.0", None), ("1.10.0", None)]


def test_new_and_gone_against_the_day_and_the_week_before(build, day_rows):
    before, week = day_rows.DAY - timedelta(days=1), day_rows.DAY - timedelta(days=7)
    old = day_rows.client("old", version="2.0.0", api_uses=[day_rows.use(0, 2)])
    fleet = build([day_rows.client()], earlier={before: [day_rows.client(), old], week: None})
    yesterday, last_week = fleet.changes
    assert (yesterday.is_known, yesterday.new_families, yesterday.gone_families) == (True, 0, 1)
    assert (yesterday.new_clients, [each.client_family for each in yesterday.gone_clients]) == ((), ["old"])
    assert [(v.name, v.version) for v in yesterday.gone_versions] == [("apache-kafka-java", "2.0.0")]
    assert (yesterday.deprecated_clients, last_week.is_known) == (1, False)
    assert fleet.software[0].versions[0].is_new is False


def test_a_day_that_was_processed_and_had_no_client_is_known(build, day_rows):
    before = day_rows.DAY - timedelta(days=1)
    fleet = build(earlier={before: []})
    assert fleet.changes[0].is_known
    assert fleet.changes[0].new_families == 1
    assert fleet.software[0].versions[0].is_new is True


def test_without_the_day_before_nothing_is_called_new(build):
    assert build().software[0].versions[0].is_new is None


def test_clients_without_a_name_are_grouped_by_what_they_look_like(build, day_rows):
    unnamed = {"name": "unknown", "version": "unknown"}
    guess = {"looks_like": "probably sarama 1.28.0", "looks_like_because": ["its client id"]}
    fleet = build(
        [
            day_rows.client("a", **unnamed, **guess),
            day_rows.client("b", **unnamed, **guess),
            day_rows.client("c", ""),
        ]
    )
    assert [(group.looks_like, group.clients) for group in fleet.unnamed] == [
        ("probably sarama 1.28.0", 2),
        (None, 1),
    ]


def test_what_no_fingerprint_tells_apart_is_listed_with_all_that_it_can_be(build, day_rows):
    unnamed = {"name": "unknown", "version": "unknown"}
    old = [
        day_rows.use(0, 3),
        day_rows.use(1, 10),
        day_rows.use(3, 5),
        day_rows.use(8, 1),
        day_rows.use(9, 1),
    ]
    clients = [
        day_rows.client("sync", **unnamed, api_uses=old),
        day_rows.client("alien", **unnamed, api_uses=[day_rows.use(3, 99)]),
        day_rows.client("silent", **unnamed, api_uses=[day_rows.use(0, 99, 0, 3)]),
    ]
    fleet = build(clients)
    assert [(group.looks_like, group.client_ids) for group in fleet.unnamed] == [
        (None, ("sync",)),
        (None, ("alien", "silent")),
    ]
    assert "sarama" in fleet.unnamed[0].could_be
    assert len(fleet.unnamed[0].could_be) > 2
    assert fleet.unnamed[1].could_be == ()
    assert {client.client_id: bool(client.could_be) for client in fleet.clients} == {
        "alien": False,
        "silent": False,
        "sync": True,
    }


def test_an_old_request_version_names_who_uses_it(build, day_rows):
    clients = [day_rows.client(name, api_uses=[day_rows.use(0, 2)]) for name in ("b", "a")]
    (produce,) = build([*clients, day_rows.client("c")]).deprecated
    assert (produce.clients, produce.client_ids) == (2, ("a", "b"))


def test_a_client_without_a_name_is_what_other_connections_of_it_tell(build, day_rows):
    other = {"client_id": "a", "client_software_name": "kgo", "client_software_version": "v1.15.4"}
    for relation, expected in (
        ("one_application", "kgo v1.15.4"),
        ("doubtful", None),
        ("two_applications", None),
    ):
        related = [{"relation": relation, **other, "because": "names some connections only"}]
        fleet = build([day_rows.client("a", "unknown", "unknown", related=related)])
        assert fleet.unnamed[0].looks_like == expected, relation


def test_a_client_that_restarts_with_another_generated_id_is_not_new(build, day_rows):
    before = day_rows.DAY - timedelta(days=1)
    fleet = build(
        [day_rows.client("app-7f9c", client_family="app-*", version="4.0.0")],
        earlier={before: [day_rows.client("app-1a2b", client_family="app-*")]},
    )
    assert (fleet.changes[0].new_families, fleet.changes[0].gone_families) == (0, 0)
    assert [version.version for version in fleet.changes[0].new_versions] == ["4.0.0"]


def test_brokers_of_no_known_release_are_compared_with_the_newest_one(build, day_rows):
    clients = [day_rows.client(api_uses=[day_rows.use(0, 2)])]
    for version in (None, "9.9.9", "3.9.1-nightly"):
        fleet = build(clients, brokers=[day_rows.broker(version=version)])
        assert fleet.compared_with_release is None
        assert fleet.counts["clients_with_deprecated_versions"] == 1


def test_other_software_with_a_number_of_kafkas_is_compared_with_nothing_older(build, day_rows):
    automq = {**day_rows.broker(version="1.1.0"), "software_name": "automq", "releases": []}
    assert build(brokers=[automq]).compared_with_release is None
    platform = {**day_rows.broker(version="7.6.1-ccs"), "releases": ["3.6.0", "3.6.1"]}
    assert build(brokers=[platform]).compared_with_release == "3.6.0"


def test_a_day_with_nothing_has_a_page(build):
    fleet = build([], [], [], [])
    assert fleet.sentence == "No client was seen."
    assert fleet.coverage.broker_hours == 0


def test_software_that_is_used_as_much_comes_by_name_and_what_has_none_last(build, day_rows):
    names = ["sarama", "kgo", "unknown", "librdkafka", "unknown", "unknown", "librdkafka"]
    clients = [
        day_rows.client(f"c{n}", name, "1.2.3" if name != "unknown" else name) for n, name in enumerate(names)
    ]
    for given in (clients, clients[::-1]):
        assert [each.name for each in build(given).software] == ["librdkafka", "kgo", "sarama", None]
