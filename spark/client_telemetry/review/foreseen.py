"""Predictions for clients that no report judged, from what they did before the upgrade. Pure."""

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from client_telemetry.compatibility.evidence import ApiUse, ClientEvidence
from client_telemetry.compatibility.judgement import judge
from client_telemetry.compatibility.verdict import ClientVerdict
from client_telemetry.knowledge import kip511, served
from client_telemetry.knowledge.vocabulary import Step
from client_telemetry.review import phases, signs
from client_telemetry.review.prediction import FoundRule, Prediction
from client_telemetry.review.tracks import Track


def evidence_of(
    track: Track,
    old: Iterable[str],
    until: float,
    scram_users: frozenset[str] | None = None,
    offered: Mapping[str, tuple[str, ...]] = MappingProxyType({}),
) -> ClientEvidence:
    """The evidence about a track's client on the incarnations `old` before `until`, when the first broker changed. `offered`:
    SASL mechanisms of the listeners, by security protocol.
    """
    incarnations = frozenset(old)
    uses: dict[tuple[int, int], ApiUse] = {}
    software: tuple[str, str] | None = None
    protocol: str | None = None
    for activity in track.activities:
        if activity.incarnation not in incarnations or activity.since >= until:
            continue
        client = activity.client
        if software is None or kip511.is_known(client.software_name):
            software = client.software_name, client.software_version
        protocol = client.security_protocol or protocol
        for (key, version), use in activity.uses.items():
            before = uses.get((key, version), ApiUse(key, version, 0))
            uses[key, version] = ApiUse(
                key,
                version,
                before.requests + use.answered + use.failed,
                before.rejected + use.refused,
                min(_micros(before.first_seen, use.first, use.failed_first), default=None),
                max(_micros(before.last_seen, use.last, use.failed_last), default=None),
            )
    name, version_text = software or (None, None)
    return ClientEvidence(
        client_software_name=name,
        client_software_version=version_text,
        client_id=track.key.client_id,
        api_uses=tuple(uses[key] for key in sorted(uses)),
        security_protocol=protocol,
        offered_sasl_mechanisms=offered.get(protocol or ""),
        principal_has_scram=_has_scram(track.key.principal, scram_users),
    )


def of_cause(
    track: Track, refusals: Iterable[signs.Refusal], from_release: str, to_release: str
) -> Prediction | None:
    """What would have been predicted of a client that came after the upgrade began, had it sent the same requests before:
    those that brokers of the from-release accept, refused or answered since. None if that is nothing.
    """
    accepted = served.by(from_release)
    requests = dict.fromkeys(track.used, 1)
    requests |= {
        (failure.api_key, failure.version): failure.refused for failure in track.failures if failure.refused
    }
    requests |= {(refusal.api_key, refusal.version): refusal.requests for refusal in refusals}
    uses = tuple(
        ApiUse(key, version, count)
        for (key, version), count in sorted(requests.items())
        if key in accepted and accepted[key].served.min <= version <= accepted[key].served.max
    )
    name, version_text = track.software
    protocol = min(track.protocols, default=None) or None
    evidence = ClientEvidence(name, version_text, track.key.client_id, uses, security_protocol=protocol)
    return predict(evidence, from_release, to_release)


def _has_scram(principal: str, scram_users: frozenset[str] | None) -> bool | None:
    if scram_users is None or (scram_users and not principal):
        return None
    return principal in scram_users


def _micros(before: int | None, *times: float | None) -> list[int]:
    """Those that are known."""
    return [int(at * 1e6) for at in times if at is not None] + ([before] if before is not None else [])


def predict(evidence: ClientEvidence, from_release: str, to_release: str) -> Prediction | None:
    """None for a client without evidence."""
    if not evidence.api_uses:
        return None
    return predicted(judge(evidence, from_release, to_release))


def predicted(verdict: ClientVerdict) -> Prediction:
    steps = {name: outlook.verdict for name, outlook in verdict.steps.items()}
    by_phase = {
        name: steps[name]
        for name in (phases.ROLLING, phases.NOT_FINALIZED, phases.FINALIZED)
        if name in steps
    }
    if Step.ROLLBACK_BEFORE_FINALIZATION in steps:
        by_phase[phases.ROLLED_BACK] = steps[Step.ROLLBACK_BEFORE_FINALIZATION]
    rules = tuple(
        FoundRule(f.rule_id, f.verdict, f.when, f.api_key, f.condition_met, f.explanation, f.fix)
        for f in verdict.findings
    )
    return Prediction(
        verdict.verdict,
        verdict.confidence,
        verdict.when,
        verdict.explanation,
        verdict.fix,
        by_phase,
        rules,
    )
