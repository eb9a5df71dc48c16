from client_telemetry.formats.raw.errors import CorruptPayload
from client_telemetry.formats.raw.object_key import parse_object_key
from client_telemetry.formats.raw.quarantine import MAX_EVIDENCE_BYTES, QuarantineRow, quarantine_row
from client_telemetry.tables.undecodable_records import UNDECODABLE_RECORDS

KEY = (
    "v1/dataset=client_pushes/cluster=c/dt=2026-03-01/hour=12/broker=7/"
    + "00" * 15
    + "07-00000000000000000000-00000000000000000009.bin"
)


def test_a_row_has_the_columns_of_the_table_but_for_those_of_the_partition():
    columns = [column.name for column in UNDECODABLE_RECORDS.columns]
    assert columns == ["cluster_id", "dt", *QuarantineRow._fields]


def test_a_row_says_where_it_stood_and_keeps_the_first_bytes():
    error = CorruptPayload("cut short", sequence=7, client_instance_id=b"")
    data = bytes(range(256)) * 1024
    row = quarantine_row(parse_object_key(KEY), 42, data, len(data), error)
    assert row[:6] == (
        "client_pushes",
        KEY,
        42,
        "decode",
        "CorruptPayload",
        f"cut short. {CorruptPayload.remedy}",
    )
    assert row.bytes == data[: 64 * 1024] and MAX_EVIDENCE_BYTES == 65536
    assert (row.bytes_total, row.broker_id, row.sequence, row.client_instance_id) == (262144, 7, 7, None)
