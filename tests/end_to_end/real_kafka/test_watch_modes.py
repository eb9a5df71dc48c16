"""The modes of watching that see a part only, on real brokers: what is seen, what is not, and that both are told.

The play: brokers of two releases that sample until a minute that comes soon, clients before and after it; meanwhile a
broker that watches deprecated requests only, with a client that sends such and one that does not.
"""

import datetime as dt
import json
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest
from client_telemetry.tables.broker_hours import BROKER_HOURS
from client_telemetry.tables.client_connections import CLIENT_CONNECTIONS
from client_telemetry.tables.client_pushes import CLIENT_PUSHES
from client_telemetry.tables.connection_events import CONNECTION_EVENTS
from client_telemetry.tables.upgrade_verdicts import UPGRADE_VERDICTS

from .kafka_broker import KafkaBroker, free_ports
from .play import LOOK_SECONDS, Play, wait_until

REQUESTS, ACCEPTOR = "kafka.request.logger", "kafka.network.DataPlaneAcceptor"
WINDOW_LEFT_SECONDS = (75, 300)
"""So long brokers and clients may take to start; the second is tried where they took longer than the first."""
TICK_SECONDS = 2
"""The plugin looks at the clock once a second."""
PRODUCE, FETCH = 0, 1


@dataclass
class Modes:
    """`levels`: of a broker's loggers, by what was asked when. `window_end`: of sampling."""

    sampled: Play
    deprecated: Play
    window_end: dt.datetime
    levels: dict[str, str] = field(default_factory=dict)


class WindowMissed(Exception):
    """Sampling ended before the clients worked."""


@pytest.fixture(scope="module")
def modes(tmp_path_factory: pytest.TempPathFactory, spark: object) -> Iterator[Modes]:
    for seconds in WINDOW_LEFT_SECONDS:
        played = _modes(tmp_path_factory, seconds)
        try:
            _act(played)
            break
        except WindowMissed:
            _end(played)
        except BaseException:
            _end(played)
            raise
    else:
        pytest.fail(f"the machine is too slow: brokers and clients did not work within {seconds} s")
    try:
        played.sampled.process("3.9.1", "4.4.0")
        played.deprecated.process("3.9.1", "4.4.0")
        yield played
    finally:
        _end(played)


def _end(modes: Modes) -> None:
    modes.sampled.end()
    modes.deprecated.end()


def _modes(tmp_path_factory: pytest.TempPathFactory, seconds_left: int) -> Modes:
    window_end = _window_end(seconds_left)
    sampling = {
        "connections": "sampled",
        "connections.sampled.minutes": window_end.minute,
        "connections.sampled.from.minute": 0,
    }
    sampled = _play(tmp_path_factory, "sampledsampledsampledA", ("broker-4", "broker-3"), sampling)
    deprecated = _play(
        tmp_path_factory, "deprecatedonlydeprecaA", ("broker-3",), {"connections": "deprecated_only"}
    )
    return Modes(sampled, deprecated, window_end)


def _window_end(seconds_left: int) -> dt.datetime:
    """The next full minute but for the time to start. A window begins with the hour, and there is none in the last
    minute of it: shortly before the end of an hour this waits for the next."""
    while True:
        end = dt.datetime.now(dt.UTC) + dt.timedelta(seconds=seconds_left + 60)
        end = end.replace(second=0, microsecond=0)
        if end.minute > 0:
            hour_before = (end - dt.timedelta(seconds=seconds_left + 60)).hour
            if hour_before == end.hour:
                return end
        time.sleep(1)


def _play(
    tmp_path_factory: pytest.TempPathFactory, cluster: str, releases: tuple[str, ...], mode: dict
) -> Play:
    folder = tmp_path_factory.mktemp("play")
    (controller,) = free_ports(1)
    settings = {
        "client.telemetry.dump.location": (folder / "raw").as_uri(),
        **{f"client.telemetry.dump.{name}": value for name, value in mode.items()},
    }
    brokers = [
        KafkaBroker(
            folder / f"broker-{node}",
            kafka,
            node,
            1,
            controller,
            settings=settings,
            request_log_level="WARN",  # as Kafka is shipped
            cluster=cluster,
        )
        for node, kafka in enumerate(releases, 1)
    ]
    return Play(folder, folder / "raw", str(folder / "raw"), brokers)


def _act(modes: Modes) -> None:
    sampled = modes.sampled
    for broker in sampled.brokers:
        broker.start()
    sampled.subscribe(interval_ms=1000)
    long = sampled.java("broker-4", "work", sampled.bootstrap, "long", name="long")
    inside = sampled.python("confluent", "inside")
    wait_until("clients work", lambda: long.instance_ids and inside.instance_ids)
    inside.finish()
    _note_levels(modes, sampled, "in the window")
    if dt.datetime.now(dt.UTC) >= modes.window_end:
        raise WindowMissed

    _act_deprecated(modes)

    time.sleep(max(0, (modes.window_end - dt.datetime.now(dt.UTC)).total_seconds()) + 2 * TICK_SECONDS)
    _note_levels(modes, sampled, "after the window")
    late = sampled.python("confluent", "late")
    wait_until("the late client works", lambda: late.instance_ids)
    time.sleep(3)  # and has pushed
    late.finish()
    long.finish()
    time.sleep(LOOK_SECONDS)
    for broker in reversed(sampled.brokers):
        broker.stop()


def _act_deprecated(modes: Modes) -> None:
    deprecated = modes.deprecated
    (broker,) = deprecated.brokers
    broker.start()
    current = deprecated.java("broker-4", "work", deprecated.bootstrap, "current", name="current")
    ancient = deprecated.python("kafka-python", "ancient", "api_version=0.10.2")
    deprecated.python("unserved", "unserved").finish()
    wait_until("clients work", lambda: current.events("started") and ancient.events("started"))
    _note_levels(modes, deprecated, "deprecated only")
    current.finish()
    ancient.finish()
    time.sleep(LOOK_SECONDS)
    broker.stop()


def _note_levels(modes: Modes, play: Play, when: str) -> None:
    """As the broker itself tells them."""
    for broker in play.brokers:
        for logger in (REQUESTS, ACCEPTOR):
            name = f"level of {logger} of {broker.kafka} {when}"
            client = play.java("broker-4", "level", broker.bootstrap, str(broker.node), logger, name=name)
            client.finish()
            (event,) = client.events("level")
            modes.levels[f"{broker.kafka} {when} {logger}"] = event["value"]


def _requests(play: Play) -> Counter:
    """What the registry tells, at last, of each connection: requests by node, API and version."""
    last = {}
    for event in play.rows(CONNECTION_EVENTS):
        key = event["broker_id"], event["connection_id"]
        if key not in last or event["sequence"] > last[key]["sequence"]:
            last[key] = event
    found = Counter()
    for event in last.values():
        for use in event["api_uses"]:
            found[event["broker_id"], use["api_key"], use["version"]] += use["requests"]
    return found


def _counted_by_the_brokers(play: Play) -> Counter:
    found = Counter()
    for manifest in play.manifests():
        for api_key, version, count in manifest.requests:
            found[manifest.broker_id, api_key, version] += count
    return found


def test_brokers_show_the_operators_levels(modes):
    for kafka in ("broker-4", "broker-3"):
        assert modes.levels[f"{kafka} in the window {REQUESTS}"] == "WARN"
        assert modes.levels[f"{kafka} after the window {REQUESTS}"] == "WARN"
        assert modes.levels[f"{kafka} after the window {ACCEPTOR}"] == "INFO"


def test_sampling_does_not_write_into_the_operators_log(modes):
    for broker in modes.sampled.brokers:
        assert broker.request_log.read_text() == ""
        assert "Accepted connection from" not in (broker.folder / "server.log").read_text()


def test_manifests_tell_when_requests_were_sampled(modes):
    for manifest in modes.sampled.manifests():
        assert manifest.registry.mode == "sampled"
        ((first, last),) = manifest.registry.windows
        assert first >= f"{manifest.broker_started_at:%H:%M:%S}"
        latest = modes.window_end + dt.timedelta(seconds=TICK_SECONDS)
        assert f"{modes.window_end:%H:%M:%S}" <= last <= f"{latest:%H:%M:%S}"


def test_requests_of_the_window_are_seen_and_no_others(modes):
    latest = modes.window_end + dt.timedelta(seconds=TICK_SECONDS)
    connections = modes.sampled.rows(CLIENT_CONNECTIONS)
    for row in connections:
        for use in row["api_uses"]:
            assert use["last_request_at"] <= latest
    clients = {row["client_id"] for row in connections}
    assert {"long-producer", "long-consumer", "inside-producer", "inside-consumer"} <= clients
    assert not {"late-producer", "late-consumer"} & clients
    seen, counted = _requests(modes.sampled), _counted_by_the_brokers(modes.sampled)
    produced = [key for key in counted if key[1] == PRODUCE]
    assert 0 < sum(seen[key] for key in produced) < sum(counted[key] for key in produced)


def test_sampling_sees_the_end_of_a_connection_after_the_window(modes):
    ends = {}
    for row in modes.sampled.rows(CLIENT_CONNECTIONS):
        if row["client_id"] == "long-producer":
            ends[row["end_known_by"]] = row["closed_at"]
    assert set(ends) == {"closed_event"}
    assert ends["closed_event"] > modes.window_end


def test_pushes_are_dumped_whatever_is_watched(modes):
    clients = {row["client_id"] for row in modes.sampled.rows(CLIENT_PUSHES)}
    assert {"late-producer", "late-consumer"} <= clients


def test_the_pipeline_says_when_requests_were_sampled(modes):
    hours = [row for row in modes.sampled.rows(BROKER_HOURS) if row["incarnations"]]
    assert {row["broker_id"] for row in hours} == {1, 2}
    for row in hours:
        assert row["registry_mode"] == "sampled"
        assert "registry_not_watching" in row["completeness"]
    (report,) = (modes.sampled.folder / "published").rglob("report.json")
    assert f"to {modes.window_end:%H:%M}" in report.read_text()


def test_deprecated_requests_are_seen_and_no_others(modes):
    seen, counted = _requests(modes.deprecated), _counted_by_the_brokers(modes.deprecated)
    (produced,) = [key for key in seen if key[1] == PRODUCE]
    assert produced[2] <= 2
    assert seen[produced] == counted[produced] > 0
    assert sum(count for key, count in counted.items() if key[1] == PRODUCE) > seen[produced]
    clients = {row["client_id"] for row in modes.deprecated.rows(CLIENT_CONNECTIONS)}
    assert "ancient-producer" in clients
    assert not {"current-producer", "current-consumer"} & clients


def test_refused_requests_are_seen_with_the_deprecated_ones(modes):
    uses = [use for row in modes.deprecated.rows(CLIENT_CONNECTIONS) for use in row["api_uses"]]
    (refused,) = [use for use in uses if use["rejected"]]
    assert (refused["api_key"], refused["version"], refused["rejected"]) == (FETCH, 99, 1)


def test_deprecated_only_leaves_other_loggers_alone(modes):
    assert modes.levels[f"broker-3 deprecated only {REQUESTS}"] == "WARN"
    assert modes.levels[f"broker-3 deprecated only {ACCEPTOR}"] == "INFO"
    (broker,) = modes.deprecated.brokers
    assert broker.request_log.read_text() == ""


def test_the_pipeline_says_that_deprecated_requests_only_were_seen(modes):
    for manifest in modes.deprecated.manifests():
        assert (manifest.registry.mode, manifest.registry.windows) == ("deprecated_only", ())
    hours = [row for row in modes.deprecated.rows(BROKER_HOURS) if row["incarnations"]]
    assert {row["registry_mode"] for row in hours} == {"deprecated_only"}
    assert all("registry_not_watching" in row["completeness"] for row in hours)
    verdicts = {row["client_id"]: row["verdict"] for row in modes.deprecated.rows(UPGRADE_VERDICTS)}
    assert verdicts["ancient-producer"] == "breaks"
    assert "safe" not in verdicts.values()
    (report,) = (modes.deprecated.folder / "published").rglob("report.json")
    watched, _, _ = json.loads(report.read_text())["sentence"].partition(":")
    assert watched.endswith("of requests of deprecated versions on 1 broker")
