"""Which standard metrics are delivered, missing, or not asked for."""

from client_telemetry.reports.fleet.client_metrics import (
    Subscriptions,
    client_types,
    metrics_of_libraries,
    standard_metrics,
)

PRODUCER = "org.apache.kafka.producer."
TOTAL = PRODUCER + "connection.creation.total"
QUEUE = PRODUCER + "record.queue.time.avg"


def states(day_rows, instances, subscriptions) -> dict[str, str]:
    brokers = [day_rows.broker(subscriptions=subscriptions)]
    found, _ = metrics_of_libraries(instances, {}, Subscriptions.of(brokers))
    return {metric.metric: metric.state for metric in found}


def test_the_standard_metrics_are_those_of_the_kip():
    assert {kind: len(metrics) for kind, metrics in standard_metrics().items()} == {
        "producer": 8,
        "consumer": 13,
    }


def test_three_of_each_kind_are_required():
    for kind, metrics in standard_metrics().items():
        prefix = f"org.apache.kafka.{kind}."
        assert [metric.removeprefix(prefix) for metric, required in metrics.items() if required] == [
            "connection.creation.total",
            "node.request.latency.avg",
            "node.request.latency.max",
        ]


def test_delivered_missing_and_not_asked_for(day_rows):
    found = states(
        day_rows, [day_rows.instance([TOTAL])], [day_rows.subscription(PRODUCER + "connection.", QUEUE)]
    )
    assert found[TOTAL] == "delivered"
    assert found[PRODUCER + "connection.creation.rate"] == found[QUEUE] == "missing"
    assert found[PRODUCER + "node.request.latency.avg"] == "not_subscribed"


def test_a_star_asks_for_everything_and_no_prefix_for_nothing(day_rows):
    assert set(states(day_rows, [day_rows.instance()], [day_rows.subscription("*")]).values()) == {"missing"}
    assert set(states(day_rows, [day_rows.instance()], [day_rows.subscription()]).values()) == {
        "not_subscribed"
    }


def test_some_instances_only(day_rows):
    instances = [day_rows.instance([TOTAL]), day_rows.instance()]
    assert states(day_rows, instances, [day_rows.subscription("*")])[TOTAL] == "partly"


def test_instances_that_no_subscription_matches_do_not_count_as_missing(day_rows):
    instances = [day_rows.instance([TOTAL]), day_rows.instance(client_id="other")]
    selectors = {"client_id": "ord.*", "client_software_name": "apache-kafka-java"}
    found = states(day_rows, instances, [day_rows.subscription("*", **selectors)])
    assert found[TOTAL] == "delivered"


def test_selectors_match_the_whole_value(day_rows):
    found = states(day_rows, [day_rows.instance()], [day_rows.subscription("*", client_id="ord")])
    assert set(found.values()) == {"not_subscribed"}


def test_an_instance_is_selected_by_its_id_and_its_address(day_rows):
    for selector in (
        {"client_instance_id": "AAECAwQFBgcICQoLDA0ODw"},
        {"client_source_address": r"10\.0\..*"},
    ):
        found = states(day_rows, [day_rows.instance()], [day_rows.subscription("*", **selector)])
        assert set(found.values()) == {"missing"}, selector


def test_what_was_subscribed_is_not_known_where_a_broker_does_not_tell(day_rows):
    assert states(day_rows, [day_rows.instance([TOTAL])], None)[QUEUE] == "not_known"
    brokers = [day_rows.broker(1, subscriptions=[day_rows.subscription("*")]), day_rows.broker(2)]
    assert not Subscriptions.of(brokers).known
    assert not Subscriptions.of([]).known


def test_a_selector_that_cannot_be_compiled_leaves_it_unknown(day_rows):
    subscriptions = [day_rows.subscription("*", client_id="(?P<")]
    assert set(states(day_rows, [day_rows.instance()], subscriptions).values()) == {"not_known"}


def test_without_java_it_is_not_known_what_instances_are_asked_for(day_rows, monkeypatch, tmp_path):
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    subscriptions = Subscriptions.of(
        [day_rows.broker(subscriptions=[day_rows.subscription("*", client_id="a")])]
    )
    assert subscriptions.known
    assert subscriptions.asked_of([day_rows.instance(), day_rows.instance()]) == ([(), ()], False)


def test_selectors_are_those_of_java(day_rows):
    """What Python's re would answer the other way round."""
    for client_id, regex in ((None, ".*"), ("a٣", r"a\d"), ("zażółć", r"\w+"), ("axb", "[a-z&&[^x]]+")):
        found = states(
            day_rows, [day_rows.instance(client_id=client_id)], [day_rows.subscription("*", client_id=regex)]
        )
        assert set(found.values()) == {"not_subscribed"}, regex


def test_the_kind_of_an_instance(day_rows):
    assert client_types(day_rows.instance(families=["producer", "consumer"]), []) == ("producer", "consumer")
    assert client_types(day_rows.instance(families=["admin"]), [day_rows.use(0, 9)]) == ()
    assert client_types(day_rows.instance(families=[]), [day_rows.use(0, 9)]) == ("producer",)
    share = day_rows.instance(families=["consumer", "share_consumer"])
    assert client_types(share, []) == (), (
        "a share consumer has other metrics: it is not a consumer that lacks some"
    )
    fetching = [day_rows.use(1, 12), day_rows.use(11, 7)]
    assert client_types(day_rows.instance(families=[]), fetching) == ("consumer",)


def test_instances_of_no_known_kind_are_counted(day_rows):
    instances = [day_rows.instance(families=[]), day_rows.instance(families=["admin"])]
    _, untold = metrics_of_libraries(instances, {}, Subscriptions.of([]))
    assert untold == 1
