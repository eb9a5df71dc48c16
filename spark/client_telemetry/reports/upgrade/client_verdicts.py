"""Clients of a report, from rows of `upgrade_verdicts` and `upgrade_findings`."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta

from client_telemetry.formats.typed_values import of_row
from client_telemetry.identity.client_families import family
from client_telemetry.identity.client_key import client_key
from client_telemetry.knowledge.kip511 import declared
from client_telemetry.knowledge.vocabulary import Verdict, When
from client_telemetry.reports.names import anchor
from client_telemetry.reports.outcomes import OUTCOMES, outcome
from client_telemetry.reports.upgrade.changes import of_fix
from client_telemetry.reports.upgrade.model import ClientProfile, ClientVerdict, Finding
from client_telemetry.reports.upgrade.wording import owner_question
from client_telemetry.reports.versions import version_order
from client_telemetry.tables.rows import UpgradeFindingRow, UpgradeVerdictRow

BRIEF_SHARE = 0.1
"""A client whose first and last evidence are closer together than this share of the evidence is seen rarely."""
SILENT_SHARE = 0.5
"""So is one that is not seen in this last share of it."""

_OUTCOME_ORDER = {outcome: place for place, outcome in enumerate(OUTCOMES)}


class UnknownVerdict(ValueError):
    """A verdict that is not in the vocabulary of `upgrade_verdicts`."""


class FindingWithoutVerdict(ValueError):
    """A finding of a client that has no verdict: the rows do not belong together."""


class TwoVerdicts(ValueError):
    """Two rows of `upgrade_verdicts` for one client."""


def client_verdicts(
    verdict_rows: Iterable[UpgradeVerdictRow],
    finding_rows: Iterable[UpgradeFindingRow],
    evidence_from: datetime | None,
    evidence_until: datetime | None,
    profiles: Mapping[tuple[str | None, ...], ClientProfile] | None = None,
) -> tuple[ClientVerdict, ...]:
    """By outcome, owner (none last), software, client id and principal. `profiles`: by client_key. Raises UnknownVerdict,
    FindingWithoutVerdict, TwoVerdicts."""
    findings: dict[tuple[object, ...], list[Finding]] = defaultdict(list)
    for finding in finding_rows:
        findings[_key(finding)].append(of_row(Finding, finding))
    rows: dict[tuple[object, ...], UpgradeVerdictRow] = {}
    for row in verdict_rows:
        if _key(row) in rows:
            raise TwoVerdicts(f"client {_key(row)} has two verdicts")
        rows[_key(row)] = row
    if strangers := findings.keys() - rows.keys():
        raise FindingWithoutVerdict(
            f"no verdict for client {sorted(strangers, key=repr)[0]}, which has findings"
        )
    if not rows:
        return ()
    begin = evidence_from or min(row["first_seen_at"] for row in rows.values())
    end = evidence_until or max(row["last_seen_at"] for row in rows.values())
    profiles = profiles or {}
    clients = [
        _client(row, findings.get(key, []), begin, end, profiles.get(client_key(row), ClientProfile()))
        for key, row in rows.items()
    ]
    return tuple(sorted(clients, key=_order))


def _key(row: UpgradeVerdictRow | UpgradeFindingRow) -> tuple[object, ...]:
    # Rows that were written before programs were told apart do not have the column.
    return (*client_key(row), row.get("program"))


def _client(
    row: UpgradeVerdictRow,
    findings: list[Finding],
    begin: datetime,
    end: datetime,
    profile: ClientProfile,
) -> ClientVerdict:
    findings = sorted(findings, key=lambda finding: finding.finding)
    latent = (
        f.trigger for f in findings if f.when == When.LATENT and f.verdict == row["verdict"] and f.trigger
    )
    others: dict[str, object] = {
        flag: bool(row.get(flag)) for flag in ("already_failing", "works_again", "as_before", "well_observed")
    }
    if row.get("application") is None:
        # Rows of versions that knew no applications: a client id's family is one.
        others["application"] = family(row["client_id"]).text if row["client_id"] else ""
        others["application_kind"] = "family"
    unidentified = _is_unidentified(row)
    return of_row(
        ClientVerdict,
        row,
        **others,
        **vars(profile),
        anchor=anchor("client", *client_key(row), *([row["program"]] if row.get("program") else [])),
        priority=1
        if row.get("already_failing")
        else 1 + _OUTCOME_ORDER[_outcome(row["verdict"], row["when"])],
        change=of_fix(row["fix"]).text if row["verdict"] == Verdict.BREAKS else None,
        is_unidentified=unidentified,
        owner_question=owner_question(profile.candidates) if unidentified else None,
        safe_so_far=row["verdict"] == Verdict.SAFE and not row.get("well_observed"),
        outcome=_outcome(row["verdict"], row["when"]),
        trigger=next(latent, None) if row["when"] == When.LATENT else None,
        seen_rarely=seen_rarely(row["first_seen_at"], row["last_seen_at"], begin, end),
        findings=tuple(findings),
    )


def _is_unidentified(row: UpgradeVerdictRow) -> bool:
    if declared(row["client_software_name"]) is not None or row["verdict"] == Verdict.SAFE:
        return False
    if row["verdict"] == Verdict.INSUFFICIENT_EVIDENCE or not row["fix"]:
        return not (row["identified_as"] or "").startswith("probably ")
    return of_fix(row["fix"]).certainty == "open"


def _outcome(verdict: str, when: str | None) -> str:
    counted_as = outcome(verdict, when)
    if counted_as not in OUTCOMES:
        raise UnknownVerdict(f"verdict {verdict!r} is none of breaks, {', '.join(list(OUTCOMES)[2:])}")
    return counted_as


def seen_rarely(first_seen: datetime, last_seen: datetime, begin: datetime, end: datetime) -> str | None:
    """Why what was seen of a client may not be all that it does, or None. Times of the client, then of the
    evidence as a whole."""
    span = end - begin
    if span <= timedelta(0):
        return None
    if last_seen - first_seen < span * BRIEF_SHARE:
        return f"seen for {duration(last_seen - first_seen)} of {duration(span)}"
    if end - last_seen > span * SILENT_SHARE:
        return f"not seen in the last {duration(end - last_seen)} of {duration(span)}"
    return None


def duration(span: timedelta) -> str:
    """In the largest unit that gives at least 2, rounded down.

    >>> [duration(timedelta(seconds=n)) for n in (50 * 3600, 48 * 3600, 7200, 7199, 120, 119, 1, 0)]
    ['2 days', '2 days', '2 h', '119 min', '2 min', '119 s', '1 s', 'less than 1 s']
    """
    seconds = int(span.total_seconds())
    for unit, length in (("days", 86400), ("h", 3600), ("min", 60)):
        if seconds >= 2 * length:
            return f"{seconds // length} {unit}"
    return f"{seconds} s" if seconds else "less than 1 s"


def _order(client: ClientVerdict) -> tuple[object, ...]:
    return (
        _OUTCOME_ORDER[client.outcome],
        client.owner is None,
        client.owner or "",
        client.client_software_name or "",
        version_order(client.client_software_version),
        client.client_id or "",
        client.principal or "",
        client.program or "",
    )
