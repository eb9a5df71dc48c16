"""What the evidence says of an instance's pushes."""

import datetime as dt

from client_telemetry.activity.subscription_evidence import _decompressed, _with_silence

NOON = dt.datetime(2026, 11, 21, 12, tzinfo=dt.UTC)


def silent_seconds(spark, seconds: list[float]) -> float:
    rows = [
        ("i", "2026-11-21", NOON + dt.timedelta(seconds=at), number, False)
        for number, at in enumerate(seconds)
    ]
    frame = spark.createDataFrame(
        rows,
        "client_instance_id string, dt string, received_at timestamp, sequence long, terminating boolean",
    )
    return sum(row.silent_seconds for row in _with_silence(frame).collect())


def test_missed_pushes_are_silence_and_another_interval_is_not(spark) -> None:
    assert silent_seconds(spark, [0, 5, 10, 27, 32, 37]) == 12  # one of 17 s among those of 5 s
    assert silent_seconds(spark, [0, 5, 10, 18, 26, 34]) == 0  # 5 s, then 8 s
    assert silent_seconds(spark, [0, 300]) == 0


def test_compressed_payloads_count_as_what_they_decompress_to() -> None:
    """Of a request log: zstd of a Java client takes 0.13 of the payload."""
    first = {"client_software_name": "apache-kafka-java", "client_software_version": "4.3.1"}
    row = {
        "first": first,
        "payload_bytes": 1000,
        "compressed_bytes": 1300,
        "largest_payload_bytes": 500,
        "largest_compressed_bytes": 130,
    }
    assert _decompressed(row) == (11_000, 1000)
