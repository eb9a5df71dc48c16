"""From rows of the tables to the report's model. All numbers of a report come from here."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields
from typing import Any

from client_telemetry.compatibility.releases import is_rollback
from client_telemetry.registry.kip511 import told
from client_telemetry.reports import cluster_notes, outlooks, targets
from client_telemetry.reports.answer import answer, text
from client_telemetry.reports.client_verdicts import client_verdicts
from client_telemetry.reports.coverage import coverage, seen_in, watched_sentences
from client_telemetry.reports.model import (
    OUTCOMES,
    SCHEMA_VERSION,
    ClientVerdict,
    Coverage,
    OwnerStake,
    QualityWarning,
    Question,
    Rule,
    Software,
    SoftwareVersion,
    UpgradeReport,
)
from client_telemetry.reports.names import folder_name
from client_telemetry.reports.versions import version_order
from client_telemetry.reports.wording import without_brackets

NO_OWNER_FOLDER = "_no-owner"

NOT_ASSESSED = (
    "Releases that are not in the comparison: another patch release can break more or fewer clients.",
    "Which of the notes about the cluster apply to it: settings of clients and brokers, removed configurations and "
    "feature levels do not show in requests.",
    "Changes between now and then: a library that is upgraded, a group that takes up another protocol.",
    "Requests that the brokers counted and that no client of this report explains.",
    "Clients that did not connect while the evidence was collected, such as monthly jobs.",
)

NO_GUESS = "Who a client is that tells no software name: its library is not guessed from its requests."
"""Said where it holds: where no such client is identified."""


class ClientCountDiffers(ValueError):
    """The question tells of another number of clients than there are verdicts: the rows do not belong together."""


def build_report(
    question: Mapping[str, Any],
    verdict_rows: Iterable[Mapping[str, Any]],
    finding_rows: Iterable[Mapping[str, Any]],
    coverage_rows: Iterable[Mapping[str, Any]],
    broker_rows: Iterable[Mapping[str, Any]],
    warnings: Iterable[Mapping[str, Any]] = (),
    *,
    cluster_name: str | None = None,
) -> UpgradeReport:
    """The report of one question. Arguments are rows as read from the tables, times with their zone:
    `question` of `upgrade_reports`; the others of `upgrade_verdicts`, `upgrade_findings`, `broker_hours`,
    `brokers` and `quality_results` (all rows; those that are no failed warning are passed over).
    `cluster_name` is what people call the cluster; its id, if nothing else.

    Raises ClientCountDiffers, and what `client_verdicts` raises."""
    asked = _question(question, cluster_name)
    clients = client_verdicts(verdict_rows, finding_rows, asked.evidence_from, asked.evidence_until)
    if len(clients) != asked.clients:
        raise ClientCountDiffers(
            f"report {asked.report_id}: the question tells of {asked.clients} clients, "
            f"there are {len(clients)} verdicts"
        )
    counts = _counts(clients)
    seen = coverage(asked.first_dt, asked.last_dt, asked.evidence_until, coverage_rows, broker_rows)
    triggers = [client.trigger for client in clients if client.outcome == "breaks_latent"]
    releases = (asked.from_release, asked.to_release)
    back = is_rollback(*releases)
    phrases = answer(asked.cluster_name, *releases, counts, triggers, back, seen_in(seen))
    compared = targets.compared_targets(question["targets"] or (), asked.to_release)
    return UpgradeReport(
        schema_version=SCHEMA_VERSION,
        question=asked,
        answer=phrases,
        sentence=text(phrases),
        is_rollback=back,
        better_target=targets.better_target(compared, clients, back),
        targets=compared,
        target_differences=targets.target_differences(clients),
        evidence=_evidence(asked, seen),
        counts=counts,
        coverage=seen,
        owners=_owners(clients),
        software=_software(clients),
        clients=clients,
        mixed_window=outlooks.mixed_window(clients, *releases),
        way_back=None if back else outlooks.way_back(clients, asked.from_release),
        cluster_notes=cluster_notes.notes(*releases),
        way_back_notes=cluster_notes.notes_of_the_way_back(*releases),
        skipped_releases=cluster_notes.skipped_releases(*releases),
        false_alarms=cluster_notes.false_alarms(*releases),
        quality_warnings=quality_warnings(warnings),
        rules=_rules(clients),
        not_assessed=_not_assessed(clients),
    )


def _question(row: Mapping[str, Any], cluster_name: str | None) -> Question:
    values = {field.name: row[field.name] for field in fields(Question) if field.name != "cluster_name"}
    values["snapshots"] = dict(sorted(dict(values["snapshots"]).items()))
    return Question(**values, cluster_name=cluster_name or row["cluster_id"])


def _not_assessed(clients: Iterable[ClientVerdict]) -> tuple[str, ...]:
    unnamed = [client for client in clients if told(client.client_software_name) is None]
    return NOT_ASSESSED if any(client.identified_as for client in unnamed) else (*NOT_ASSESSED, NO_GUESS)


def _counts(clients: Iterable[ClientVerdict]) -> dict[str, int]:
    found = Counter(client.outcome for client in clients)
    return {outcome: found[outcome] for outcome in OUTCOMES}


def _evidence(asked: Question, seen: Coverage) -> tuple[str, ...]:
    connections = f"{_many(asked.connections, 'connection')} of {_many(asked.clients, 'client')}"
    if asked.evidence_from is None:
        sentences = [f"{connections} from {asked.first_dt} to {asked.last_dt}."]
    else:
        sentences = [f"{connections} since {asked.evidence_from:%Y-%m-%d %H:%M}."]
    if asked.evidence_until is not None:
        reason = f": {asked.evidence_until_reason.rstrip('.')}" if asked.evidence_until_reason else ""
        sentences += [
            f"Connections opened at {asked.evidence_until:%Y-%m-%d %H:%M:%S} or later were not used{reason}."
        ]
    if asked.connections_elsewhere:
        sentences += [
            f"{_many(asked.connections_elsewhere, 'connection')} of these days left out: "
            "to brokers of another release, or later."
        ]
    if asked.connections_unidentified:
        many = asked.connections_unidentified != 1
        sentences += [
            f"{_many(asked.connections_unidentified, 'connection')} that no client explains: refused before "
            f"{'they' if many else 'it'} told whose {'they are' if many else 'it is'}."
        ]
    if seen.broker_hours:
        sentences += [
            f"{seen.complete_broker_hours:,} of {_many(seen.broker_hours, 'broker hour')} "
            f"of {_many(len(seen.broker_ids), 'broker')} seen completely."
        ]
    else:
        sentences += ["Which hours of which brokers were seen is not known."]
    return (*sentences, *watched_sentences(seen))


def _many(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def _owners(clients: Sequence[ClientVerdict]) -> tuple[OwnerStake, ...]:
    """Most at stake first: by clients that break at once, later, that lack evidence, degrade."""
    stakes = []
    for owner, theirs in _grouped(clients, lambda client: client.owner).items():
        broken = (client for client in theirs if client.verdict == "breaks" and client.fix)
        fixes = Counter(without_brackets(client.fix) for client in broken)
        fix, freed = min(fixes.items(), key=lambda item: (-item[1], item[0]), default=(None, 0))
        contact = next((client.owner_contact for client in theirs if client.owner_contact), None)
        folder = NO_OWNER_FOLDER if owner is None else folder_name(owner)
        stakes.append(OwnerStake(owner, contact, folder, len(theirs), _counts(theirs), fix, freed))

    def most_at_stake(stake: OwnerStake) -> tuple:
        return (*(-count for count in stake.counts.values()), stake.owner is None, stake.owner or "")

    return tuple(sorted(stakes, key=most_at_stake))


def _software(clients: Sequence[ClientVerdict]) -> tuple[Software, ...]:
    result = []
    for name, theirs in _grouped(clients, lambda client: told(client.client_software_name)).items():
        same = _grouped(theirs, lambda client: told(client.client_software_version))
        versions = sorted(same, key=version_order)
        rows = tuple(SoftwareVersion(v, len(same[v]), _counts(same[v])) for v in versions)
        result.append(Software(name, len(theirs), _counts(theirs), rows))
    return tuple(sorted(result, key=lambda s: (-s.clients, s.name is None, s.name or "")))


def _grouped(
    clients: Iterable[ClientVerdict], group: Callable[[ClientVerdict], str | None]
) -> dict[str | None, list[ClientVerdict]]:
    groups: dict[str | None, list[ClientVerdict]] = {}
    for client in clients:
        groups.setdefault(group(client), []).append(client)
    return groups


def quality_warnings(rows: Iterable[Mapping[str, Any]]) -> tuple[QualityWarning, ...]:
    names = [field.name for field in fields(QualityWarning)]
    failed = (row for row in rows if row["severity"] == "warning" and not row["success"])
    found = [QualityWarning(**{name: row[name] for name in names}) for row in failed]
    return tuple(sorted(found, key=lambda w: (w.dt, w.stage, w.table_name, w.expectation)))


def _rules(clients: Iterable[ClientVerdict]) -> tuple[Rule, ...]:
    cited = Counter((f.rule_id, f.source) for client in clients for f in client.findings)
    return tuple(Rule(rule_id, source, count) for (rule_id, source), count in sorted(cited.items()))
