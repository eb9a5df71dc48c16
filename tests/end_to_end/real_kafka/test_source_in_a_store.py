"""A declared source whose files are objects: found, read and recognised over S3, as they are in folders."""

import datetime as dt
import gzip
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from client_telemetry.formats.raw.location import RawLocation
from client_telemetry.sources import dump_root
from client_telemetry.sources.arrivals import Arrivals, StillWritten
from client_telemetry.sources.conversion import Conversion, Source, convert_new
from client_telemetry.sources.log_files import NoLogs, find_logs

from .kafka_broker import CHECKOUT
from .object_store import BUCKET, SECRET_KEY, ObjectStore

LOG = CHECKOUT / "include" / "sample" / "request_logs" / "kafka-4.0.1-json.request.log.zst"
COLLECTED = CHECKOUT / "tests" / "data" / "sources" / "collector"
CLUSTER = "kQ7x0RvXTs-Y2r0m3Jw0zA"


@pytest.fixture(scope="module")
def store(tmp_path_factory) -> Iterator[ObjectStore]:
    store = ObjectStore(tmp_path_factory.mktemp("store"))
    store.start()
    yield store
    store.kill()


@pytest.fixture(autouse=True)
def empty(store) -> None:
    shutil.rmtree(store.folder / "objects" / BUCKET)
    (store.folder / "objects" / BUCKET).mkdir()


def url(store: ObjectStore, path: str) -> str:
    return f"s3://{BUCKET}/{path}?scheme=http&endpoint_override=127.0.0.1:{store.port}&region=us-east-1"


def put(store: ObjectStore, path: str, data: bytes) -> None:
    """The store keeps an object as a file."""
    file = store.folder / "objects" / BUCKET / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(data)


def dump(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.glob("v1/**/*.zst")}


def convert(format_: str, raw: Path | str, *files: str) -> Conversion:
    release = "4.0.1" if format_ == "request_log" else None
    return convert_new(Source(format_, files, release), CLUSTER, raw)


def test_request_logs_of_a_store_give_the_dump_that_those_of_a_folder_give(store, tmp_path):
    put(store, "logs/east/broker-2/kafka-request.log.2026-11-21-05.zst", LOG.read_bytes())
    put(store, "logs/east/broker-2/.hidden/kafka-request.log", b"not meant")
    put(store, "logs/west/broker-2/kafka-request.log", b"of another cluster")
    (tmp_path / "logs").mkdir()
    shutil.copy(LOG, tmp_path / "logs" / LOG.name)
    for i, pattern in enumerate(("logs/east", "logs/east/*/kafka-request.log*", "logs/**/*.zst")):
        done = convert("request_log", tmp_path / str(i), url(store, pattern))
        assert (done.counts["converted_pushes"], done.counts["converted_files"]) == (5, 1)
        assert convert("request_log", tmp_path / str(i), url(store, pattern)).counts == {"converted_files": 0}
    convert("request_log", tmp_path / "folder", str(tmp_path / "logs"))
    assert dump(tmp_path / "0") == dump(tmp_path / "1") == dump(tmp_path / "folder") != {}
    record = next((tmp_path / "0" / "converted").iterdir()).read_text()
    assert f"s3://{BUCKET}/logs/east/broker-2/" in record and SECRET_KEY not in record


def test_the_dump_itself_can_be_in_a_store(store, tmp_path, monkeypatch):
    """And a crash while it gets there costs nothing."""
    # The store does not know checksums that follow the data.
    monkeypatch.setenv("AWS_REQUEST_CHECKSUM_CALCULATION", "when_required")
    put(store, "logs/kafka-request.log.zst", LOG.read_bytes())
    logs, raw = url(store, "logs"), url(store, "raw")
    with monkeypatch.context() as patched:
        patched.setattr(dump_root, "put", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            convert("request_log", raw, logs)
    assert dump(store.raw) == {}
    assert convert("request_log", raw, logs).counts == {"converted_files": 0}
    convert("request_log", tmp_path / "raw", logs)
    assert dump(store.raw) == dump(tmp_path / "raw") != {}
    assert not [path for path in (store.raw / ".converting").rglob("*") if path.is_file()]
    location = RawLocation(raw)
    days = [
        each for each in location.objects(CLUSTER, dt.date(2026, 11, 21)) if each.key.dataset != "manifests"
    ]
    assert {f"{each.key}" for each in days} == dump(tmp_path / "raw").keys()

    put(store, "logs/kafka-request.log.1", b"no entry of a log\n")
    assert convert("request_log", raw, logs).counts["converted_unreadable"] == 1


def test_what_the_s3_exporter_of_a_collector_writes(store, tmp_path):
    """One object for each export, in a folder for each minute."""
    for minute, name in ((3, "first.bin"), (4, "second.bin")):
        data = gzip.compress((COLLECTED / name).read_bytes())
        put(store, f"otel/year=2026/month=11/day=21/hour=05/minute=0{minute}/metrics_{minute}.binpb.gz", data)
    put(store, "json/metrics_1.json", (COLLECTED / "json.jsonl").read_bytes())
    location = url(store, "otel/year=2026/**/*.binpb.gz")
    done = convert("otlp_proto", tmp_path / "raw", location)
    assert (done.counts["converted_files"], len(done.warnings)) == (0, 1), "an object may still be replaced"
    done = convert_new(
        Source("otlp_proto", (location,)), CLUSTER, tmp_path / "raw", settled=-dt.timedelta(minutes=1)
    )
    assert (done.counts["converted_files"], done.counts["converted_pushes"]) == (2, 2)
    assert convert("collector_json", tmp_path / "json", url(store, "json")).counts["converted_pushes"] == 2


def test_an_object_that_is_replaced_by_a_longer_one_gives_what_is_new(store, tmp_path):
    lines = (COLLECTED / "json.jsonl").read_bytes().splitlines(keepends=True)
    put(store, "json/metrics.json", lines[0] + lines[1][:50])
    assert convert("collector_json", tmp_path, url(store, "json")).counts["converted_pushes"] == 1
    put(store, "json/metrics.json", lines[0] + lines[1])
    done = convert("collector_json", tmp_path, url(store, "json"))
    assert (done.counts["converted_pushes"], done.counts["converted_unreadable"]) == (1, 0)


def test_an_object_that_is_replaced_while_it_is_read_leaves_nothing_behind(store, tmp_path, monkeypatch):
    data = (COLLECTED / "json.jsonl").read_bytes()
    put(store, "json/metrics.json", data)
    keep = Arrivals.keep

    def replace_and_keep(self, *arguments, **named):
        put(store, "json/metrics.json", b"{}\n" + data)
        keep(self, *arguments, **named)

    monkeypatch.setattr(Arrivals, "keep", replace_and_keep)
    with pytest.raises(StillWritten, match=f"s3://{BUCKET}/json/metrics.json was written to"):
        convert("collector_json", tmp_path, url(store, "json"))
    assert dump(tmp_path) == {}


def test_what_is_not_there_is_reported_without_the_keys_to_the_store(store):
    for path in ("nothing/*.log", "nothing", "nothing.log"):
        with pytest.raises(NoLogs, match=f"^s3://{BUCKET}/{path.replace('*', '.')}: no such file"):
            find_logs([url(store, path)])
    with pytest.raises(NoLogs, match="write it as s3://bucket/path"):
        find_logs(["s3:///logs"])


def test_node_ids_can_stand_before_a_url(store):
    put(store, "logs/a.log", b"x")
    (log,) = find_logs([f"7={url(store, 'logs/*.log')}"])
    assert (log.broker_id, str(log.file), log.bytes) == (7, f"s3://{BUCKET}/logs/a.log", 1)
