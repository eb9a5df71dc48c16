"""Each format against the same two messages. `collector/` was written by the real file exporter (its README)."""

import gzip
import json
from datetime import timedelta
from pathlib import Path

import pytest
import zstandard
from client_telemetry.formats.otlp.reference import decode
from client_telemetry.formats.raw.envelopes import parse_client_push
from client_telemetry.formats.raw.errors import UnreadableSource
from client_telemetry.formats.raw.object_key import parse_object_key
from client_telemetry.formats.raw.reader import RecordReader
from client_telemetry.sources.arrivals import SETTLED
from client_telemetry.sources.compression import CutOff
from client_telemetry.sources.conversion import Conversion, Source, convert_new
from client_telemetry.sources.log_files import LogFile, find_logs
from client_telemetry.sources.otlp.files import MAX_MESSAGE_BYTES, messages
from opentelemetry.proto.metrics.v1.metrics_pb2 import MetricsData

GOLDEN = Path(__file__).parents[3] / "data" / "sources" / "collector"
CLUSTER = "kQ7x0RvXTs-Y2r0m3Jw0zA"
FIRST = bytes.fromhex("b3457c7d6c8e4a4788210b7e697d2d2d")
SECOND = bytes.fromhex("d8129f14879c413699b7164c733fd1db")
WRITTEN = {
    "proto.bin": "collector_proto",
    "proto-zstd-each-message.bin": "collector_proto_zstd",
    "proto-zstd-stream.zst": "collector_proto",
    "json.jsonl": "collector_json",
    "json-zstd-each-message.bin": "collector_json_zstd",
    "json-zstd-stream.zst": "collector_json",
}


def _inputs() -> list[bytes]:
    return [(GOLDEN / name).read_bytes() for name in ("first.bin", "second.bin")]


def _log(path: Path) -> LogFile:
    (log,) = find_logs([str(path)])
    return log


def _varint(number: int) -> bytes:
    low, rest = number & 0x7F, number >> 7
    return bytes([low | 0x80]) + _varint(rest) if rest else bytes([low])


@pytest.mark.parametrize(("name", "format_"), WRITTEN.items(), ids=WRITTEN)
def test_what_the_file_exporter_writes(name, format_):
    cut = CutOff()
    found = list(messages(_log(GOLDEN / name), format_, cut))
    assert [message.error for message in found] == [None, None]
    # The Collector writes fields that the client left out, so points are compared, not bytes; repr, for NaN is not NaN.
    decoded = [repr(decode(message.metrics.SerializeToString())) for message in found]
    assert decoded == [repr(decode(data)) for data in _inputs()]
    assert cut.reason is None


def test_metric_streams_and_one_message_per_object(tmp_path):
    stream, whole = tmp_path / "stream", tmp_path / "object.binpb.gz"
    stream.write_bytes(b"".join(_varint(len(data)) + data for data in _inputs()))
    whole.write_bytes(gzip.compress(_inputs()[0]))
    assert [m.metrics for m in messages(_log(stream), "metric_stream", CutOff())] == [
        MetricsData.FromString(data) for data in _inputs()
    ]
    (message,) = messages(_log(whole), "otlp_proto", CutOff())
    assert message.metrics == MetricsData.FromString(_inputs()[0])


def _convert(folder: Path, format_: str, *files: Path) -> tuple[list, list[UnreadableSource]]:
    raw = folder / "raw"
    done = convert_new(Source(format_, tuple(map(str, files))), CLUSTER, raw, timedelta(0))
    print(done.message)
    return _dumped(raw)


def _dumped(raw: Path) -> tuple[list, list[UnreadableSource]]:
    pushes, unreadable = [], []
    for path in sorted(raw.glob("v1/dataset=client_pushes/**/*.zst")):
        with path.open("rb") as source:
            for record in RecordReader(source, path.name):
                try:
                    pushes.append(parse_client_push(record.data, parse_object_key(str(path))))
                except UnreadableSource as error:
                    unreadable.append(error)
    return pushes, unreadable


@pytest.mark.parametrize(("name", "format_"), WRITTEN.items(), ids=WRITTEN)
def test_identity_is_lifted_out_of_the_resource_attributes(tmp_path, name, format_):
    pushes, unreadable = _convert(tmp_path, format_, GOLDEN / name)
    assert unreadable == []
    of_java, of_librdkafka = sorted(pushes, key=lambda push: push.client_instance_id)
    assert (of_java.client_instance_id, of_java.broker_id) == (FIRST, 2)
    client = of_java.client
    assert (client.client_id, client.principal, client.client_port) == ("orders", "User:orders", 40001)
    assert (client.client_software_name, client.client_software_version) == ("apache-kafka-java", "4.3.1")
    assert (of_librdkafka.client_instance_id, of_librdkafka.broker_id) == (SECOND, -1)
    assert of_librdkafka.client.client_id == "rd kafka"  # spelled clientId
    data = MetricsData.FromString(of_java.payload)
    assert {a.key for r in data.resource_metrics for a in r.resource.attributes} == {
        "transactional_id",
        "client_rack",
    }
    assert len(data.resource_metrics) == 8


@pytest.mark.parametrize("damage", ["cut off", "garbage", "not metrics"])
def test_what_cannot_be_read_goes_to_the_quarantine(tmp_path, damage):
    path, golden = tmp_path / "metrics.bin", (GOLDEN / "proto.bin").read_bytes()
    path.write_bytes(
        {
            "cut off": golden[:-10],
            "garbage": golden + b"\xff" * 20,
            "not metrics": golden + b"\0\0\0\4\x0a\xff\xff\xff",
        }[damage]
    )
    pushes, unreadable = _convert(tmp_path, "collector_proto", path)
    assert len(pushes) == (1 if damage == "cut off" else 2)
    (error,) = unreadable
    assert error.message.startswith("metrics.bin, byte ")
    assert (
        golden[-30:-10].endswith(error.data[-10:]) if damage == "cut off" else error.data.count(b"\xff") >= 3
    )


def test_other_signals_and_other_clusters_are_counted(tmp_path, capsys):
    path = tmp_path / "mixed.jsonl"
    other = json.loads((GOLDEN / "json.jsonl").read_text().splitlines()[0].replace(CLUSTER, "another"))
    lines = [{"resourceLogs": []}, {"resourceSpans": []}, other]
    path.write_text("\n".join(json.dumps(line) for line in lines) + '\n{"resourceMetrics": [')
    pushes, unreadable = _convert(tmp_path, "collector_json", path)
    assert (pushes, len(unreadable)) == ([], 1)
    assert "2 of logs or traces, 8 resources of other clusters" in capsys.readouterr().out


def test_of_a_file_that_grew_and_was_renamed_the_new_messages_are_converted(tmp_path, capsys):
    plain = (GOLDEN / "proto.bin").read_bytes()
    first = 4 + int.from_bytes(plain[:4], "big")
    (tmp_path / "metrics.bin").write_bytes(plain[:first])
    _convert(tmp_path, "collector_proto", tmp_path / "metrics.bin")
    (tmp_path / "metrics-2026.bin").write_bytes(plain)
    pushes, _ = _convert(tmp_path, "collector_proto", tmp_path / "metrics-2026.bin")
    assert "1 messages of 1 files: 1 pushes" in capsys.readouterr().out.splitlines()[-1]
    assert sorted(push.client_instance_id for push in pushes) == [FIRST, SECOND]
    assert len({(push.broker_id, push.incarnation, push.sequence) for push in pushes}) == 2


def _collected(folder: Path, settled: timedelta = SETTLED, format_: str = "collector_proto") -> Conversion:
    return convert_new(Source(format_, (str(folder / "in"),)), CLUSTER, folder / "raw", settled)


@pytest.mark.parametrize(
    "name", ["proto.bin", "proto-zstd-each-message.bin", "json.jsonl", "json-zstd-each-message.bin"]
)
@pytest.mark.parametrize("rotated", [False, True], ids=["in place", "renamed meanwhile"])
def test_of_a_file_that_is_still_written_to_whole_messages_are_taken(tmp_path, name, rotated):
    """However much of it is there when a run comes: each message once, nothing in the quarantine."""
    data, path = (GOLDEN / name).read_bytes(), tmp_path / "in" / "metrics"
    path.parent.mkdir()
    pushes = 0
    for part in range(5):
        if rotated and part == 3:
            path = path.rename(tmp_path / "in" / "metrics-2026-11-21")
        with path.open("ab") as file:
            file.write(data[len(data) * part // 5 : len(data) * (part + 1) // 5])
        done = _collected(tmp_path, format_=WRITTEN[name])
        pushes += done.counts.get("converted_pushes", 0)
        assert done.counts.get("converted_unreadable", 0) == 0
        assert bool(done.warnings) == (part < 4)
    assert pushes == 2
    assert sorted(push.client_instance_id for push in _dumped(tmp_path / "raw")[0]) == [FIRST, SECOND]


def test_a_tail_that_stays_partial_is_quarantined_and_read_when_the_rest_comes_after_all(tmp_path):
    data, path = (GOLDEN / "proto.bin").read_bytes(), tmp_path / "in" / "metrics"
    path.parent.mkdir()
    path.write_bytes(data[:-10])
    assert _collected(tmp_path).counts["converted_pushes"] == 1
    done = _collected(tmp_path, timedelta(0))
    assert (done.counts["converted_pushes"], done.counts["converted_unreadable"]) == (0, 1)
    (error,) = _dumped(tmp_path / "raw")[1]
    assert "the last message ends early" in error.message and data[:-10].endswith(error.data[4:])
    assert _collected(tmp_path, timedelta(0)).counts == {"converted_files": 0}
    path.write_bytes(data)
    assert _collected(tmp_path, timedelta(0)).counts["converted_pushes"] == 1
    pushes, unreadable = _dumped(tmp_path / "raw")
    assert (len(pushes), len(unreadable)) == (2, 1)


def test_damage_within_a_file_that_is_still_written_to_does_not_wait(tmp_path):
    path = tmp_path / "in" / "metrics"
    path.parent.mkdir()
    path.write_bytes((GOLDEN / "proto.bin").read_bytes() + b"\xff" * 20)
    done = _collected(tmp_path)
    assert (done.counts["converted_pushes"], done.counts["converted_unreadable"]) == (2, 1)
    with path.open("ab") as file:
        file.write(b"\0\0\0\1 what comes behind it is no message")
    done = _collected(tmp_path)
    assert (done.counts["converted_pushes"], done.counts["converted_unreadable"]) == (0, 1)


def test_a_message_that_decompresses_without_end_is_unreadable(tmp_path):
    bomb = zstandard.compress(bytes(MAX_MESSAGE_BYTES + 1))
    path = tmp_path / "metrics.bin"
    path.write_bytes(len(bomb).to_bytes(4, "big") + bomb)
    _, (error,) = _convert(tmp_path, "collector_proto_zstd", path)
    assert "decompresses to more than 67108864 bytes" in error.message


def test_a_compressed_file_that_is_cut_off_is_reported_with_bytes_and_reason(tmp_path):
    whole = (GOLDEN / "json-zstd-stream.zst").read_bytes()
    for name, data in (
        ("early.zst", whole[: len(whole) // 2]),
        ("nothing.gz", b"\x1f\x8b\x08" + b"\xff" * 50),
    ):
        path = tmp_path / name
        path.write_bytes(data)
        _, unreadable = _convert(tmp_path / path.stem, "collector_json", path)
        assert unreadable[-1].message.startswith(f"{name}, the compressed file ")
        assert data.endswith(unreadable[-1].data) and unreadable[-1].data


def test_a_new_file_is_no_restart_of_the_broker(tmp_path):
    """Each file is an incarnation of its own, of a broker of which nobody knows when it started."""
    lines = (GOLDEN / "json.jsonl").read_bytes().splitlines(keepends=True)
    (tmp_path / "in").mkdir()
    for name, line in (
        ("1", lines[0]),
        ("2", lines[0].replace(b"orders", b"others")),
        ("3", lines[0][:-1] + b" \n"),
    ):
        (tmp_path / "in" / name).write_bytes(line)
        _collected(tmp_path, timedelta(0), "collector_json")
    manifests = [
        json.loads(path.read_text()) for path in (tmp_path / "raw").glob("v1/dataset=manifests/**/*.json")
    ]
    assert len({manifest["incarnation"] for manifest in manifests}) == 3
    (began,) = {manifest["broker_started_at"] for manifest in manifests}
    assert began.endswith("T00:00:00.000Z")
