"""The compiled reader of pushes against protobuf's own classes, field by field."""

import numpy as np
import pytest
from client_telemetry.formats.raw import push_scan as scan
from client_telemetry.formats.raw.raw_dump_v1_pb2 import ClientConnection, ClientPush
from client_telemetry.formats.raw.wire import DistinctRanges
from google.protobuf.message import DecodeError

WHOLE = ClientPush(
    cluster_id="c1",
    broker_id=7,
    incarnation=bytes(range(16)),
    sequence=2**40 + 3,
    received_at_nanos=1_795_240_000 * 10**9 + 5,
    client=ClientConnection(
        client_id="orders",
        principal="User:orders",
        client_address="10.0.0.1",
        client_port=40_001,
        listener_name="SASL",
        security_protocol="SASL_SSL",
        connection_id="10.0.0.9:9092-10.0.0.1:40001-3",
        client_software_name="apache-kafka-java",
        client_software_version="3.9.1",
        sent_software_name="java of theirs",
        sent_software_version="3.9.1 of theirs",
        api_versions_error=35,
    ),
    client_instance_id=bytes(range(16, 32)),
    terminating=True,
    content_type="OTLP",
    compression_type=4,
    payload=b"metrics" * 30,
    payload_crc32c=2**32 - 5,
    push_interval_ms=60_000,
    subscription_id=-1234,
    error_code=89,
)
INTEGERS = {
    "broker_id": scan.BROKER_ID,
    "sequence": scan.SEQUENCE,
    "received_at_nanos": scan.RECEIVED_AT,
    "terminating": scan.TERMINATING,
    "compression_type": scan.CODEC,
    "payload_crc32c": scan.CHECKSUM,
    "push_interval_ms": scan.PUSH_INTERVAL,
    "subscription_id": scan.SUBSCRIPTION,
    "error_code": scan.ERROR,
}
RANGES = {
    "cluster_id": scan.CLUSTER,
    "incarnation": scan.INCARNATION,
    "client_instance_id": scan.INSTANCE,
    "content_type": scan.CONTENT_TYPE,
}
INTEGERS_OF_CLIENT = {"client_port": scan.CLIENT_PORT, "api_versions_error": scan.API_VERSIONS_ERROR}
RANGES_OF_CLIENT = {
    "client_id": scan.CLIENT_ID,
    "principal": scan.PRINCIPAL,
    "client_address": scan.ADDRESS,
    "listener_name": scan.LISTENER,
    "security_protocol": scan.PROTOCOL,
    "connection_id": scan.CONNECTION,
    "client_software_name": scan.SOFTWARE_NAME,
    "client_software_version": scan.SOFTWARE_VERSION,
    "sent_software_name": scan.SENT_NAME,
    "sent_software_version": scan.SENT_VERSION,
}
PRESENT = {
    "push_interval_ms": scan.HAS_INTERVAL,
    "subscription_id": scan.HAS_SUBSCRIPTION,
    "error_code": scan.HAS_ERROR,
}
PRESENT_OF_CLIENT = {
    "client_port": scan.HAS_PORT,
    "api_versions_error": scan.HAS_API_VERSIONS_ERROR,
    "client_id": scan.HAS_CLIENT_ID,
}


def scanned(*records: bytes, padding: bytes = b"\xff" * 16) -> list[dict[str, object] | None]:
    """The fields of each record by name, as the compiled reader has them; None: given up."""
    data = b"".join(record + padding for record in records)
    memory = np.frombuffer(data, np.uint8)
    sizes = np.array([len(record) for record in records], np.int64)
    steps = sizes + len(padding)
    starts = memory.ctypes.data + np.cumsum(steps) - steps
    pushes = np.full((len(records), scan.COLUMNS), 77, np.int64)
    given_up = np.zeros(len(records), np.bool_)
    table = DistinctRanges(scan.COLUMNS, 16)
    scan.number_empty_ranges(memory.ctypes.data, scan.RANGES[0], scan.COLUMNS, table.address)
    record = 0
    while record < len(records):
        record = scan.scan_pushes(starts, starts + sizes, record, pushes, given_up, table.address)
        if record < len(records):
            table.grow()
    texts = {kind: table.binaries(kind).to_pylist() for kind in scan.RANGES}

    def fields(row: list[int]) -> dict[str, object]:
        found: dict[str, object] = {name: row[column] for name, column in INTEGERS.items()}
        found |= {name: row[column] for name, column in INTEGERS_OF_CLIENT.items()}
        found |= {name: texts[kind][row[kind]] for name, kind in (RANGES | RANGES_OF_CLIENT).items()}
        at = row[scan.PAYLOAD_AT] - memory.ctypes.data
        found["payload"] = data[at : at + row[scan.PAYLOAD_BYTES]] if row[scan.PAYLOAD_AT] else b""
        found["present"] = row[scan.PRESENT]
        return found

    return [None if bad else fields(row) for row, bad in zip(pushes.tolist(), given_up, strict=True)]


def expected(record: bytes) -> dict[str, object] | None:
    """What protobuf's classes read; None: it is no push."""
    try:
        push = ClientPush.FromString(record)
    except DecodeError:
        return None
    found: dict[str, object] = {name: int(getattr(push, name)) for name in INTEGERS}
    found |= {name: int(getattr(push.client, name)) for name in INTEGERS_OF_CLIENT}
    texts = {name: getattr(push, name) for name in RANGES}
    texts |= {name: getattr(push.client, name) for name in RANGES_OF_CLIENT}
    found |= {name: text.encode() if isinstance(text, str) else text for name, text in texts.items()}
    found["payload"] = push.payload
    present = [bit for name, bit in PRESENT.items() if push.HasField(name)]  # type: ignore[arg-type]
    present += [bit for name, bit in PRESENT_OF_CLIENT.items() if push.client.HasField(name)]  # type: ignore[arg-type]
    found["present"] = sum(present)
    return found


def alone(name: str) -> bytes:
    """A push that has this field, of its own or of its client, and no other."""
    if name in RANGES_OF_CLIENT or name in INTEGERS_OF_CLIENT:
        return ClientPush(client={name: getattr(WHOLE.client, name)}).SerializeToString()
    return ClientPush(**{name: getattr(WHOLE, name)}).SerializeToString()


NAMES = [*INTEGERS, *INTEGERS_OF_CLIENT, *RANGES, *RANGES_OF_CLIENT, "payload"]


def test_every_field_is_read():
    record = WHOLE.SerializeToString()
    assert scanned(record) == [expected(record)]
    assert scanned(b"") == [expected(b"")]


@pytest.mark.parametrize("name", NAMES)
def test_each_field_alone_and_after_the_others(name):
    backwards = b"".join(map(alone, NAMES[::-1]))
    records = [alone(name), backwards + alone(name), alone(name) + WHOLE.SerializeToString()]
    assert scanned(*records) == [expected(record) for record in records]


@pytest.mark.parametrize("name", [*PRESENT, *PRESENT_OF_CLIENT])
def test_a_field_of_no_value_is_told_from_one_that_is_not_there(name):
    nothing = "" if name == "client_id" else 0
    push = ClientPush(client={name: nothing}) if name in PRESENT_OF_CLIENT else ClientPush(**{name: nothing})
    record = push.SerializeToString()
    (found,) = scanned(record)
    assert found == expected(record)
    assert found is not None and found["present"] == (PRESENT | PRESENT_OF_CLIENT)[name]


@pytest.mark.parametrize("name", NAMES)
def test_a_field_that_is_cut_off_is_no_push(name):
    """Whatever stands behind it in memory."""
    whole = alone(name)
    cut = [whole[:end] for end in range(1, len(whole))]
    for padding in (b"\x00" * 16, b"\x01" * 16, b"\xff" * 16):
        assert scanned(*cut, padding=padding) == [None] * len(cut)


@pytest.mark.parametrize("value", [0, 1, -1, 2**31 - 1, -(2**31)])
@pytest.mark.parametrize(
    "name", ["broker_id", "compression_type", "push_interval_ms", "subscription_id", "error_code"]
)
def test_every_number_of_32_bits(name, value):
    record = ClientPush(**{name: value}).SerializeToString()
    assert scanned(record) == [expected(record)]


@pytest.mark.parametrize("tag", [0x10, 0x50, 0x68, 0x70, 0x78, 0x40])
@pytest.mark.parametrize(
    "value", [b"\x80\x80\x80\x80\x08", b"\xff\xff\xff\xff\xf7\xff\xff\xff\xff\x01"], ids=["2^31", "-2^31-1"]
)
def test_a_number_that_does_not_fit_is_left_to_protobuf(tag, value):
    of_client = b"\x32\x06\x20" + value[:5] if len(value) == 5 else b"\x32\x0b\x20" + value
    assert scanned(bytes([tag]) + value, of_client) == [None, None]


def test_what_no_broker_writes_is_left_to_protobuf():
    assert scanned(b"\x40\x02") == [None], "terminating is yes or no"
    below_zero = b"\x20" + b"\xff" * 9 + b"\x01"
    assert scanned(below_zero, b"\x29" + b"\xff" * 8) == [None, None], "above 2^63"
    zero = b"\x20\x00\x29" + bytes(8)
    assert scanned(zero) == [expected(zero)]
    known_fields_of_another_kind = (b"\x08\x01", b"\x22\x01a", b"\x2d" + bytes(4), b"\x32\x02\x22\x00")
    assert scanned(*known_fields_of_another_kind) == [None] * 4


def test_a_field_of_a_later_version_is_passed_over():
    later = b"\x82\x01\x03abc"  # number 16, a text
    record = later + ClientPush(broker_id=7).SerializeToString()
    of_client = b"\x32" + bytes([len(later) + 3]) + later + b"\x0a\x01a" + record
    assert scanned(record, of_client) == [expected(record), expected(of_client)]


def test_a_second_client_adds_to_the_first():
    record = alone("client_id") + alone("principal") + alone("client_port")
    assert scanned(record) == [expected(record)]


def test_pushes_with_more_texts_than_there_is_room_for_at_first():
    records = [
        ClientPush(sequence=n, client={"client_id": f"app-{n}", "principal": "User:a"}).SerializeToString()
        for n in range(300)
    ]
    records[150] = b"\xff"
    assert scanned(*records) == [expected(record) for record in records]
