"""Who a client is that declares nothing: a library with a version range if that is as good as certain, otherwise every
candidate, likeliest first. How often that is right is measured: docs/identification.md.

A library is named if the client id is its own default, or the default of a product that contains it, and the library
can have sent what was seen. By requests alone it is named only if every request has exactly the version that it chooses
on these brokers, no other library comes near, and enough APIs were seen. The range holds every version that can have
sent the requests in any configuration; it is open where the knowledge base ends.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache

from client_telemetry.compatibility import fingerprints
from client_telemetry.compatibility.evidence import Requests, Uses, requests_of
from client_telemetry.compatibility.fingerprints import Profile, Version
from client_telemetry.knowledge import apis, client_ranges, client_versions, products, served
from client_telemetry.knowledge.apis import Versions

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
CAN_SKIP_API_VERSIONS = frozenset(("librdkafka", "franz-go", "brod"))
"""By api.version.request=false, MaxVersions, query_api_versions: then the configuration and not the release decides, and
no version is excluded."""
NOT_ASKED_COSTS = 2


@dataclass(frozen=True)
class Candidate:
    """A library and the versions of it that can have sent the requests; None = open-ended as far as is known."""

    library: str
    since: Version | None
    until: Version | None
    exact: int = 0
    """APIs seen in exactly the version that the library chooses on these brokers."""

    @property
    def text(self) -> str:
        """
        >>> Candidate("sarama", client_versions.parse("1.41.0"), None).text, Candidate("sarama", None, None).text
        ('sarama (any version since 1.41.0)', 'sarama (any version)')
        """
        # Not "1.41.0 or later": that is how fixes name the version to upgrade to.
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
    """`named`: one of the candidates, or None. `product`: the product that sets this client id."""

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
        libraries = [candidate.library for candidate in self.candidates] or ["unknown"]
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
        # One pair of parentheses for version and reasons.
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
    uses: Uses,
    release: str,
    product_name: str | None = None,
    has_own_name: bool = False,
) -> Identification | None:
    """Identifies a client that declares no known name, on brokers of a release; None if nothing is known about it.
    `product_name`: the product behind the client id, if the id itself is omitted. `has_own_name`: it declares a name
    that is no library's.
    """
    requests = requests_of(uses)
    library, version = fingerprints.by_client_id(client_id)
    product = products.by_client_id(client_id) or (products.named(product_name) if product_name else None)
    inside = product.library if product and "|" not in product.library else ""
    return _identified(
        library,
        version,
        product.name if product else None,
        inside,
        requests,
        release,
        has_own_name,
        client_id is not None,
    )


@lru_cache(maxsize=65536)
def _identified(
    own: str | None,
    version: Version | None,
    product: str | None,
    inside: str,
    requests: Requests,
    release: str,
    has_own_name: bool,
    has_client_id: bool,
) -> Identification | None:
    names_are_kept = fingerprints.shows_its_library_if_it_can(requests, release, has_own_name)
    candidates = [
        candidate
        for library in _libraries(names_are_kept)
        if not (has_client_id and own != library and library in fingerprints.FIXED_CLIENT_IDS)
        if (candidate := _candidate(library, requests, release, names_are_kept))
    ]
    by_id = own or inside
    of_id = (
        next((candidate for candidate in candidates if candidate.library == by_id), None) if by_id else None
    )
    if own and version and (of_id is not None or not requests):
        exactly = Candidate(own, version, version, of_id.exact if of_id else 0)
        return Identification(
            (exactly,), exactly, product, (f"its client id is {own}'s default and has the version",)
        )
    if of_id is not None:
        why = f"its client id is a default of {own}"
        if not own:
            why = f"its client id is {product}'s own, which has {inside} inside"
        return Identification((of_id,), of_id, product, (why,))
    if not requests or not candidates:
        return Identification((), None, product, (f"its client id is {product}'s own",)) if product else None
    return _by_requests(candidates, product, requests)


def _by_requests(candidates: list[Candidate], product: str | None, requests: Requests) -> Identification:
    asks_for_versions = any(key == apis.API_VERSIONS for key, _ in requests)
    weight = {
        candidate.library: candidate.exact
        - (0 if asks_for_versions or candidate.library not in ASKS_FIRST else NOT_ASKED_COSTS)
        for candidate in candidates
    }
    ranked = sorted(candidates, key=lambda candidate: (-weight[candidate.library], candidate.library))
    best, *rest = ranked
    of_apis = sum(key not in apis.SET_UP for key, _ in requests)
    ahead = weight[best.library] - (weight[rest[0].library] if rest else 0)
    sure = (
        best.exact == of_apis >= LEAST
        and ahead >= MARGIN
        and (asks_for_versions or best.library not in ASKS_FIRST)
    )
    if sure:
        reasons = (
            f"all {of_apis} APIs have the version that {best.library} uses here, and no other library comes near",
        )
        return Identification(tuple(ranked), best, product, reasons)
    return Identification(
        tuple(ranked), None, product, _what_distinguishes(ranked, of_apis, asks_for_versions)
    )


def _what_distinguishes(
    ranked: Sequence[Candidate], of_apis: int, asks_for_versions: bool
) -> tuple[str, ...]:
    """What distinguishes the candidates."""
    best = ranked[0].exact
    if not of_apis:
        return ("too little was sent to tell the library",)
    ahead = [candidate.library for candidate in ranked if candidate.exact == best]
    if not best:
        reasons = ["no API has just the version that one of them uses here"]
    else:
        apis_of = f"{best} of {of_apis} APIs {'has' if best == 1 else 'have'}"
        if of_apis == 1:
            apis_of = "its only API has"
        whose = "each of them uses" if len(ahead) == len(ranked) > 1 else _joined(ahead, "uses", "use")
        reasons = [f"{apis_of} the version that {whose} here"]
        if len(ahead) == 1 < len(ranked):
            reasons.append(f"{ranked[1].exact or 'none'} that of {ranked[1].library}")
    unlikely = [
        candidate.library for candidate in ranked if not asks_for_versions and candidate.library in ASKS_FIRST
    ]
    if unlikely:
        whose = _joined(sorted(unlikely), "begins", "begin")
        reasons.append(f"ApiVersions, with which {whose}, was not seen; before a SASL login it does not show")
    return tuple(reasons)


def _joined(names: Sequence[str], singular: str, plural: str) -> str:
    """
    >>> _joined(["brod"], "uses", "use"), _joined(["brod", "kafkajs", "sarama"], "uses", "use")
    ('brod uses', 'brod, kafkajs and sarama use')
    """
    listed = " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))
    return f"{listed} {singular if len(names) == 1 else plural}"


@lru_cache(maxsize=65536)
def _candidate(library: str, requests: Requests, release: str, names_are_kept: bool) -> Candidate | None:
    profiles = _profiles_of(library, names_are_kept)
    explaining = [
        span
        for span in _that_explain(library, requests, names_are_kept)
        if not all(fingerprints.holds_back(profile, requests, release) for profile in span.profiles)
    ]
    first, last = profiles[0].since, max(profile.until for profile in profiles)
    older = _could_be_older(library, requests, names_are_kept)
    if not explaining and not older:
        return None
    single = _single_versions(requests, release)
    exact = max(
        (_exact_count(profile, single) for span in explaining for profile in span.profiles), default=0
    )
    if not explaining:
        return Candidate(library, None, client_versions.before(first), exact)
    if library in CAN_SKIP_API_VERSIONS and not any(key == apis.API_VERSIONS for key, _ in requests):
        return Candidate(library, None, None, exact)
    since, until = min(profile.since for profile in explaining), max(profile.until for profile in explaining)
    return Candidate(
        library,
        None if older or since == first else since,
        None if until == last and not _later_versions_declare(library, last, names_are_kept) else until,
        exact,
    )


@dataclass(frozen=True)
class _VersionSpan:
    """Library versions between two changes, with their configurations: one process can have several."""

    since: Version
    until: Version
    profiles: tuple[Profile, ...]


@cache
def _libraries(names_are_kept: bool) -> tuple[str, ...]:
    return tuple(dict.fromkeys(profile.library for profile in fingerprints.profiles(names_are_kept)))


@cache
def _profiles_of(library: str, names_are_kept: bool) -> tuple[Profile, ...]:
    profiles = (profile for profile in fingerprints.profiles(names_are_kept) if profile.library == library)
    return tuple(sorted(profiles, key=lambda profile: profile.since))


@cache
def _version_spans(library: str, names_are_kept: bool) -> tuple[_VersionSpan, ...]:
    profiles = _profiles_of(library, names_are_kept)
    spans = []
    for start in sorted({profile.since for profile in profiles}):
        there = tuple(profile for profile in profiles if profile.since <= start <= profile.until)
        later = [profile.since for profile in profiles if profile.since > start]
        until = max(profile.until for profile in there)
        spans.append(
            _VersionSpan(start, min([until, *(client_versions.before(version) for version in later)]), there)
        )
    return tuple(spans)


def _that_explain(library: str, requests: Requests, names_are_kept: bool) -> list[_VersionSpan]:
    """The versions of which one process, with all its configurations together, can have sent everything."""
    spans = _version_spans(library, names_are_kept)
    places = (1 << len(spans)) - 1
    for key, versions in requests:
        for version in versions:
            places &= _senders(library, key, version, names_are_kept)
    return [span for place, span in enumerate(spans) if places >> place & 1]


@lru_cache(maxsize=2**20)
def _senders(library: str, key: int, version: int, names_are_kept: bool) -> int:
    """The version spans of a library that can have sent a request, as a bit set of positions."""
    return sum(
        1 << place
        for place, span in enumerate(_version_spans(library, names_are_kept))
        if _can_send(span.profiles, key, version)
    )


def _can_send(profiles: Sequence[Profile], key: int, version: int) -> bool:
    ranges = [
        (profile.ranges[key], profile.also_sends.get(key)) for profile in profiles if key in profile.ranges
    ]
    if not ranges:
        api = apis.by_key().get(key)
        return key != apis.API_VERSIONS and not (api and api.used_by == "data")
    return any(client_ranges.can_send(version, sendable, also) for sendable, also in ranges)


def _could_be_older(library: str, requests: Requests, names_are_kept: bool) -> bool:
    """Whether a version older than the oldest known one can have sent these requests: none is newer than what the
    oldest sends.
    """
    if (
        any(key == apis.API_VERSIONS for key, _ in requests)
        and library in ASKS_FIRST
        and _profiles_of(library, names_are_kept)[0].since <= ASKS_FIRST[library]
    ):
        return False
    highest = _highest_of_the_oldest(library, names_are_kept)
    return all(
        key in highest and max(versions) <= highest[key]
        for key, versions in requests
        if key not in apis.SET_UP
    )


@cache
def _highest_of_the_oldest(library: str, names_are_kept: bool) -> Mapping[int, int]:
    """API key -> the highest version that the oldest known version of a library sends, in any configuration."""
    profiles = _profiles_of(library, names_are_kept)
    highest: dict[int, int] = {}
    for profile in profiles:
        if profile.since == profiles[0].since:
            for key, sendable in profile.ranges.items():
                highest[key] = max(sendable.max, highest.get(key, 0))
    return highest


def _later_versions_declare(library: str, last: Version, names_are_kept: bool) -> bool:
    """Whether versions after the last profile's declare a name on every connection, so that they are ruled out."""
    everything = _profiles_of(library, False) if names_are_kept else ()
    return bool(everything) and last < max(profile.until for profile in everything)


@lru_cache(maxsize=65536)
def _single_versions(requests: Requests, release: str) -> tuple[tuple[int, int, int], ...]:
    """(API key, version, highest version that the release advertises) of APIs that were used in one version only."""
    offered = served.by(release)
    return tuple(
        (key, versions[0], offered[key].advertised.max)
        for key, versions in requests
        if key not in apis.SET_UP and len(versions) == 1 and key in offered
    )


def _exact_count(profile: Profile, single: tuple[tuple[int, int, int], ...]) -> int:
    """How many of these have the version that the library chooses on the release."""
    exact = 0
    for key, version, highest in single:
        sendable: Versions | None = profile.ranges.get(key)
        exact += sendable is not None and version == (sendable.max if sendable.max < highest else highest)
    return exact
