"""When each application or client was first and last seen, and since when it is gone. Computed from the table `clients`.

    client-telemetry history --lake URL [--cluster ID] [--state gone] [--until YYYY-MM-DD] [--clients]

One row per application (principal, masked name of the application), or with --clients per client family (principal, masked
client id, software name), as CSV. Only published days count: a day without data says nothing about anybody.
"""

import argparse
import csv
import datetime as dt
import sys
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from itertools import pairwise

from client_telemetry import Unusable
from client_telemetry.console.arguments import Arguments, day
from client_telemetry.console.counted import counted
from client_telemetry.console.progress import Progress
from client_telemetry.console.refusal import refuses
from client_telemetry.identity.client_families import family
from client_telemetry.lake.catalog import unavailable
from client_telemetry.lake.lake import Lake, existing_lake
from client_telemetry.reports.spreadsheet import cell
from client_telemetry.tables.clients import CLIENTS
from client_telemetry.tables.rows import ClientRow

STATES = {
    "here": "seen on the last published day",
    "silent": "not seen then, but for no longer than its longest gap: it may be a monthly job",
    "gone": "silent for longer than its longest gap",
}
OF_APPLICATIONS = ("cluster_id", "principal", "application_family")
"""An application that has a client id to itself is named after it, with its changing parts masked."""
OF_CLIENTS = ("cluster_id", "principal", "client_family", "client_software_name")
_COLUMNS = (
    *OF_CLIENTS,
    "application",
    "dt",
    "client_id",
    "client_software_version",
    "instances",
    "connections",
    "first_seen_at",
    "last_seen_at",
)


@dataclass(frozen=True)
class History:
    """One application, or one client family; columns of the other kind are empty. `longest_silence_days`: most
    published days in a row without it, between two days with it; `silent_days`: published days since it was last
    seen.
    """

    cluster_id: str
    principal: str | None
    application_family: str | None
    client_family: str | None
    client_software_name: str | None
    state: str
    first_seen_at: dt.datetime
    last_seen_at: dt.datetime
    gone_since: dt.datetime | None
    days_seen: int
    silent_days: int
    longest_silence_days: int
    client_ids: int
    software_versions: tuple[str, ...]
    instances_per_day: float
    connections_per_day: float


def histories(
    clients: Iterable[ClientRow],
    published: Mapping[str, Collection[dt.date]],
    key_columns: Sequence[str] = OF_APPLICATIONS,
) -> list[History]:
    """`clients`: rows of the table, in any order. `published`: cluster id -> the days that count; rows of other days
    are ignored. `key_columns`: OF_APPLICATIONS or OF_CLIENTS.
    """
    number = {cluster: {day: n for n, day in enumerate(sorted(days))} for cluster, days in published.items()}
    families: dict[tuple[str | None, ...], list[ClientRow]] = {}
    for client in clients:
        if client["dt"] in number.get(client["cluster_id"], ()):
            named = {
                "cluster_id": client["cluster_id"],
                "principal": client["principal"],
                "application_family": _application_family(client),
                "client_family": client["client_family"],
                "client_software_name": client["client_software_name"],
            }
            families.setdefault(tuple(named[name] for name in key_columns), []).append(client)
    histories_found = [
        _history(dict(zip(key_columns, key, strict=True)), rows, number[rows[0]["cluster_id"]])
        for key, rows in families.items()
    ]
    return sorted(histories_found, key=lambda history: [getattr(history, name) or "" for name in key_columns])


def _application_family(client: ClientRow) -> str | None:
    """Rows of versions that knew no applications have none: there, a client id's family is one."""
    application: str | None = client["application"]
    return client["client_family"] if application is None else family(application).text


def _history(
    key: Mapping[str, str | None], rows: Sequence[ClientRow], number: Mapping[dt.date, int]
) -> History:
    numbers_seen = sorted({number[row["dt"]] for row in rows})
    longest = max((after - before - 1 for before, after in pairwise(numbers_seen)), default=0)
    silent = len(number) - 1 - numbers_seen[-1]
    state = "here" if not silent else "silent" if silent <= longest else "gone"
    last = max(row["last_seen_at"] for row in rows)
    return History(
        cluster_id=rows[0]["cluster_id"],
        principal=key["principal"],
        application_family=key.get("application_family"),
        client_family=key.get("client_family"),
        client_software_name=key.get("client_software_name"),
        state=state,
        first_seen_at=min(row["first_seen_at"] for row in rows),
        last_seen_at=last,
        gone_since=last if state == "gone" else None,
        days_seen=len(numbers_seen),
        silent_days=silent,
        longest_silence_days=longest,
        client_ids=len({row["client_id"] for row in rows}),
        software_versions=tuple(sorted({row["client_software_version"] or "" for row in rows} - {""})),
        instances_per_day=sum(row["instances"] for row in rows) / len(numbers_seen),
        connections_per_day=sum(row["connections"] for row in rows) / len(numbers_seen),
    )


@refuses("history", failure=unavailable)
def main(argv: Sequence[str] | None = None) -> int:
    arguments = Arguments("history", __doc__)
    arguments.add_argument("--lake", required=True, help="folder or URL of the lake")
    arguments.add_argument("--cluster", help="cluster id; default: all")
    arguments.add_argument("--until", type=day, help="last day to include; default: the last one")
    arguments.add_argument(
        "--state",
        choices=STATES,
        help="only those in this state; silent: absent for no longer than before, gone: for longer",
    )
    arguments.add_argument("--clients", action="store_true", help="client families instead of applications")
    args = arguments.parse_args(argv)
    with Progress(f"reading the table clients in {args.lake}") as progress:
        return _print_histories(args, progress)


def _print_histories(args: argparse.Namespace, progress: Progress) -> int:
    rows = _rows(existing_lake(args.lake), args.cluster, args.until)
    if not rows:
        scope = f" of cluster {args.cluster}" if args.cluster else ""
        scope += f" until {args.until}" if args.until else ""
        raise Unusable(f"no clients{scope} in {args.lake}: run client_telemetry_daily first")
    progress(f"grouping {counted(len(rows), 'row')} of {'clients' if args.clients else 'applications'}")
    published: dict[str, set[dt.date]] = {}
    for row in rows:
        published.setdefault(row["cluster_id"], set()).add(row["dt"])
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow([field.name for field in fields(History)])
    for history in histories(rows, published, OF_CLIENTS if args.clients else OF_APPLICATIONS):
        if args.state in (None, history.state):
            out.writerow([cell(value) for value in asdict(history).values()])
    return 0


def _rows(lake: Lake, cluster_id: str | None, until: dt.date | None) -> list[ClientRow]:
    if not lake.exists(CLIENTS):
        return []
    partitions: dict[str, object] = {"cluster_id": cluster_id} if cluster_id else {}
    rows = lake.rows(CLIENTS, None, _COLUMNS, **partitions)
    return [row for row in rows if until is None or row["dt"] <= until]
