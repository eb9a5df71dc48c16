"""Conditions of known issues: `sasl_mechanism in SCRAM-SHA-256,SCRAM-SHA-512 and vendor not in confluent`.

Terms are joined by ` and `. Each term, and so the whole, evaluates to yes, no, or unknown where the evidence cannot
show it. docs/knowledge-base.md describes the terms.
"""

import operator
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from typing import Protocol

from client_telemetry.knowledge import apis, telemetry_metrics
from client_telemetry.knowledge.api_key import ApiKey
from client_telemetry.knowledge.logins import MECHANISMS, SECURITY_PROTOCOLS, Login, mechanisms_in
from client_telemetry.knowledge.vocabulary import Answer, all_of, any_of, negated

APACHE_KAFKA = "apache-kafka"
VENDORS = (APACHE_KAFKA, "confluent", "amazon-msk", "redpanda", "azure-event-hubs", "other")
"""Whose build the brokers run: Confluent Platform and the clouds differ from Apache Kafka in some checks."""


MEMBERSHIPS = {
    "classic": frozenset((ApiKey.JOIN_GROUP, ApiKey.HEARTBEAT, ApiKey.SYNC_GROUP)),
    "consumer": frozenset((ApiKey.CONSUMER_GROUP_HEARTBEAT,)),  # KIP-848
    "share": frozenset((ApiKey.SHARE_GROUP_HEARTBEAT,)),  # KIP-932
    "streams": frozenset((ApiKey.STREAMS_GROUP_HEARTBEAT,)),  # KIP-1071
}
"""group.protocol -> the requests that keep a member in its group."""


class UnreadableCondition(ValueError):
    """Not a valid condition; the message has the term and the reason."""


class _Use(Protocol):
    @property
    def api_key(self) -> int: ...


class SeenClient(Protocol):
    """What a condition asks of the evidence about a client; compatibility/evidence.py says what each is."""

    @property
    def api_uses(self) -> Sequence[_Use]: ...

    @property
    def logins(self) -> Sequence[Login]: ...

    @property
    def possible_mechanisms(self) -> Sequence[frozenset[str] | None]: ...

    @property
    def principal_has_scram(self) -> bool | None: ...

    @property
    def subscriptions(self) -> tuple[str, ...] | None: ...

    @property
    def declares_software(self) -> bool: ...


@dataclass(frozen=True)
class Circumstances:
    """What a condition is evaluated against: one client, and the brokers of the target release."""

    evidence: SeenClient
    roles: Collection[str]
    features: Mapping[str, int]
    """Finalized levels on the target's brokers; a missing feature has level 0."""
    vendor: str | None
    """One of VENDORS; None if unknown."""


@dataclass(frozen=True)
class Term:
    text: str
    kind: str
    """Its first word, or all of it where nothing varies; with `not ` before it if it is negated."""
    settled_by: str
    """What would show whether it is met; empty if it just happens or not, and nobody can tell beforehand."""
    is_about_now: bool
    """Whether it asks how the client or its brokers are set up today, so that a log or a person can answer. Not so
    for a setting inside the client or a subscription that somebody may apply one day.
    """
    met: Callable[[Circumstances], Answer] = field(compare=False)
    values: frozenset[str] = frozenset()
    """Those that it names, or its feature."""


def _mechanism(wanted: frozenset[str], circumstances: Circumstances) -> Answer:
    """YES if some connection certainly has one of them, NO if none can have."""
    possible = circumstances.evidence.possible_mechanisms
    if any(mechanisms and mechanisms <= wanted for mechanisms in possible):
        return Answer.YES
    can_be = any(mechanisms is None or mechanisms & wanted for mechanisms in possible)
    return Answer.UNKNOWN if can_be or _is_offered_beside_scram(wanted, circumstances.evidence) else Answer.NO


def _is_offered_beside_scram(wanted: frozenset[str], evidence: SeenClient) -> bool:
    """Whether a principal with SCRAM credentials may log in with one of them: to have credentials is not to use them."""
    offers = [
        login.offered
        for login in evidence.logins
        if login.uses_sasl is not False and not mechanisms_in(login.sasl_mechanism)
    ]
    return evidence.principal_has_scram is True and any(
        offered is None or mechanisms_in(",".join(offered)) & wanted for offered in offers
    )


def _security_protocol(wanted: frozenset[str], circumstances: Circumstances) -> Answer:
    """YES if some connection certainly has one of them, NO if none can have."""
    return any_of(_protocol_of(login, wanted) for login in circumstances.evidence.logins)


def _protocol_of(login: Login, wanted: frozenset[str]) -> Answer:
    if login.security_protocol:
        return _answer(login.security_protocol.upper() in wanted)
    possible = {protocol for protocol in SECURITY_PROTOCOLS if protocol.startswith("SASL")}
    if login.sasl_mechanism and (possible <= wanted or not possible & wanted):
        return _answer(possible <= wanted)
    return Answer.UNKNOWN


def _uses_sasl(circumstances: Circumstances) -> Answer:
    """Whether it logs in with SASL at all. Where not even that is known, as in a list of clients without security protocols,
    an issue of a mechanism that few use keeps nobody from being called safe: a note of the cluster tells of it.
    """
    return any_of(_answer(login.uses_sasl) for login in circumstances.evidence.logins)


def _vendor(wanted: frozenset[str], circumstances: Circumstances) -> Answer:
    return _answer(None if circumstances.vendor is None else circumstances.vendor in wanted)


def _subscriptions_match_none(circumstances: Circumstances) -> Answer:
    subscriptions = circumstances.evidence.subscriptions
    if subscriptions is None:
        return Answer.UNKNOWN
    return _answer(telemetry_metrics.subscription_matches_none(subscriptions, circumstances.roles))


def _subscriptions_match_it(circumstances: Circumstances) -> Answer:
    subscriptions = circumstances.evidence.subscriptions
    return _answer(None if subscriptions is None else bool(subscriptions))


def _membership(wanted: frozenset[str], circumstances: Circumstances) -> Answer:
    """How the client keeps its group membership. Members send heartbeats every few seconds, so a window that shows any
    request of a client shows that too.
    """
    used = {use.api_key for use in circumstances.evidence.api_uses} - {apis.API_VERSIONS}
    return _answer(any(MEMBERSHIPS[membership] & used for membership in wanted) if used else None)


def _only_named(circumstances: Circumstances) -> Answer:
    """Its library was named by people or files, and nothing of it was seen: a setting may hold its requests back. One that
    declares its name asks for versions with ApiVersions v3 or later, and the requests of one that was seen say what it sends.
    """
    evidence = circumstances.evidence
    return _answer(not evidence.declares_software and not evidence.api_uses)


_CLIENT_CODE = "client_code"
_NOT_SHOWN = {
    # a setting of the client, its broker or its network
    "setting": ("its configuration", False),
    # ACLs and racks of the brokers included
    "broker_setting": ("the configuration of the brokers", False),
    # proxies between clients and brokers
    "network": ("the proxies and gateways between clients and brokers", False),
    "event": ("", False),
    # a request that a program builds itself, past its library
    _CLIENT_CODE: ("its source, or a run against the target release", True),
    # how others use the cluster
    "cluster_use": ("the groups of the cluster (kafka-consumer-groups --describe --members --verbose)", True),
    # what a build that is not Apache Kafka's serves
    "vendor_build": ("the documentation of its release, or a run against it", True),
}
"""What neither requests nor listeners show: kind of term -> what settles it, and whether it is about how client and brokers are set up
today."""
_MECHANISM, _VENDOR, _FEATURE, _ONLY_NAMED = "sasl_mechanism", "vendor", "feature", "only_named"
_BY_PROTOCOL = "the security protocol of its listener"
_BY_VENDOR = "whose build of Kafka the brokers run"
_BY_FEATURES = "the finalized features of the cluster (kafka-features describe)"
_BY_SUBSCRIPTIONS = "the KIP-714 subscriptions that match it (kafka-client-metrics --describe)"

SETTLED_BY_OPERATORS = frozenset(
    (
        _BY_VENDOR,
        _BY_FEATURES,
        _BY_SUBSCRIPTIONS,
        *(_NOT_SHOWN[kind][0] for kind in ("broker_setting", "network", "cluster_use", "vendor_build")),
    )
)
"""What settles terms of which whoever runs the brokers knows more than the owner of a client."""


@dataclass(frozen=True)
class Condition:
    terms: tuple[Term, ...]

    def met(self, circumstances: Circumstances) -> str:
        """YES when every term is, NO when any term is not, otherwise unknown."""
        return all_of(term.met(circumstances) for term in self.terms)

    def could_be_met_now(self, circumstances: Circumstances) -> bool:
        """Unknown, but only because of how the client or its brokers are set up today: such a client is not called
        safe.
        """
        unknown = [term for term in self.terms if term.met(circumstances) == Answer.UNKNOWN]
        return (
            bool(unknown)
            and self.met(circumstances) != Answer.NO
            and all(term.is_about_now for term in unknown)
        )

    def settled_by(self, circumstances: Circumstances) -> str:
        """What would show whether it is met, in words; empty if that is known."""
        if self.met(circumstances) != Answer.UNKNOWN:
            return ""
        return "; ".join(
            dict.fromkeys(
                term.settled_by
                for term in self.terms
                if term.met(circumstances) == Answer.UNKNOWN and term.settled_by
            )
        )

    @property
    def is_about_login(self) -> bool:
        return any(term.kind == _MECHANISM for term in self.terms)

    @property
    def is_about_code(self) -> bool:
        """Whether it asks what a program does past its library."""
        return any(term.kind == _CLIENT_CODE for term in self.terms)

    def mechanism_met(self, circumstances: Circumstances) -> str:
        """Whether the terms about SASL mechanisms are met."""
        return all_of(term.met(circumstances) for term in self.terms if term.kind == _MECHANISM)

    def is_of_the_unseen(self, circumstances: Circumstances) -> bool:
        """Whether it is about clients of which nothing was seen, and this one was seen: then nothing is to be said of it."""
        return any(term.kind == _ONLY_NAMED and term.met(circumstances) == Answer.NO for term in self.terms)

    @property
    def is_about_vendor(self) -> bool:
        """Whether only a vendor's build meets it, so that Apache Kafka of no release does."""
        return any(term.kind == _VENDOR for term in self.terms)

    @property
    def is_about_scram(self) -> bool:
        return any(
            term.kind == _MECHANISM and all(name.startswith("SCRAM") for name in term.values)
            for term in self.terms
        )

    @property
    def features(self) -> frozenset[str]:
        return frozenset[str]().union(*(term.values for term in self.terms if term.kind == _FEATURE))


@cache
def parse(text: str) -> Condition:
    """The condition of a text; no terms for an empty text. Raises UnreadableCondition."""
    return Condition(tuple(_term(part.strip()) for part in text.split(" and ")) if text.strip() else ())


def _answer(is_so: bool | None) -> Answer:
    """`is_so`: None = not known."""
    return Answer.UNKNOWN if is_so is None else Answer.YES if is_so else Answer.NO


_COMPARISONS: dict[str, Callable[[int, int], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    "=": operator.eq,
    ">=": operator.ge,
    ">": operator.gt,
}
_SETS: dict[str, tuple[Callable[[frozenset[str], Circumstances], Answer], Collection[str], str, bool]] = {
    _MECHANISM: (
        _mechanism,
        MECHANISMS,
        "its sasl.mechanism, sasl.enabled.mechanisms of its listener, or the SCRAM credentials of its principal "
        "(kafka-configs --describe --entity-type users)",
        True,
    ),
    "security_protocol": (_security_protocol, SECURITY_PROTOCOLS, _BY_PROTOCOL, True),
    _VENDOR: (_vendor, VENDORS, _BY_VENDOR, True),
    "membership": (_membership, tuple(MEMBERSHIPS), "group.protocol in its configuration", False),
}
"""Name -> what is asked of its values, all that there are, what settles it, and whether it is about today."""
_WHOLE: dict[str, tuple[Callable[[Circumstances], Answer], str]] = {
    "uses_sasl": (_uses_sasl, _BY_PROTOCOL),
    _ONLY_NAMED: (_only_named, ""),
    "subscriptions match none": (_subscriptions_match_none, _BY_SUBSCRIPTIONS),
    "subscriptions match it": (_subscriptions_match_it, _BY_SUBSCRIPTIONS),
}


def _term(text: str) -> Term:
    if text in _WHOLE:
        met, settled_by = _WHOLE[text]
        return Term(text, text, settled_by, False, met)
    if match := re.fullmatch(r"(\w+) (not )?in ([\w,.-]+)", text):
        return _of_set(text, match[1], bool(match[2]), match[3].split(","))
    if match := re.fullmatch(r"feature ([a-z.]+) (<|<=|=|>=|>) (\d+)", text):
        feature, compare, level = match[1], _COMPARISONS[match[2]], int(match[3])

        def compared(circumstances: Circumstances) -> Answer:
            return _answer(compare(circumstances.features.get(feature, 0), level))

        return Term(text, _FEATURE, _BY_FEATURES, True, compared, frozenset((feature,)))
    if match := re.fullmatch(rf"({'|'.join(_NOT_SHOWN)}) (.+)", text):
        return Term(text, match[1], *_NOT_SHOWN[match[1]], lambda _: Answer.UNKNOWN)
    raise UnreadableCondition(
        f"{text!r} is not a term; terms are: NAME in A,B or NAME not in A,B with {', '.join(_SETS)}; "
        "uses_sasl; only_named; feature NAME < LEVEL; subscriptions match none; subscriptions match it; setting TEXT; broker_setting TEXT; network TEXT; event TEXT; "
        "client_code TEXT; cluster_use TEXT; vendor_build TEXT"
    )


def _of_set(text: str, name: str, is_negated: bool, values: list[str]) -> Term:
    if name not in _SETS:
        raise UnreadableCondition(f"{text!r}: {name} is none of {', '.join(_SETS)}")
    asked, allowed, settled_by, is_about_now = _SETS[name]
    for value in values:
        if value not in allowed:
            raise UnreadableCondition(f"{text!r}: {value!r} is none of {', '.join(allowed)}")
    met = partial(asked, frozenset(values))
    if is_negated:
        return Term(text, f"not {name}", settled_by, is_about_now, lambda each: negated(met(each)))
    return Term(text, name, settled_by, is_about_now, met, frozenset(values))
