"""What changed since the last published report of the same question (cluster and releases): verdicts, and whether evidence, the
knowledge base or this program did.

Each published answer leaves one small file beside `latest.json` (`question_file`), which the next one reads.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime

from client_telemetry.console.counted import counted
from client_telemetry.console.grouped import grouped
from client_telemetry.formats.typed_values import of_row, typed
from client_telemetry.knowledge.kip511 import declared
from client_telemetry.reports.json_text import json_text
from client_telemetry.reports.names import folder_name
from client_telemetry.reports.outcomes import OUTCOMES
from client_telemetry.reports.upgrade.model import (
    ChangedVerdict,
    ClientVerdict,
    Question,
    SinceEarlier,
    UpgradeReport,
)
from client_telemetry.tables.rows import BrokerRow

SCHEMA_VERSION = 1
OF_BROKERS = (
    "broker_id",
    "software_version",
    "releases",
    "finalized_features",
    "listeners",
    "scram_users",
    "settings",
)
"""Columns of the table `brokers` by which verdicts and notes are decided."""


@dataclass(frozen=True)
class Answered:
    """What is kept of an answered question. `outcomes`: the outcome of each application, by the digits of its anchor."""

    report_id: str
    cluster_id: str
    created_at: datetime
    first_dt: date
    last_dt: date
    connections: int
    evidence_digest: str
    knowledge_version: str
    knowledge_built_at: datetime | None
    code_version: str
    outcomes: Mapping[str, str]


def evidence_digest(clients: Iterable[ClientVerdict], brokers: Iterable[BrokerRow]) -> str:
    """12 hex digits that stay the same as long as the same was seen of clients and brokers: also where days were processed or
    files rewritten again, and whatever is concluded from it.
    """
    seen = sorted(
        [
            str(client.principal),
            str(client.client_id),
            str(declared(client.client_software_name)),
            str(declared(client.client_software_version)),
            str(client.connections),
            str(client.requests),
            str(client.broker_ids),
            str(client.first_seen_at),
            str(client.last_seen_at),
        ]
        for client in clients
    )
    setups = sorted(
        json.dumps([broker.get(name) for name in OF_BROKERS], sort_keys=True, default=str)
        for broker in brokers
    )
    return hashlib.sha256(json.dumps([seen, setups]).encode("utf-8", "surrogatepass")).hexdigest()[:12]


def question_file(question: Question) -> str:
    """Name of the file, in the cluster's folder, of the newest report from these releases to those.

    `latest_3.9.1_4.0.1.json`
    """
    return f"latest_{folder_name(question.from_release)}_{folder_name(question.to_release)}.json"


def answered(report: UpgradeReport) -> Answered:
    outcomes = {_digits(each.anchor): each.outcome for each in report.applications}
    return of_row(Answered, vars(report.question), evidence_digest=report.evidence_digest, outcomes=outcomes)


def written(answer: Answered) -> str:
    """As JSON: 15 bytes for each application."""
    by_outcome = grouped(sorted(answer.outcomes), answer.outcomes.__getitem__)
    packed = {outcome: " ".join(digits) for outcome, digits in by_outcome.items()}
    return json_text({"schema_version": SCHEMA_VERSION, **vars(answer), "outcomes": packed}) + "\n"


def read(content: bytes) -> Answered | None:
    """None for what this version cannot read: nothing is compared with it then."""
    try:
        document = json.loads(content)
        if document["schema_version"] != SCHEMA_VERSION:
            return None
        return typed(Answered, document | {"outcomes": _outcomes(document["outcomes"])})
    except (LookupError, TypeError, ValueError, AttributeError):
        return None


def _outcomes(packed: Mapping[str, str]) -> dict[str, str]:
    return {
        digits: outcome
        for outcome, of_outcome in packed.items()
        if outcome in OUTCOMES
        for digits in of_outcome.split()
    }


def since(report: UpgradeReport, earlier: Answered) -> SinceEarlier:
    now = answered(report)
    changed = tuple(
        ChangedVerdict(each.anchor, each.name, before, each.outcome)
        for each in report.applications
        if (before := earlier.outcomes.get(_digits(each.anchor))) not in (None, each.outcome)
    )
    added = len(now.outcomes.keys() - earlier.outcomes.keys())
    gone = len(earlier.outcomes.keys() - now.outcomes.keys())
    evidence, knowledge, rules = _evidence(earlier, now), _knowledge(earlier, now), _rules(earlier, now)
    verdicts = [f"{counted(len(changed), 'verdict')} changed" if changed else "no verdict changed"]
    verdicts += [f"{counted(added, 'new application')}"] if added else []
    verdicts += [f"{counted(gone, 'application')} not seen any more"] if gone else []
    sentence = (
        f"Since the report of {_when(earlier, now)}: {', '.join(verdicts)}; evidence {evidence}, "
        f"knowledge {knowledge}, rules {rules}"
    )
    if changed and {evidence, knowledge, rules} == {_SAME}:
        sentence += "; what was given with the question (mechanisms, SCRAM users) must differ"
    return SinceEarlier(
        earlier.report_id,
        earlier.created_at,
        f"{sentence}.",
        evidence,
        knowledge,
        rules,
        added,
        gone,
        changed,
    )


_SAME = "the same"


def _when(earlier: Answered, now: Answered) -> str:
    is_same_day = earlier.created_at.date() == now.created_at.date()
    return f"{earlier.created_at:%Y-%m-%d %H:%M:%S}" if is_same_day else f"{earlier.created_at:%Y-%m-%d}"


def _evidence(earlier: Answered, now: Answered) -> str:
    if (earlier.first_dt, earlier.last_dt) != (now.first_dt, now.last_dt):
        return f"changed ({_other_days(earlier, now)})"
    if earlier.evidence_digest == now.evidence_digest:
        return _SAME
    if earlier.connections != now.connections:
        return f"changed (the same days: {counted(now.connections, 'connection')}, {earlier.connections:,} before)"
    return "changed (the same days: clients or brokers look different)"


def _other_days(earlier: Answered, now: Answered) -> str:
    before, days = ((each.last_dt - each.first_dt).days + 1 for each in (earlier, now))
    if days != before:
        return counted(abs(days - before), "more day" if days > before else "fewer day")
    return f"{_days(now)}, before {_days(earlier)}"


def _days(of: Answered) -> str:
    return f"{of.first_dt}" if of.first_dt == of.last_dt else f"{of.first_dt} to {of.last_dt}"


def _knowledge(earlier: Answered, now: Answered) -> str:
    if earlier.knowledge_version == now.knowledge_version:
        return _SAME
    dates = [
        f"{each.knowledge_built_at:%Y-%m-%d}" if each.knowledge_built_at else "" for each in (earlier, now)
    ]
    if "" in dates or dates[0] == dates[1]:
        dates = [earlier.knowledge_version, now.knowledge_version]
    return f"changed ({dates[0]} → {dates[1]})"


def _rules(earlier: Answered, now: Answered) -> str:
    if earlier.code_version == now.code_version:
        return _SAME
    return f"changed ({earlier.code_version} → {now.code_version})"


def _digits(anchor: str) -> str:
    return anchor.rpartition("-")[2]
