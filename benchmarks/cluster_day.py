"""What a day of a Kafka cluster costs, from 10 to 500 brokers: CPU, requests to the object store, bytes.

    python -m benchmarks.cluster_day [--write docs/deployment.md]

What a push, an event and a connection cost is measured: decoding here and now, in this process; sessions and clients by
the latest `make bench` (benchmarks/results). The rest is counting, with the rates below. No cluster of that size was run.
"""

import argparse
import json
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from client_telemetry.decode.plan import DECODED_TABLES
from client_telemetry.decode.worker import Worker
from client_telemetry.formats.raw.location import RawLocation
from client_telemetry.lake.writer import TablePlace

from benchmarks.bench import RESULTS, table
from benchmarks.corpus import CLUSTER, DAY, write_dump

BROKERS = (10, 50, 100, 200, 500)
CONNECTIONS = 400
"""Of a broker: 200,000 of 500 brokers."""
PUSHING = 0.5
"""Share of the connections over which an instance pushes, every five minutes, 20 points."""
ROUNDS = 24 * 12
"""Five minutes of a day: of pushes, and of the plugin's snapshots of connections that are in use."""
OBJECTS = 2 * 24 * 4
"""Of a broker and day: pushes and connections, a quarter of an hour each (`roll.ms`). Beside them are 24 manifests."""
LISTED_DAYS = 4 + 14
"""Days that collect lists: those that late objects may still repair, and those before (collect --late-days, --too-late-days)."""
LISTED_AT_ONCE = 1000
SAMPLE = Path(__file__).parents[1] / "include" / "sample" / "fleet" / "raw"
BEGIN, END = "<!-- benchmarks.cluster_day -->", "<!-- end -->"


@dataclass(frozen=True)
class Unit:
    """Of one record, a push with 20 points or a connection event: seconds of CPU of decode, bytes as dumped and as stored."""

    cpu: float
    raw: float
    stored: float


def measured(raw: Path, cluster: str, dataset: str) -> Unit:
    """Decode all objects of the dataset three times; the least CPU."""
    location = RawLocation(raw.absolute().as_uri())
    (day,) = {path.name.removeprefix("dt=") for path in raw.rglob("dt=*")}
    arrived = [
        each
        for each in location.objects(cluster, DAY.date().fromisoformat(day))
        if each.key.dataset == dataset
    ]
    keys = [[str(each.key)] for each in arrived]
    seconds = []
    for _ in range(3):
        with tempfile.TemporaryDirectory() as folder:
            places = {t.name: TablePlace(f"file://{folder}/{t.name}") for t in DECODED_TABLES}
            began = time.process_time()
            result = Worker(location.read, places).decode(keys)
            seconds.append(time.process_time() - began)
            stored = sum(path.stat().st_size for path in Path(folder).rglob("*.parquet"))
    records = sum(each.rows for each in result.objects)
    return Unit(min(seconds) / records, sum(each.bytes for each in arrived) / records, stored / records)


def latest(benchmark: str, title: str) -> list[dict]:
    """The rows of a section of the latest `make bench` that has it."""
    for file in sorted(RESULTS.glob("*.json"), reverse=True):
        sections = json.loads(file.read_text(encoding="utf-8")).get(benchmark, {}).get("sections", [])
        for section in sections:
            if section["title"] == title:
                return section["rows"]
    raise LookupError(f"no result of {benchmark}, {title}: make bench ARGS={benchmark}")


def of_day(brokers: int, push: Unit, event: Unit, session: float, client: float) -> dict[str, int]:
    connections = brokers * CONNECTIONS
    pushes = int(connections * PUSHING * ROUNDS)
    events = connections * (ROUNDS + 2)
    objects = brokers * (OBJECTS + 24)
    lists = LISTED_DAYS * -(-objects // LISTED_AT_ONCE)
    # An object is opened (HEAD) and read (GET); manifests by collect and by decode.
    reads = 2 * brokers * (OBJECTS + 2 * 24)
    return {
        "brokers": brokers,
        "connections": connections,
        "pushes, millions": round(pushes / 1e6),
        "events, millions": round(events / 1e6),
        "decode, CPU s": round(pushes * push.cpu + events * event.cpu),
        "sessionize, CPU s": round(pushes * session),
        "profile, CPU s": round(connections * client),
        "objects": objects,
        "requests of a run": lists + reads,
        "raw, GB": round((pushes * push.raw + events * event.raw) / 1e9, 1),
        "tables, GB": round((pushes * push.stored + events * event.stored) / 1e9, 1),
    }


def section() -> str:
    with tempfile.TemporaryDirectory() as folder:
        write_dump(Path(folder), "small", 20_000)
        push = measured(Path(folder), CLUSTER, "client_pushes")
    event = measured(SAMPLE, "fL33tG0ldTruth000000-w", "connections")
    sessions = {row["case"]: row for row in latest("sessions", "CPU time per push")}
    session = sessions["sessions, each push beyond 1 M"]["CPU µs per push"] / 1e6
    client = latest("profile", "Clients from connections")[-1]["CPU µs per connection"] / 1e6
    rows = [of_day(brokers, push, event, session, client) for brokers in BROKERS]
    return f"""{BEGIN}

Written by `python -m benchmarks.cluster_day --write docs/deployment.md`. \
Measured: a push of 20 points takes {push.cpu * 1e6:.0f} µs of CPU to decode, {push.raw:.0f} bytes in the dump and {push.stored:.0f} in the \
tables; a connection event {event.cpu * 1e6:.0f} µs, {event.raw:.0f} and {event.stored:.0f} bytes. A push takes {session * 1e6:.2f} µs in sessionize and a \
connection {client * 1e6:.0f} µs in profile (docs/performance.md).

Calculated from these, for {CONNECTIONS} connections per broker, all in use, {PUSHING:.0%} of them with an instance that pushes every five minutes:

{table(rows)}

{END}"""


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--write", type=Path, help="document with the place for the table")
    args = parser.parse_args(argv)
    text = section()
    if args.write:
        before, _, rest = args.write.read_text(encoding="utf-8").partition(BEGIN)
        _, _, after = rest.partition(END)
        args.write.write_text(before + text + after, encoding="utf-8")
    else:
        print(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
