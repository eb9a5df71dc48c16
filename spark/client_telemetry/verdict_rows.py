"""The evidence of clients as the engine takes it, and its verdicts as rows of upgrade_verdicts and upgrade_findings."""

import datetime as dt
from collections.abc import Iterable, Mapping, Sequence

from client_telemetry.compatibility import (
    ApiUse,
    ClientEvidence,
    ClientVerdict,
    Finding,
    judge_mixed_window,
    judge_rollback,
)
from client_telemetry.compatibility.evidence import UNKNOWN
from client_telemetry.compatibility.releases import is_rollback
from client_telemetry.impact import MAX_SOURCE_OBJECTS, Question
from client_telemetry.nearby_targets import NearbyTargets
from client_telemetry.tables.clients import CLIENT_KEY


def verdict_rows(
    clients: Iterable[Mapping],
    asked: Question,
    report_id: str,
    owners: Mapping[tuple, Mapping],
    mechanisms: Mapping[str, str | None],
) -> tuple[list[dict], list[dict], list[dict]]:
    """Rows of upgrade_verdicts and upgrade_findings, and upgrade_reports.targets.

    `clients`: rows of `evidence`, times with their zone. `owners`: client key to its latest row of `clients`.
    `mechanisms`: listener to its only SASL mechanism. 100,000 clients like the sample fleet's and 7 releases take
    29 s on one core: on the driver, since there are few distinct evidences.
    """
    clients = list(clients)
    declared = _declared(clients)
    nearby = NearbyTargets(asked.from_release, asked.to_release)
    verdicts, findings = [], []
    for client in clients:
        key = {name: client[name] for name in CLIENT_KEY}
        uses = client["uses"] or []
        others = declared.get((key["principal"], key["client_id"]), set()) - {_software(client)}
        known = _client_evidence(client, uses, mechanisms, others)
        verdict, other_targets = nearby.judged(known)
        owner = owners.get(tuple(key.values()), {})
        shared = {"cluster_id": asked.cluster_id, "report_id": report_id, **key}
        verdicts.append(
            shared
            | _verdict_columns(verdict)
            | _outlook_columns(known, asked, verdict)
            | {
                "other_targets": other_targets,
                "owner": owner.get("owner"),
                "owner_contact": owner.get("owner_contact"),
                "connections": client["connections"],
                "requests": sum(use["requests"] for use in uses),
                "broker_ids": client["broker_ids"],
                "first_seen_at": client["first_seen_at"],
                "last_seen_at": client["last_seen_at"],
            }
        )
        findings += [
            shared | {"finding": number} | _finding_columns(finding, uses)
            for number, finding in enumerate(verdict.findings)
        ]
    return verdicts, findings, nearby.counts()


def _software(client: Mapping) -> tuple[str, str]:
    return client["client_software_name"], client["client_software_version"]


def _declared(clients: Sequence[Mapping]) -> dict[tuple, set[tuple[str, str]]]:
    """(principal, client id) to the software that any of its connections declared: some libraries name only a
    part of theirs. Without a principal or client id connections have nothing in common."""
    found: dict[tuple, set[tuple[str, str]]] = {}
    for client in clients:
        name = client["client_software_name"]
        if client["client_id"] and client["principal"] and name and name != UNKNOWN:
            found.setdefault((client["principal"], client["client_id"]), set()).add(_software(client))
    return found


def _client_evidence(
    client: Mapping,
    uses: Sequence[Mapping],
    mechanisms: Mapping[str, str | None],
    also_declared: Iterable[tuple[str, str]],
) -> ClientEvidence:
    protocols = {listener["security_protocol"] for listener in client["listeners"]}
    told = {mechanisms.get(listener["listener_name"]) for listener in client["listeners"]}
    return ClientEvidence(
        client_software_name=client["client_software_name"],
        client_software_version=client["client_software_version"],
        client_id=client["client_id"],
        api_uses=tuple(
            ApiUse(
                use["api_key"],
                use["version"],
                use["requests"],
                use["rejected"],
                _micros(use["first_request_at"]),
                _micros(use["last_request_at"]),
            )
            for use in uses
        ),
        # Several protocols or mechanisms under one client: which of them a connection used decides nothing here.
        sasl_mechanism=told.pop() if len(told) == 1 else None,
        security_protocol=protocols.pop() if len(protocols) == 1 else None,
        also_declared=tuple(sorted(also_declared)),
    )


def _verdict_columns(verdict: ClientVerdict) -> dict:
    return {
        "verdict": verdict.verdict,
        "confidence": verdict.confidence,
        "when": verdict.when,
        "roles": sorted(verdict.roles),
        "explanation": verdict.explanation,
        "fix": verdict.fix or None,
        "missing": list(verdict.missing),
        "identified_as": verdict.identified_as or None,
    }


def _outlook_columns(known: ClientEvidence, asked: Question, verdict: ClientVerdict) -> dict:
    releases = (asked.from_release, asked.to_release)
    mixed = judge_mixed_window(*releases, verdict)
    # To an older release the verdict itself is that of the way back: there is no other.
    back = None if is_rollback(*releases) else judge_rollback(known, *releases, verdict)
    return {
        "rollback_verdict": back.verdict if back else None,
        "rollback_explanation": back.explanation if back else None,
        "mixed_verdict": mixed.verdict,
        "mixed_explanation": mixed.explanation,
    }


def _finding_columns(finding: Finding, uses: Sequence[Mapping]) -> dict:
    versions = versions_in(finding.versions) if finding.requests else ()
    seen = [
        u for u in uses if u["api_key"] == finding.api_key and u["version"] in versions and u["requests"] > 0
    ]
    # Clients whose evidence is alike share their findings: how often and when is the client's own.
    first = [use["first_request_at"] for use in seen if use["first_request_at"]]
    last = [use["last_request_at"] for use in seen if use["last_request_at"]]
    return {
        "rule_id": finding.rule_id,
        "verdict": finding.verdict,
        "confidence": finding.confidence,
        "when": finding.when,
        "trigger": finding.trigger or None,
        "condition": finding.condition or None,
        "condition_met": finding.condition_met,
        "api_key": finding.api_key,
        "api_name": finding.api_name or None,
        "versions": finding.versions or None,
        "requests": sum(use["requests"] for use in seen) or None,
        "first_seen_at": min(first, default=None),
        "last_seen_at": max(last, default=None),
        "broker_ids": sorted({broker for use in seen for broker in use["broker_ids"]}),
        "source_objects": sorted({key for use in seen for key in use["source_objects"]})[:MAX_SOURCE_OBJECTS],
        "explanation": finding.explanation,
        "fix": finding.fix or None,
        "source": finding.source,
    }


def versions_in(text: str) -> set[int]:
    """The versions that a finding names.

    >>> sorted(versions_in("0–2, 5"))
    [0, 1, 2, 5]
    """
    versions: set[int] = set()
    for part in filter(None, text.split(", ")):
        low, _, high = part.partition("–")
        versions.update(range(int(low), int(high or low) + 1))
    return versions


def _micros(time: dt.datetime | None) -> int | None:
    return None if time is None else int(time.timestamp() * 1_000_000)
