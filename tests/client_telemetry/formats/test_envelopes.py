import csv
from pathlib import Path

import pytest
from client_telemetry.formats.raw.envelopes import parse_client_push, parse_connection_event
from client_telemetry.formats.raw.errors import (
    InvalidUtf8,
    MissingEventKind,
    NotProtobuf,
    NumberOutOfRange,
    UndecodableRecord,
    WrongChecksum,
    WrongIdentity,
)
from client_telemetry.formats.raw.object_key import parse_object_key
from client_telemetry.formats.raw.raw_dump_v1_pb2 import ClientPush, ConnectionEvent
from client_telemetry.formats.raw.reader import RecordReader

ODD = Path(__file__).parents[2] / "data/raw"
INCARNATION = bytes(range(16))
FOLDERS = "v1/dataset=client_pushes/cluster=odd/dt=2026-11-20/hour=02/broker=7"
KEY = parse_object_key(f"{FOLDERS}/{INCARNATION.hex()}-{0:020d}-{2:020d}.zst")


def odd_objects():
    with (ODD / "odd_objects.csv").open(newline="") as file:
        return [pytest.param(row, id=row["case"]) for row in csv.DictReader(file)]


def push(**fields) -> bytes:
    origin = {"cluster_id": "odd", "broker_id": 7, "incarnation": INCARNATION, "sequence": 5}
    return ClientPush(**(origin | fields)).SerializeToString()


def event(**fields) -> bytes:
    origin = {"cluster_id": "odd", "broker_id": 7, "incarnation": INCARNATION, "sequence": 5}
    return ConnectionEvent(**(origin | {"kind": ConnectionEvent.ACTIVE} | fields)).SerializeToString()


@pytest.mark.parametrize("row", odd_objects())
def test_records_of_the_odd_objects(row):
    pushes, undecodable = 0, []
    with (ODD / row["file"]).open("rb") as source:
        for record in RecordReader(source, row["file"]):
            try:
                parse_client_push(record.data, KEY)
                pushes += 1
            except UndecodableRecord as error:
                undecodable.append(error.error_class)
    assert pushes == int(row["pushes"])
    assert undecodable == row["undecodable"].split()


def test_a_push_comes_back_as_written():
    data = push(client_instance_id=bytes(16), compression_type=-1, payload=b"abc", push_interval_ms=0)
    parsed = parse_client_push(data, KEY)
    assert parsed.SerializeToString() == data
    assert parsed.HasField("push_interval_ms") and not parsed.HasField("error_code")


def test_crc32c_is_the_castagnoli_one():
    # RFC 3720, B.4: 32 bytes of zeros.
    parse_client_push(push(payload=bytes(32), payload_crc32c=0x8A9136AA), KEY)
    with pytest.raises(WrongChecksum, match="CRC-32C 8a9136aa, stated 190a55ad") as raised:
        parse_client_push(
            push(payload=bytes(32), payload_crc32c=0x190A55AD, client_instance_id=bytes(16)), KEY
        )
    assert (raised.value.sequence, raised.value.client_instance_id) == (5, bytes(16))


def test_an_object_of_another_name_says_nothing_of_the_incarnation():
    other = bytes(range(1, 17))
    with pytest.raises(WrongIdentity, match=f"incarnation {other.hex()} in an object of {'incarnation'}"):
        parse_client_push(push(incarnation=other), KEY)
    renamed = parse_object_key(f"{FOLDERS}/converted.zst")
    assert parse_client_push(push(incarnation=other), renamed).incarnation == other
    with pytest.raises(WrongIdentity, match="incarnation of 3 bytes"):
        parse_client_push(push(incarnation=b"abc"), renamed)


def test_invalid_utf8_names_the_fields_and_keeps_what_is_known():
    data = push(client_instance_id=bytes(range(16))).replace(b"odd", b"od\xff")
    data += b"\x32\x08\x0a\x02\xc3\x28\x12\x02ok"  # client { client_id = invalid, principal = "ok" }
    with pytest.raises(InvalidUtf8) as raised:
        parse_client_push(data, KEY)
    assert raised.value.message == r"not UTF-8: cluster_id = b'od\xff', client.client_id = b'\xc3('"
    assert (raised.value.sequence, raised.value.client_instance_id) == (5, bytes(range(16)))


def test_invalid_utf8_in_a_list_of_strings():
    with pytest.raises(InvalidUtf8, match="group_ids = "):
        parse_connection_event(event() + b"\x5a\x02ok\x5a\x01\xff", KEY)


def test_hostile_but_valid_strings_are_kept_as_they_are():
    hostile = '=HYPERLINK("http://x")<b>\n\t\u2028\u202e\U0001f600 \x00'
    parsed = parse_client_push(push(client={"client_id": hostile}), KEY)
    assert parsed.client.client_id == hostile


def test_unknown_fields_are_ignored_wherever_they_are():
    client = b"\x32\x09" + b"\x0a\x01c" + b"\xfa\x3e\x03new"
    assert parse_client_push(push() + client + b"\xf8\x3e\x01", KEY).client.client_id == "c"


def test_a_connection_event_without_a_kind():
    with pytest.raises(MissingEventKind, match="without a kind"):
        parse_connection_event(event(kind=0), KEY)


@pytest.mark.parametrize("kind", [4, 5, 6, 99])
def test_a_connection_event_of_a_kind_to_come_is_kept(kind):
    assert parse_connection_event(event(kind=kind), KEY).kind == kind


@pytest.mark.parametrize(
    ("counts", "message"),
    [
        (lambda count: {"kind": 5, "connections": count}, "connections"),
        (lambda count: {"api_uses": [{"api_key": 1, "version": 12, "requests": count}]}, "requests"),
        (lambda count: {"api_uses": [{"api_key": 1, "rejected": 1}, {"rejected": count - 1}]}, "requests"),
        (
            lambda count: {"api_errors": [{"api_key": 3, "requests": count - 1}, {"requests": 1}]},
            "failed requests",
        ),
    ],
)
def test_counters_that_could_not_be_added_up(counts, message):
    """Of connections and days, in 64 bits: one such event would stop the day of its cluster."""
    assert parse_connection_event(event(**counts(2**48)), KEY)
    for count in (2**48 + 1, 2**63 - 1, 2**63, 2**64 - 1):
        with pytest.raises(NumberOutOfRange, match=f"^{count} {message}$"):
            parse_connection_event(event(**counts(count)), KEY)


def test_what_is_no_protobuf_is_not_taken_for_bad_utf8():
    with pytest.raises(NotProtobuf):
        parse_connection_event(b"\x0a\x7fshort", KEY)


def test_a_sequence_may_be_as_large_as_a_column_holds():
    assert parse_client_push(push(sequence=2**63 - 1), KEY).sequence == 2**63 - 1
    with pytest.raises(NumberOutOfRange, match="sequence 9223372036854775808"):
        parse_client_push(push(sequence=2**63), KEY)
