"""benchmarks/programs/evidence.csv: what a broker's request log holds of each program, read as the product reads it.

    python -m benchmarks.programs_from_logs LOGS FOLDER

LOGS holds RUN/CASE.request.log.zst; FOLDER gets evidence.csv. One row is a run, a case and a client (principal, client
id, software name and version).
"""

import csv
import io
import sys
from collections import Counter, defaultdict
from pathlib import Path

import zstandard
from client_telemetry.compatibility import apis
from client_telemetry.raw.raw_dump_v1_pb2 import ConnectionEvent
from client_telemetry.sources.request_log.connection_watch import ConnectionWatch
from client_telemetry.sources.request_log.log_line import MARK, LineReader
from client_telemetry.sources.request_log.request_entry import parse_entry

COLUMNS = (
    "run",
    "case",
    "release",
    "principal",
    "client_id",
    "client_software_name",
    "client_software_version",
    "security_protocol",
    "seconds",
    "api_uses",
)
RELEASES = {"A": "3.9.1", "A2": "3.9.1", "B400": "4.0.0", "C400": "4.0.0", "B431": "4.3.1", "C431": "4.3.1"}
_OF_THE_RIG = frozenset(("feeder", "precreate", "check-rsl"))


def clients_of(log: Path) -> list[dict[str, str]]:
    """The clients of one request log, with the requests that were answered."""
    latest: dict[tuple[str, int], ConnectionEvent] = {}

    def note(event: ConnectionEvent) -> None:
        """Each event of a connection counts its requests from its beginning."""
        latest[event.client.connection_id, event.opened_at_nanos] = event

    watch, reader = ConnectionWatch(note), LineReader()
    with log.open("rb") as stored, zstandard.ZstdDecompressor().stream_reader(stored) as text:
        for number, line in enumerate(io.BufferedReader(text), start=1):
            if MARK not in line or not (read := reader.read(line)):
                continue
            entry = parse_entry(read.message)
            if not entry.is_forwarded:  # it stands in the log of the broker that the client asked
                watch.add(entry, read.nanos or number)
    watch.end()
    uses: defaultdict[tuple[str, ...], Counter[tuple[int, int]]] = defaultdict(Counter)
    times: defaultdict[tuple[str, ...], list[int]] = defaultdict(list)
    for event in latest.values():
        client = event.client
        key = (
            client.principal,
            client.client_id,
            client.client_software_name,
            client.client_software_version,
            client.security_protocol,
        )
        for use in event.api_uses:
            uses[key][use.api_key, use.version] += use.requests
            times[key] += [use.first_request_at_nanos, use.last_request_at_nanos]
    return [
        {
            **dict(zip(COLUMNS[3:8], key, strict=True)),
            "seconds": f"{(max(times[key]) - min(times[key])) / 1e9:.0f}",
            "api_uses": " ".join(
                f"{apis.name(api)}:{version}x{count}" for (api, version), count in sorted(of_client.items())
            ),
        }
        for key, of_client in sorted(uses.items())
        if key[1] not in _OF_THE_RIG
    ]


def main(logs: Path, folder: Path) -> None:
    with (folder / "evidence.csv").open("w", encoding="utf-8", newline="") as opened:
        writer = csv.DictWriter(opened, COLUMNS, lineterminator="\n")
        writer.writeheader()
        for log in sorted(logs.glob("*/*.request.log.zst")):
            run, case = log.parent.name, log.name.removesuffix(".request.log.zst")
            for client in clients_of(log):
                release = RELEASES[run.partition("-")[0]]
                writer.writerow({"run": run, "case": case, "release": release, **client})


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
