"""The probe against real brokers: what it finds is what the knowledge base says, and the brokers are as before."""

import hashlib
import os
import struct
from collections.abc import Iterator
from pathlib import Path

import pytest
from client_telemetry.knowledge import apis, served
from client_telemetry.probe import command_line, target_file
from client_telemetry.probe.target_file import parse_ranges

from .kafka_broker import JARS, KafkaBroker, free_ports

SHORT = ("3.9.1", "4.0.1", "4.4.0")
EVERY_PATCH = tuple(
    release for release in os.environ.get("PROBED_RELEASES", "").split() if release not in SHORT
)
EXPLAINED = {
    # A broker without a telemetry plugin answers PushTelemetry although it does not advertise it (its knowledge has the condition).
    # The consumer protocol is a preview in 3.x, which group.coordinator.rebalance.protocols turns on (KIP-848).
    "3": ("72 PushTelemetry", "68 ConsumerGroupHeartbeat"),
    "4": ("72 PushTelemetry",),
}
"""Major release -> APIs in which it differs from the knowledge base, with default settings."""
_WITHOUT_PLUGIN = {"metric.reporters": "org.apache.kafka.common.metrics.JmxReporter"}


def folder_of(release: str) -> str:
    """Of the jars: those of the other tests where they have the release."""
    return {"3.9.1": "broker-3", "4.4.0": "broker-4"}.get(release, f"kafka-{release}")


@pytest.fixture(
    scope="module",
    params=[*SHORT, *(pytest.param(release, marks=pytest.mark.long) for release in EVERY_PATCH)],
)
def release(request: pytest.FixtureRequest) -> str:
    if not (JARS / folder_of(request.param)).exists():
        pytest.skip(f"no jars of Kafka {request.param}")
    return request.param


@pytest.fixture(scope="module")
def broker(release: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[KafkaBroker]:
    (controller,) = free_ports(1)
    folder = tmp_path_factory.mktemp("probed") / "broker"
    started = KafkaBroker(
        folder, folder_of(release), 1, 1, controller, settings=_WITHOUT_PLUGIN, format_options=()
    )
    try:
        started.start()
        yield started
    finally:
        started.end()


@pytest.fixture(scope="module")
def probed(broker: KafkaBroker, tmp_path_factory: pytest.TempPathFactory) -> dict:
    output = tmp_path_factory.mktemp("target") / "target.json"
    before = state(broker)
    assert command_line.main([broker.bootstrap, f"--output={output}"]) == 0
    after = state(broker)
    assert len(after["metadata"]) > 5
    assert after == before
    return target_file.read(output)


def state(broker: KafkaBroker) -> dict[str, object]:
    """Digest of each file of the log directories; of the metadata log, its records."""
    data = broker.folder / "data"
    files = [path for path in sorted(data.rglob("*")) if path.is_file()]
    plain = [
        path for path in files if "__cluster_metadata" not in str(path) and "checkpoint" not in path.name
    ]
    return {str(path.relative_to(data)): hashlib.sha256(path.read_bytes()).hexdigest() for path in plain} | {
        "metadata": metadata_records(data / "__cluster_metadata-0" / "00000000000000000000.log")
    }


def metadata_records(log: Path) -> list[bytes]:
    """Values of the records of a metadata log, but for those that only the passing time makes: NoOpRecord (key 20), which the
    controller writes twice a second, and control batches.
    """
    content, place, values = log.read_bytes(), 0, []
    while place + 61 <= len(content):
        (length,) = struct.unpack_from(">i", content, place + 8)
        (attributes,) = struct.unpack_from(">h", content, place + 21)
        (count,) = struct.unpack_from(">i", content, place + 57)
        if not attributes & 0x20 and place + 12 + length <= len(content):
            values += record_values(content[place + 61 : place + 12 + length], count)
        place += 12 + length
    return [value for value in values if value[1] != 20]


def record_values(records: bytes, count: int) -> Iterator[bytes]:
    place = 0

    def varint() -> int:
        nonlocal place
        value = shift = 0
        while True:
            byte = records[place]
            place += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return (value >> 1) ^ -(value & 1)

    for _ in range(count):
        length = varint()
        end = place + length
        place += 1
        varint()
        varint()
        key_size = varint()
        place += max(0, key_size)
        size = varint()
        yield records[place : place + size]
        place = end


def test_what_is_answered_is_what_the_knowledge_base_says(probed, release):
    (answers,) = probed["answers"]
    unexplained = []
    for name, entry in answers.items():
        key = int(name.partition(" ")[0])
        if apis.by_key()[key].used_by == "broker":
            continue
        api = served.by(release).get(key)
        asked = [
            version
            for outcome in ("answered", "refused", "closed", "silent", "garbled")
            for version in parse_ranges(entry.get(outcome, ""))
        ]
        expected = [version for version in asked if api and api.served.min <= version <= api.served.max]
        if sorted(parse_ranges(entry.get("answered", ""))) != sorted(expected):
            unexplained.append((name, entry, api))
    assert [each for each in unexplained if each[0] not in EXPLAINED.get(release[0], ())] == []


def test_it_says_which_release_it_is_and_what_is_finalized(probed, release):
    assert release in probed["answers_like"]
    assert probed["features"]["metadata.version"]["finalized"] > 0
    assert probed["cluster_id"]
    assert probed["brokers"]["1"]["address"].startswith("127.0.0.1:")


def test_the_broker_logs_only_the_refusals(probed, broker):
    lines = (broker.folder / "server.log").read_text().splitlines()
    errors = [line for line in lines if "] ERROR " in line or "] FATAL " in line]
    assert [line for line in errors if "kafka.network.Processor" not in line] == []


def test_what_was_not_asked_has_a_reason(probed):
    (answers,) = probed["answers"]
    silent = [(name, entry) for name, entry in answers.items() if not entry]
    assert silent == []
    assert "takes a producer id" in answers["22 InitProducerId"]["not_asked"]
