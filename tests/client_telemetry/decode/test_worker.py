"""One worker over objects in memory, with compiled code and without: the same rows."""

import datetime as dt
import gc
import io
import random
import struct
import subprocess
import sys
from pathlib import Path

import pytest
from client_telemetry.decode import fast_decoder
from client_telemetry.formats.otlp import columns
from client_telemetry.formats.otlp.codecs import NOT_KNOWN
from client_telemetry.formats.raw.raw_dump_v1_pb2 import ClientConnection, ClientPush
from opentelemetry.proto.metrics.v1.metrics_pb2 import Metric, MetricsData

from benchmarks.fuzz import Fuzzer, decoded
from tests.client_telemetry.formats.crowded_payloads import CROWDED, gauges
from tests.client_telemetry.formats.decompression_bombs import BOMBS

CHECKOUT = Path(__file__).parents[3]
PAYLOADS = CHECKOUT / "tests" / "data" / "payloads"
INCARNATION = bytes(range(16))
FOLDER = "v1/dataset=client_pushes/cluster=c/dt=2026-03-01/hour=12/broker=7"
NO_TEXT = (b"b\xc3\x28cher", b"b\xed\xa0\x80che", b"b\xc0\x80cher", b"bc\xf5cher")
"""As long as a text: cut off, half of a pair, overlong, beyond Unicode."""
NOON = int(dt.datetime(2026, 3, 1, 12, tzinfo=dt.UTC).timestamp()) * 10**9


def push(sequence: int, payload: bytes = b"", **fields: object) -> ClientPush:
    given = {
        "cluster_id": "c",
        "broker_id": 7,
        "incarnation": INCARNATION,
        "sequence": sequence,
        "received_at_nanos": NOON,
        "client": ClientConnection(client_id="orders", principal="User:orders", client_port=40_001),
        "client_instance_id": bytes(range(16, 32)),
        "content_type": "OTLP",
        "payload": payload,
        **fields,
    }
    return ClientPush(**given)


def both(tmp_path: Path, *objects: list[ClientPush | bytes]) -> tuple[dict[str, list[dict]], int]:
    """Rows by table, equal for both ways; and how many pushes compiled code took."""
    stored = {}
    for number, pushes in enumerate(objects):
        records = [p if isinstance(p, bytes) else p.SerializeToString() for p in pushes]
        data = b"".join(struct.pack(">I", len(record)) + record for record in records)
        stored[f"{FOLDER}/{number}.bin"] = data

    def read(key: str) -> io.BytesIO:
        return io.BytesIO(stored[key])

    (fast, taken), (slow, _) = (
        decoded(read, [list(stored)], tmp_path / str(compiled), compiled) for compiled in (True, False)
    )
    assert repr(fast) == repr(slow)
    return fast, taken


def metrics(*made: Metric, **labels: str) -> bytes:
    data = MetricsData()
    resource = data.resource_metrics.add()
    for name, value in labels.items():
        resource.resource.attributes.add(key=name).value.string_value = value
    resource.scope_metrics.add().metrics.extend(made)
    return data.SerializeToString()


def gauge(name: str = "g", points: int = 1, **labels: str) -> Metric:
    metric = Metric(name=name)
    for number in range(points):
        point = metric.gauge.data_points.add(as_int=number)
        for key, value in labels.items():
            point.attributes.add(key=key).value.string_value = value
    return metric


def test_captured_payloads_of_every_client_and_codec_take_the_fast_way(tmp_path):
    files = sorted(PAYLOADS.glob("*.bin"))
    pushes = [push(i, file.read_bytes(), compression_type=NOT_KNOWN) for i, file in enumerate(files)]
    rows, taken = both(tmp_path, pushes)
    assert taken == len(rows["client_pushes"]) == len(files)
    assert len(rows["client_metrics"]) == sum(row["points"] for row in rows["client_pushes"]) > 500


def without_places(rows: dict[str, list[dict]]) -> dict[str, list[str]]:
    """Rows in an order of their own, without where they were read."""
    places = ("source_object", "source_offset")
    return {
        table: sorted(repr({k: v for k, v in row.items() if k not in places}) for row in rows[table])
        for table in ("client_pushes", "client_metrics")
    }


@pytest.mark.parametrize("seed", range(5))
def test_any_split_into_objects_in_any_order_gives_the_same_rows(seed: int, tmp_path):
    """Records shuffled over up to nine objects, a third of them twice. What sessions are made of does not depend on
    files; that it does not depend on the order of rows either is tested in test_sessionize.py."""
    chance = random.Random(seed)
    pushes = [
        push(i, metrics(gauge()), client_instance_id=bytes([i % 3] * 16), received_at_nanos=NOON + i * 10**9)
        for i in range(30)
    ]
    whole, _ = both(tmp_path / "whole", pushes)
    records = chance.sample(pushes + pushes[::3], 40)
    cuts = sorted(chance.sample(range(1, 40), chance.randrange(1, 9)))
    objects = [records[a:b] for a, b in zip([0, *cuts], [*cuts, 40], strict=True)]
    split, _ = both(tmp_path / "split", *objects)
    assert without_places(split) == without_places(whole)
    assert len(whole["client_pushes"]) == 30


def test_histograms_of_all_kinds_reach_their_table(tmp_path):
    histogram, exponential, summary = Metric(name="h"), Metric(name="e"), Metric(name="s")
    histogram.histogram.data_points.add(count=6, sum=7.5, explicit_bounds=[0.5], bucket_counts=[1, 5])
    exponential.exponential_histogram.data_points.add(count=3, scale=-1, positive={"bucket_counts": [3]})
    summary.summary.data_points.add(count=2, quantile_values=[{"quantile": 0.5, "value": 1.25}])
    rows, taken = both(tmp_path, [push(0, metrics(gauge(), histogram, exponential, summary))])
    assert taken == 0
    (stored,) = rows["client_pushes"]
    assert (stored["points"], stored["histogram_points"]) == (1, 3)
    histograms = {row["metric"]: row for row in rows["client_metric_histograms"]}
    assert (histograms["h"]["explicit_bounds"], histograms["h"]["bucket_counts"]) == ([0.5], [1, 5])
    assert (histograms["e"]["scale"], histograms["e"]["positive_counts"]) == (-1, [3])
    assert (histograms["s"]["quantiles"], histograms["s"]["quantile_values"]) == ([0.5], [1.25])


def test_of_two_records_with_one_sequence_the_first_counts(tmp_path):
    odd = push(1, metrics(gauge("slow"), gauge("\u00e9")))
    plain = push(1, metrics(gauge("fast")))
    for number, pushes in enumerate(([push(0), odd, plain], [push(0), plain, odd])):
        rows, taken = both(tmp_path / str(number), pushes)
        assert [row["source_offset"] for row in rows["client_pushes"]] == sorted(
            row["source_offset"] for row in rows["client_pushes"]
        )
        assert (rows["objects"][0].rows, rows["objects"][0].duplicates, taken) == (2, 1, 0)


def test_a_broken_record_does_not_make_the_next_one_a_duplicate(tmp_path):
    broken, whole = push(1, b"\xff"), push(1, metrics(gauge()))
    rows, _ = both(tmp_path, [broken, whole])
    assert (rows["objects"][0].rows, rows["objects"][0].undecodable) == (1, 1)


@pytest.mark.parametrize("step", [1, -1], ids=["in order", "backwards"])
def test_an_object_that_repeats_another_gives_duplicates(tmp_path, step):
    pushes = [push(sequence, metrics(gauge())) for sequence in range(4)][::step]
    rows, taken = both(tmp_path, pushes, pushes[1:3], [push(4)])
    assert [each.duplicates for each in rows["objects"]] == [0, 2, 0]
    assert taken == (5 if step > 0 else 1)


def test_what_is_unusual_goes_the_slow_way_and_the_rest_does_not(tmp_path):
    unusual = {
        "a refused push": push(0, metrics(gauge()), error_code=89),
        "a schema URL": push(1, metrics(gauge()) + b"\x0a\x03\x1a\x01x"),
        "two resources": push(2, metrics(gauge(), a="1") + metrics(gauge(), a="2")),
        "a time after 2262": push(
            3, metrics(Metric(name="g", gauge={"data_points": [{"time_unix_nano": 2**63}]}))
        ),
        "an exemplar": push(4, metrics(Metric(name="g", gauge={"data_points": [{"exemplars": [{}]}]}))),
        "a codec that Kafka does not have": push(5, metrics(gauge()), compression_type=9),
        "a wrong checksum": push(6, metrics(gauge()), payload_crc32c=1),
        "another cluster": push(7, metrics(gauge()), cluster_id="other"),
        "bytes that are no record": b"\xff\xff",
    }
    usual = [push(100 + i, metrics(gauge())) for i in range(3)]
    rows, taken = both(tmp_path, [*unusual.values(), *usual])
    assert taken == 3
    (done,) = rows["objects"]
    assert (done.rows, done.undecodable) == (8, 4)


def test_text_in_any_script_takes_the_fast_way_and_what_is_no_text_does_not(tmp_path):
    made = [
        push(i, metrics(gauge()), client=ClientConnection(client_id=text, principal="User:\u6ce8"))
        for i, text in enumerate(("b\u00fccher", "\U0001f600", "plain", "\x00"))
    ]
    broken = [each.SerializeToString().replace(b"b\xc3\xbccher", bad) for each in made[:1] for bad in NO_TEXT]
    rows, taken = both(tmp_path, [*made, *broken])
    assert (taken, rows["objects"][0].undecodable) == (4, len(NO_TEXT))
    assert {row["client_id"] for row in rows["client_pushes"]} == {
        "b\u00fccher",
        "\U0001f600",
        "plain",
        "\x00",
    }


def test_attributes_that_are_no_plain_text_are_read_and_their_push_stays_fast(tmp_path):
    numbered = Metric(
        name="g", gauge={"data_points": [{"attributes": [{"key": "node_id", "value": {"int_value": 3}}]}]}
    )
    twice = metrics(gauge("t", topic="\u00e9"), numbered, gauge("u", topic="x"), client_rack="\u00e9")
    rows, taken = both(tmp_path, [push(0, twice)])
    assert taken == 1
    assert [
        dict(row["attributes"]) for row in sorted(rows["client_metrics"], key=lambda row: row["point_index"])
    ] == [
        {"topic": "\u00e9"},
        {"node_id": "3"},
        {"topic": "x"},
    ]


def test_more_distinct_labels_and_points_than_there_is_room_for_at_first(tmp_path):
    many = [gauge(f"m{i}", topic=f"t{i}") for i in range(1500)] + [gauge("n", points=3000)]
    rows, taken = both(tmp_path, [push(0, metrics(*many)), push(1, metrics(gauge("last")))])
    assert taken == 2 and len(rows["client_metrics"]) == 4_501


def test_a_payload_larger_than_the_memory_for_many_goes_alone(tmp_path):
    large = Metric(name="m" * 9_000_000, gauge={"data_points": [{"as_int": 1}]})
    pushes = [push(i, metrics(metric)) for i, metric in enumerate((gauge(), large, gauge()))]
    rows, taken = both(tmp_path, pushes)
    assert taken == 3 and len(rows["client_metrics"]) == 3


def test_decompression_bombs_are_quarantined_and_the_pushes_beside_them_are_not(tmp_path):
    bombs = [push(i, data, compression_type=codec) for i, (codec, data) in enumerate(BOMBS.values())]
    rows, taken = both(tmp_path, [*bombs, push(100, metrics(gauge()))])
    assert {row["error_class"] for row in rows["undecodable_records"]} == {
        "PayloadTooLarge",
        "CorruptPayload",
    }
    assert (len(rows["undecodable_records"]), len(rows["client_pushes"]), taken) == (len(bombs), 1, 1)


def test_payloads_that_together_have_too_many_points_are_decoded_some_at_a_time(tmp_path, monkeypatch):
    monkeypatch.setattr(columns, "_MOST_POINTS", 200)
    stored = [push(i, payload) for i, payload in enumerate([metrics(gauge()), *3 * [gauges(1000)], b""])]
    calls = []
    decode_columns = fast_decoder.decode_columns
    monkeypatch.setattr(
        fast_decoder, "decode_columns", lambda *given: calls.append(1) or decode_columns(*given)
    )
    rows, taken = both(tmp_path, stored)
    assert taken == 5 and len(rows["client_metrics"]) == 3001
    assert len(calls) > 2


def test_a_worker_takes_less_than_400_mb_of_its_own_whatever_a_payload_holds():
    program = "tests.client_telemetry.formats.crowded_payloads"
    printed = subprocess.run(
        [sys.executable, "-m", program], capture_output=True, text=True, check=True, cwd=CHECKOUT
    ).stdout
    measured = [line.split("\t") for line in printed.splitlines()[1:]]
    assert {(name, points, undecodable) for name, _, points, undecodable, _ in measured} == {
        *((name, "0", "1") for name in CROWDED),
        ("200,000 points", "200000", "0"),
        ("199,999 points and a histogram", "200000", "0"),
        ("1.9 million empty resources", "0", "0"),
    }
    assert max(int(peak) for *_, peak in measured) <= 400


def test_damaged_pushes_give_the_same_rows_both_ways():
    fuzzer = Fuzzer(seed=20)
    for _ in range(8):
        fuzzer.check_object()
    assert fuzzer.counts["pushes that compiled code took"] > 30
    assert fuzzer.counts["client_metric_histograms"] and fuzzer.counts["undecodable_records"]


def test_the_garbage_collector_is_off_while_it_decodes_and_as_before_afterwards(tmp_path):
    seen = []

    def read(key: str) -> io.BytesIO:
        seen.append(gc.isenabled())
        raise OSError("lost")

    assert gc.isenabled()
    with pytest.raises(OSError, match="lost"):
        decoded(read, [[f"{FOLDER}/0.bin"]], tmp_path, compiled=True)
    assert (seen, gc.isenabled()) == ([False], True)
