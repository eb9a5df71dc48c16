"""An operator changes the levels of loggers that the plugin listens to: he gets his log, and the plugin stays awake."""

import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from client_telemetry.formats.raw.envelopes import parse_connection_event
from client_telemetry.formats.raw.object_key import parse_object_key

from .kafka_broker import KafkaBroker, free_ports
from .play import LOOK_SECONDS, Play, records, wait_until

REQUESTS = "kafka.request.logger"
SELECTOR = "org.apache.kafka.common.network.Selector"
TEST_SECONDS = 120


@pytest.fixture(params=["broker-4", pytest.param("broker-3", marks=pytest.mark.long)])
def play(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Play]:
    """A broker that lives within one hour, so that it writes one manifest."""
    rest_of_hour = 3600 - time.time() % 3600
    if rest_of_hour < TEST_SECONDS:
        time.sleep(rest_of_hour + 1)
    settings = {"client.telemetry.dump.location": (tmp_path / "raw").as_uri()}
    (controller,) = free_ports(1)
    broker = KafkaBroker(
        tmp_path / "broker", request.param, 1, 1, controller, settings=settings, request_log_level="WARN"
    )
    played = Play(tmp_path, tmp_path / "raw", str(tmp_path / "raw"), [broker])
    try:
        broker.start()
        yield played
    finally:
        played.end()


def _set_level(play: Play, logger: str, level: str) -> None:
    (broker,) = play.brokers
    name = f"set {logger} {level}"
    play.java("broker-4", "set-level", broker.bootstrap, str(broker.node), logger, level, name=name).finish()


def _work(play: Play, name: str) -> None:
    client = play.python("kafka-python", name)
    wait_until(f"{name} works", lambda: client.events("started"))
    client.finish()


def _clients_seen(play: Play) -> set[str]:
    found = set()
    for file in play.raw.glob("v1/dataset=connections/**/*.zst"):
        for record in records(file):
            found.add(parse_connection_event(record, parse_object_key(str(file))).client.client_id)
    return found


def _alter(play: Play, setting: str, value: str) -> list[dict]:
    """What the broker answers: one event, `altered` or `refused`."""
    (broker,) = play.brokers
    name = f"alter {setting} {value}"
    where = (broker.bootstrap, str(broker.node))
    client = play.java(
        "broker-4", "alter-broker", *where, f"client.telemetry.dump.{setting}", value, name=name
    )
    client.finish()
    return [*client.events("altered"), *client.events("refused")]


def test_a_setting_changed_while_the_broker_runs_is_applied_or_refused(play):
    (broker,) = play.brokers
    _work(play, "before")
    (answer,) = _alter(play, "roll.ms", "5000")
    assert answer["event"] == "refused" and "needs a restart" in answer["value"]
    (answer,) = _alter(play, "connections", "off")
    assert answer["event"] == "altered"
    time.sleep(LOOK_SECONDS)
    _work(play, "unwatched")
    (answer,) = _alter(play, "connections", "continuous")
    assert answer["event"] == "altered"
    time.sleep(2)
    _work(play, "after")
    broker.stop()
    seen = _clients_seen(play)
    assert {"before-producer", "after-producer"} <= seen and "unwatched-producer" not in seen
    (manifest,) = [json.loads(file.read_text()) for file in play.raw.rglob("*.json")]
    assert manifest["registry"]["mode"] == "sampled", "nobody may think that it watched all the hour"
    assert len(manifest["registry"]["windows"]) == 2


def test_debug_and_back_to_warn(play):
    (broker,) = play.brokers
    _work(play, "before")
    assert broker.request_log.read_text() == ""
    _set_level(play, REQUESTS, "DEBUG")
    _set_level(play, SELECTOR, "DEBUG")
    _work(play, "while")
    assert '"clientId":"while-producer"' in broker.request_log.read_text(), "the operator's log has his lines"
    assert (
        "disconnected (org.apache.kafka.common.network.Selector)"
        in (broker.folder / "server.log").read_text()
    )
    _set_level(play, REQUESTS, "WARN")
    _set_level(play, SELECTOR, "INFO")
    _work(play, "after")
    assert '"clientId":"after-producer"' not in broker.request_log.read_text()
    time.sleep(LOOK_SECONDS)
    broker.stop()
    seen = _clients_seen(play)
    assert {"before-producer", "while-producer", "after-producer"} <= seen
    (manifest,) = [json.loads(file.read_text()) for file in play.raw.rglob("*.json")]
    figures = manifest["reconciliation"]
    assert figures["requests_by_counter"] > 20
    # On Kafka 3 a level that the operator lowers counts until the plugin looks again, at most a tenth of a second later.
    missed = figures["requests_by_counter"] - figures["requests_in_registry"]
    assert missed <= (0 if broker.kafka == "broker-4" else 16)
    assert figures["connections_in_registry"] == figures["connections_by_gauge"]
