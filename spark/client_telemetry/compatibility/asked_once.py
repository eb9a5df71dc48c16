"""Libraries that ask for versions once, and send what they chose then to every broker until they are started anew.

While brokers differ, what such a client chose for the newer ones may be more than the older ones have: these close the connection,
and it asks nobody again. So it goes in a rolling upgrade to what starts at a broker that is upgraded already, and in a rollback to
all that keeps running. Other libraries ask each broker.
"""

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import NamedTuple

from client_telemetry.compatibility.case import Case
from client_telemetry.compatibility.verdict import ASKED_ONCE, Finding
from client_telemetry.console.counted import first_of
from client_telemetry.knowledge import apis, client_versions, measured_target, releases, roles, served
from client_telemetry.knowledge.vocabulary import Answer, Verdict, When


class _AsksOnce(NamedTuple):
    first: tuple[int, ...]
    last: tuple[int, ...]
    source: str


_ASKS_ONCE: Mapping[str, _AsksOnce] = MappingProxyType(
    {
        "platformatic-kafka": _AsksOnce(
            client_versions.parse("1.2.0"),
            client_versions.parse("2.12.1"),
            "platformatic/kafka v1.2.0 to v2.12.1: src/clients/base/base.ts (kApis is set by the first answer); a run of 2.12.1: 4.0.1, "
            "then 3.6.2 at the same address",
        ),
        "kafka-python": _AsksOnce(
            client_versions.parse("2.1.0"),
            client_versions.parse("2.3.1"),
            "dpkp/kafka-python 2.1.0 to 2.3.1: kafka/client_async.py (_api_versions is set by the first connection)",
        ),
    }
)
"""Library -> the versions of it that were read. kafka-python 3 asks on each connection. KafkaJS gives each broker what its seed broker
had (src/cluster/brokerPool.js), and asks anew when it reconnects to all: whether it recovers by itself was not seen."""
_MOST_NAMED = 4
"""APIs that a sentence names."""


class _TooNew(NamedTuple):
    requests: str
    """'Produce v11, Fetch v17'."""
    verdict: Verdict


def of(case: Case) -> list[Finding]:
    """Whether it would send newer requests than the older of the two releases accepts: a condition, as it depends on when the client
    starts, and starting it anew helps.
    """
    identity = case.identity
    asks = _ASKS_ONCE.get(identity.library) if identity else None
    if asks is None or identity is None or identity.version is None:
        return []
    if (
        not asks.first <= identity.version <= asks.last
        or measured_target(case.source)
        or measured_target(case.target)
    ):
        return []
    is_rollback = releases.is_rollback(case.source, case.target)
    older, newer = (case.target, case.source) if is_rollback else (case.source, case.target)
    too_new = _too_new(case, older, newer)
    if too_new is None:
        return []
    keeps = f"{identity.text} keeps the versions that its first broker had, and sends {too_new.requests} to brokers on {older} too"
    finding = Finding(
        rule_id=ASKED_ONCE,
        verdict=too_new.verdict,
        confidence=case.identity_confidence,
        explanation=f"{keeps}, which close the connection, until these are upgraded or it is started anew",
        source=asks.source,
        when=When.LATENT,
        trigger=f"it starts at a broker on {newer} while others run {older}",
        condition=f"it starts at a broker on {newer} while others run {older}",
        condition_met=Answer.UNKNOWN,
        fix="start it anew once the last broker is upgraded",
    )
    if is_rollback:
        finding = replace(
            finding,
            explanation=f"{keeps}, which close the connection, until it is started anew",
            when=When.AT_ONCE,
            trigger="",
            condition=f"it keeps running while brokers go back to {older}",
            settled_by="starting it anew once the last broker is back",
            fix=f"start it anew once the last broker is back on {older}",
        )
    return [finding]


def _too_new(case: Case, older: str, newer: str) -> _TooNew | None:
    """Of what it was seen to send or what its role needs; what it sends to the newer brokers, where that was seen."""
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
    return _TooNew(first_of(requests, _MOST_NAMED), Verdict.BREAKS if decides else Verdict.DEGRADES)
