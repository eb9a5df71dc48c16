"""Libraries that ask for versions once, and send what they chose then to every broker until they are started anew.

While brokers differ, what such a client chose for the newer ones may be more than the older ones have: these close the connection,
and it asks nobody again. So it goes in a rolling upgrade to what starts at a broker that is upgraded already, and in a rollback to
all that keeps running. Which libraries do so says version_negotiation.csv.
"""

from dataclasses import replace

from client_telemetry.compatibility.case import Case
from client_telemetry.compatibility.verdict import ASKED_ONCE, Finding
from client_telemetry.console.counted import first_of
from client_telemetry.knowledge import apis, measured_target, releases, roles, served, version_negotiation
from client_telemetry.knowledge.version_negotiation import Asks
from client_telemetry.knowledge.vocabulary import Answer, Verdict, When

_MOST_NAMED = 4
"""APIs that a sentence names."""


def of(case: Case) -> list[Finding]:
    """Whether it would send newer requests than the older of the two releases accepts: a condition, as it depends on when the client
    starts, and starting it anew helps.
    """
    identity = case.identity
    if identity is None or identity.version is None or identity.pinned_to:
        return []
    negotiation = version_negotiation.of(identity.library, identity.version)
    if negotiation is None or not negotiation.asks.keeps_for_all:
        return []
    if measured_target(case.source) or measured_target(case.target):
        return []
    is_rollback = releases.is_rollback(case.source, case.target)
    older, newer = (case.target, case.source) if is_rollback else (case.source, case.target)
    too_new = _too_new(case, older, newer)
    if too_new is None:
        return []
    requests, verdict = too_new
    keeps = f"{identity.text} keeps the versions that its first broker had, and sends {requests} to brokers on {older} too"
    finding = Finding(
        rule_id=ASKED_ONCE,
        verdict=verdict,
        confidence=case.identity_confidence,
        explanation=f"{keeps}, which close the connection, until these are upgraded or it is started anew",
        source=negotiation.source,
        when=When.LATENT,
        trigger=f"it starts at a broker on {newer} while others run {older}",
        condition=f"it starts at a broker on {newer} while others run {older}",
        condition_met=Answer.UNKNOWN,
        fix="start it anew once the last broker is upgraded",
    )
    if is_rollback:
        loses_all = " or connected to none" * (negotiation.asks == Asks.FIRST_BROKER_UNTIL_DISCONNECTED)
        finding = replace(
            finding,
            explanation=f"{keeps}, which close the connection, until it is started anew{loses_all}",
            when=When.AT_ONCE,
            trigger="",
            condition=f"it keeps running while brokers go back to {older}",
            settled_by="starting it anew once the last broker is back",
            fix=f"start it anew once the last broker is back on {older}",
        )
    return [finding]


def _too_new(case: Case, older: str, newer: str) -> tuple[str, Verdict] | None:
    """'Produce v11, Fetch v17', and what follows where these are refused. Of what it was seen to send or what its role needs; what it sends to the newer brokers, where that was seen."""
    needed = frozenset[int]().union(*(roles.needed_by(role, case.tried) for role in case.roles))
    requests, decides = [], False
    for key in sorted((case.tried | needed) - apis.SET_UP):
        declared, there, here = case.declared(key), served.by(newer).get(key), served.by(older).get(key)
        if declared is None or there is None or here is None or not here.serves_any:
            continue
        seen = [use.version for use in case.uses.get(key, ())] if case.seen_on == newer else []
        chosen = max(seen) if seen else min(declared.max, there.advertised.max)
        if chosen > here.served.max:
            requests.append(apis.request(key, str(chosen)))
            decides |= key in needed
    if not requests:
        return None
    return first_of(requests, _MOST_NAMED), (Verdict.BREAKS if decides else Verdict.DEGRADES)
