"""A made-up day of two brokers with a fault in every other hour. 0.1.0 read its hours until noon, then plugin and pipeline were
updated; stages of this version read the rest, two of them killed, one with a full disk: nothing is lost, nothing is silent, and no
stage takes long. docs/reliability.md lists each fault's own tests."""

import datetime as dt
import os
import shutil
import signal
import subprocess
import sys
import tarfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from client_telemetry.formats.raw.writer import DumpWriter
from client_telemetry.lake.copying import copy_lake
from client_telemetry.tables.client_pushes import CLIENT_PUSHES
from client_telemetry.tables.clients import CLIENTS
from client_telemetry.tables.connection_events import CONNECTION_EVENTS
from client_telemetry.tables.publications import PUBLICATIONS
from client_telemetry.tables.raw_objects import RAW_OBJECTS

from tests.client_telemetry.lake.conftest import left_over
from tests.jobs.conftest import CLUSTER, DAY, connection, event, push

MORNING = Path(__file__).parents[1] / "data" / "mornings" / "0.1.0.tar.xz"
"""What `write_morning` wrote, and the lake that 0.1.0 made of it."""
UPDATE = 12
"""Hour of the update: brokers start again with another incarnation."""
MIDNIGHT = dt.datetime.combine(DAY, dt.time(), dt.UTC)
OUTAGE, STORM, CUT, EMPTY, NO_MANIFEST, HOSTILE, COPIED, LATE = 3, 5, 7, 9, 11, 15, 17, 19
"""Hours of faults, all of broker 1; at OUTAGE broker 2 was down."""
STORMING = 2000
ROOM = 4096
"""Bytes on a disk that is as good as full."""
SLOW = "(?:[a-z]+-?)+[0-9]"
"""Backtracking engines need weeks for HOSTILE_IDS."""
HOSTILE_IDS = ["a" * 40, "a" * 249, "a-" * 16_000, "\u202e<script>", "=HYPERLINK(1)", ""]
LONGEST_S = 600
"""Of a stage, here; Airflow ends one after three hours."""
KILLED = """
import os, signal, sys
from client_telemetry.lake.sql_catalog import DatabaseCatalog
from client_telemetry.jobs import main_of
commit, commits = DatabaseCatalog.commit_table, []
def dying(self, *arguments):
    done = commit(self, *arguments)
    commits.append(done)
    if len(commits) == int(sys.argv[2]):
        os.kill(os.getpid(), signal.SIGKILL)
    return done
DatabaseCatalog.commit_table = dying
sys.exit(main_of(sys.argv[1])(sys.argv[3:]))
"""


def write_morning(raw: Path) -> None:
    _write(raw, range(UPDATE))
    cut = _pushes(raw, CUT)
    cut.write_bytes(cut.read_bytes()[:-20])
    _pushes(raw, EMPTY).write_bytes(b"")
    shutil.rmtree(_hour(raw, "manifests", NO_MANIFEST))
    shutil.rmtree(_hour(raw, "manifests", OUTAGE, 2))


def _write_afternoon(raw: Path, aside: Path) -> None:
    """All but an hour that is late, which lies aside."""
    _write(raw, range(UPDATE, 24))
    copied = _pushes(raw, COPIED)
    shutil.copy(copied, copied.with_name("zz-copy.zst"))
    shutil.move(_hour(raw, "client_pushes", LATE), aside)
    strange = _hour(raw, "client_pushes", CUT).parent / "broker=abc"
    strange.mkdir()
    shutil.copy(copied, strange)
    (_hour(raw, "client_pushes", HOSTILE) / "link.zst").symlink_to(copied)


def _write(raw: Path, hours: range) -> None:
    for broker in (1, 2):
        incarnation = bytes([broker, hours.start] * 8)
        begin = {
            "broker_started_at": MIDNIGHT + dt.timedelta(hours=hours.start),
            "broker_software_version": "3.9.1",
        }
        with DumpWriter(raw, CLUSTER, broker, incarnation, **begin) as out:
            for dataset, record in _records_of(broker, hours):
                (out.append_push if dataset == "client_pushes" else out.append_connection_event)(record)


def _records_of(broker: int, hours: range):
    for hour in hours:
        if (broker, hour) != (2, OUTAGE):
            yield from _records(broker, hour)


def _records(broker: int, hour: int):
    at = MIDNIGHT + dt.timedelta(hours=hour, minutes=1)
    for second in range(4):
        yield "client_pushes", push(at + dt.timedelta(seconds=second))
        yield "connections", event(2, at + dt.timedelta(seconds=second), uses=((0, 9, 7), (18, 3, 1)))
    if (broker, hour) == (1, STORM):
        for number in range(STORMING):
            client = connection(
                connection_id=f"10.0.0.9:9092-10.0.0.2:{number}-0-{number}", client_port=number
            )
            yield "connections", event(1, at + dt.timedelta(seconds=5), client=client)
    if (broker, hour) == (1, HOSTILE):
        for number, client_id in enumerate(HOSTILE_IDS):
            client = connection(client_id=client_id, connection_id=f"h-{number}")
            yield "connections", event(2, at + dt.timedelta(seconds=5), client=client, uses=((0, 9, 1),))


def _hour(raw: Path, dataset: str, hour: int, broker: int = 1) -> Path:
    return raw / f"v1/dataset={dataset}/cluster={CLUSTER}/dt={DAY}/hour={hour:02}/broker={broker}"


def _pushes(raw: Path, hour: int) -> Path:
    (path,) = _hour(raw, "client_pushes", hour).iterdir()
    return path


@pytest.fixture
def disk(pipeline) -> Iterator[Path | None]:
    """The file system of the lake alone; None where only root could mount it."""
    folder = pipeline.folder / "lake"
    if os.geteuid() != 0:
        yield None
        return
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1g", "lake", folder], check=True)
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", folder], check=True)


@pytest.fixture
def day(pipeline, disk):
    with tarfile.open(MORNING) as archive:
        archive.extractall(pipeline.folder / "morning", filter="data")
    copy_lake(str(pipeline.folder / "morning/lake"), str(pipeline.folder / "lake"))
    (pipeline.folder / "morning/raw").rename(pipeline.raw)
    (pipeline.folder / "owners.yaml").write_text(
        f"rules:\n  - {{name: slow, owner: nobody, contact: a@b, client_id: '{SLOW}'}}\n"
    )
    return pipeline


def _kill(pipeline, stage: str, at: int, **arguments: object) -> None:
    """Run a stage that dies after its commit number `at`."""
    options = {"cluster": CLUSTER, "lake": pipeline.folder / "lake", **arguments}
    argv = [f"--{name.replace('_', '-')}={value}" for name, value in options.items()]
    done = subprocess.run(
        [sys.executable, "-c", KILLED, stage, str(at), *argv], capture_output=True, text=True
    )
    assert done.returncode == -signal.SIGKILL, done.stdout + done.stderr


def _done(pipeline, stage: str, **arguments: object) -> dict:
    begin = time.monotonic()
    result = pipeline.done(stage, **arguments)
    assert time.monotonic() - begin < LONGEST_S
    return result


def _finds_the_disk_full(pipeline, disk: Path | None, stage: str, **arguments: object) -> None:
    """Run a stage that can write next to nothing; it says so, and there is room again afterwards."""
    if disk is None:
        return
    filler = disk / "filler"
    left = os.statvfs(disk)
    with filler.open("wb") as out:
        os.posix_fallocate(out.fileno(), 0, left.f_bavail * left.f_frsize - ROOM)
    code, result = pipeline.run(stage, **arguments)
    filler.unlink()
    assert code == 1
    assert "No space left on device" in result["message"] or "disk is full" in result["message"]
    assert "\n" not in result["message"].strip() and "Traceback" not in result["message"]


def test_nothing_is_lost_and_nothing_silent(day, disk):
    assert _hours_read(day) == set(range(UPDATE)), "0.1.0 read them"
    aside = day.folder / "late"
    _write_afternoon(day.raw, aside)
    written = Counter(dataset for broker in (1, 2) for dataset, _ in _records_of(broker, range(24)))
    collected = _done(day, "collect", day=DAY)
    _kill(day, "decode", 3, days=DAY, raw=day.raw)
    decoded = _done(day, "decode", days=DAY)
    profile = {"days": DAY, "owners": day.folder / "owners.yaml"}
    _finds_the_disk_full(day, disk, "sessionize", days=DAY)
    _done(day, "sessionize", days=DAY)
    _kill(day, "profile", 2, **profile)
    _done(day, "profile", **profile)
    _said(collected, decoded)

    shutil.move(aside, _hour(day.raw, "client_pushes", LATE))
    _done(day, "collect", day=DAY, run_id="next")
    _done(day, "decode", days=DAY, run_id="next")
    _accounted_for(day, written)
    _done(day, "sessionize", days=DAY, run_id="next")
    _done(day, "profile", run_id="next", **profile)
    seen = {row["client_id"] for row in day.lake.rows(CLIENTS, cluster_id=CLUSTER)}
    assert seen >= {"orders", *HOSTILE_IDS} - {"", *_longer_than_kept()}
    _done(day, "publish_fleet", days=DAY, publish=day.folder / "published", cluster_name="east")
    _done(day, "impact", report_id="q", to="4.0.0", day=DAY)
    _done(day, "publish", report_id="q", publish=day.folder / "published", cluster_name="east")
    publications = day.lake.rows(PUBLICATIONS, cluster_id=CLUSTER)
    assert set(Counter((row["run_id"], row["stage"]) for row in publications).values()) == {1}
    refs = {ref for names in left_over(day.lake).values() for ref in names}
    assert refs == {"report q"}, "no branch of a killed stage is left"


def _hours_read(day) -> set[int]:
    return {row["received_at"].hour for row in day.lake.rows(CLIENT_PUSHES, cluster_id=CLUSTER)}


def _longer_than_kept() -> set[str]:
    return {client_id for client_id in HOSTILE_IDS if len(client_id) > 1000}


def _said(collected: dict, decoded: dict) -> None:
    """What is known of each fault, in the results that notes and pages show."""
    (strange,) = (text for text in collected["warnings"] if "are not read" in text)
    assert strange.startswith("2 files in the raw location are not read, such as ")
    assert decoded["lost"] == f"{DAY}: 2 of 140 objects damaged, 12 of 188 pushes not read"
    (example,) = (text for text in decoded["warnings"] if "of 188 pushes not read, such as v1/" in text)
    assert f"hour={CUT:02}/" in example
    assert any("broker hours with records known to be missing" in text for text in decoded["warnings"])
    assert "2 are not reported" in collected["message"]


def _accounted_for(day, written: Counter) -> None:
    """Every record that was written is a row, or belongs to one of the two damaged objects; nothing is there twice."""
    objects = [row for row in day.lake.rows(RAW_OBJECTS, cluster_id=CLUSTER) if row["dataset"] != "manifests"]
    damaged = [row for row in objects if row["status"] != "decoded"]
    assert sorted(row["hour"] for row in damaged) == [CUT, EMPTY]
    assert all(row["records"] == row["rows"] + row["duplicates"] + row["undecodable"] for row in objects)
    events = len(day.lake.rows(CONNECTION_EVENTS, cluster_id=CLUSTER))
    assert events == written["connections"]
    pushes = Counter(row["received_at"].hour for row in day.lake.rows(CLIENT_PUSHES, cluster_id=CLUSTER))
    assert pushes.pop(CUT) < 8 and pushes.pop(EMPTY) == 4
    assert pushes.pop(OUTAGE) == 4
    assert set(pushes.values()) == {8} and len(pushes) == 21
