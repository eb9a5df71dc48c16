"""How often the review is right on recorded upgrades: writes docs/review-accuracy.md.

    python -m benchmarks.review_accuracy [--write docs/review-accuracy.md]

tests/data/roll: request and server logs of one rolling upgrade with 30 applications, and what became of each by its own log.
include/sample/fleet: the registry dump of another with 44, without client ids on most refusals.
"""

import argparse
import csv
import struct
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import count
from json import loads
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import zstandard
from client_telemetry.activity.log_evidence import from_logs
from client_telemetry.activity.records import Evidence
from client_telemetry.activity.table_evidence import Gathering, without_clients
from client_telemetry.formats.raw.raw_dump_v1_pb2 import ConnectionEvent
from client_telemetry.review.in_parts import review
from client_telemetry.review.model import Review
from client_telemetry.review.rule_records import COUNTS, RuleRecord, totals
from client_telemetry.review.tracks import tracks
from client_telemetry.sources.log_files import find_logs

from benchmarks.metric_change_accuracy import DRAWS, Recording, Score, harmed, pushed_series, unchanged

CHECKOUT = Path(__file__).parents[1]
ROLL, FLEET = CHECKOUT / "tests/data/roll", CHECKOUT / "include/sample/fleet"
PHASES = {
    "rolling": "rolling",
    "unfinalized": "not_finalized",
    "finalized": "finalized",
    "4.0.0": "not_finalized",
}
DEFAULT_IDS = {
    "click-sink": "sarama",
    "lag-monitor": "kafka_exporter",
    "lag-monitor-old": "kafka_exporter",
    "adhoc-notebook": "rdkafka",
    "edge-gateway": "sarama",
    "erp-audit": "kafka-python-1.4.7",
    "erp-pyk": "pykafka",
}
"""Applications that leave the client id to their library (README of the recordings)."""
STREAMS = {"orders-enrich": "orders-enrich-StreamThread-1-consumer"}
SLOT = 10
WHY = {
    (
        "lag-monitor-old",
        "rolling",
    ): "it asks the leader of each partition for its offsets with ListOffsets v0, which upgraded brokers "
    "refuse. Its log has 60 series until the second broker stopped and its leaders moved to the first one, which was upgraded by then, "
    "40 from then on, and none in the last two of its 12 scrapes. A scrape with a part of the series counts as one that worked, and so "
    "does a roll with fewer than a quarter of failed scrapes."
}
"""What is known of a difference."""


@dataclass(frozen=True)
class Compared:
    application: str
    phase: str
    truth: str
    outcome: str
    verdict: str
    """right, wrong, or invisible: no record of the brokers can show it."""


def roll() -> tuple[Review, list[Compared]]:
    found = review(from_logs(find_logs([str(ROLL)])), "3.9.1", "4.0.1")
    rows = _rows(ROLL / "outcomes.csv")
    clients = {row["app"]: _client(row, found) for row in _rows(ROLL / "apps.csv")}
    truths = [
        (row["app"], PHASES[row["phase"]], row["outcome"], row.get("outcome_last_20s") or row["outcome"])
        for row in rows
        if row["phase"] in PHASES and row["outcome"] != "not_running"
    ]
    return found, list(_compared(found, clients, truths))


def fleet() -> tuple[Review, list[Compared]]:
    found = review(dump_evidence(FLEET / "raw/v1"), "3.9.1", "4.0.0")
    applications = _rows(FLEET / "apps.csv")
    clients = {row["app"]: _client(row, found) for row in applications}
    truths = [
        (row["app"], PHASES[row["phase"]], row["verdict"], row["verdict"])
        for row in _rows(FLEET / "outcomes.csv")
        if row["phase"] == "4.0.0"
    ]
    old = {"orders-service-old": "unknown", "orders-service-new": "apache-kafka-java"}
    return found, list(_compared(found, clients, truths, old))


def _client(row: dict[str, str], found: Review) -> tuple[str, str]:
    """Client id and principal; the id of its library where no client has the application's own."""
    principal = row["principal"] if row["principal"].startswith("User:") else f"User:{row['principal']}"
    own = row["client_id"], principal
    if any((client.client_id, client.principal) == own for client in found.clients):
        return own
    return STREAMS.get(row["app"]) or DEFAULT_IDS.get(row["app"]) or row["client_id"], principal


def _compared(
    found: Review,
    clients: dict[str, tuple[str, str]],
    truths: Iterable[tuple[str, str, str, str]],
    software: dict[str, str] | None = None,
) -> Iterator[Compared]:
    for app, phase, truth, at_end in truths:
        name = (software or {}).get(app)
        own = [
            happened
            for client in found.clients
            if (client.client_id, client.principal) == clients[app] and name in (None, client.software_name)
            for happened in client.outcomes
            if happened.phase == phase
        ]
        if not own:
            yield Compared(
                app, phase, truth, "no record", "invisible" if truth.startswith("failing") else "wrong"
            )
            continue
        (happened, *_) = own
        word = f"{happened.outcome}{f': {happened.kind}' if happened.kind else ''}"
        is_right = _agrees(happened.outcome, happened.kind, truth) or _agrees(
            happened.outcome, happened.kind, at_end
        )
        yield Compared(app, phase, truth, word, "right" if is_right else "wrong")


def _agrees(outcome: str, kind: str | None, truth: str) -> bool:
    """`gone_or_locked_out` with failed logins is right of a client whose password was changed: nothing else can be said."""
    if truth.startswith("failing:auth"):
        return outcome == "failing" or (outcome, kind) == ("gone_or_locked_out", "failed_logins")
    if truth.startswith("failing") or truth in ("broken", "degraded"):
        return outcome == "failing"
    if truth == "changed":
        return outcome in ("changed", "failing")
    if truth == "gone":
        return outcome == "gone_or_locked_out"
    return outcome in ("unaffected", "changed", "new", "not_tested", "not_seen")


def dump_evidence(root: Path) -> Evidence:
    """Of a dump as it lies on disk: what event_files.py makes of connection_events."""
    rows: dict[tuple[Any, ...], list[Any]] = {}
    before: dict[tuple[Any, ...], tuple[int, int, float]] = {}
    numbers = count()
    for path in sorted((root / "dataset=connections").rglob("*.zst")):
        incarnation, broker = path.name.partition("-")[0], int(path.parent.name.removeprefix("broker="))
        for event in _events(path):
            client = event.client
            who = (
                client.client_id if client.HasField("client_id") else None,
                client.principal,
                client.client_address,
                client.client_software_name,
                client.client_software_version,
                client.security_protocol,
            )
            number = client.connection_id or next(numbers)
            for use in event.api_uses:
                same = incarnation, number, event.opened_at_nanos, use.api_key, use.version
                requests, rejected, last_before = before.get(same, (0, 0, use.first_request_at_nanos / 1e9))
                last = use.last_request_at_nanos / 1e9
                before[same] = use.requests, use.rejected, last
                if use.requests <= requests and use.rejected <= rejected:
                    continue
                key = (*who, broker, incarnation, use.api_key, use.version, int(last // SLOT))
                row = rows.setdefault(key, [0, 0, last_before, last])
                row[0] += use.requests - requests
                row[1] += use.rejected - rejected
                row[2], row[3] = min(row[2], last_before), max(row[3], last)
    names = (
        *("client_id", "principal", "client_address", "client_software_name", "client_software_version"),
        *("security_protocol", "broker_id", "broker_incarnation", "api_key", "version", "slot"),
        *("requests", "rejected", "first", "last"),
    )
    uses = [dict(zip(names, (*key, *row), strict=True)) for key, row in rows.items()]
    table = pa.Table.from_pylist(uses)
    no_principal = pc.equal(pc.fill_null(table["principal"], ""), "")
    of_nobody = pc.and_(
        pc.and_(pc.is_null(table["client_id"]), no_principal), pc.greater(table["rejected"], 0)
    )
    gathered = Gathering(SLOT)
    gathered.add_uses(table.filter(pc.invert(of_nobody)))
    refusals, last = table.filter(of_nobody).to_pylist(), pc.max(table["last"]).as_py() or 0.0
    evidence = without_clients(FLEET.name, refusals, [], list(_brokers(root)), SLOT, last=last)
    evidence.activities = gathered.activities()
    return evidence


def _events(path: Path) -> Iterator[ConnectionEvent]:
    with path.open("rb") as stored:
        data = zstandard.ZstdDecompressor().stream_reader(stored).read()
    at = 0
    while at < len(data):
        (length,) = struct.unpack_from(">I", data, at)
        yield ConnectionEvent.FromString(data[at + 4 : at + 4 + length])
        at += 4 + length


def _brokers(root: Path) -> Iterator[dict[str, Any]]:
    for path in sorted((root / "dataset=manifests").rglob("*.json")):
        manifest = loads(path.read_text())
        times = [datetime.fromisoformat(file["max_time"]) for file in manifest["files"]]
        yield {
            "broker_id": manifest["broker_id"],
            "broker_incarnation": manifest["incarnation"],
            "releases": [manifest["broker_software_version"]],
            "started_at": datetime.fromisoformat(manifest["broker_started_at"]),
            "last_evidence_at": max(times, default=None),
            "finalized_features": manifest.get("finalized_features"),
        }


def _rows(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(path.read_text(encoding="utf-8").splitlines()))


def metric_recordings() -> list[Recording]:
    """Times from the truth of the recordings (truth.jsonl): between stops and starts of brokers, features and elections."""
    dump, logs = dump_evidence(FLEET / "raw/v1"), from_logs(find_logs([str(ROLL)]))
    return [
        Recording(
            "fleet (registry dump, pushes)",
            tracks(dump.activities, 0.0),
            pushed_series(FLEET / "raw/v1"),
            [_stretch("21T05:40:33", "21T05:47:50"), _stretch("21T05:58:50", "21T06:02:40")],
            [_stretch("21T05:44:30", "21T05:47:50")],
            dump.slot_seconds,
            shortest_half=180.0,
        ),
        Recording(
            "roll (request logs)",
            tracks(logs.activities, 0.0),
            [],
            [
                _stretch("22T12:05:30", "22T12:10:10"),
                _stretch("22T12:13:20", "22T12:16:15"),
                _stretch("22T12:17:45", "22T12:20:10"),
            ],
            [],
            logs.slot_seconds,
            left_out=frozenset(["legacy-export"]),  # stopped by its owner at 12:08:17
        ),
    ]


def _stretch(since: str, until: str) -> tuple[float, float]:
    first, last = (datetime.fromisoformat(f"2026-11-{at}+00:00").timestamp() for at in (since, until))
    return first, last


def metric_section() -> str:
    rows, missed = [], []
    for recording in metric_recordings():
        same, _ = unchanged(recording)
        rows.append(_scored(same))
        scores, not_found = harmed(recording)
        rows += [_scored(score) for score in scores]
        missed += not_found
    return "\n".join(
        [
            "## Changes of metrics: nothing changed (A/A), and injected harm (A/B)\n",
            "A/A: unchanged periods of the recordings (no broker stopped or started, no leader moved; latencies only if "
            "the brokers had run for five minutes), split every 20 seconds; *called* counts the comparisons reported as changed. A/B: in the "
            "real data of one client at a time, from the middle of a period on, a third of the requests was left out, 5 % of the "
            "requests or records failed (if there are 400 of them), or the latency was doubled; *called* counts the harm that was found "
            f"for that client. All of this {DRAWS} times, with different random numbers. *Elsewhere*: changes that were then reported for other clients.\n",
            "| recording | what | compared | called | | elsewhere |\n|---|---|---:|---:|---:|---:|",
            *rows,
            "",
            "Harm that was not found (a change is reported from a factor of 1.5 for a latency, a fifth for a request rate, and 2 % for a share, "
            "each below the false discovery rate):\n",
            *(f"* {each}" for each in missed),
            "",
        ]
    )


def _scored(score: Score) -> str:
    share = 100 * score.called / max(score.pairs, 1)
    return f"| {score.recording} | {score.what} | {score.pairs} | {score.called} | {share:.1f} % | {score.elsewhere} |"


def rules(records: Sequence[RuleRecord]) -> list[str]:
    names = [name.replace("_", " ") for name in COUNTS]
    return [
        f"| rule | {' | '.join(names)} | precision | recall |\n|---|{'---:|' * (len(names) + 2)}",
        *(
            f"| `{r.rule_id}` | {' | '.join(str(getattr(r, name)) for name in COUNTS)} | {_percent(r.precision)} | {_percent(r.recall)} |"
            for r in records
        ),
    ]


def _percent(share: float | None) -> str:
    return "" if share is None else f"{100 * share:.0f} %"


def recordings() -> list[tuple[str, Review, list[Compared]]]:
    return [
        ("3.9.1 to 4.0.1, from request logs and server.log (tests/data/roll)", *roll()),
        ("3.9.1 to 4.0.0, from a registry dump (include/sample/fleet)", *fleet()),
    ]


def rules_of_all(recordings: Sequence[tuple[str, Review, list[Compared]]]) -> list[str]:
    return rules(totals(record for _, found, _ in recordings for record in found.rules))


def document(recordings: Sequence[tuple[str, Review, list[Compared]]]) -> str:
    parts = [
        "# How often the review is right\n",
        "Generated by `make review-accuracy`. Compares what the review says about each application and phase with the application's "
        "own log. *Invisible*: the application never logged in, so no record of the brokers names it.\n",
    ]
    for name, found, compared in recordings:
        counts = Counter(each.verdict for each in compared)
        parts += [
            f"## {name}\n",
            f"{len(compared)} applications and phases: {counts['right']} right, {counts['wrong']} wrong, "
            f"{counts['invisible']} invisible.\n",
        ]
        others = [each for each in compared if each.verdict != "right"]
        if others:
            parts.append("| application | phase | its own log | review | |\n|---|---|---|---|---|")
            parts += [
                f"| {c.application} | {c.phase} | {c.truth} | {c.outcome} | {c.verdict} |" for c in others
            ]
            parts.append("")
            parts += [
                f"*{c.application}, {c.phase}*: {WHY[c.application, c.phase]}\n"
                for c in others
                if (c.application, c.phase) in WHY
            ]
        outcomes = Counter((each.outcome, each.truth) for each in compared)
        parts.append("| review | its own log | applications and phases |\n|---|---|---:|")
        parts += [f"| {said} | {truth} | {n} |" for (said, truth), n in sorted(outcomes.items())]
        parts.append("")
        parts += rules(found.rules)
        parts.append("")
    parts += [
        "## Rules over all recordings\n",
        "Precision: of the rule's predictions with a known outcome, the share that happened. Recall: of the clients that failed in "
        "what the rule is about, the share that it predicted. `client-telemetry review` and the table `rule_records` count the same "
        "way.\n",
        *rules_of_all(recordings),
        "",
    ]
    return "\n".join(parts)


def main(argv: Sequence[str] | None = None) -> int:
    arguments = argparse.ArgumentParser(
        prog="review_accuracy", description=(__doc__ or "").partition("\n")[0]
    )
    arguments.add_argument("--write", type=Path, help="file for the document; default: standard output")
    args = arguments.parse_args(argv)
    text = document(recordings()) + "\n" + metric_section()
    if args.write:
        args.write.write_text(text, encoding="utf-8")
    else:
        print(text)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
