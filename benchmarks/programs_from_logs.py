"""benchmarks/programs: what a broker's request log holds of each program, read as the product reads it.

    python -m benchmarks.programs_from_logs LOGS FOLDER

LOGS holds RUN/CASE.request.log.zst; FOLDER gets evidence.csv, whose rows are a run, a case and a client (principal, client
id, software name and version), and connections.csv, whose rows are the connections of the runs on 3.9.1 (times in
microseconds since 1970).
"""

import csv
import io
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

import zstandard
from client_telemetry.formats.raw.raw_dump_v1_pb2 import ConnectionEvent
from client_telemetry.knowledge import apis
from client_telemetry.sources.request_log.connection_watch import ConnectionWatch
from client_telemetry.sources.request_log.log_line import LineReader
from client_telemetry.sources.request_log.request_entry import RequestEntry, parse_entry
from client_telemetry.sources.request_log.wrapping import MARK

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


CONNECTION_COLUMNS = (
    "run",
    "case",
    "principal",
    "client_id",
    "client_software_name",
    "client_software_version",
    "address",
    "first",
    "last",
    "groups",
    "api_uses",
)
WHOLE_RUNS = ("A", "A2")


def entries_of(log: Path) -> Iterator[tuple[int, RequestEntry]]:
    """(time in nanoseconds, or the line's number if it has none; entry) of a compressed request log. What a broker passed on to
    another stands in the log of the broker that the client asked.
    """
    reader = LineReader()
    with log.open("rb") as stored, zstandard.ZstdDecompressor().stream_reader(stored) as text:
        for number, line in enumerate(io.BufferedReader(text), start=1):
            if MARK in line and (read := reader.read(line)):
                entry = parse_entry(read.message)
                if not entry.is_forwarded:
                    yield read.nanos or number, entry


def connections_of(log: Path, since: int = 0, until: int = 2**63) -> list[ConnectionEvent]:
    """The last event of each connection in one request log: it counts the requests of the window."""
    latest: dict[tuple[str, int], ConnectionEvent] = {}

    def note(event: ConnectionEvent) -> None:
        latest[event.client.connection_id, event.opened_at_nanos] = event

    watch = ConnectionWatch(note, 2**63)
    for nanos, entry in entries_of(log):
        if since <= nanos < until:
            watch.add(entry, nanos)
    watch.end()
    return list(latest.values())


def clients_of(connections: list[ConnectionEvent]) -> list[dict[str, str]]:
    """The clients of one request log, with the requests that were answered."""
    uses: defaultdict[tuple[str, ...], Counter[tuple[int, int]]] = defaultdict(Counter)
    times: defaultdict[tuple[str, ...], list[int]] = defaultdict(list)
    for event in connections:
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


def rows_of(connections: list[ConnectionEvent]) -> list[dict[str, str]]:
    """Rows of connections.csv, oldest first."""
    rows = []
    for event in connections:
        client, uses = event.client, [use for use in event.api_uses if use.requests]
        if client.client_id in _OF_THE_RIG or not uses:
            continue
        values = (
            client.principal,
            client.client_id,
            client.client_software_name,
            client.client_software_version,
            client.client_address,
            str(min(use.first_request_at_nanos for use in uses) // 1000),
            str(max(use.last_request_at_nanos for use in uses) // 1000),
            " ".join(event.group_ids),
            " ".join(f"{apis.name(use.api_key)}:{use.version}x{use.requests}" for use in uses),
        )
        rows.append(dict(zip(CONNECTION_COLUMNS[2:], values, strict=True)))
    return sorted(rows, key=lambda row: (row["first"], row["client_id"]))


def main(logs: Path, folder: Path) -> None:
    clients, connections = [], []
    for log in sorted(logs.glob("*/*.request.log.zst")):
        run, case = log.parent.name, log.name.removesuffix(".request.log.zst")
        seen = connections_of(log)
        release = RELEASES[run.partition("-")[0]]
        clients += [{"run": run, "case": case, "release": release, **client} for client in clients_of(seen)]
        if run in WHOLE_RUNS:
            connections += [{"run": run, "case": case, **row} for row in rows_of(seen)]
    _write(folder / "evidence.csv", COLUMNS, clients)
    _write(folder / "connections.csv", CONNECTION_COLUMNS, connections)


def _write(file: Path, columns: tuple[str, ...], rows: list[dict[str, str]]) -> None:
    with file.open("w", encoding="utf-8", newline="") as opened:
        writer = csv.DictWriter(opened, columns, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
