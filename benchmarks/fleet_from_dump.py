"""benchmarks/fleet/evidence.csv: what the brokers of the sample fleet knew of each client, by the release they ran.

    python -m benchmarks.fleet_from_dump

One row is a broker release and a client (principal, client id, software name and version). The sample is
include/sample/fleet.
"""

import csv
import io
import json
import struct
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import zstandard
from client_telemetry.formats.raw.raw_dump_v1_pb2 import ConnectionEvent
from client_telemetry.knowledge import apis

SAMPLE = Path(__file__).parents[1] / "include" / "sample" / "fleet" / "raw" / "v1"
EVIDENCE = Path(__file__).parent / "fleet" / "evidence.csv"
COLUMNS = (
    "release",
    "principal",
    "client_id",
    "client_software_name",
    "client_software_version",
    "security_protocol",
    "seconds",
    "answered",
    "refused",
)
_LENGTH = struct.Struct(">I")


def _events() -> Iterator[ConnectionEvent]:
    for file in sorted((SAMPLE / "dataset=connections").rglob("*.zst")):
        with zstandard.ZstdDecompressor().stream_reader(
            io.BytesIO(file.read_bytes()), read_across_frames=True
        ) as s:
            data = s.read()
        offset = 0
        while offset < len(data):
            (length,) = _LENGTH.unpack_from(data, offset)
            yield ConnectionEvent.FromString(data[offset + 4 : offset + 4 + length])
            offset += 4 + length


def _releases() -> dict[str, str]:
    """Broker incarnation -> its release."""
    manifests = map(json.loads, (file.read_text() for file in (SAMPLE / "dataset=manifests").rglob("*.json")))
    return {each["incarnation"]: each["broker_software_version"] for each in manifests}


def main() -> None:
    releases, latest = _releases(), dict[tuple[bytes, str, int], ConnectionEvent]()
    for event in _events():
        key = (event.incarnation, event.client.connection_id, event.opened_at_nanos)
        if event.kind != ConnectionEvent.OPENED and (
            key not in latest or latest[key].observed_at_nanos <= event.observed_at_nanos
        ):
            latest[key] = event
    uses: defaultdict[tuple[str, ...], defaultdict[tuple[int, int], list[int]]] = defaultdict(
        lambda: defaultdict(lambda: [0, 0])
    )
    times: defaultdict[tuple[str, ...], list[int]] = defaultdict(list)
    for (incarnation, _, _), event in latest.items():
        client = event.client
        who = (
            releases[incarnation.hex()],
            client.principal,
            client.client_id,
            client.client_software_name,
            client.client_software_version,
            client.security_protocol,
        )
        for use in event.api_uses:
            count = uses[who][use.api_key, use.version]
            count[0] += use.requests
            count[1] += use.rejected
            times[who] += [use.first_request_at_nanos, use.last_request_at_nanos]
    with EVIDENCE.open("w", encoding="utf-8", newline="") as opened:
        writer = csv.writer(opened, lineterminator="\n")
        writer.writerow(COLUMNS)
        for who, of_client in sorted(uses.items()):
            seconds = (max(times[who]) - min(times[who])) / 1e9
            writer.writerow((*who, f"{seconds:.0f}", *(_text(of_client, place) for place in (0, 1))))


def _text(uses: dict[tuple[int, int], list[int]], place: int) -> str:
    return " ".join(
        f"{apis.name(key)}:{version}x{count[place]}"
        for (key, version), count in sorted(uses.items())
        if count[place]
    )


if __name__ == "__main__":
    main()
