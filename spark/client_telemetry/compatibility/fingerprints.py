"""Which library an unnamed client looks like: from its default client id and its request versions.

A fingerprint is a guess with reasons, never an identity. It uses the same version ranges as everything else
(unnamed_client_api_versions.csv, and client_api_versions.csv for versions that declare no name). A client id that names
a library is overruled by requests that this library cannot send.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import zip_longest
from re import Pattern
from typing import NamedTuple

from client_telemetry.compatibility.evidence import Requests, Uses, requests_of
from client_telemetry.knowledge import (
    DamagedKnowledge,
    apis,
    client_ranges,
    client_versions,
    releases,
    rows,
    served,
    software,
)
from client_telemetry.knowledge.api_key import ApiKey
from client_telemetry.knowledge.apis import Versions
from client_telemetry.knowledge.user_patterns import UserPattern, knowledge_pattern

FILE = "default_client_ids.csv"
COLUMNS = ("client_id_pattern", "library", "learned_from_runs", "source")
UNNAMED_FILE = client_ranges.UNNAMED_FILE
MOST = 3
"""How many libraries a guess names."""
DISTINCT = 4
"""APIs that must be seen before versions alone say anything."""
EXACT = 0.8
"""Share of them that must have just the version that the library takes on these brokers."""
FIXED_CLIENT_IDS = frozenset(("lua-resty-kafka", "pykafka"))
"""Libraries whose client id cannot be set (default_client_ids.csv: "not configurable")."""
LONGEST_CLIENT_ID = 256
"""In characters; no default is longer, and a hostile id must not keep a regular expression busy."""
NAMES_KEPT_SINCE = (2, 5, 0)
"""Brokers keep software names from 2.5.0 on (KAFKA-8855)."""

Version = tuple[int, ...]


class Profile(NamedTuple):
    """What versions `since` to `until` of a library (in one configuration) can send."""

    library: str
    configuration: str
    since: Version
    until: Version
    ranges: Mapping[int, Versions]
    also_sends: Mapping[int, Versions]


@dataclass(frozen=True)
class Guess:
    library: str
    since: Version
    until: Version
    exact: int
    """APIs seen in exactly the version that the library chooses on these brokers."""
    api_count: int
    """APIs that were seen and that the library has."""

    @property
    def is_exact(self) -> bool:
        return DISTINCT <= self.api_count == self.exact

    @property
    def text(self) -> str:
        if self.since == self.until:
            return f"{self.library} {client_versions.text(self.since)}"
        return f"{self.library} {client_versions.text(self.since)} to {client_versions.text(self.until)}"


@dataclass(frozen=True)
class Fingerprint:
    """Guesses, best first, and all profiles that explain what was seen."""

    guesses: tuple[Guess, ...]
    profiles: tuple[Profile, ...]
    by_client_id: bool
    reasons: tuple[str, ...]

    @property
    def names(self) -> str:
        """'sarama 1.28.0 to 1.40.1', 'kafkajs 2.0.0 or aiokafka 0.8.0'."""
        return " or ".join(guess.text for guess in self.guesses)

    @property
    def of_one_library(self) -> bool:
        """Whether the client id names the library, or no other library explains what was seen."""
        return self.by_client_id or len({profile.library for profile in self.profiles}) == 1

    @property
    def is_one_exact_guess(self) -> bool:
        """Whether exactly one library explains every request with exactly the version that it chooses on these brokers."""
        return len(self.guesses) == 1 and self.guesses[0].is_exact

    @property
    def text(self) -> str:
        """The guess as a guess: 'probably sarama 1.28.0 to 1.40.1'."""
        return f"{'probably' if len(self.guesses) == 1 else 'perhaps'} {self.names}"

    @property
    def oldest_and_newest(self) -> tuple[Version, Version]:
        """The oldest and newest version that it may be, according to the best guess if that explains every request
        exactly.
        """
        best = self.guesses[0]
        if best.is_exact:
            return best.since, best.until
        return min(profile.since for profile in self.profiles), max(
            profile.until for profile in self.profiles
        )

    def refused_by_all(self, key: int, lowest_served: int) -> Versions | None:
        """The range that all candidates have of an API, if all of them end below what is served."""
        ranges = [profile.ranges.get(key) for profile in self.profiles]
        too_low = [versions for versions in ranges if versions is not None and versions.max < lowest_served]
        if not too_low or len(too_low) < len(ranges):
            return None
        return Versions(min(versions.min for versions in too_low), max(versions.max for versions in too_low))


def of(client_id: str | None, uses: Uses, release: str, has_own_name: bool = False) -> Fingerprint | None:
    """The fingerprint of a client that declares nothing, or a name that is not its library's (`has_own_name`), on
    brokers of a release; None if it looks like no known library.
    """
    return _fingerprint(*by_client_id(client_id), requests_of(uses), release, has_own_name)


@lru_cache(maxsize=65536)
def _fingerprint(
    library: str | None,
    version: Version | None,
    requests: Requests,
    release: str,
    has_own_name: bool,
) -> Fingerprint | None:
    names_are_kept = shows_its_library_if_it_can(requests, release, has_own_name)
    explaining = _that_explain(requests, names_are_kept)
    named = [
        profile
        for profile in explaining
        if profile.library == library and (version is None or profile.since <= version <= profile.until)
    ]
    if named:
        matching, reasons = named, [f"its client id is a default of {library}"]
    else:
        matching, reasons = list(explaining), []
    if not matching:
        return None
    ranked = _ranked(matching, requests, release)
    best = ranked[0]
    if not named and (best.api_count < DISTINCT or best.exact < EXACT * best.api_count):
        return None
    if requests:
        reasons.append(
            f"{best.exact} of {best.api_count} APIs have the version that {best.library} uses here"
        )
    return Fingerprint(tuple(ranked[:MOST]), tuple(matching), bool(named), tuple(reasons))


def shows_its_library_if_it_can(requests: Requests, release: str, has_own_name: bool) -> bool:
    """Whether a library that declares its name is ruled out, as it would have declared it. Not where brokers keep no
    names, nor where no request was seen (only use shows that a client declares none), nor for a program that sets a
    name of its own: client.software.name of librdkafka (ClickHouse, Mimir), SoftwareNameAndVersion of franz-go.
    """
    return bool(requests) and _shows_names(release, has_own_name)


def _shows_names(release: str, has_own_name: bool) -> bool:
    """Whether a library's name is known where it declares one: brokers keep it, and the program sets no other."""
    return releases.parse(release) >= NAMES_KEPT_SINCE and not has_own_name


def that_explain(requests: Requests, release: str, has_own_name: bool = False) -> tuple[Profile, ...]:
    """Every version range of a library that can have sent these requests (API keys with their versions, sorted) without
    declaring the library's name.
    """
    return _that_explain(requests, _shows_names(release, has_own_name))


@lru_cache(maxsize=65536)
def _that_explain(requests: Requests, names_are_kept: bool) -> tuple[Profile, ...]:
    possible = profiles(names_are_kept)
    places = (1 << len(possible)) - 1
    for key, versions in requests:
        for version in versions:
            places &= _senders(key, version, names_are_kept)
    return tuple(profile for place, profile in enumerate(possible) if places >> place & 1)


@lru_cache(maxsize=65536)
def _senders(key: int, version: int, names_are_kept: bool) -> int:
    """The profiles that can have sent a request, as a bit set of positions: each request is looked up once, however
    many clients sent it.
    """
    request = ((key, (version,)),)
    return sum(
        1 << place for place, profile in enumerate(profiles(names_are_kept)) if explains(profile, request)
    )


def libraries_that_explain(uses: Uses, release: str) -> frozenset[str]:
    """Every library that, in some version, can have sent these requests without declaring its name."""
    return frozenset(profile.library for profile in that_explain(requests_of(uses), release))


def can_have_client_id(library: str, client_id: str | None) -> bool:
    """Whether a client of the library can have a client id: some set their own and take no other. None = not known."""
    return client_id is None or library not in FIXED_CLIENT_IDS or by_client_id(client_id)[0] == library


def by_client_id(client_id: str | None) -> tuple[str | None, Version | None]:
    """Library, and version if it is part of the id, behind a default client id."""
    if not client_id or len(client_id) > LONGEST_CLIENT_ID:
        return None, None
    for pattern, library in _default_ids():
        if match := pattern.fullmatch(client_id):
            version = match.groupdict().get("version")
            return library, client_versions.parse(version) if version else None
    return None, None


@cache
def _default_ids() -> tuple[tuple[Pattern[str] | UserPattern, str], ...]:
    default_ids = []
    for line, (pattern, library, learned_from_runs, source) in rows(FILE, COLUMNS):
        if not source or learned_from_runs not in ("yes", "no"):
            raise DamagedKnowledge(FILE, line, "learned_from_runs is yes or no, and a source is required")
        if library not in {profile.library for profile in profiles()}:
            raise DamagedKnowledge(FILE, line, f"nothing is known of library {library}")
        default_ids.append((knowledge_pattern(FILE, line, "client_id_pattern", pattern), library))
    return tuple(default_ids)


@cache
def profiles(names_are_kept: bool = True) -> tuple[Profile, ...]:
    """One profile for each span of versions between two changes, for each configuration of a library.

    On brokers that keep no names any version may be unnamed, otherwise only those that declare none.
    """
    rows_of: dict[tuple[str, str], list[client_ranges.Row]] = {}
    for row in client_ranges.read(UNNAMED_FILE):
        rows_of.setdefault((row.library, row.configuration), []).append(row)
    for row in client_ranges.read(client_ranges.FILE):
        named = software.names_every_connection_since(row.library) if names_are_kept else (10**9,)
        if named is not None and row.version_from < named:
            until = min(row.version_to, client_versions.before(named)) if names_are_kept else row.version_to
            rows_of.setdefault((row.library, row.configuration), []).append(row._replace(version_to=until))
    spans = []
    for (library, configuration), of_library in rows_of.items():
        starts = sorted({row.version_from for row in of_library})
        for start, following in zip_longest(starts, starts[1:]):
            there = [row for row in of_library if row.version_from <= start <= row.version_to]
            ends = [row.version_to for row in there] + (
                [client_versions.before(following)] if following else []
            )
            ranges = {row.api_key: row.versions for row in there}
            also = {row.api_key: row.also_sends for row in there if row.also_sends}
            spans.append(Profile(library, configuration, start, min(ends), ranges, also))
    return tuple(spans)


def every_profile() -> tuple[Profile, ...]:
    """All known versions of all libraries, named or not."""
    return profiles(names_are_kept=False)


@lru_cache(maxsize=64)
def candidates(requests: Requests, release: str, has_own_name: bool) -> tuple[Profile, ...]:
    """For one client, asked issue by issue and target by target; the cache holds the last ones."""
    explaining = that_explain(requests, release, has_own_name)
    return tuple(profile for profile in explaining if not holds_back(profile, requests, release))


TAKES_LOWER: Mapping[str, frozenset[int]] = {
    "kafka-clients": frozenset(
        (ApiKey.FETCH, ApiKey.LIST_OFFSETS, ApiKey.OFFSET_FETCH, ApiKey.FIND_COORDINATOR, ApiKey.LIST_GROUPS)
    ),
    "kafka-python": frozenset((ApiKey.LIST_GROUPS,)),
    "librdkafka": frozenset((ApiKey.DESCRIBE_GROUPS, ApiKey.LIST_GROUPS)),
}
"""APIs of which a library that negotiates takes a lower version than it could: runs of benchmarks/matrix and, for Java, the
callers of NetworkClient (Fetch with and without topic ids, ListOffsets, OffsetFetch, FindCoordinator, ListGroups)."""
_ASKS_AND_CAN_BE_SET = frozenset(("kafka-python",))
"""Its admin client asks for versions whatever api_version says (KafkaAdminClient of 2.0.2)."""


def holds_back(profile: Profile, requests: Requests, release: str) -> bool:
    """Whether these requests are not the library's although it has all their versions: a library that negotiates takes
    the highest version that both it and the broker have, so a client that asked for versions and then sent lower
    ones is something else.
    """
    asks_for_versions = any(key == apis.API_VERSIONS for key, _ in requests)
    if profile.library in _ASKS_AND_CAN_BE_SET:
        return False
    return asks_for_versions and negotiates(profile.library) and sent_lower(profile, requests, release)


@cache
def negotiates(library: str) -> bool:
    """Whether every version of the library that asks for versions heeds the answer."""
    return any(
        declared.library == library and declared.negotiates_since is not None
        for declared in software.known().values()
    )


def sent_lower(profile: Profile, requests: Requests, release: str) -> bool:
    """ApiVersions itself does not count: a client whose version brokers do not have falls back to version 0, also on
    brokers that would have had one between (KIP-511; librdkafka and franz-go on brokers before 2.4).
    """
    offered = served.by(release)
    return any(
        max(versions) < min(profile.ranges[key].max, offered[key].advertised.max)
        for key, versions in requests
        if key != apis.API_VERSIONS
        and key in profile.ranges
        and key in offered
        and key not in profile.also_sends
        and key not in TAKES_LOWER.get(profile.library, ())
    )


def explains(profile: Profile, requests: Requests) -> bool:
    """Whether a profile can have sent these requests: API keys with their versions."""
    for key, versions in requests:
        sendable = profile.ranges.get(key)
        if sendable is None:
            api = apis.by_key().get(key)
            if key == apis.API_VERSIONS or (api and api.used_by == "data"):
                return False
        elif not all(
            client_ranges.can_send(version, sendable, profile.also_sends.get(key)) for version in versions
        ):
            return False
    return True


def _ranked(profiles: list[Profile], requests: Requests, release: str) -> list[Guess]:
    """One guess per library: those of its version spans that explain most, merged."""
    best: dict[str, Guess] = {}
    offered = served.by(release)
    known_there = [
        (key, versions, offered[key].advertised.max) for key, versions in requests if key in offered
    ]
    for profile in profiles:
        exact = of_apis = 0
        for key, versions, highest in known_there:
            if sendable := profile.ranges.get(key):
                of_apis += 1
                exact += len(versions) == 1 and versions[0] == (
                    sendable.max if sendable.max < highest else highest
                )
        guess = Guess(profile.library, profile.since, profile.until, exact, of_apis)
        before = best.get(profile.library)
        if before is None or exact > before.exact:
            best[profile.library] = guess
        elif exact == before.exact:
            since, until = min(before.since, profile.since), max(before.until, profile.until)
            best[profile.library] = Guess(
                profile.library, since, until, exact, max(before.api_count, of_apis)
            )
    ranked = sorted(best.values(), key=lambda guess: (-guess.exact, guess.library))
    return [guess for guess in ranked if guess.exact == ranked[0].exact] if requests else ranked
