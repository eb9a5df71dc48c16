"""What to change so that a client survives: the version of its library, its configuration, or the target release."""

from collections.abc import Callable
from functools import cache, lru_cache

from client_telemetry.compatibility import targets
from client_telemetry.compatibility.case import Case
from client_telemetry.compatibility.verdict import NOT_IDENTIFIED, PINNED, Finding
from client_telemetry.knowledge import (
    advice,
    apis,
    client_ranges,
    client_versions,
    features,
    known_issues,
    products,
    releases,
    roles,
    served,
    software,
)
from client_telemetry.knowledge.api_key import ApiKey
from client_telemetry.knowledge.features import Gate
from client_telemetry.knowledge.known_issues import KnownIssue
from client_telemetry.knowledge.software import Identity
from client_telemetry.knowledge.vocabulary import Answer

CANDIDATES_ADVISED = 3
"""How many candidates, likeliest first, a fix has advice for."""
_NEW_PROTOCOL = frozenset((ApiKey.CONSUMER_GROUP_HEARTBEAT, ApiKey.CONSUMER_GROUP_DESCRIBE))
"""ConsumerGroupHeartbeat and ConsumerGroupDescribe (KIP-848)."""


def for_refused(keys: list[int], case: Case) -> str:
    """The change that makes refused requests of these APIs work on the target."""
    if releases.is_rollback(case.source, case.target):
        return _for_rollback(keys, case)
    waiting = [key for key in keys if case.closed_gates(key)]
    others = [key for key in keys if key not in waiting]
    return "; ".join(filter(None, (_finalizing(waiting, case), _for_removed(others, case) if others else "")))


def _finalizing(keys: list[int], case: Case) -> str:
    """The commands that raise the feature levels for which requests of these APIs wait: no library needs a change."""
    levels = {gate.feature: gate.level for key in keys for gate in case.closed_gates(key)}
    if not levels:
        return ""
    options = " ".join(f"--feature {feature}={level}" for feature, level in levels.items())
    return f"finalize {features.text(levels)} (kafka-features upgrade {options}), then restart it"


def _for_removed(keys: list[int], case: Case) -> str:
    identity, target = case.identity, case.target
    if of_product := products.advice(case.product, keys):
        return of_product
    if identity and identity.version and identity.version_decides and client_ranges.known(identity.library):
        good = _version_that_works(case, frozenset(keys))
        if good and good > identity.version:
            return f"upgrade {_as_dependency(identity.library, good, identity)}"
    if identity and (advised := advice.on(identity.library, keys, target)):
        return advised
    needs = ", ".join(
        f"{apis.request(key, api.served.min)} or later" for key in keys if (api := served.by(target).get(key))
    )
    needs = f" (needs {needs})" if needs else ""
    if identity:
        return f"if the application pins a protocol version, raise it, otherwise upgrade {identity.library}{needs}"
    return _for_unnamed(case, keys, f"{PINNED}, otherwise upgrade the library{needs}")


def _for_unnamed(case: Case, keys: list[int], otherwise: str) -> str:
    """What to do with a client that declares nothing: its library's advice if the library is as good as certain,
    otherwise the advice for the likeliest candidates.
    """
    who = case.looks_like
    if who is None or not who.candidates:
        return f"{NOT_IDENTIFIED}: {otherwise}"
    if who.named:
        advised = advice.on(who.named.library, keys, case.target)
        return f"probably {who.named.library} (not declared): {advised or otherwise}"
    advices = [
        f"if it is {candidate.library}: {advised}"
        for candidate in who.candidates[:CANDIDATES_ADVISED]
        if (advised := advice.on(candidate.library, keys, case.target))
    ]
    return f"{NOT_IDENTIFIED}: " + "; ".join([*advices, f"otherwise: {otherwise}" if advices else otherwise])


def for_issue(issue: KnownIssue, case: Case) -> str:
    """The change that resolves a known issue for a client."""
    library, _, version = issue.fixed_in.partition(" ")
    fixes = []
    if library:
        good = client_versions.parse(version)
        if case.identity and case.identity.library == library:
            good = max(good, _version_that_works(case, frozenset()) or good)
        of_product = products.advice_on_scram(case.product) if issue.condition_test.is_about_scram else ""
        fixes.append(of_product or f"upgrade {_as_dependency(library, good, case.identity)}")
    fixes += [issue.workaround] if issue.workaround else []
    fix = ", or ".join(fixes)
    without = _other_target(case, lambda release: not issue.is_in(release))
    return f"{fix}, or {_alternative_text(without, case)}" if without else fix


def for_verdict(reasons: list[Finding], case: Case) -> str:
    """One text for all reasons: the library first, then another target release if that alone would be enough."""
    refused = [
        reason.api_key
        for reason in reasons
        if reason.rule_id.endswith("_refused") and reason.api_key is not None
    ]
    fixes = [reason.fix for reason in reasons if not reason.rule_id.endswith("_refused")]
    if refused:
        fixes.append(for_refused(refused, case))
    text = "; ".join(dict.fromkeys(fix for fix in fixes if fix))
    if refused and len(refused) == len(reasons) and not any(map(case.closed_gates, refused)):
        better = _other_release_that_serves(reasons, case)
        if better:
            text += f"; or {_alternative_text(better, case)}, which accepts these versions"
    return text


def _for_rollback(keys: list[int], case: Case) -> str:
    """A rollback refuses what is new, so upgrading a library does not help."""
    if set(keys) & _NEW_PROTOCOL:
        return "set group.protocol=classic in its consumers before the rollback"
    needs = ", ".join(
        apis.request(key, api.served) for key in keys if (api := served.by(case.target).get(key))
    )
    library = case.identity.library if case.identity else "its library"
    needs = f" ({needs})" if needs else ""
    return f"before the rollback, use a version or configuration of {library} that speaks what {case.target} accepts{needs}"


def _other_targets(case: Case) -> tuple[str, ...]:
    """Releases to go to instead, nearest first: in a rollback those between the two, none that is to be skipped."""
    newer = releases.newer_than(case.target)
    if not releases.is_rollback(case.source, case.target):
        return newer
    between = (release for release in newer if releases.is_rollback(case.source, release))
    return tuple(release for release in between if not targets.notes_to_skip(release))


def _other_target(case: Case, is_good: Callable[[str], bool]) -> str | None:
    """The nearest alternative release: in a rollback any good one, otherwise one from which on all known ones are good.
    None if there is none.
    """
    possible = _other_targets(case)
    if releases.is_rollback(case.source, case.target):
        return next((release for release in possible if is_good(release)), None)
    nearest = None
    for release in reversed(possible):
        if not is_good(release):
            break
        nearest = release
    return nearest


def _alternative_text(release: str, case: Case) -> str:
    if releases.is_rollback(case.source, case.target):
        return f"go back to {release} only"
    return f"upgrade the brokers to {release} or later instead"


def _other_release_that_serves(reasons: list[Finding], case: Case) -> str | None:
    """JoinGroup 0-1: 4.0.0 refuses it, 4.0.1 and all later releases serve it."""
    refused_requests = [
        (reason.api_key, int(version))
        for reason in reasons
        for version in reason.versions.replace(",", " ").replace("–", " ").split()
        if reason.api_key is not None
    ]

    return _other_target(
        case, lambda release: all(served.serves(release, *request) for request in refused_requests)
    )


def _version_that_works(case: Case, keys: frozenset[int]) -> tuple[int, ...] | None:
    """The first library version from which on the target serves everything that its roles need, and these APIs, and no
    known issue breaks it, not even one whose condition is unknown. None if there is no such version, or the
    library's version does not determine what it sends.
    """
    identity = case.identity
    if not (
        identity and identity.version and identity.version_decides and client_ranges.known(identity.library)
    ):
        return None
    issues = frozenset(
        issue
        for issue in known_issues.of_library(identity.library, case.target)
        if (not issue.roles or issue.roles & set(case.roles))
        and (
            issue.condition_met(case.circumstances) in (None, Answer.YES)
            or issue.condition_test.could_be_met_now(case.circumstances)
        )
    )
    closed = features.closed(case.target, case.levels)
    return _first_good(identity.library, frozenset(case.roles), keys, case.target, closed, issues)


@cache
def _first_good(
    library: str,
    client_roles: frozenset[str],
    keys: frozenset[int],
    target: str,
    closed: tuple[Gate, ...],
    issues: frozenset[KnownIssue],
) -> tuple[int, ...] | None:
    needed = keys | {key for role in client_roles for key, need in roles.needs()[role].items() if need.needed}
    target_apis = served.without(target, closed)
    fixed = {client_versions.parse(issue.fixed_in.partition(" ")[2]) for issue in issues if issue.fixed_in}
    good: tuple[int, ...] | None = None
    for step in sorted({*client_ranges.steps(library), *fixed}):
        ranges = [(client_ranges.of(library, step, key), target_apis.get(key)) for key in needed]
        fine = all(api is not None and (row is None or api.works_with(row.versions)) for row, api in ranges)
        fine = fine and not any(issue.version_from <= step <= issue.version_to for issue in issues)
        good = (good or step) if fine else None
    return good


@lru_cache(maxsize=4096)
def _as_dependency(library: str, version: tuple[int, ...], identity: Identity | None) -> str:
    """'confluent-kafka-python to 1.8.2 or later (librdkafka 1.8.2)': what the application depends on."""
    text = f"{library} to {client_versions.text(version)} or later"
    if library != "librdkafka" or identity is None or not identity.binding:
        return text
    versions = software.bindings().get(identity.binding, {})
    having = [
        binding_version
        for binding_version, inside in versions.items()
        if client_versions.parse(inside) >= version
    ]
    if not having:
        return f"{identity.binding} to a version with {text}"
    first = min(having, key=client_versions.parse)
    return f"{identity.binding} to {first} or later (librdkafka {versions[first]})"
