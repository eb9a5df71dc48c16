"""What changed in metrics: nothing in unchanged records, and what was put in is found at the right client or instance."""

import random

import numpy as np
import scenarios
from client_telemetry.activity.client_metrics import ERRORS, SENT, SHARE, Instance, Point, Series, series
from client_telemetry.activity.comparison import Pair, accepted, compare
from client_telemetry.activity.records import Activity, Use
from client_telemetry.activity.samples import Sample
from client_telemetry.review.metric_changes import FAILED, MetricChange, all_changes, of_track, row
from client_telemetry.review.phases import upgrade_of
from client_telemetry.review.tracks import Track, tracks
from client_telemetry.review.windows import DAY_SECONDS, Windows, windows
from client_telemetry.subscriptions.instances import kafka_uuid

CLIENTS = [
    (f"client-{n}", f"Produce:9@0-900/{1 + n / 10} OffsetCommit:8@0-900/{2 + n / 5}") for n in range(20)
]
LATENCY = "producer.node.request.latency.avg"


def changes(found: list[Track], pushed: list[Series], times: Windows) -> list[MetricChange]:
    single = [comparison for track in found for comparison in of_track(track, times, scenarios.SLOT)]
    return all_changes(single, pushed, times, lambda *client: None)


def called(clients: list[tuple[str, str]], cut: float, pushed: list[Series] | None = None) -> list[tuple]:
    who = [(scenarios.client(name)._replace(principal=f"User:{name}"), did) for name, did in clients]
    found = tracks(scenarios.evidence(who).activities, 0.0)
    times = Windows((cut - 240, cut), (cut, cut + 240))
    return [
        (each.group.scope, each.group.client_id, each.metric.name, each.direction, each.worse)
        for each in changes(found, pushed or [], times)
        if each.changed
    ]


def instance(name: str, since: float = 0.0, until: float = 900.0, **factors: float) -> Series:
    """Latencies that vary by a fifth, 30 records a push; from 450 on by the factors `latency` and `errors`."""
    chance = random.Random(name)
    latency, errors = factors.get("latency", 1.0), factors.get("errors", 0.0)
    found = Series(
        Instance(name.encode().ljust(16, b"."), name, "User:x", "apache-kafka-java", "4.0.1"), {}, 10.0
    )
    at = since
    while at < until:
        later = at >= 450
        value = 5.0 * chance.lognormvariate(0, 0.2) * (latency if later else 1)
        found.samples.setdefault(LATENCY, []).append(Sample(at, at, value))
        found.samples.setdefault(SENT, []).append(Sample(at, at + 10, 30))
        failed = sum(chance.random() < errors for _ in range(30)) if later else 0
        found.samples.setdefault(ERRORS, []).append(Sample(at, at + 10, failed))
        at += 10
    return found


def test_unchanged_records_cut_anywhere_have_no_change() -> None:
    pushed = [instance(f"i-{n}") for n in range(12)]
    assert [called(CLIENTS, cut, pushed) for cut in (250.0, 273.0, 450.0, 640.0)] == [[], [], [], []]


def test_a_third_fewer_requests_are_found_at_their_client() -> None:
    fewer = [(name, did) for name, did in CLIENTS if name != "client-7"]
    fewer.append(("client-7", "Produce:9@0-450/1 Produce:9@450-900/1.5"))
    assert called(fewer, 450.0) == [("client", "client-7", "requests.Produce", "down", True)]


def test_doubled_latency_is_found_at_its_instance_and_not_called_of_the_version() -> None:
    pushed = [instance(f"i-{n}") for n in range(11)] + [instance("slow", latency=2.0)]
    assert called(CLIENTS, 450.0, pushed) == [("instance", "slow", LATENCY, "up", True)]


def test_an_instance_is_named_as_kafka_and_its_logs_name_it() -> None:
    pushed = [instance(f"i-{n}") for n in range(11)] + [instance("slow", latency=2.0)]
    times = Windows((210.0, 450.0), (450.0, 690.0))
    named = {row(each)["client_instance_id"] for each in changes([], pushed, times)}
    assert kafka_uuid(b"slow".ljust(16, b".")) in named


def test_a_version_that_got_slower_is_called() -> None:
    pushed = [instance(f"i-{n}", latency=0.4) for n in range(8)]
    found = called([], 450.0, pushed)
    assert ("version", None, LATENCY, "down", False) in found
    assert len(found) == 9


def test_five_percent_of_failed_records_are_found() -> None:
    pushed = [instance(f"i-{n}") for n in range(11)] + [instance("failing", errors=0.05)]
    assert called([], 450.0, pushed) == [("instance", "failing", "producer.record.error.share", "up", True)]


def test_failed_requests_are_found() -> None:
    clients = [*CLIENTS, ("bad", "Produce:9@0-900/0.5 Produce:9@450-900/8!6")]
    assert called(clients, 450.0) == [("client", "bad", "requests.failed", "up", True)]


def test_the_share_that_failed_is_of_requests_of_the_same_time() -> None:
    """One Metadata request in eight minutes is told in the record of the last one, together with a minute of Fetch."""
    who = scenarios.client("rare")
    minutes = []
    for minute in range(8):
        since = minute * 60.0
        fetched = Use(95, 5, 0, since, since + 60, since, since + 60)
        minutes.append(Activity(who, 1, "1-old", since, since + 60, {(1, 11): fetched}))
    minutes[-1].uses[3, 9] = Use(2, 0, 0, 0.0, 480.0)
    (track,) = tracks(minutes, 0.0)
    (pair,) = (
        each.pair
        for each in of_track(track, Windows((0.0, 240.0), (240.0, 480.0)), 60.0)
        if each.metric is FAILED
    )
    assert np.allclose([*pair.before, *pair.after], 0.05, atol=0.001)


def test_few_blocks_that_differ_as_much_as_chance_lets_them_do_not_hide_errors() -> None:
    """12, 7 and 5 failed of 190 requests each, and none before."""
    after, floor = np.array([12.5, 6.7, 5.2]) / 190, 0.021 * 0.979 / 190
    (found,) = compare([Pair(SHARE, np.zeros(3), after, (floor, floor))])
    assert found.p_value < 0.001


def test_errors_in_bursts_are_not_called_by_their_mean() -> None:
    """A hundred failed at once, of 12 blocks with 190 requests each."""
    after, floor = np.array([100.0] + [0.0] * 11) / 190, 0.022 * 0.978 / 190
    (found,) = compare([Pair(SHARE, np.zeros(12), after, (floor, floor))])
    assert found.p_value > 0.05


def test_an_instance_of_one_window_is_not_compared() -> None:
    assert called([], 450.0, [instance("short", until=440.0), instance("late", since=460.0)]) == []


def test_sums_of_several_brokers_are_added_and_gauges_averaged() -> None:
    one = Instance(b"i" * 16, "a", "User:a", "n", "v")
    points = [
        Point(LATENCY, "node 1", None, 10.0, None, 10.0, 4.0),
        Point(LATENCY, "node 2", None, 10.0, None, 10.0, 8.0),
        Point(LATENCY, "node 2", None, 20.0, None, 20.0, float("nan")),
        Point(SENT, "topic 1", "delta", 10.0, 0.0, 10.0, 3.0),
        Point(SENT, "topic 2", "delta", 10.0, 0.0, 10.0, 5.0),
    ]
    (found,) = series({one: points})
    assert found.samples[LATENCY] == [Sample(10.0, 10.0, 6.0)]
    assert [sample.value for sample in found.samples[SENT]] == [3.0, 5.0]
    assert found.interval == 10.0


def test_no_more_than_the_false_discovery_rate_is_accepted() -> None:
    assert accepted([]) == []
    assert sum(accepted([n / 1000 for n in range(1, 1001)])) <= 50


def test_windows_leave_out_the_roll_the_minute_after_and_the_election() -> None:
    upgrade = upgrade_of(scenarios.runs(), [], "3.9.1", "4.0.1")
    found = windows(upgrade, 0.0)
    assert found is not None
    last_start = max(scenarios.STOPS.values()) + scenarios.DOWN
    assert found.after[0] >= last_start + 60 and found.before[1] <= upgrade.began
    assert found.after[1] <= last_start + 300 or found.after[0] >= last_start + 330
    assert round(found.after[1] - found.after[0], 6) == round(found.before[1] - found.before[0], 6)


def test_windows_are_of_the_same_hours_where_the_records_go_back_a_day() -> None:
    runs = [run._replace(started=-3 * DAY_SECONDS) if run.started < 0 else run for run in scenarios.runs()]
    upgrade = upgrade_of(runs, [], "3.9.1", "4.0.1")
    found = windows(upgrade, -3 * DAY_SECONDS)
    assert found is not None
    assert found.after[0] - found.before[0] == DAY_SECONDS
