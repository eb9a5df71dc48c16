"""Conditions of known issues: `sasl_mechanism in SCRAM-SHA-256,SCRAM-SHA-512 and vendor not in confluent`.

Terms are joined by ` and `. Each term, and so the whole, evaluates to yes, no, or unknown where the evidence cannot
show it. docs/knowledge-base.md describes the terms.
"""

import operator
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
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


class Term(Protocol):
    def met(self, circumstances: Circumstances) -> str:
        """YES, NO or CONDITION_UNKNOWN."""
        ...

    @property
    def is_about_now(self) -> bool:
        """Whether it asks how the client or its brokers are set up today, so that a log or a person can answer. Not so
        for a setting inside the client or a subscription that somebody may apply one day.
        """

    @property
    def settled_by(self) -> str:
        """What would show whether it is met."""


@dataclass(frozen=True)
class Mechanism:
    wanted: frozenset[str]
    is_about_now = True
    settled_by = (
        "its sasl.mechanism, sasl.enabled.mechanisms of its listener, or the SCRAM credentials of its principal "
        "(kafka-configs --describe --entity-type users)"
    )

    def met(self, circumstances: Circumstances) -> str:
        """YES if some connection certainly has one of them, NO if none can have."""
        possible = circumstances.evidence.possible_mechanisms
        if any(mechanisms and mechanisms <= self.wanted for mechanisms in possible):
            return Answer.YES
        can_be = any(mechanisms is None or mechanisms & self.wanted for mechanisms in possible)
        return (
            Answer.UNKNOWN if can_be or self._is_offered_beside_scram(circumstances.evidence) else Answer.NO
        )

    def _is_offered_beside_scram(self, evidence: SeenClient) -> bool:
        """Whether a principal with SCRAM credentials may log in with one of them: to have credentials is not to use them."""
        offers = [
            login.offered
            for login in evidence.logins
            if login.uses_sasl is not False and not mechanisms_in(login.sasl_mechanism)
        ]
        return evidence.principal_has_scram is True and any(
            offered is None or mechanisms_in(",".join(offered)) & self.wanted for offered in offers
        )


@dataclass(frozen=True)
class SecurityProtocol:
    wanted: frozenset[str]
    is_about_now = True
    settled_by = "the security protocol of its listener"

    def met(self, circumstances: Circumstances) -> str:
        """YES if some connection certainly has one of them, NO if none can have."""
        return any_of(self._met_by(login) for login in circumstances.evidence.logins)

    def _met_by(self, login: Login) -> str:
        if login.security_protocol:
            return _answer(login.security_protocol.upper() in self.wanted)
        possible = {protocol for protocol in SECURITY_PROTOCOLS if protocol.startswith("SASL")}
        if login.sasl_mechanism and (possible <= self.wanted or not possible & self.wanted):
            return _answer(possible <= self.wanted)
        return Answer.UNKNOWN


@dataclass(frozen=True)
class UsesSasl:
    """Whether it logs in with SASL at all. Where not even that is known, as in a list of clients without security protocols,
    an issue of a mechanism that few use keeps nobody from being called safe: a note of the cluster tells of it.
    """

    is_about_now = False
    settled_by = SecurityProtocol.settled_by

    def met(self, circumstances: Circumstances) -> str:
        return any_of(
            Answer.UNKNOWN if login.uses_sasl is None else _answer(login.uses_sasl)
            for login in circumstances.evidence.logins
        )


@dataclass(frozen=True)
class Vendor:
    wanted: frozenset[str]
    is_about_now = True
    settled_by = "whose build of Kafka the brokers run"

    def met(self, circumstances: Circumstances) -> str:
        return (
            Answer.UNKNOWN if circumstances.vendor is None else _answer(circumstances.vendor in self.wanted)
        )


@dataclass(frozen=True)
class FeatureLevel:
    feature: str
    compare: str
    level: int
    is_about_now = True
    settled_by = "the finalized features of the cluster (kafka-features describe)"

    def met(self, circumstances: Circumstances) -> str:
        return _answer(_COMPARISONS[self.compare](circumstances.features.get(self.feature, 0), self.level))


@dataclass(frozen=True)
class SubscriptionsMatchNone:
    is_about_now = False
    settled_by = "the KIP-714 subscriptions that match it (kafka-client-metrics --describe)"

    def met(self, circumstances: Circumstances) -> str:
        if circumstances.evidence.subscriptions is None:
            return Answer.UNKNOWN
        none_matches = telemetry_metrics.subscription_matches_none(
            circumstances.evidence.subscriptions, circumstances.roles
        )
        return Answer.UNKNOWN if none_matches is None else _answer(none_matches)


@dataclass(frozen=True)
class SubscriptionsMatchIt:
    is_about_now = False
    settled_by = SubscriptionsMatchNone.settled_by

    def met(self, circumstances: Circumstances) -> str:
        subscriptions = circumstances.evidence.subscriptions
        return Answer.UNKNOWN if subscriptions is None else _answer(bool(subscriptions))


@dataclass(frozen=True)
class Membership:
    """How the client keeps its group membership. Members send heartbeats every few seconds, so a window that shows any
    request of a client shows that too.
    """

    wanted: frozenset[str]
    is_about_now = False
    settled_by = "group.protocol in its configuration"

    def met(self, circumstances: Circumstances) -> str:
        used = {use.api_key for use in circumstances.evidence.api_uses} - {apis.API_VERSIONS}
        if not used:
            return Answer.UNKNOWN
        return _answer(any(MEMBERSHIPS[membership] & used for membership in self.wanted))


@dataclass(frozen=True)
class OnlyNamed:
    """Its library was named by people or files, and nothing of it was seen: a setting may hold its requests back. One that
    declares its name asks for versions with ApiVersions v3 or later, and the requests of one that was seen say what it sends.
    """

    is_about_now = False
    settled_by = ""

    def met(self, circumstances: Circumstances) -> str:
        evidence = circumstances.evidence
        return _answer(not evidence.declares_software and not evidence.api_uses)


@dataclass(frozen=True)
class NotShown:
    """What neither requests nor listeners show. `settled_by`: where it can be looked up; empty if it just happens or
    not, and nobody can tell beforehand.
    """

    kind: str
    text: str
    settled_by: str
    is_about_now: bool

    def met(self, circumstances: Circumstances) -> str:
        return Answer.UNKNOWN


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
"""Kind of term -> what settles it, and whether it is about how client and brokers are set up today."""

SETTLED_BY_OPERATORS = frozenset(
    (
        Vendor.settled_by,
        FeatureLevel.settled_by,
        SubscriptionsMatchNone.settled_by,
        *(_NOT_SHOWN[kind][0] for kind in ("broker_setting", "network", "cluster_use", "vendor_build")),
    )
)
"""What settles terms of which whoever runs the brokers knows more than the owner of a client."""


@dataclass(frozen=True)
class Negated:
    term: Term

    @property
    def is_about_now(self) -> bool:
        return self.term.is_about_now

    @property
    def settled_by(self) -> str:
        return self.term.settled_by

    def met(self, circumstances: Circumstances) -> str:
        return negated(self.term.met(circumstances))


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
        return any(isinstance(term, Mechanism) for term in self.terms)

    @property
    def is_about_code(self) -> bool:
        """Whether it asks what a program does past its library."""
        return any(isinstance(term, NotShown) and term.kind == _CLIENT_CODE for term in self.terms)

    def mechanism_met(self, circumstances: Circumstances) -> str:
        """Whether the terms about SASL mechanisms are met."""
        return Condition(tuple(term for term in self.terms if isinstance(term, Mechanism))).met(circumstances)

    def is_of_the_unseen(self, circumstances: Circumstances) -> bool:
        """Whether it is about clients of which nothing was seen, and this one was seen: then nothing is to be said of it."""
        return any(
            isinstance(term, OnlyNamed) and term.met(circumstances) == Answer.NO for term in self.terms
        )

    @property
    def is_about_vendor(self) -> bool:
        """Whether only a vendor's build meets it, so that Apache Kafka of no release does."""
        return any(isinstance(term, Vendor) for term in self.terms)

    @property
    def is_about_scram(self) -> bool:
        return any(
            isinstance(term, Mechanism) and all(name.startswith("SCRAM") for name in term.wanted)
            for term in self.terms
        )

    @property
    def features(self) -> frozenset[str]:
        return frozenset(term.feature for term in self.terms if isinstance(term, FeatureLevel))


@cache
def parse(text: str) -> Condition:
    """The condition of a text; no terms for an empty text. Raises UnreadableCondition."""
    return Condition(tuple(_term(part.strip()) for part in text.split(" and ")) if text.strip() else ())


def _answer(is_so: bool) -> Answer:
    return Answer.YES if is_so else Answer.NO


_COMPARISONS: dict[str, Callable[[int, int], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    "=": operator.eq,
    ">=": operator.ge,
    ">": operator.gt,
}
_SETS: dict[str, tuple[Callable[[frozenset[str]], Term], Collection[str]]] = {
    "sasl_mechanism": (Mechanism, MECHANISMS),
    "security_protocol": (SecurityProtocol, SECURITY_PROTOCOLS),
    "vendor": (Vendor, VENDORS),
    "membership": (Membership, tuple(MEMBERSHIPS)),
}


_WHOLE: dict[str, Callable[[], Term]] = {
    "uses_sasl": UsesSasl,
    "only_named": OnlyNamed,
    "subscriptions match none": SubscriptionsMatchNone,
    "subscriptions match it": SubscriptionsMatchIt,
}


def _term(text: str) -> Term:
    if text in _WHOLE:
        return _WHOLE[text]()
    if match := re.fullmatch(r"(\w+) (not )?in ([\w,.-]+)", text):
        name, is_negated, values = match[1], match[2], match[3].split(",")
        if name not in _SETS:
            raise UnreadableCondition(f"{text!r}: {name} is none of {', '.join(_SETS)}")
        make, allowed = _SETS[name]
        for value in values:
            if value not in allowed:
                raise UnreadableCondition(f"{text!r}: {value!r} is none of {', '.join(allowed)}")
        term = make(frozenset(values))
        return Negated(term) if is_negated else term
    if match := re.fullmatch(r"feature ([a-z.]+) (<|<=|=|>=|>) (\d+)", text):
        return FeatureLevel(match[1], match[2], int(match[3]))
    if match := re.fullmatch(rf"({'|'.join(_NOT_SHOWN)}) (.+)", text):
        return NotShown(match[1], match[2], *_NOT_SHOWN[match[1]])
    raise UnreadableCondition(
        f"{text!r} is not a term; terms are: NAME in A,B or NAME not in A,B with {', '.join(_SETS)}; "
        "uses_sasl; only_named; feature NAME < LEVEL; subscriptions match none; subscriptions match it; setting TEXT; broker_setting TEXT; network TEXT; event TEXT; "
        "client_code TEXT; cluster_use TEXT; vendor_build TEXT"
    )
