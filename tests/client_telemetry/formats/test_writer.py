import hashlib
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from client_telemetry.formats.raw.envelopes import parse_client_push, parse_connection_event
from client_telemetry.formats.raw.errors import BadManifest
from client_telemetry.formats.raw.manifest import parse_manifest
from client_telemetry.formats.raw.object_key import parse_object_key
from client_telemetry.formats.raw.raw_dump_v1_pb2 import ClientPush, ConnectionEvent
from client_telemetry.formats.raw.reader import RecordReader
from client_telemetry.formats.raw.writer import DumpWriter

INCARNATION = bytes(range(16))
START = datetime(2026, 11, 20, 13, 50, tzinfo=UTC)


def writer(root: Path, **options) -> DumpWriter:
    return DumpWriter(
        root, "c", 7, INCARNATION, broker_started_at=START, broker_software_version="4.3.1", **options
    )


def push(minutes: float, payload: bytes = b"\x0a\x00") -> ClientPush:
    received_at = START + timedelta(minutes=minutes)
    return ClientPush(received_at_nanos=int(received_at.timestamp()) * 10**9 + 123_456_789, payload=payload)


def keys(root: Path) -> list[str]:
    return sorted(str(path.relative_to(root)) for path in root.rglob("*") if path.is_file())


def read(root: Path, dataset: str) -> list:
    """Records of a dataset, through the reader, every object complete and as its manifest says."""
    listed = {}
    for path in root.rglob("*.json"):
        manifest = parse_manifest(path.read_bytes(), parse_object_key(str(path)))
        listed |= {file.key: file for file in manifest.files if file.dataset == dataset}
    records = []
    for name in keys(root):
        key = parse_object_key(name)
        if key.dataset != dataset:
            continue
        with (root / name).open("rb") as source:
            reader = RecordReader(source, name)
            parse = parse_client_push if dataset == "client_pushes" else parse_connection_event
            found = [parse(record.data, key) for record in reader]
        file = listed.pop(name)
        assert reader.result.status == "complete"
        assert (file.sha256, file.bytes) == (reader.result.sha256, reader.result.stored_bytes)
        assert (file.records, file.first_sequence, file.last_sequence) == (
            len(found),
            key.first_sequence,
            key.last_sequence,
        )
        records += found
    assert not listed
    return records


@pytest.mark.parametrize("ending", [".zst", ".gz", ".bin"])
def test_what_is_written_is_read_again(tmp_path, ending):
    with writer(tmp_path, ending=ending) as dump:
        assert [dump.append_push(push(i / 10, bytes([i]))) for i in range(5)] == [0, 1, 2, 3, 4]
        event = ConnectionEvent(observed_at_nanos=push(1).received_at_nanos, kind=ConnectionEvent.OPENED)
        assert dump.append_connection_event(event) == 0
    pushes = read(tmp_path, "client_pushes")
    assert [p.payload for p in pushes] == [bytes([i]) for i in range(5)]
    assert all(p.payload_crc32c for p in pushes)
    assert [e.kind for e in read(tmp_path, "connections")] == [ConnectionEvent.OPENED]


def test_keys_roll_by_hour_by_age_and_by_size(tmp_path):
    # 13:50, 13:59, 14:00 (hour), 14:14, 14:15 (age), 14:16 twice with noise that reaches the size
    noise = b"".join(hashlib.sha256(bytes([i])).digest() for i in range(200))
    with writer(tmp_path, max_object_bytes=4000, ending=".bin") as dump:
        for minutes in (0, 9, 10, 24, 25):
            dump.append_push(push(minutes))
        for _ in range(2):
            dump.append_push(push(26, noise))
    ranges = [
        (k.hour, k.first_sequence, k.last_sequence)
        for k in map(parse_object_key, keys(tmp_path))
        if k.dataset == "client_pushes"
    ]
    assert ranges == [(13, 0, 1), (14, 2, 3), (14, 4, 5), (14, 6, 6)]
    assert [p.sequence for p in read(tmp_path, "client_pushes")] == list(range(7))


def test_a_record_out_of_order_goes_to_its_own_hour_under_the_next_sequence(tmp_path):
    with writer(tmp_path) as dump:
        for minutes in (9, 10, 9.5):
            dump.append_push(push(minutes))
    ranges = {
        (k.hour, k.first_sequence, k.last_sequence)
        for k in map(parse_object_key, keys(tmp_path))
        if k.dataset == "client_pushes"
    }
    assert ranges == {(13, 0, 0), (14, 1, 1), (13, 2, 2)}
    assert len(read(tmp_path, "client_pushes")) == 3


def test_every_hour_between_the_first_and_the_last_record_has_a_manifest(tmp_path):
    with writer(tmp_path, manifest_fields={"registry": {"mode": "continuous"}}) as dump:
        dump.append_push(push(0))
        dump.append_push(push(130))
        dump.describe_hour(START + timedelta(hours=4), {"dropped": {"queue_full": 3}})
    manifests = {
        manifest.hour.hour: manifest
        for manifest in (parse_manifest(path.read_bytes()) for path in tmp_path.rglob("*.json"))
    }
    assert sorted(manifests) == [13, 14, 15, 16, 17]
    assert {hour: len(manifest.files) for hour, manifest in manifests.items()} == {
        13: 1,
        14: 0,
        15: 0,
        16: 1,
        17: 0,
    }
    assert manifests[17].dropped == {"queue_full": 3}
    assert manifests[13].dropped == {"queue_full": 0, "spool_full": 0, "oversized": 0}
    assert manifests[13].broker_started_at == START and manifests[13].broker_software_version == "4.3.1"
    assert {manifest.registry.mode for manifest in manifests.values()} == {"continuous"}
    assert manifests[13].files[0].min_time == START + timedelta(milliseconds=123)


def test_manifests_come_last_and_not_after_an_exception(tmp_path):
    def hand_over():
        with writer(tmp_path) as dump:
            for minutes in (0, 10):
                dump.append_push(push(minutes))
            assert not list(tmp_path.rglob("*.json"))
            raise KeyError("the converter failed")

    with pytest.raises(KeyError):
        hand_over()
    assert [parse_object_key(k).dataset for k in keys(tmp_path)] == ["client_pushes"]


def test_the_same_records_give_the_same_files(tmp_path):
    for root in (tmp_path / "a", tmp_path / "b"):
        with writer(root) as dump:
            dump.append_push(push(0))
    names = keys(tmp_path / "a")
    assert names == keys(tmp_path / "b")
    assert all((tmp_path / "a" / n).read_bytes() == (tmp_path / "b" / n).read_bytes() for n in names)


def test_the_callers_message_stays_as_it_is(tmp_path):
    message = push(0)
    before = message.SerializeToString()
    with writer(tmp_path) as dump:
        dump.append_push(message)
    assert message.SerializeToString() == before


def test_a_manifest_that_the_reader_would_refuse_is_not_written(tmp_path):
    with (
        pytest.raises(BadManifest, match=r"registry\.mode"),
        writer(tmp_path, manifest_fields={"registry": {}}) as dump,
    ):
        dump.append_push(push(0))
    assert not list(tmp_path.rglob("*.json"))


def test_an_incarnation_has_16_bytes(tmp_path):
    with pytest.raises(ValueError, match="16 bytes, not 3"):
        DumpWriter(tmp_path, "c", 7, b"abc", broker_started_at=START, broker_software_version="4.3.1")


def test_a_whole_dump_and_one_that_goes_on_with_it(tmp_path, same_as_kept):
    """Manifests, and the keys of objects with their digests in them, as tests/data/raw/written.txt keeps them."""
    lines = []
    continued = None
    for part, minutes in enumerate(((0, 14.99, 15, 9.99, 10, 200), (201, 203))):
        options = {
            "ending": ".bin",
            "manifest_fields": {"plugin": {"name": "p", "version": "1"}},
            "continues": continued,
        }
        dump = writer(tmp_path / str(part), max_object_bytes=3000, **options)
        with dump:
            for number, at in enumerate(minutes):
                dump.append_push(push(at, bytes([part, number])))
                event = ConnectionEvent(
                    observed_at_nanos=push(at + 1).received_at_nanos, kind=ConnectionEvent.CLOSED
                )
                dump.append_connection_event(event)
            dump.append_unreadable(
                "connections", bytes(5000), "line 3:\nno JSON", push(minutes[-1]).received_at_nanos
            )
            dump.describe_hour(START + timedelta(minutes=61), {"dropped": {"queue_full": 2}})
            dump.describe_hour(START + timedelta(minutes=65), {"requests": [[0, 9, 7]]})
        continued = dump.continued().since(push(190).received_at_nanos)
        lines.append(
            f"# {part}: goes on with {continued.next_sequences}, {[file['key'] for file in continued.files]}"
        )
        for path in sorted((tmp_path / str(part)).rglob("*.*")):
            text = path.read_text() if path.suffix == ".json" else str(path.stat().st_size)
            lines.append(f"## {path.relative_to(tmp_path / str(part))}\n{text}")
    same_as_kept("raw", {"written.txt": "\n".join(lines) + "\n"})


def test_a_time_without_a_zone_is_refused(tmp_path):
    with pytest.raises(ValueError, match="time without a zone"):
        DumpWriter(
            tmp_path,
            "c",
            7,
            INCARNATION,
            broker_started_at=START.replace(tzinfo=None),
            broker_software_version="4.3.1",
        )


def test_a_dump_goes_on_with_the_files_of_its_hour_and_of_no_earlier(tmp_path):
    with writer(tmp_path) as dump:
        for minutes in (9, 10, 10.5, 70):
            dump.append_push(push(minutes))
    continued = dump.continued()
    begins = [file["min_time"] for file in continued.files]
    assert len(begins) == 3
    second = datetime.fromisoformat(begins[1])
    assert continued.since(int(second.timestamp()) * 10**9).files == continued.files[1:]
    assert (
        continued.since(int((second + timedelta(seconds=1)).timestamp()) * 10**9).files == continued.files[2:]
    )
    assert continued.since(0) == continued
    whole = continued.files[1] | {"min_time": "2026-11-20T14:00:00.000Z"}
    on_the_hour = continued._replace(files=[whole])
    assert on_the_hour.since(int(datetime(2026, 11, 20, 14, tzinfo=UTC).timestamp()) * 10**9) == on_the_hour


def test_a_manifest_has_the_times_of_the_first_and_the_last_record(tmp_path):
    nanos = int(START.timestamp()) * 10**9
    with writer(tmp_path) as dump:
        for after in (999_000_000, 1_999_000_000):
            dump.append_push(ClientPush(received_at_nanos=nanos + after, payload=b"\x0a\x00"))
    (file,) = dump.continued().files
    assert (file["min_time"], file["max_time"]) == ("2026-11-20T13:50:00.999Z", "2026-11-20T13:50:01.999Z")
