"""Who a client is that declares nothing: a library with a range of versions where that is as good as certain, otherwise
every library that it can be, likeliest first. How often that is right is measured: docs/identification.md.

A library is named where the client id is its own, or the id of a product that has it inside, and the library can have
sent what was seen. By requests alone it is named only where every request has just the version that it takes on these
brokers, no other library comes near, and enough APIs were seen. The range holds every version that can have sent the
requests in any configuration; it is open where the knowledge base ends.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache

from client_telemetry.compatibility import (
    apis,
    client_ranges,
    client_versions,
    fingerprints,
    products,
    releases,
    served,
)
from client_telemetry.compatibility.evidence import ApiUse
from client_telemetry.compatibility.fingerprints import Profile, Version
from client_telemetry.compatibility.served import Versions

LEAST = 6
"""APIs that must be seen before requests alone name a library."""
MARGIN = 3
"""APIs by which it must explain more of them exactly than any other library does. Both numbers are the least with which
no more than 1 % of the names were wrong when the true library was taken out of the knowledge base (docs/identification.md)."""
ASKS_FIRST: Mapping[str, Version] = {
    "kafka-clients": (0, 10, 2),
    "librdkafka": (1, 0),
    "franz-go": (1, 0),
    "kafkajs": (1, 0),
    "brod": (3, 0),
}
"""Libraries that ask ApiVersions on every connection, from which version on: NetworkClient (KIP-97), rd_kafka_broker
(api.version.request), franz-go broker.go, kafkajs src/broker/index.js, kafka_protocol kpro_connection. That it was not
seen makes them less likely and excludes none: what precedes a SASL login is in no request log."""
MAY_BE_TOLD_NOT_TO_ASK = frozenset(("librdkafka", "franz-go", "brod"))
"""By api.version.request=false, MaxVersions, query_api_versions: then the configuration and not the release decides, and
no version is excluded."""
NOT_ASKED_COSTS = 2
_SET_UP = frozenset((17, apis.API_VERSIONS, 36))

Seen = tuple[tuple[int, tuple[int, ...]], ...]


@dataclass(frozen=True)
class Candidate:
    """A library and the versions of it that can have sent the requests; None = not bounded by what is known."""

    library: str
    since: Version | None
    until: Version | None
    exact: int = 0
    """APIs that were seen with just the version that it takes on these brokers."""

    @property
    def text(self) -> str:
        """
        >>> Candidate("sarama", client_versions.parse("1.41.0"), None).text, Candidate("sarama", None, None).text
        ('sarama (any version since 1.41.0)', 'sarama (any version)')
        """
        # Not "1.41.0 or later": that is how a change names the version to upgrade to.
        if self.until is None:
            since = f" since {client_versions.text(self.since)}" if self.since else ""
            return f"{self.library} (any version{since})"
        if self.since is None:
            return f"{self.library} up to {client_versions.text(self.until)}"
        if self.since == self.until:
            return f"{self.library} {client_versions.text(self.since)}"
        return f"{self.library} {client_versions.text(self.since)} to {client_versions.text(self.until)}"

    def includes(self, version: Version) -> bool:
        return (self.since is None or self.since <= version) and (self.until is None or version <= self.until)


@dataclass(frozen=True)
class Identification:
    """`named` is one of the candidates, or None. `product`: whose own client id it is."""

    candidates: tuple[Candidate, ...]
    named: Candidate | None
    product: str | None
    reasons: tuple[str, ...]

    @property
    def library(self) -> str | None:
        return self.named.library if self.named else None

    @property
    def names(self) -> str:
        """'sarama 1.41.0 to 1.45.2', otherwise the candidates in order: 'kafkajs, sarama or kafka-go'."""
        if self.named:
            return self.named.text
        libraries = [each.library for each in self.candidates] or ["unknown"]
        return " or ".join(filter(None, (", ".join(libraries[:-1]), libraries[-1])))

    @property
    def looks_like(self) -> str:
        """
        >>> brod = Candidate("brod", None, None)
        >>> Identification((brod,), brod, None, ("why",)).looks_like
        'looks like brod (any version; why)'
        >>> Identification((brod, Candidate("kafkajs", None, None)), None, None, ("what tells them apart",)).looks_like
        'can be brod or kafkajs (what tells them apart)'
        """
        words = f"{'looks like' if self.named else 'can be'} {self.names}"
        if not self.reasons:
            return words
        # One pair of brackets for the version and the reasons.
        start = f"{words[:-1]}; " if words.endswith(")") else f"{words} ("
        return f"{start}{'; '.join(self.reasons)})"

    @property
    def text(self) -> str:
        of_product = f" in {self.product}" if self.product else ""
        if self.named:
            return f"probably {self.named.text}{of_product}"
        what = f"{self.product}; library not identified" if self.product else "not identified"
        return f"{what}, candidates: {self.names}" if self.candidates else what


def of(
    client_id: str | None,
    uses: Mapping[int, Sequence[ApiUse]],
    release: str,
    product_name: str | None = None,
) -> Identification | None:
    """Of a client that declares no known name, on brokers of a release; None where nothing is known of it.
    `product_name`: of the product behind the client id, where the id is left out."""
    seen = tuple(sorted((key, tuple(use.version for use in of_api)) for key, of_api in uses.items()))
    library, version = fingerprints.by_client_id(client_id)
    product = products.by_client_id(client_id) or (products.named(product_name) if product_name else None)
    inside = product.library if product and "|" not in product.library else ""
    return _of(library, version, product.name if product else None, inside, seen, release)


@lru_cache(maxsize=65536)
def _of(
    own: str | None, version: Version | None, product: str | None, inside: str, seen: Seen, release: str
) -> Identification | None:
    # A client of which no request was seen may well declare a name: only use shows that it declares none.
    names_are_kept = bool(seen) and releases.parse(release) >= fingerprints.NAMES_KEPT_SINCE
    found = [
        each
        for library in _libraries(names_are_kept)
        if (each := _candidate(library, seen, release, names_are_kept))
    ]
    by_id = own or inside
    of_id = next((each for each in found if each.library == by_id), None) if by_id else None
    if own and version and (of_id is not None or not seen):
        exactly = Candidate(own, version, version, of_id.exact if of_id else 0)
        return Identification(
            (exactly,), exactly, product, (f"its client id is {own}'s default and has the version",)
        )
    if of_id is not None:
        why = (
            f"its client id is a default of {own}"
            if own
            else f"its client id is {product}'s own, which has {inside} inside"
        )
        return Identification((of_id,), of_id, product, (why,))
    if not seen or not found:
        return Identification((), None, product, (f"its client id is {product}'s own",)) if product else None
    return _by_requests(found, product, seen)


def _by_requests(found: list[Candidate], product: str | None, seen: Seen) -> Identification:
    asked = any(key == apis.API_VERSIONS for key, _ in seen)
    weight = {
        each.library: each.exact - (0 if asked or each.library not in ASKS_FIRST else NOT_ASKED_COSTS)
        for each in found
    }
    ranked = sorted(found, key=lambda each: (-weight[each.library], each.library))
    best, *others = ranked
    of_apis = sum(key not in _SET_UP for key, _ in seen)
    ahead = weight[best.library] - (weight[others[0].library] if others else 0)
    sure = best.exact == of_apis >= LEAST and ahead >= MARGIN and (asked or best.library not in ASKS_FIRST)
    if sure:
        reasons = (
            f"all {of_apis} APIs have the version that {best.library} uses here, and no other library comes near",
        )
        return Identification(tuple(ranked), best, product, reasons)
    return Identification(tuple(ranked), None, product, _apart(ranked, of_apis, asked))


def _apart(ranked: Sequence[Candidate], of_apis: int, asked: bool) -> tuple[str, ...]:
    """What tells the candidates apart."""
    best = ranked[0].exact
    if not of_apis:
        return ("too little was sent to tell the library",)
    ahead = [each.library for each in ranked if each.exact == best]
    if not best:
        reasons = ["no API has just the version that one of them uses here"]
    else:
        apis_of = (
            "its only API has"
            if of_apis == 1
            else f"{best} of {of_apis} APIs {'has' if best == 1 else 'have'}"
        )
        whose = "each of them uses" if len(ahead) == len(ranked) > 1 else _together(ahead, "uses", "use")
        reasons = [f"{apis_of} the version that {whose} here"]
        if len(ahead) == 1 < len(ranked):
            reasons.append(f"{ranked[1].exact or 'none'} that of {ranked[1].library}")
    unlikely = [each.library for each in ranked if not asked and each.library in ASKS_FIRST]
    if unlikely:
        whose = _together(sorted(unlikely), "begins", "begin")
        reasons.append(f"ApiVersions, with which {whose}, was not seen; before a SASL login it does not show")
    return tuple(reasons)


def _together(names: Sequence[str], one: str, many: str) -> str:
    """
    >>> _together(["brod"], "uses", "use"), _together(["brod", "kafkajs", "sarama"], "uses", "use")
    ('brod uses', 'brod, kafkajs and sarama use')
    """
    listed = " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))
    return f"{listed} {one if len(names) == 1 else many}"


@lru_cache(maxsize=65536)
def _candidate(library: str, seen: Seen, release: str, names_are_kept: bool) -> Candidate | None:
    profiles = _profiles_of(library, names_are_kept)
    explaining = _that_explain(library, seen, names_are_kept)
    first, last = profiles[0].since, max(each.until for each in profiles)
    older = _could_be_older(library, seen, names_are_kept)
    if not explaining and not older:
        return None
    single = _single_versions(seen, release)
    exact = max((_exact(profile, single) for span in explaining for profile in span.profiles), default=0)
    if not explaining:
        return Candidate(library, None, client_versions.before(first), exact)
    if library in MAY_BE_TOLD_NOT_TO_ASK and not any(key == apis.API_VERSIONS for key, _ in seen):
        return Candidate(library, None, None, exact)
    since, until = min(each.since for each in explaining), max(each.until for each in explaining)
    return Candidate(
        library,
        None if older or since == first else since,
        None if until == last and not _ends(library, last, names_are_kept) else until,
        exact,
    )


@dataclass(frozen=True)
class _VersionSpan:
    """Versions of a library between two changes, with its configurations then: one process can have several."""

    since: Version
    until: Version
    profiles: tuple[Profile, ...]


@cache
def _libraries(names_are_kept: bool) -> tuple[str, ...]:
    return tuple(dict.fromkeys(each.library for each in fingerprints.profiles(names_are_kept)))


@cache
def _profiles_of(library: str, names_are_kept: bool) -> tuple[Profile, ...]:
    found = (each for each in fingerprints.profiles(names_are_kept) if each.library == library)
    return tuple(sorted(found, key=lambda each: each.since))


@cache
def _version_spans(library: str, names_are_kept: bool) -> tuple[_VersionSpan, ...]:
    profiles = _profiles_of(library, names_are_kept)
    found = []
    for start in sorted({each.since for each in profiles}):
        there = tuple(each for each in profiles if each.since <= start <= each.until)
        later = [each.since for each in profiles if each.since > start]
        until = max(each.until for each in there)
        found.append(
            _VersionSpan(start, min([until, *(client_versions.before(each) for each in later)]), there)
        )
    return tuple(found)


def _that_explain(library: str, seen: Seen, names_are_kept: bool) -> list[_VersionSpan]:
    """The versions of which a process, with all its configurations together, can have sent all of it."""
    spans = _version_spans(library, names_are_kept)
    places = (1 << len(spans)) - 1
    for key, versions in seen:
        for version in versions:
            places &= _senders(library, key, version, names_are_kept)
    return [span for place, span in enumerate(spans) if places >> place & 1]


@lru_cache(maxsize=2**20)
def _senders(library: str, key: int, version: int, names_are_kept: bool) -> int:
    """The version spans of a library that can have sent a request, as bits by their place."""
    return sum(
        1 << place
        for place, span in enumerate(_version_spans(library, names_are_kept))
        if _can_send(span.profiles, key, version)
    )


def _can_send(profiles: Sequence[Profile], key: int, version: int) -> bool:
    ranges = [(each.ranges[key], each.also_sends.get(key)) for each in profiles if key in each.ranges]
    if not ranges:
        api = apis.by_key().get(key)
        return key != apis.API_VERSIONS and not (api and api.used_by == "data")
    return any(client_ranges.can_send(version, known, also) for known, also in ranges)


def _could_be_older(library: str, seen: Seen, names_are_kept: bool) -> bool:
    """Whether a version before the oldest that is known can have sent it: nothing newer than what that one sends."""
    if (
        any(key == apis.API_VERSIONS for key, _ in seen)
        and library in ASKS_FIRST
        and _profiles_of(library, names_are_kept)[0].since <= ASKS_FIRST[library]
    ):
        return False
    highest = _highest_of_the_oldest(library, names_are_kept)
    return all(
        key in highest and max(versions) <= highest[key] for key, versions in seen if key not in _SET_UP
    )


@cache
def _highest_of_the_oldest(library: str, names_are_kept: bool) -> Mapping[int, int]:
    """API key -> the highest version that the oldest known version of a library sends, in any configuration."""
    profiles = _profiles_of(library, names_are_kept)
    highest: dict[int, int] = {}
    for profile in profiles:
        if profile.since == profiles[0].since:
            for key, known in profile.ranges.items():
                highest[key] = max(known.max, highest.get(key, 0))
    return highest


def _ends(library: str, last: Version, names_are_kept: bool) -> bool:
    """Whether later versions than the last profile's declare a name on every connection, so that these cannot be it."""
    everything = _profiles_of(library, False) if names_are_kept else ()
    return bool(everything) and last < max(each.until for each in everything)


@lru_cache(maxsize=65536)
def _single_versions(seen: Seen, release: str) -> tuple[tuple[int, int, int], ...]:
    """(API key, version, highest version that the release advertises) of the APIs that were used with one version."""
    offered = served.by(release)
    return tuple(
        (key, versions[0], offered[key].advertised.max)
        for key, versions in seen
        if key not in _SET_UP and len(versions) == 1 and key in offered
    )


def _exact(profile: Profile, single: tuple[tuple[int, int, int], ...]) -> int:
    """How many of these have the version that the library takes on the release."""
    exact = 0
    for key, version, highest in single:
        known: Versions | None = profile.ranges.get(key)
        exact += known is not None and version == (known.max if known.max < highest else highest)
    return exact
