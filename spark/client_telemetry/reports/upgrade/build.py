"""From rows of the tables to the report's model. All numbers of a report come from here."""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from datetime import date, datetime

from client_telemetry.console.counted import counted
from client_telemetry.console.grouped import grouped
from client_telemetry.formats.typed_values import of_row
from client_telemetry.identity.hosts import NO_HOSTS, HostNames
from client_telemetry.identity.owners import OwnerRule
from client_telemetry.knowledge import measured_targets
from client_telemetry.knowledge.kip511 import declared
from client_telemetry.knowledge.releases import is_rollback
from client_telemetry.knowledge.vocabulary import KnownBy
from client_telemetry.reports.coverage import (
    coverage,
    hour_sentences,
    traffic_seen,
    unobserved_reason,
    watched_sentences,
)
from client_telemetry.reports.evidence import Coverage
from client_telemetry.reports.names import folder_name
from client_telemetry.reports.quality import quality_warnings
from client_telemetry.reports.upgrade import (
    broker_metrics,
    configuration,
    decision,
    earlier_report,
    failed_logins,
    mixed_and_rollback,
    release_comparison,
    release_notes,
)
from client_telemetry.reports.upgrade.answer import DEPRECATED_ONLY, answer, text
from client_telemetry.reports.upgrade.applications import applications, counts
from client_telemetry.reports.upgrade.changes import changes, first_of
from client_telemetry.reports.upgrade.client_profiles import client_profiles
from client_telemetry.reports.upgrade.client_verdicts import client_verdicts
from client_telemetry.reports.upgrade.model import (
    SCHEMA_VERSION,
    Application,
    Change,
    ClientVerdict,
    OwnerStake,
    Phrase,
    Question,
    Rule,
    Software,
    SoftwareVersion,
    UpgradeReport,
)
from client_telemetry.reports.upgrade.questions import cluster_questions
from client_telemetry.reports.upgrade.sections import needs_work, sections
from client_telemetry.reports.versions import version_order
from client_telemetry.tables.rows import (
    BrokerHourRow,
    BrokerRow,
    ClientRow,
    ConnectionEventRow,
    ConnectionsCountedOnlyRecord,
    QualityResultRow,
    UpgradeFindingRow,
    UpgradeReportRow,
    UpgradeVerdictRow,
)

NO_OWNER_FOLDER = "_no-owner"

NOT_ASSESSED = (
    "Releases that were not compared: another patch release may break more or fewer clients.",
    "Which of the cluster notes apply to this cluster: client and broker settings, removed configurations and "
    "feature levels are not visible in requests.",
    "Changes made before the upgrade, such as an upgraded library or a group that switches to another protocol.",
    "Requests that the brokers counted but that belong to no client of this report.",
    "Clients that did not connect while the evidence was collected, such as monthly jobs.",
)

NO_GUESS = (
    "The library of clients that declare no software name: it could not be inferred from their requests."
)
"""Said where it holds: where no such client is identified."""


class ClientCountDiffers(ValueError):
    """The question tells of another number of clients than there are verdicts: the rows do not belong together."""


def build_report(
    question: UpgradeReportRow,
    verdict_rows: Iterable[UpgradeVerdictRow],
    finding_rows: Iterable[UpgradeFindingRow],
    coverage_rows: Iterable[BrokerHourRow],
    broker_rows: Iterable[BrokerRow],
    warnings: Iterable[QualityResultRow] = (),
    *,
    profile_rows: Iterable[ClientRow] = (),
    use_rows: Iterable[ClientRow] = (),
    login_rows: Iterable[ConnectionEventRow] = (),
    connections_from: failed_logins.ConnectionsFrom = lambda addresses: (),
    owner_rules: Sequence[OwnerRule] = (),
    hosts: HostNames = NO_HOSTS,
    cluster_name: str | None = None,
    asked_by: str | None = None,
    planned_for: date | None = None,
    deprecated_only: bool = False,
) -> UpgradeReport:
    """The report of one question. Arguments are rows as read from the tables, times with their zone:
    `question` of `upgrade_reports`; the others of `upgrade_verdicts`, `upgrade_findings`, `broker_hours`,
    `brokers` and `quality_results` (all rows; those that are no failed warning are passed over).
    `profile_rows`, `use_rows`: of `clients`, see client_profiles.py. `login_rows`, `connections_from`, `owner_rules`: see failed_logins.py. `hosts`: names of
    addresses. `asked_by`: whom owners answer to; `planned_for`: when the brokers are to change. `deprecated_only`: the
    evidence is a log of deprecated requests. `cluster_name` is what people call the cluster; its id, if nothing else.

    Raises ClientCountDiffers, and what `client_verdicts` raises."""
    asked = asked_question(question, cluster_name)
    brokers = list(broker_rows)
    profiles = client_profiles(profile_rows, use_rows, asked.evidence_until, asked.from_release, hosts)
    clients = client_verdicts(verdict_rows, finding_rows, asked.evidence_from, asked.evidence_until, profiles)
    if len(clients) != asked.clients:
        raise ClientCountDiffers(
            f"report {asked.report_id}: the question tells of {asked.clients} clients, "
            f"there are {len(clients)} verdicts"
        )
    programs = applications(clients, asked.evidence_from, asked.evidence_until)
    counted = counts(programs)
    seen = coverage(asked.first_dt, asked.last_dt, asked.evidence_until, coverage_rows, brokers)
    last_evidence = asked.evidence_until or max((client.last_seen_at for client in clients), default=None)
    triggers = [each.trigger for each in programs if each.outcome == "breaks_latent"]
    releases = (asked.from_release, asked.to_release)
    back = is_rollback(*releases)
    two_steps = mixed_and_rollback.two_steps(*releases)
    safe_so_far = sum(each.safe_so_far for each in programs)
    works_again = sum(each.works_again for each in programs)
    already_failing = sum(each.already_failing for each in programs)
    phrases = answer(
        asked.cluster_name,
        *releases,
        counted,
        triggers,
        back,
        traffic_seen(seen, asked.evidence_from, last_evidence),
        safe_so_far,
        already_failing,
        works_again,
        (asked.connections_unidentified or 0) + _connections(asked.connections_counted_only, is_named=False),
        _connections(asked.connections_counted_only, is_named=True),
        sum(each.as_before for each in programs if each.outcome == "breaks_latent"),
    )
    logins = failed_logins.failed_logins(
        (row for row in login_rows if not asked.evidence_until or row["observed_at"] <= asked.evidence_until),
        clients,
        hosts,
        connections_from,
        owner_rules,
    )
    if locked_out := failed_logins.sentence(logins):
        phrases = (*phrases, Phrase(f" {locked_out}"))
    incomplete = DEPRECATED_ONLY if deprecated_only else unobserved_reason(seen)
    if incomplete:
        phrases = (*phrases, Phrase(f" Incomplete: {incomplete}."))
    setups = release_notes.broker_setups(brokers, asked.from_release, asked.evidence_until)
    cluster_notes = release_notes.notes(*releases, setups)
    blockers = release_notes.blockers(cluster_notes)
    if blockers:
        phrases = (Phrase(f"{release_notes.blockers_sentence(blockers)} "), *phrases)
    to_make = changes(programs)
    compared = release_comparison.compared_targets(question["targets"] or (), asked.to_release, programs)
    decided = decision.decision(programs, blockers, incomplete)
    better_target = release_comparison.better_target(compared, programs, back)
    known_by = (KnownBy.RULE, *([KnownBy.MEASURED_TARGET] if measured_targets.is_measured(*releases) else []))
    return UpgradeReport(
        schema_version=SCHEMA_VERSION,
        question=asked,
        answer=phrases,
        sentence=text(phrases),
        known_by=known_by,
        is_rollback=back,
        decision=decided,
        for_management=decision.for_management(
            asked, decided, text(phrases), better_target, planned_for, asked_by, is_rollback=back
        ),
        better_target=better_target,
        targets=compared,
        target_differences=release_comparison.target_differences(programs),
        evidence=_evidence(asked, len(programs), seen, last_evidence, back),
        counts=counted,
        client_counts=counts(clients),
        safe_so_far=safe_so_far,
        already_failing=already_failing,
        works_again=works_again,
        coverage=seen,
        asked_by=asked_by,
        planned_for=planned_for,
        sections=sections(programs),
        changes=to_make,
        owners=_owners(programs, to_make, {login.owner for login in logins}),
        software=_software(clients),
        applications=programs,
        clients=clients,
        failed_logins=logins,
        cluster_questions=cluster_questions(programs),
        incomplete=incomplete,
        two_steps=two_steps,
        mixed_window=None if two_steps else mixed_and_rollback.mixed_window(programs, *releases),
        way_back=None if back or two_steps else mixed_and_rollback.rollback(programs, asked.from_release),
        blockers=blockers,
        cluster_notes=cluster_notes,
        notes_ruled_out=release_notes.not_applying(*releases, setups),
        way_back_notes=() if two_steps else release_notes.rollback_notes(*releases, setups),
        skipped_releases=release_notes.skipped_releases(*releases),
        configuration=configuration.changes(*releases),
        broker_metrics=broker_metrics.changes(*releases),
        false_alarms=release_notes.false_alarms(*releases),
        quality_warnings=quality_warnings(warnings),
        rules=_rules(clients),
        not_assessed=_not_assessed(clients),
        evidence_digest=earlier_report.evidence_digest(clients, brokers),
    )


def asked_question(row: UpgradeReportRow, cluster_name: str | None) -> Question:
    """Of a row of `upgrade_reports`."""
    return of_row(
        Question,
        row,
        cluster_name=cluster_name or row.get("cluster_name") or row["cluster_id"],
        # Rows that were written before these were counted have none.
        clients_by_pushes_only=row.get("clients_by_pushes_only") or 0,
        already_failing=row.get("already_failing") or 0,
        snapshots=dict(sorted(dict(row["snapshots"]).items())),
    )


def _connections(counted_only: Sequence[ConnectionsCountedOnlyRecord] | None, is_named: bool) -> int:
    """Connections that only brokers counted and no verdict covers, of clients that told their software or did not."""
    return sum(
        each["connections"]
        for each in counted_only or ()
        if not each["is_judged"] and (declared(each["software_name"]) is not None) == is_named
    )


def _not_assessed(clients: Iterable[ClientVerdict]) -> tuple[str, ...]:
    unnamed = [client for client in clients if declared(client.client_software_name) is None]
    return NOT_ASSESSED if any(client.identified_as for client in unnamed) else (*NOT_ASSESSED, NO_GUESS)


def _evidence(
    asked: Question, programs: int, seen: Coverage, last_evidence: datetime | None, back: bool
) -> tuple[str, ...]:
    connections = f"{counted(asked.connections, 'connection')} of {counted(asked.clients, 'client')} in {counted(programs, 'application')}"
    if asked.evidence_from is None:
        sentences = [f"{connections} from {asked.first_dt} to {asked.last_dt}."]
    else:
        sentences = [f"{connections} since {asked.evidence_from:%Y-%m-%d %H:%M}."]
    if asked.evidence_until is not None:
        reason = f": {asked.evidence_until_reason.rstrip('.')}" if asked.evidence_until_reason else ""
        sentences += [
            f"Connections opened at {asked.evidence_until:%Y-%m-%d %H:%M:%S} or later were not used{reason}."
        ]
    if asked.clients_by_pushes_only:
        sentences += [
            f"{counted(asked.clients_by_pushes_only, 'client')} known only by metric pushes: no connection was observed, so "
            "the verdict is based on the declared software."
        ]
    if asked.connections_elsewhere:
        sentences += [
            f"{counted(asked.connections_elsewhere, 'connection')} not used: made to brokers already on another release, "
            f"or after the rolling {'rollback' if back else 'upgrade'} began."
        ]
    if asked.connections_unidentified:
        sentences += [
            f"{counted(asked.connections_unidentified, 'connection')} from unidentified clients: rejected before "
            "authentication, or without principal, client id and software. No verdict covers "
            f"{'them' if asked.connections_unidentified != 1 else 'it'}."
        ]
    for each in asked.connections_counted_only or ():
        software = " ".join(
            filter(None, (declared(each["software_name"]), declared(each["software_version"])))
        )
        covered = "the verdict is based on the software" if each["is_judged"] else "no verdict"
        were = "was" if each["connections"] == 1 else "were"
        sentences += [
            f"{counted(each['connections'], 'connection')} of {software or 'unidentified clients'} {were} counted by the "
            f"brokers but not observed: {covered}."
        ]
    return (*sentences, *hour_sentences(seen, asked.evidence_from, last_evidence), *watched_sentences(seen))


def _owners(
    programs: Sequence[Application], to_make: Sequence[Change], with_failed_logins: Collection[str | None]
) -> tuple[OwnerStake, ...]:
    """Most at stake first: by applications that break at once, later, that lack evidence, degrade."""
    stakes = []
    concerned: dict[str | None, list[Change]] = {}
    for change in to_make:
        for owner in change.owners:
            concerned.setdefault(owner, []).append(change)
    for owner, theirs in grouped(programs, lambda each: each.owner).items():
        fix, freed = first_of(concerned.get(owner, ()), owner)
        contact = next((each.owner_contact for each in theirs if each.owner_contact), None)
        folder = NO_OWNER_FOLDER if owner is None else folder_name(owner)
        has_pack = any(map(needs_work, theirs)) or (owner is not None and owner in with_failed_logins)
        clients = sum(len(each.clients) for each in theirs)
        so_far = sum(each.safe_so_far for each in theirs)
        numbers = (len(theirs), clients, counts(theirs), so_far)
        stakes.append(OwnerStake(owner, contact, folder, has_pack, *numbers, fix, freed))

    # Applications come by outcome, then by owner, nobody last: so do owners with as much at stake.
    return tuple(sorted(stakes, key=lambda stake: [-count for count in stake.counts.values()]))


def _software(clients: Sequence[ClientVerdict]) -> tuple[Software, ...]:
    result = []
    for name, theirs in grouped(clients, lambda client: declared(client.client_software_name)).items():
        same = grouped(theirs, lambda client: declared(client.client_software_version))
        versions = sorted(same, key=version_order)
        rows = tuple(SoftwareVersion(v, len(same[v]), counts(same[v])) for v in versions)
        result.append(Software(name, len(theirs), counts(theirs), rows))
    return tuple(sorted(result, key=lambda s: (-s.clients, s.name is None, s.name or "")))


def _rules(clients: Iterable[ClientVerdict]) -> tuple[Rule, ...]:
    cited = Counter((f.rule_id, f.source) for client in clients for f in client.findings)
    return tuple(Rule(rule_id, source, count) for (rule_id, source), count in sorted(cited.items()))
