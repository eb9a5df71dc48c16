"""One client and one upgrade: the input of the rules."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

from client_telemetry.compatibility import failures, fingerprints, identification
from client_telemetry.compatibility.evidence import (
    ClientEvidence,
    Requests,
    Uses,
    declared_library,
    requests_of,
    versions_in_use,
)
from client_telemetry.compatibility.fingerprints import Fingerprint
from client_telemetry.compatibility.identification import Identification
from client_telemetry.knowledge import (
    apis,
    client_ranges,
    declared_versions,
    features,
    products,
    roles,
    served,
    software,
)
from client_telemetry.knowledge.apis import Versions
from client_telemetry.knowledge.conditions import APACHE_KAFKA, Circumstances
from client_telemetry.knowledge.served import BrokerApi
from client_telemetry.knowledge.software import Identity
from client_telemetry.knowledge.vocabulary import Confidence


@dataclass(frozen=True)
class ClientFacts:
    """What the evidence says about a client whatever the target."""

    uses: Uses
    """API key -> versions in use."""
    identity: Identity | None
    """What the client declared, or what other connections of the same client did (the confidence is then "inferred")."""
    identity_confidence: Confidence
    fingerprint: Fingerprint | None
    """For a client without identity: which libraries explain its requests."""
    looks_like: Identification | None
    """For a client without identity: who it is, if that is certain enough to say."""
    seen_roles: tuple[str, ...]
    roles: tuple[str, ...]
    """The seen roles; where none was seen, those that a client of a known library is assumed to have."""
    contradiction: str
    """Why the declared software cannot have sent what was seen; empty if it can."""
    failing: tuple[str, ...]
    """Why it already fails on the source, whose brokers refuse it; empty if nothing shows that it does."""
    failing_by_answers: tuple[failures.AnsweredWithErrors, ...]
    """Why it already fails on the source, whose brokers answer it; likewise."""


@dataclass(frozen=True, kw_only=True)
class Case(ClientFacts):
    evidence: ClientEvidence
    source: str
    """The release that the brokers run, exact."""
    target: str
    """The release that they are to run, exact."""
    levels: Mapping[str, int]
    """Feature levels that are finalized on the target's brokers."""
    vendor: str | None = APACHE_KAFKA
    """Whose build the target's brokers run; None if unknown."""
    seen_on: str
    """The release of the brokers that the evidence is from: the source or, if that is where a rollback leads, the target."""

    @classmethod
    def of(
        cls,
        evidence: ClientEvidence,
        source: str,
        target: str,
        levels: Mapping[str, int] | None = None,
        vendor: str | None = APACHE_KAFKA,
    ) -> "Case":
        """`source`: the release on which the evidence was seen."""
        return cls(
            **vars(_client_facts(evidence, source)),
            evidence=evidence,
            source=source,
            target=target,
            levels=features.newest(target) if levels is None else levels,
            vendor=vendor,
            seen_on=source,
        )

    @classmethod
    def of_rollback(cls, evidence: ClientEvidence, from_release: str, to_release: str) -> "Case":
        """Brokers return from `to_release` to `from_release`, on which the evidence was seen."""
        return replace(cls.of(evidence, from_release, from_release), source=to_release)

    def at(self, levels: Mapping[str, int]) -> "Case":
        """The same case at other feature levels of the target."""
        return replace(self, levels=levels)

    @property
    def product(self) -> str | None:
        """The product that sets this client id."""
        by_id = products.by_client_id(self.evidence.client_id)
        return by_id.name if by_id else self.evidence.product

    @property
    def libraries(self) -> frozenset[str]:
        """The libraries whose known issues may affect it."""
        if self.identity:
            return frozenset((self.identity.library,))
        profiles = self.fingerprint.profiles if self.fingerprint else ()
        return frozenset(profile.library for profile in profiles)

    @property
    def is_identified(self) -> bool:
        return _is_identified(self.identity, self.fingerprint)

    @cached_property
    def seen(self) -> Requests:
        """API key and its versions in use, by key."""
        return requests_of(self.uses)

    @cached_property
    def tried(self) -> frozenset[int]:
        """APIs that the client requested, answered or refused."""
        return frozenset(use[0] for use in self.evidence.api_uses)

    @cached_property
    def circumstances(self) -> Circumstances:
        return Circumstances(self.evidence, self.seen_roles, self.levels, self.vendor)

    @cached_property
    def dropped(self) -> frozenset[int]:
        """APIs of which the target refuses versions that the source serves: the only ones that can hurt.

        A client that already fails on the source was built for older brokers, so versions that those served count too.
        """
        closed = features.closed(self.target, self.levels)
        keys = served.dropped(self.source, self.target, closed)
        before = failures.baseline(self.source) if self.failing else ""
        return keys | served.dropped(before, self.target, closed) if before else keys

    @property
    def may_lose_anything(self) -> bool:
        """Whether the target refuses anything that the source serves, or is another vendor's build, which may."""
        return bool(self.dropped) or self.vendor != APACHE_KAFKA

    def sent_elsewhere(self, key: int) -> list[tuple[str, int]]:
        """(release, version): requests of an API that brokers of other releases answered."""
        return sorted({(release, use[1]) for release, use in self.evidence.uses_elsewhere if use[0] == key})

    @property
    def asks_for_versions(self) -> bool:
        """Whether it was seen to ask brokers for their versions (KIP-35) and heeds the answer.

        Sarama before 1.47 asks only to declare its name, and sends what its configuration says.
        """
        heeds = self.identity is None or self.identity.negotiates is True
        return apis.API_VERSIONS in self.uses and heeds

    def loses_only_newer_versions(self, key: int) -> bool:
        """In a rollback: the target serves the API from the same version on, but its range ends earlier."""
        source, target = self.source_api(key), self.target_api(key)
        return source is not None and target is not None and target.served.min <= source.served.min

    @cached_property
    def _target_apis(self) -> Mapping[int, BrokerApi]:
        return served.with_levels(self.target, self.levels)

    def closed_gates(self, key: int) -> tuple[features.Gate, ...]:
        """Versions of an API that the target refuses until a feature level is finalized."""
        return tuple(gate for gate in features.closed(self.target, self.levels) if gate.api_key == key)

    @cached_property
    def offered_and_refused(self) -> frozenset[int]:
        """APIs of which the target serves versions, and advertises higher ones that it refuses until a feature is
        finalized: a client that goes by what is advertised takes these, whatever it sent to the source.
        """
        return frozenset(
            key
            for key, api in self._target_apis.items()
            if api.serves_any and api.advertised.max > api.served.max
        )

    def target_api(self, key: int) -> BrokerApi | None:
        return self._target_apis.get(key)

    def source_api(self, key: int) -> BrokerApi | None:
        return served.by(self.source).get(key)

    def declared(self, key: int) -> Versions | None:
        """The versions of an API that the declared name and version imply; None if they imply nothing."""
        return None if self.contradiction else declared_versions.declared(self.identity, key)

    def never_used(self, key: int) -> bool:
        """Whether a library that is known API by API never sends this request, in any role that was seen."""
        identity = self.identity
        return (
            not self.seen_roles
            and identity is not None
            and identity.version is not None
            and identity.version_decides
            and client_ranges.covers(identity.library, identity.version)
            and declared_versions.declared(identity, key) is None
        )


@lru_cache(maxsize=64)
def _client_facts(evidence: ClientEvidence, source: str) -> ClientFacts:
    """What is known about one client, which is judged on target after target: the cache holds the last ones."""
    uses, identity, confidence = versions_in_use(evidence), declared_library(evidence), Confidence.DECLARED
    fingerprint = looks_like = None
    if identity is None:
        identity, confidence = _named_elsewhere(evidence, uses, source), Confidence.INFERRED
    if identity is None:
        has_own_name = evidence.declares_software
        fingerprint = fingerprints.of(evidence.client_id, uses, source, has_own_name)
        looks_like = identification.of(evidence.client_id, uses, source, evidence.product, has_own_name)
    elif client_ranges.judged_as(identity):
        confidence = Confidence.INFERRED
    failing = failures.now(evidence, uses, source)
    elsewhere = {use[0] for _, use in evidence.uses_elsewhere} if failing else ()
    roles_seen = roles.seen_in({*uses, *failures.refused(evidence, uses), *elsewhere})
    return ClientFacts(
        uses,
        identity,
        confidence,
        fingerprint,
        looks_like,
        roles_seen,
        roles_seen or (roles.assumed(evidence.client_id) if _is_identified(identity, fingerprint) else ()),
        _contradiction(identity, uses),
        failing,
        tuple(failures.by_answers(evidence, uses, source)),
    )


def _is_identified(identity: Identity | None, fingerprint: Fingerprint | None) -> bool:
    """Whether a client's name, or a library's default client id, tells its library."""
    return identity is not None or (fingerprint is not None and fingerprint.by_client_id)


def _named_elsewhere(evidence: ClientEvidence, uses: Uses, source: str) -> Identity | None:
    """The library that other connections of this client declared, if it explains what this one sent.

    Only for libraries that leave connections unnamed (franz-go before 1.21, kafka-python 2.x), and only where every
    request has exactly the version that this library chooses on the source release: applications share client ids, and
    an old Java client next to a new one must not be taken for it.
    """
    candidates = set()
    for name, version in evidence.also_declared:
        identity = software.identify_name(name, version)
        if identity and identity.leaves_connections_unnamed and _sends_just_this(identity, uses, source):
            candidates.add(
                replace(identity, text=f"probably {identity.text}, which other connections of it declare")
            )
    return candidates.pop() if len(candidates) == 1 else None


def _sends_just_this(identity: Identity, uses: Uses, source: str) -> bool:
    explained = False
    for key, of_api in uses.items():
        declared, offered = declared_versions.declared(identity, key), served.by(source).get(key)
        if key == apis.API_VERSIONS:
            continue
        if declared is None or offered is None:
            return False
        if {use.version for use in of_api} != {min(declared.max, offered.advertised.max)}:
            return False
        explained = True
    return explained


def _contradiction(identity: Identity | None, uses: Uses) -> str:
    """A request that the declared library and version cannot have sent: its ranges then say nothing about this client.

    Applications may declare any name (client.software.name of librdkafka), and proxies speak for others.
    """
    if identity is None or identity.version is None or not identity.version_decides:
        return ""
    for key, of_api in uses.items():
        row = client_ranges.of(identity.library, identity.version, key) if key != apis.API_VERSIONS else None
        for use in of_api:
            if row and not client_ranges.can_send(use.version, row.versions, row.also_sends):
                if use.version > row.versions.max and client_ranges.is_newer_than_known(identity):
                    continue
                return f"it sends {apis.request(key, use.version)}, which {identity.text} cannot ({apis.in_words(row.versions)} only)"
    return ""
