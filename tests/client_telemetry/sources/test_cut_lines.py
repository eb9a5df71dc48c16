"""Lines that something on the way cut into parts: joined, or marked where a part is missing."""

import io
import json

import pytest
from client_telemetry.sources.cut_lines import PARTIAL
from client_telemetry.sources.log_text import open_text

ENTRY = "[2026-11-22 10:48:20,123] DEBUG Completed request:" + "{" + "é" * 300 + "}"
TIME = "2026-11-22T10:48:20.123456789Z"
CLOUDWATCH_BYTES = 262_118


def text_of(*lines: object) -> list[str]:
    """The lines read from a file with these; a line that is not text is a JSON object."""
    text = "".join(
        f"{line if isinstance(line, str) else json.dumps(line, separators=(',', ':'))}\n" for line in lines
    )
    return [line.decode() for line in open_text(io.BytesIO(text.encode())).read().splitlines()]


def parts_of(text: str, number: int = 3) -> list[str]:
    size = -(-len(text) // number)
    return [text[at : at + size] for at in range(0, len(text), size)]


def docker(part: str, stream: str) -> dict:
    return {"log": part, "stream": stream, "time": TIME}


def messages(lines: list[str], key: str) -> list[str]:
    return [json.loads(line)[key].rstrip("\n") for line in lines]


def test_parts_of_a_container_runtime_are_joined_by_stream():
    one, two, three = parts_of(ENTRY)
    lines = text_of(
        f"{TIME} stdout P {one}",
        f"{TIME} stderr F another",
        f"{TIME} stdout P {two}",
        f"{TIME} stdout F {three}",
    )
    assert lines == [f"{TIME} stderr F another", f"{TIME} stdout F {ENTRY}"]


def test_parts_of_docker_end_with_a_line_feed():
    one, two, three = parts_of(ENTRY)
    lines = text_of(
        docker(one, "stdout"),
        docker("another\n", "stderr"),
        docker(two, "stdout"),
        docker(f"{three}\n", "stdout"),
    )
    assert messages(lines, "log") == ["another", ENTRY]


FLAGS = {
    "Fluentd's driver of Docker": (
        "log",
        lambda n, last: {
            "container_id": "c",
            "partial_message": "true",
            "partial_id": "p",
            "partial_ordinal": str(n + 1),
            "partial_last": json.dumps(last),
        },
    ),
    "Fluent Bit, parser cri": ("message", lambda n, last: {"logtag": "F" if last else "P"}),
    "Fluent Bit, multiline cri": ("log", lambda n, last: {"_p": "F" if last else "P", "stream": "stdout"}),
    "Vector": ("message", lambda n, last: {"stream": "stdout", **({} if last else {"_partial": True})}),
    "journald's driver of Docker": (
        "MESSAGE",
        lambda n, last: {
            "CONTAINER_PARTIAL_MESSAGE": "true",
            "CONTAINER_PARTIAL_ID": "p",
            "CONTAINER_PARTIAL_ORDINAL": str(n + 1),
            "CONTAINER_PARTIAL_LAST": json.dumps(last),
        },
    ),
    "Google Cloud": (
        "textPayload",
        lambda n, last: {"split": {"uid": "u", "index": n, "totalSplits": 3}},
    ),
}


@pytest.mark.parametrize("shipper", FLAGS)
def test_parts_that_a_shipper_marks_are_joined(shipper):
    key, flags = FLAGS[shipper]
    records = [{key: part, **flags(n, n == 2)} for n, part in enumerate(parts_of(ENTRY))]
    assert messages(text_of(*records), key) == [ENTRY]
    assert messages(text_of(*records, {key: "whole"}), key) == [ENTRY, "whole"]


@pytest.mark.parametrize("shipper", FLAGS)
def test_a_line_whose_last_part_is_missing_is_marked(shipper):
    key, flags = FLAGS[shipper]
    first = {key: parts_of(ENTRY)[0], **flags(0, False)}
    assert messages(text_of(first), key) == [PARTIAL.decode() + parts_of(ENTRY)[0]]


def test_parts_of_other_containers_do_not_mix():
    key, flags = FLAGS["Fluentd's driver of Docker"]
    records = [
        {key: part, **flags(n, n == 2), "container_id": container, "partial_id": container}
        for n in range(3)
        for container, part in (("a", parts_of(ENTRY)[n]), ("b", parts_of("B" * 30)[n]))
    ]
    assert messages(text_of(*records), key) == [ENTRY, "B" * 30]


@pytest.mark.parametrize("size", [48 * 2**10 - 1, 48 * 2**10])
def test_parts_of_the_journal_have_the_most_bytes_of_its_lines(size):
    """LineMax= of journald.conf(5), 48 KiB by default."""
    entry = (ENTRY[:49] + "x" * 2 * size)[: 2 * size + 10]
    begin = "Nov 22 10:48:20 broker-1 kafka-server-start.sh[99]: "
    lines = text_of(*(begin + entry[at : at + size] for at in (0, size, 2 * size)), begin + "next")
    assert lines == [begin + entry, begin + "next"]


def test_records_of_the_journal_are_joined_by_unit():
    size = 48 * 2**10 - 1
    entry = (ENTRY[:49] + "x" * 2 * size)[: size + 10]
    fields = {"_HOSTNAME": "b1", "_SYSTEMD_UNIT": "kafka.service", "_PID": "99"}
    other = {**fields, "_PID": "100", "MESSAGE": "another"}
    lines = text_of({**fields, "MESSAGE": entry[:size]}, other, {**fields, "MESSAGE": entry[size:]}, other)
    assert messages(lines, "MESSAGE") == ["another", entry, "another"]


def test_events_of_cloudwatch_are_joined_by_stream():
    """Docker's driver awslogs cuts at 262,144 bytes less 26 of overhead (daemon/logger/awslogs/cloudwatchlogs.go)."""
    entry = (ENTRY[:49] + "x" * 2 * CLOUDWATCH_BYTES)[: CLOUDWATCH_BYTES + 10]
    events = [
        {"logStreamName": "Broker-1", "timestamp": 1, "message": entry[:CLOUDWATCH_BYTES]},
        {"logStreamName": "Broker-2", "timestamp": 1, "message": "another"},
        {"logStreamName": "Broker-1", "timestamp": 1, "message": entry[CLOUDWATCH_BYTES:]},
    ]
    lines = text_of({"events": events, "searchedLogStreams": []})
    assert messages(lines, "message") == ["another", entry]


def test_a_first_part_without_the_rest_is_marked_before_the_next_entry():
    one, *_ = parts_of(ENTRY)
    lines = text_of(f"{TIME} stdout P {one}", f"{TIME} stdout F {ENTRY}")
    assert lines == [f"{TIME} stdout F {PARTIAL.decode()}{one}", f"{TIME} stdout F {ENTRY}"]


def test_texts_of_a_shipper_that_end_without_a_line_feed_are_whole():
    records = [docker("one", "stdout"), docker("two", "stdout")]
    assert messages(text_of(*records), "log") == ["one", "two"]


def test_a_file_of_parts_of_docker_only():
    entry = ENTRY + "x" * 70_000
    text = f"{entry}\n"
    records = [docker(text[at : at + 16_384], "stdout") for at in range(0, len(text), 16_384)]
    assert messages(text_of(*records), "log") == [entry]
