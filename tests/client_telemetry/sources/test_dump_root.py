"""Two conversions into one dump at once, and what a killed one leaves."""

import os
import time
from pathlib import Path

from client_telemetry.sources.dump_root import DumpRoot


def stage(root: DumpRoot, name: str) -> None:
    path = root.staged() / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"rows")


def files(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


def test_a_conversion_leaves_alone_what_another_is_staging(tmp_path):
    first = DumpRoot(tmp_path, "converted")
    stage(first, "v1/broker_1")
    second = DumpRoot(tmp_path, "converted")
    stage(second, "v1/broker_3")
    second.move("second.json", b"{}")
    stage(first, "v1/broker_2")
    first.move("first.json", b"{}")
    brokers = {"v1/broker_1", "v1/broker_2", "v1/broker_3"}
    assert files(tmp_path) == {*brokers, "converted/first.json", "converted/second.json"}
    assert not (tmp_path / ".converting").exists()


def test_what_a_killed_conversion_staged_goes_a_day_later(tmp_path):
    stage(DumpRoot(tmp_path, "converted"), "v1/of_a_killed_one")
    DumpRoot(tmp_path, "converted")
    (left,) = files(tmp_path)
    yesterday = time.time() - 25 * 60 * 60
    os.utime(tmp_path / left, (yesterday, yesterday))
    DumpRoot(tmp_path, "converted")
    assert files(tmp_path) == set()


def test_a_move_that_was_interrupted_is_ended_by_the_next_conversion(tmp_path):
    root = DumpRoot(tmp_path, "converted")
    stage(root, "v1/broker_1")
    stage(root, "converted/record.json")
    DumpRoot(tmp_path, "converted")
    assert files(tmp_path) == {"v1/broker_1", "converted/record.json"}
