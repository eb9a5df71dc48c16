"""benchmarks/in_place/evidence.csv: what the request logs of two brokers hold of the clients of each program.

    python -m benchmarks.in_place_from_logs LOGS

LOGS holds node1 and node2, each with kafka-request.log.zst, written before the upgrade. A row is a window (`six minutes`: all of
it, `one minute`: its third one) and a client; `logins` says how its connections log in, as `SASL_SSL=PLAIN*3` (no mechanism: not known);
`failed_apis` those that were answered with errors only, as `Produce:29`.
"""

import csv
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from client_telemetry.compatibility import ApiUse
from client_telemetry.compatibility.evidence import ApiError
from client_telemetry.compatibility.failed_apis import failed_apis
from client_telemetry.formats.raw.raw_dump_v1_pb2 import ConnectionEvent
from client_telemetry.knowledge import apis

from benchmarks.programs_from_logs import connections_of, entries_of

EVIDENCE = Path(__file__).parent / "in_place/evidence.csv"
COLUMNS = (
    "window",
    "principal",
    "client_id",
    "client_software_name",
    "client_software_version",
    "logins",
    "api_uses",
    "failed_apis",
)
_MINUTE = 60 * 10**9


class Window(NamedTuple):
    name: str
    since: int
    until: int
    """Nanoseconds since 1970."""


def _rows(window: Window, connections: list[ConnectionEvent]) -> Iterator[dict[str, str]]:
    by_client: defaultdict[tuple[str, ...], list[ConnectionEvent]] = defaultdict(list)
    for event in connections:
        client = event.client
        key = (
            client.principal,
            client.client_id,
            client.client_software_name,
            client.client_software_version,
        )
        by_client[key].append(event)
    for key, events in sorted(by_client.items()):
        uses = _uses(events)
        errors = [
            ApiError(error.api_key, error.version, error.error_code, error.requests)
            for event in events
            for error in event.api_errors
        ]
        logins = Counter(
            f"{event.client.security_protocol}={event.client.sasl_mechanism}" for event in events
        )
        values = (
            window.name,
            *key,
            " ".join(f"{login}*{connections}" for login, connections in sorted(logins.items())),
            " ".join(
                f"{apis.name(use.api_key)}:{use.version}x{use.requests}" for use in uses if use.requests
            ),
            " ".join(f"{apis.name(failed.api_key)}:{failed.code}" for failed in failed_apis(uses, errors)),
        )
        yield dict(zip(COLUMNS, values, strict=True))


def _uses(events: list[ConnectionEvent]) -> list[ApiUse]:
    requests: Counter[tuple[int, int]] = Counter()
    times: defaultdict[tuple[int, int], list[int]] = defaultdict(list)
    for use in (use for event in events for use in event.api_uses):
        requests[use.api_key, use.version] += use.requests
        times[use.api_key, use.version] += [use.first_request_at_nanos, use.last_request_at_nanos]
    return [
        ApiUse(*pair, count, first_seen=min(times[pair]) // 1000, last_seen=max(times[pair]) // 1000)
        for pair, count in sorted(requests.items())
    ]


def main(folder: Path) -> None:
    logs = sorted(folder.glob("*/kafka-request.log.zst"))
    begin = min(next(entries_of(log))[0] for log in logs)
    third = begin + 2 * _MINUTE
    windows = [Window("six minutes", 0, 2**63), Window("one minute", third, third + _MINUTE)]
    with EVIDENCE.open("w", encoding="utf-8", newline="") as opened:
        writer = csv.DictWriter(opened, COLUMNS, lineterminator="\n")
        writer.writeheader()
        for window in windows:
            connections = [event for log in logs for event in connections_of(log, window.since, window.until)]
            writer.writerows(_rows(window, connections))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
