"""How objects are shared out to tasks: whole days, one broker that is much larger than the others, huge objects."""

import datetime as dt
import time
from pathlib import Path

from client_telemetry.decode.plan import groups_by_task, groups_that_may_overlap
from client_telemetry.formats.raw.location import RawLocation
from client_telemetry.formats.raw.object_key import records_key
from pyarrow import fs

DAY = dt.date(2026, 3, 1)
MIB = 2**20


def objects(of_brokers: dict[int, int], size: int = 3 * MIB) -> list[dict]:
    """Rows of raw_objects: so many objects of each broker, one after the other."""
    rows = []
    for broker, count in of_brokers.items():
        incarnation = f"{broker:032x}"
        for i in range(count):
            hour = dt.datetime.combine(DAY, dt.time(i * 24 // count), dt.UTC)
            key = records_key("client_pushes", "c", broker, incarnation, hour, 100 * i, 100 * i + 99, ".zst")
            rows.append(
                {
                    "object_key": key.key,
                    "bytes": size,
                    "dataset": "client_pushes",
                    "broker_id": broker,
                    "broker_incarnation": incarnation,
                    "first_sequence": 100 * i,
                    "last_sequence": 100 * i + 99,
                }
            )
    return rows


def shares(rows: list[dict]) -> list[int]:
    """Bytes of each task; every object is in one task."""
    sizes = {row["object_key"]: row["bytes"] for row in rows}
    tasks = groups_by_task(groups_that_may_overlap(rows))
    keys = [key for task in tasks for group in task for key in group]
    assert sorted(keys) == sorted(sizes)
    return [sum(sizes[key] for group in task for key in group) for task in tasks]


def test_a_day_of_50_000_objects_is_shared_out_in_a_few_seconds():
    rows = objects(dict.fromkeys(range(50), 1_000))
    began = time.process_time()
    loads = shares(rows)
    assert time.process_time() - began < 5
    assert len(loads) == 50_000 * 3 // 64
    assert max(loads) - min(loads) <= 3 * MIB


def test_a_broker_with_nine_tenths_of_the_objects_is_spread_over_all_tasks():
    loads = shares(objects({1: 900, 2: 50, 3: 50}))
    assert len(loads) > 40
    assert max(loads) - min(loads) <= 3 * MIB


def test_a_huge_object_has_a_task_for_itself():
    rows = [*objects({1: 200}), *objects({2: 1}, size=1024 * MIB)]
    loads = sorted(shares(rows))
    assert loads[-1] == 1024 * MIB
    assert max(loads[:-1]) <= 64 * MIB


def test_a_day_is_listed_once_and_reading_an_object_lists_nothing(tmp_path: Path, monkeypatch):
    row = objects({1: 1})[0]
    for dataset in ("client_pushes", "connections", "manifests"):
        (tmp_path / f"v1/dataset={dataset}/cluster=c/dt={DAY}").mkdir(parents=True)
    (tmp_path / row["object_key"]).parent.mkdir(parents=True)
    (tmp_path / row["object_key"]).write_bytes(b"x")
    listed = []

    class Noting:
        """The local file system, with a note of what was listed."""

        def get_file_info(self, selector):
            listed.append(selector.base_dir)
            return fs.LocalFileSystem().get_file_info(selector)

        def open_input_file(self, path):
            return fs.LocalFileSystem().open_input_file(path)

    monkeypatch.setattr(RawLocation, "_open", lambda self: (Noting(), str(tmp_path)))
    raw = RawLocation(tmp_path.as_uri())
    (arrived,) = raw.objects("c", DAY)
    assert len(listed) == 3
    assert raw.beginning(arrived.key.key, 100) == b"x"
    assert len(listed) == 3


def test_many_small_objects_are_many_tasks_whatever_their_bytes():
    tasks = groups_by_task(groups_that_may_overlap(objects(dict.fromkeys(range(50), 1_000), size=1_000)))
    numbers = [sum(map(len, task)) for task in tasks]
    assert len(tasks) == 25
    assert max(numbers) - min(numbers) <= 1


def test_small_objects_beside_a_large_one_go_to_the_other_tasks():
    rows = objects({1: 10_000}, size=1_000) + objects({2: 1}, size=64 * MIB)
    tasks = groups_by_task(groups_that_may_overlap(rows))
    numbers = sorted(sum(map(len, task)) for task in tasks)
    assert numbers[0] <= 1 and numbers[-1] < 2_000
