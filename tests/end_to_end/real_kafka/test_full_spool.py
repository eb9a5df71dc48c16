"""A spool that is full because the store is down, and a broker that is killed then: what was on disk arrives, and
what was dropped is counted.

Its spool has its smallest size, and clients push ten times a second, as often as Kafka allows.
"""

import shutil
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from client_telemetry.formats.raw.manifest import Manifest

from .kafka_broker import KafkaBroker, free_ports
from .object_store import ACCESS_KEY, BUCKET, SECRET_KEY, ObjectStore
from .play import Client, Play, records, spooled, wait_until

SPOOL_BYTES = 1 << 20
PRODUCERS = 20
DROPS = 100
COUNTED_SECONDS = 3.0
"""What a killed broker may have dropped, or not flushed, without a trace: it notes what it counted once a second; the
rest is for a busy machine."""


@dataclass
class FullSpool(Play):
    """`killed_at`: Unix time. `spool_bytes`: of the full spool, at the kill."""

    killed_at: float = 0.0
    spool_bytes: int = 0

    @property
    def left(self) -> Path:
        return self.folder / "left"

    @property
    def broker(self) -> KafkaBroker:
        return self.brokers[0]

    def life(self, entry: dict) -> int:
        return 0 if entry["logged_at"] <= self.killed_at else 1


@pytest.fixture(scope="module")
def play(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FullSpool]:
    folder = tmp_path_factory.mktemp("play")
    store = ObjectStore(folder / "store")
    settings = {
        "client.telemetry.dump.location": f"s3://{BUCKET}/raw",
        "client.telemetry.dump.s3.endpoint": store.endpoint,
        "client.telemetry.dump.s3.path.style": "true",
        "client.telemetry.dump.connections": "off",  # every record is a push
        "client.telemetry.dump.spool.max.bytes": SPOOL_BYTES,
    }
    keys = {"AWS_ACCESS_KEY_ID": ACCESS_KEY, "AWS_SECRET_ACCESS_KEY": SECRET_KEY}
    broker = KafkaBroker(
        folder / "broker", "broker-4", 1, 1, *free_ports(1), keys, settings, cluster="fullspoolfullspoolfulA"
    )
    played = FullSpool(folder, store.raw, store.url, [broker])
    try:
        broker.start()
        _act(played, store)
        yield played
    finally:
        played.end()
        store.kill()


def _act(play: FullSpool, store: ObjectStore) -> None:
    broker = play.broker
    play.subscribe(interval_ms=100)
    pushing = _push(play, "first")
    wait_until("the spool is full", lambda: broker.dump_figure("DroppedSpoolFull") > DROPS)
    time.sleep(2 * COUNTED_SECONDS)  # it has noted some of what it dropped
    broker.kill()
    play.killed_at = broker.killed_at
    pushing.kill()  # it would wait five minutes before it pushes again
    shutil.copytree(broker.spool, play.left)
    play.spool_bytes = sum(file.stat().st_size for file in play.left.rglob("*") if file.is_file())
    broker.start()
    pushing = _push(play, "second")
    wait_until("the spool is full again", lambda: broker.dump_figure("DroppedSpoolFull") > DROPS)
    store.start()
    before = broker.dump_figure("Pushes") - broker.dump_figure("DroppedSpoolFull")
    wait_until(
        "the spool takes pushes again",
        lambda: broker.dump_figure("Pushes") - broker.dump_figure("DroppedSpoolFull") > before + DROPS,
    )
    pushing.finish()
    time.sleep(1)
    broker.stop()
    if _is_spooled(broker):  # the end of a broker waits for uploads only so long; the next start has the rest
        broker.start()
        wait_until("the spool is empty", lambda: not _is_spooled(broker))
        broker.stop()


def _is_spooled(broker: KafkaBroker) -> bool:
    return any(broker.spool.rglob("*.zst"))


def _push(play: FullSpool, name: str) -> Client:
    return play.java("broker-4", "push", play.bootstrap, name, str(PRODUCERS), name=name)


@pytest.fixture(scope="module")
def lives(play: FullSpool) -> list[Manifest]:
    """The last manifest of each life of the broker, in order."""
    last = {m.incarnation: m for m in sorted(play.manifests(), key=lambda m: (m.broker_started_at, m.hour))}
    return list(last.values())


def _lost(play: FullSpool) -> dict[int, Counter]:
    """By life: accepted pushes that are not in the store."""
    dumped = play.dumped_pushes()
    lost = {0: Counter(), 1: Counter()}
    for entry, push in play.accepted_pushes():
        dumped[push] -= 1
        if dumped[push] < 0:
            lost[play.life(entry)][entry["logged_at"]] += 1
    return lost


def _dropped(play: FullSpool, incarnation: str) -> int:
    return sum(sum(m.dropped.values()) for m in play.manifests() if m.incarnation == incarnation)


def test_the_spool_keeps_its_size(play):
    assert SPOOL_BYTES / 2 < play.spool_bytes < SPOOL_BYTES * 1.2


def test_every_push_is_in_the_store_or_counted_as_dropped(play, lives):
    lost = _lost(play)
    assert sum(lost[1].values()) == _dropped(play, lives[1].incarnation) > DROPS


def test_a_killed_broker_has_counted_what_it_dropped(play, lives):
    assert lives[0].recovered
    lost = _lost(play)[0]
    at_last = sum(count for at, count in lost.items() if at > play.killed_at - COUNTED_SECONDS)
    dropped = _dropped(play, lives[0].incarnation)
    assert dropped > 0
    assert sum(lost.values()) - at_last <= dropped <= sum(lost.values())


def test_what_was_on_disk_is_in_the_store(play, lives):
    incarnation = lives[0].incarnation
    had = Counter(record for file in spooled(play.left / incarnation) for record in records(file))
    stored = Counter(record for file in play.raw.rglob(f"{incarnation}-*.zst") for record in records(file))
    assert sum(had.values()) > DROPS
    assert had - stored == Counter()


def test_the_broker_went_on(play):
    assert "client telemetry is lost" not in (play.broker.folder / "server.log").read_text()
    assert list(play.broker.spool.iterdir()) == [], "everything left the spool"
