"""How right the links of connections to client instances are: on the two captures of the sample, against the logs of
what their clients really did.

    python -m benchmarks.links [--lake var/lake] [--write docs/links.md]      (after `make run`)
"""

import argparse
import base64
import csv
import datetime as dt
import json
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from client_telemetry.lake.lake import Lake
from client_telemetry.tables.client_connections import CLIENT_CONNECTIONS, LINK_RULES

CHECKOUT = Path(__file__).parents[1]
SAMPLE = CHECKOUT / "include" / "sample"
CLUSTERS = {"telemetry_cluster": "kQ7x0RvXTs-Y2r0m3Jw0zA", "fleet": "fL33tG0ldTruth000000-w"}
COLUMNS = (
    "cluster_id",
    "client_id",
    "principal",
    "client_software_name",
    "client_software_version",
    "opened_at",
    "last_seen_at",
    "client_instance_id",
    "link",
    "link_rule",
)
_SLACK_MS = 100
"""Between a process's exit as its starter saw it and the broker's log of its last request."""


@dataclass(frozen=True)
class Process:
    """One client process of a log: who it was, when it was there (None: all the time), and its instance, if any of
    its pushes reached a broker."""

    client_id: str
    software: tuple[str, str] | None
    from_ms: int | None
    until_ms: int | None
    instance: bytes | None

    def can_have_opened(self, connection: Mapping) -> bool:
        software = (connection["client_software_name"], connection["client_software_version"])
        return (
            connection["client_id"] == self.client_id
            and self.software in (None, software)
            and (self.from_ms is None or _millis(connection["opened_at"]) >= self.from_ms - _SLACK_MS)
            and (self.until_ms is None or _millis(connection["last_seen_at"]) <= self.until_ms + _SLACK_MS)
        )


def _millis(at: dt.datetime) -> int:
    return round(at.replace(tzinfo=dt.UTC).timestamp() * 1000)


def _instance(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "==")


def telemetry_cluster() -> list[Process]:
    """Processes of truth.jsonl; their instances by the table of expected sessions."""
    with (CHECKOUT / "tests/data/sessionize/telemetry_cluster.csv").open(newline="") as table:
        pushed = {
            row["label"]: _instance(row["client_instance_id"])
            for row in csv.DictReader(table)
            if row["end_reason"] != "none"
        }
    events: dict[str, dict[str, dict]] = {}
    for line in (SAMPLE / "telemetry_cluster/truth.jsonl").read_text().splitlines():
        event = json.loads(line)
        if "label" in event:
            events.setdefault(event["label"], {})[event["event"]] = event
    defaults = {None: "producer-1", "@none": "kgo"}
    return [
        Process(
            defaults.get(of["start"]["client_id"], of["start"]["client_id"]),
            None,
            of["spawn"]["at_ms"],
            of["exit"]["at_ms"],
            pushed.get(label),
        )
        for label, of in events.items()
        if {"start", "spawn", "exit"} <= of.keys()
    ]


def fleet() -> list[Process]:
    """Instances of instances.csv, each there all the time (no application with one was ever restarted), and every
    other application without one."""
    with (SAMPLE / "fleet/instances.csv").open(newline="") as table:
        instances = list(csv.DictReader(table))
    with (SAMPLE / "fleet/apps.csv").open(newline="") as table:
        others = {row["client_id"] for row in csv.DictReader(table)} - {row["client_id"] for row in instances}
    found = [
        Process(
            row["client_id"],
            (row["software_name"], row["software_version"]),
            None,
            None,
            _instance(row["client_instance_id"]),
        )
        for row in instances
    ]
    found.append(Process("orders-service", ("unknown", "unknown"), None, None, None))
    return found + [Process(client_id, None, None, None, None) for client_id in others]


@dataclass(frozen=True)
class Measured:
    """Connections by rule, and what the log says of them: `right`, `wrong` (linked to another instance than its own,
    or to one although its process had none), `missed` (not linked although its process had an instance), `open` (the
    log leaves more than one instance, or knows no such process)."""

    connections: Counter[str]
    judged: Counter[tuple[str, str]]

    def share(self, link: str) -> float:
        """Of the connections of clients of which some instance pushed."""
        pushed = {
            rule: n for rule, n in self.connections.items() if rule not in ("no_instance", "unknown_client")
        }
        return sum(n for rule, n in pushed.items() if LINK_RULES[rule][0] == link) / (
            sum(pushed.values()) or 1
        )

    def wrong_share(self, link: str) -> float:
        """Of the links that the log can judge."""
        of = {
            what: sum(self.judged[rule, what] for rule in LINK_RULES if LINK_RULES[rule][0] == link)
            for what in ("right", "wrong")
        }
        return of["wrong"] / (of["right"] + of["wrong"] or 1)


def measure(connections: Iterable[Mapping], processes: Sequence[Process]) -> Measured:
    """`connections`: rows of client_connections of one cluster, with COLUMNS."""
    by_client: dict[str, list[Process]] = {}
    for process in processes:
        by_client.setdefault(process.client_id, []).append(process)
    measured = Measured(Counter(), Counter())
    for connection in connections:
        rule = connection["link_rule"]
        measured.connections[rule] += 1
        candidates = by_client.get(connection["client_id"], ())
        true = {each.instance for each in candidates if each.can_have_opened(connection)}
        measured.judged[rule, _judged(connection, true)] += 1
    return measured


def _judged(connection: Mapping, true: set[bytes | None]) -> str:
    found = connection["client_instance_id"]
    if found is not None and true and bytes(found) not in true:
        return "wrong"
    if len(true) != 1:
        return "open"
    if found is None:
        return "right" if connection["link"] == "none" and true == {None} else "missed"
    return "right"


def page(measured: Mapping[str, Measured]) -> str:
    """docs/links.md."""
    lines = [
        "# Links of connections to client instances",
        "",
        "Generated by `python -m benchmarks.links --write docs/links.md`, which compares the tables that `make run` produces from the",
        "two captures of the sample with the logs of what their clients did. The rules are explained in",
        "[tables.md](tables.md), `client_connections.link_rule`. *right*: the log agrees. *wrong*: the log names",
        "another instance, or none. *missed*: the log has the instance, but it was not linked. *open*: the log allows",
        "several instances (a producer and a consumer of one application share their client id in the fleet), or",
        "has no such process.",
    ]
    for name, of in measured.items():
        shares = ", ".join(
            f"{link} {of.share(link):.1%}" for link in ("exact", "likely", "ambiguous", "none")
        )
        lines += [
            "",
            f"## {name}",
            "",
            f"Of the connections of clients that pushed: {shares}. Of the links that the log can verify, "
            f"{of.wrong_share('exact'):.1%} of the exact and {of.wrong_share('likely'):.1%} of the likely ones are "
            "wrong.",
            "",
            "| link | rule | connections | right | wrong | missed | open |",
            "|---|---|---:|---:|---:|---:|---:|",
        ]
        for rule, (link, _) in LINK_RULES.items():
            if of.connections[rule]:
                cells = [f"{of.judged[rule, what]:,}" for what in ("right", "wrong", "missed", "open")]
                lines.append(f"| {link} | {rule} | {of.connections[rule]:,} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--lake", default=str(CHECKOUT / "var/lake"))
    arguments.add_argument("--write", type=Path, help="write the page there instead of printing it")
    args = arguments.parse_args()
    lake = Lake(None, args.lake)
    if not lake.exists(CLIENT_CONNECTIONS):
        print(f"there are no connections in {args.lake}: run `make run` first", file=sys.stderr)
        return 2
    measured = {}
    for name, processes in (("telemetry_cluster", telemetry_cluster()), ("fleet", fleet())):
        scan = lake.table(CLIENT_CONNECTIONS).scan(
            f"cluster_id = '{CLUSTERS[name]}'", selected_fields=COLUMNS
        )
        measured[name] = measure(scan.to_arrow().to_pylist(), processes)
    text = page(measured)
    if args.write:
        args.write.write_text(text, encoding="utf-8")
    else:
        print(text, end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
