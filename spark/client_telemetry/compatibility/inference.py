"""What the requests that were seen prove about one that was not, for a client that declares no library.

* All its requests are of Kafka 0.11 or later, and no known library that sends exactly these is refused: the versions
  that 4.x removed (KIP-896) are older, and a library that has moved on everywhere else has not kept one for the unseen
  request. Sarama up to 1.40.1 and kafka-go up to 0.4.47 are the counterexamples to anything weaker: they fetch as of
  2.1 and commit as of 0.8.2 or join as of 0.10.1; their Heartbeat and SyncGroup 0 give them away. librdkafka 1.6 and
  1.7 speak as of 2.3 and keep ListOffsets 0, but declare their name: nothing is inferred for a client that declares a
  name which the knowledge base does not have.
* It is a member of a group that was joined before the evidence begins, or its client id names its library: then every
  library that it can be has to work, however little was seen.
* Its client id is a library's default, it sends what that library sends here, and every version of the library that
  explains it works with the target.
"""

from collections.abc import Iterable, Mapping
from functools import cache, lru_cache

from client_telemetry.compatibility import eras, fingerprints, identification, one_process
from client_telemetry.compatibility.case import Case
from client_telemetry.compatibility.evidence import Requests, format_versions
from client_telemetry.knowledge import apis, kip511, known_issues, products, roles, served, software
from client_telemetry.knowledge.api_key import ApiKey
from client_telemetry.knowledge.apis import Versions
from client_telemetry.knowledge.served import BrokerApi

_DISTINCT = 5
"""Data APIs, beside ApiVersions, that must be seen before their age says anything of another one."""
_COMMITS = frozenset((ApiKey.OFFSET_COMMIT, ApiKey.TXN_OFFSET_COMMIT))


def greets_as_of_0_11(case: Case) -> bool:
    """Whether the client negotiates as of 0.11, shows nothing but Metadata, and knows the admin requests that the
    target still accepts: Kafka 4.0 refuses versions of some (log dirs, ACLs, delegation tokens) that were replaced
    only in 2.0 (KIP-896), and a tool of 1.x sends ApiVersions and Metadata just the same. Kafka's Scala AdminClient
    has none of these requests (kafka.admin.AdminClient). No known library that sends this may be refused otherwise:
    kafkajs 1.4 greets as of 2.0, and looks up offsets as of 0.10.0.
    """
    uses = case.evidence.api_uses
    if case.failing or ApiKey.METADATA not in case.uses or not eras.negotiates_as_of_0_11(uses):
        return False
    if case.product == products.ADMIN_CLIENT_TOOLS:
        return True
    if not _no_candidate_is_refused(case):
        return False
    admin = [key for key in case.dropped if key in apis.by_key() and apis.by_key()[key].used_by == "admin"]
    accepted = [
        (key, target.served.min) for key in admin if (target := case.target_api(key)) and target.serves_any
    ]
    return all(eras.is_as_young_as(uses, key, version) for key, version in accepted)


def _no_candidate_is_refused(case: Case) -> bool:
    """Whether no known library that sends these requests is refused what producers and consumers need, or takes a version
    that the target advertises and refuses.
    """
    needed = {key for role in roles.ASSUMED for key in roles.needed_by(role, ())} & case.dropped
    return (
        all(
            (target := case.target_api(key)) is not None and every_candidate_works(case, key, target)
            for key in needed
        )
        and not any(may_lose(case, key) for role in roles.DATA_ROLES for key in roles.may_use(role, ()))
        and all(takes_what_is_served(case, key) for key in case.offered_and_refused)
    )


def works_unseen(case: Case, key: int) -> str:
    """Why an unseen API works with the target all the same; empty if nothing proves it."""
    target = case.target_api(key)
    known_by_name = case.identity is not None and case.identity.version_decides and not case.contradiction
    another_library = case.identity is None and case.evidence.declares_software
    if known_by_name or another_library or target is None or not target.serves_any:
        return ""
    data_apis = [
        used_key
        for used_key in case.uses
        if used_key in apis.by_key() and apis.by_key()[used_key].used_by == "data"
    ]
    if (
        len(data_apis) >= _DISTINCT
        and eras.speaks_as_of_0_11(case.evidence.api_uses)
        and all(map(target.works_with, _ranges_that_explain(case.seen, key, case.source)))
    ):
        return (
            "all that it sends is of Kafka 0.11 or later, and no known library that sends this uses "
            f"{apis.name(key)} below {apis.in_words(target.served.min)}"
        )
    if eras.speaks_as_of_0_11(case.evidence.api_uses) and _all_candidates_work(case, key, target):
        if _is_steady_member(case):
            return (
                "it is a group member that began before it was watched; all that it sends is of Kafka 0.11 or later, and every "
                f"library that it can be uses a version of {apis.name(key)} that works"
            )
        if (
            case.looks_like
            and case.looks_like.named
            and (apis.API_VERSIONS in case.uses or case.looks_like.library not in _VERSIONS_CAN_BE_SET)
            and (case.seen_roles or roles.assumed(case.evidence.client_id) != roles.ASSUMED)
            and (fingerprints.by_client_id(case.evidence.client_id)[0] or case.product)
        ):
            return f"by its client id and requests it {case.looks_like.looks_like}, which gets along"
    return _by_client_id(case, key, target)


_VERSIONS_CAN_BE_SET = identification.CAN_SKIP_API_VERSIONS | {"aiokafka", "kafka-python"}
"""Libraries that can send what a setting says (of the last two: api_version) instead of asking brokers for their versions. Sarama
always does."""


def _is_steady_member(case: Case) -> bool:
    """Whether it shows all that a member of a classic group requests between two rebalances. What it requests once after
    each, as OffsetFetch, it requested before.
    """
    return {ApiKey.FETCH, ApiKey.HEARTBEAT} <= case.uses.keys() and bool(_COMMITS & case.uses.keys())


def _all_candidates_work(case: Case, key: int, target: BrokerApi) -> bool:
    """A member that began before it was watched asked for versions then, if it negotiates. Where the broker's word on the
    software is missing (the log has no names), it can be a library that declares its name, too.
    """
    profiles: Iterable[fingerprints.Profile] = candidates(case)
    if case.evidence.client_software_name != kip511.UNKNOWN:
        profiles = (
            profile
            for profile in fingerprints.every_profile()
            if fingerprints.explains(profile, case.seen)
            and fingerprints.can_have_client_id(profile.library, case.evidence.client_id)
            and not fingerprints.holds_back(profile, case.seen, case.source)
        )
    ranges = [
        profile.ranges[key]
        for profile in profiles
        if key in profile.ranges
        and not (
            _is_steady_member(case)
            and fingerprints.negotiates(profile.library)
            and fingerprints.sent_lower(profile, case.seen, case.source)
        )
    ]
    return bool(ranges) and all(target.works_with(versions) for versions in ranges)


def takes_what_is_served(case: Case, key: int) -> bool:
    """Whether a client of a seen API chooses no version that the target advertises but refuses: every version of its
    library works, or, if it is unnamed, every known library that sends the same requests, except those that would
    have sent higher versions. (Configured to hold back, as by franz-go's MaxVersions, they hold back here too.)
    """
    target = case.target_api(key)
    if target is None:
        return False
    if case.identity is not None:
        profiles = [
            profile for profile in fingerprints.every_profile() if profile.library == case.identity.library
        ]
    elif case.evidence.declares_software:
        return False
    else:
        profiles = [
            profile
            for profile in candidates(case)
            if not (
                fingerprints.negotiates(profile.library)
                and fingerprints.sent_lower(profile, case.seen, case.source)
            )
        ]
    ranges = [profile.ranges[key] for profile in profiles if key in profile.ranges]
    return bool(ranges) and all(target.works_with(versions) for versions in ranges)


def every_candidate_works(case: Case, key: int, target: BrokerApi) -> bool:
    """Whether no library that a client of unknown name can be fails with this API. To ask brokers for their versions does
    not mean to heed them: some libraries ask, and send the versions that they have or are configured for.
    """
    if case.identity is not None:
        return True
    highest = max((use.version for use in case.uses.get(key, ())), default=target.served.min)
    for profile in candidates(case):
        if profile.library in _DOES_NOT_HEED or _follows_configuration(profile.library):
            may_be = _greets_so(case, profile)
            lowest = profile.ranges[key].min if key in profile.ranges and key not in case.uses else highest
            works = not may_be or (target.served.min <= lowest and highest <= target.served.max)
        else:
            works = key not in profile.ranges or target.works_with(profile.ranges[key])
        if not works:
            return False
    return True


def _greets_so(case: Case, profile: fingerprints.Profile) -> bool:
    """Whether a library that sends what it has can have sent these ApiVersions requests: the highest that it has, and version
    0 to brokers that lack that (KIP-511).
    """
    greetings = {use.version for use in case.uses.get(apis.API_VERSIONS, ())}
    highest = profile.ranges.get(apis.API_VERSIONS, Versions(0, 0)).max
    offered = case.source_api(apis.API_VERSIONS)
    falls_back = offered is not None and offered.served.max < highest
    return not greetings or highest in greetings or (falls_back and 0 in greetings)


def may_lose(case: Case, key: int) -> bool:
    """Whether the target lacks an API altogether that brokers had where the client was seen, and that it can be using: some
    library that sends what it sends has it.
    """
    if case.target_api(key) is not None or key not in served.by(case.seen_on):
        return False
    return key not in known_issues.refused_by(case.seen_on) and any(
        key in profile.ranges for profile in candidates(case)
    )


def several_programs(case: Case) -> str:
    """What shows that a client is several programs, or one that was replaced; empty if nothing does. Each process sends
    the same version of an API to brokers of one release, with the exceptions of one_process, so other versions beside
    it, or several security protocols or mechanisms, are several programs, of which one may not have shown what it does. A name
    with a version that decides what is sent is one program's.
    """
    if case.identity is not None and case.identity.version_decides and case.identity.version is not None:
        return ""
    for ways in (
        {login.security_protocol for login in case.evidence.logins},
        {login.sasl_mechanism for login in case.evidence.logins},
    ):
        if len(known := sorted(way for way in ways if way and "|" not in way)) > 1:
            return f"its connections use {' and '.join(known)}"
    several = {
        key: frozenset(versions)
        for key, versions in case.seen
        if len(versions) > 1 and key not in apis.SET_UP
    }
    if several.keys() <= one_process.SHOWS_ALL_FROM_THE_START or _can_be_one_process(case, several):
        return ""
    which = f"process of {case.identity.library}" if case.identity else "process of a known library"
    requests = [apis.request(key, format_versions(sorted(versions))) for key, versions in several.items()]
    return f"no {which} sends {' and '.join(requests)}"


def _can_be_one_process(case: Case, several: one_process.Several) -> bool:
    if case.identity is None:
        possible = fingerprints.that_explain(case.seen, case.source, case.evidence.declares_software)
    else:
        possible = tuple(
            profile for profile in fingerprints.every_profile() if profile.library == case.identity.library
        )
    if any(one_process.sends(profile, several) for profile in possible):
        return True
    return case.identity is None and one_process.is_reader_and_writer_of_kafka_go(case.seen, case.source)


def candidates(case: Case) -> tuple[fingerprints.Profile, ...]:
    """What a client of unknown library can be: version ranges of libraries that send what it sends."""
    return _candidates(*_of_candidates(case))


def candidates_by_library(case: Case) -> Mapping[str, tuple[fingerprints.Profile, ...]]:
    """The same, by library."""
    return _candidates_by_library(*_of_candidates(case))


def _of_candidates(case: Case) -> tuple[Requests, str, bool, str | None]:
    return case.seen, case.source, case.evidence.declares_software, case.evidence.client_id


@lru_cache(maxsize=4096)
def _candidates(
    seen: Requests, source: str, declares_software: bool, client_id: str | None
) -> tuple[fingerprints.Profile, ...]:
    profiles = fingerprints.candidates(seen, source, declares_software)
    if client_id is None:
        return profiles
    return tuple(
        profile for profile in profiles if fingerprints.can_have_client_id(profile.library, client_id)
    )


@lru_cache(maxsize=4096)
def _candidates_by_library(
    seen: Requests, source: str, declares_software: bool, client_id: str | None
) -> Mapping[str, tuple[fingerprints.Profile, ...]]:
    found: dict[str, list[fingerprints.Profile]] = {}
    for profile in _candidates(seen, source, declares_software, client_id):
        found.setdefault(profile.library, []).append(profile)
    return {library: tuple(profiles) for library, profiles in found.items()}


@cache
def _ranges_that_explain(requests: Requests, key: int, release: str) -> frozenset[Versions]:
    """The ranges of an API in all known libraries, named or not, that can have sent these requests."""
    return frozenset(
        profile.ranges[key]
        for profile in fingerprints.every_profile()
        if key in profile.ranges
        and fingerprints.explains(profile, requests)
        and not fingerprints.holds_back(profile, requests, release)
    )


@cache
def _follows_configuration(library: str) -> bool:
    """Whether the library's configuration, more than its version, decides what it sends (Sarama: config.Version)."""
    return any(
        declared.library == library and not declared.version_decides for declared in software.known().values()
    )


_DOES_NOT_HEED = frozenset(("ruby-kafka",))
"""Asks for versions to see whether brokers have an API (zendesk/ruby-kafka: lib/kafka/protocol/*_request.rb, api_version)."""


def _by_client_id(case: Case, key: int, target: BrokerApi) -> str:
    fingerprint = case.fingerprint
    if fingerprint is None or not fingerprint.by_client_id or not fingerprint.guesses:
        return ""
    best = fingerprint.guesses[0]
    if best.api_count < fingerprints.DISTINCT or best.exact < fingerprints.EXACT * best.api_count:
        return ""
    if _follows_configuration(best.library):
        return ""
    ranges = [profile.ranges.get(key) for profile in fingerprint.profiles]
    if not all(versions is not None and target.works_with(versions) for versions in ranges):
        return ""
    return f"it looks like {fingerprint.names} ({'; '.join(fingerprint.reasons)}), which gets along"
