"""Objects of a raw location in a folder."""

import datetime as dt
from pathlib import Path

from client_telemetry.raw.location import DATASETS, RawLocation

DAY = dt.date(2026, 11, 20)
NAME = "000102030405060708090a0b0c0d0e0f-00000000000000000000-00000000000000000006.bin"


def put(
    root: Path, dataset: str, name: str = NAME, cluster: str = "c", day: dt.date = DAY, data: bytes = b"abc"
) -> str:
    key = f"v1/dataset={dataset}/cluster={cluster}/dt={day}/hour=07/broker=3/{name}"
    path = root / key
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return key


def test_a_location_without_anything_has_nothing(tmp_path):
    empty = RawLocation(str(tmp_path))
    assert empty.clusters() == [] and list(empty.objects("c", DAY)) == []
    assert empty.objects_of("c", [DAY, DAY + dt.timedelta(days=1)]) == {
        DAY: [],
        DAY + dt.timedelta(days=1): [],
    }


def test_clusters_are_those_with_any_object(tmp_path):
    for dataset, cluster in zip(DATASETS, ("b", "a", "c"), strict=True):
        put(tmp_path, dataset, cluster=cluster)
    (tmp_path / "v1/dataset=connections/other=x").mkdir()
    assert RawLocation(str(tmp_path)).clusters() == ["a", "b", "c"]


def test_objects_of_a_day_in_order_without_what_is_not_ours(tmp_path):
    later = NAME.replace("-00000000000000000000", "-00000000000000000003")
    keys = [
        put(tmp_path, "client_pushes"),
        put(tmp_path, "client_pushes", later),
        put(tmp_path, "connections", data=b"abcdefg"),
        put(tmp_path, "manifests", "000102030405060708090a0b0c0d0e0f.json"),
    ]
    for name in (".hidden.bin", "_SUCCESS"):
        put(tmp_path, "connections", name)
    put(tmp_path, "connections", day=DAY + dt.timedelta(days=1))
    (tmp_path / "v1/dataset=connections/cluster=c/dt=2026-11-20/strange.bin").write_bytes(b"")
    location = RawLocation(str(tmp_path))
    found = list(location.objects("c", DAY))
    assert [each.key.key for each in found] == keys
    assert [each.bytes for each in found] == [3, 3, 7, 3]
    assert all(abs(dt.datetime.now(dt.UTC) - each.modified_at) < dt.timedelta(minutes=5) for each in found)
    assert {day: len(of_day) for day, of_day in location.objects_of("c", [DAY]).items()} == {DAY: 4}
    assert location.bytes(keys[2]) == b"abcdefg"


def test_what_is_stored_is_read_whatever_its_ending(tmp_path):
    key = put(tmp_path, "connections", NAME.replace(".bin", ".gz"), data=b"no gzip")
    assert RawLocation(str(tmp_path)).bytes(key) == b"no gzip"
