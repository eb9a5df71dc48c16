"""What to change so that a client survives: its library's version, its configuration, or the target release."""

from functools import cache, lru_cache

from client_telemetry.compatibility import (
    advice,
    apis,
    client_ranges,
    client_versions,
    releases,
    roles,
    served,
    software,
)
from client_telemetry.compatibility.case import Case
from client_telemetry.compatibility.known_issues import KnownIssue
from client_telemetry.compatibility.software import Identity
from client_telemetry.compatibility.verdict import Finding


def for_refused(keys: list[int], case: Case) -> str:
    """The change that makes refused requests of these APIs work on the target."""
    identity, target = case.identity, case.target
    if identity and identity.version and identity.version_decides and client_ranges.known(identity.library):
        good = _first_good(identity.library, frozenset(case.roles), frozenset(keys), target)
        if good and good > identity.version:
            return f"upgrade {_as_dependency(identity.library, good, identity)}"
    if identity and (known := advice.on(identity.library, keys, target)):
        return known
    needs = ", ".join(
        f"{apis.name(key)} {api.served.min} or later" for key in keys if (api := served.by(target).get(key))
    )
    what = f"upgrade {identity.library}" if identity else "find out which client library it is and upgrade it"
    needs = f" (it must use {needs})" if needs else ""
    text = f"{what}, or raise the Kafka version that its configuration pins, if it pins one{needs}"
    if case.fingerprint and (guessed := advice.on(case.fingerprint.guesses[0].library, keys, target)):
        return (
            f"if it is {case.fingerprint.guesses[0].library}, as it looks like: {guessed}; otherwise {text}"
        )
    return text


def for_issue(issue: KnownIssue, case: Case) -> str:
    """The change that gets a client out of a known issue."""
    library, _, version = issue.fixed_in.partition(" ")
    fix = f"upgrade {_as_dependency(library, client_versions.parse(version), case.identity)}"
    without = [release for release in releases.newer_than(case.target) if release not in issue.brokers]
    return f"{fix}, or upgrade the brokers to {without[0]} or later instead" if without else fix


def for_verdict(reasons: list[Finding], case: Case) -> str:
    """One text for all reasons: the library first, then another target release if that alone would do."""
    refused = [
        each.api_key for each in reasons if each.rule_id.endswith("_refused") and each.api_key is not None
    ]
    fixes = [each.fix for each in reasons if not each.rule_id.endswith("_refused")]
    if refused:
        fixes.append(for_refused(refused, case))
    text = "; ".join(dict.fromkeys(fix for fix in fixes if fix))
    if refused and len(refused) == len(reasons):
        better = _newer_release_that_serves(reasons, case.target)
        if better:
            text += f"; or upgrade the brokers to {better} or later instead, which serves these versions"
    return text


def _newer_release_that_serves(reasons: list[Finding], target: str) -> str | None:
    """JoinGroup 0-1: 4.0.0 refuses it, 4.0.1 and all later serve it."""
    wanted = [
        (each.api_key, int(version))
        for each in reasons
        for version in each.versions.replace(",", " ").replace("–", " ").split()
        if each.api_key is not None
    ]
    for release in releases.newer_than(target):
        api_ranges = served.by(release)
        if all(
            key in api_ranges and api_ranges[key].served.min <= version <= api_ranges[key].served.max
            for key, version in wanted
        ):
            return release
    return None


@cache
def _first_good(
    library: str, client_roles: frozenset[str], keys: frozenset[int], target: str
) -> tuple[int, ...] | None:
    """The first version of a library from which on all that the roles need, and these APIs, work on the target."""
    needed = keys | {key for role in client_roles for key, need in roles.needs()[role].items() if need.needed}
    good: tuple[int, ...] | None = None
    for step in client_ranges.steps(library):
        ranges = [(client_ranges.of(library, step, key), served.by(target).get(key)) for key in needed]
        fine = all(api is not None and (row is None or api.works_with(row.versions)) for row, api in ranges)
        good = (good or step) if fine else None
    return good


@lru_cache(maxsize=4096)
def _as_dependency(library: str, version: tuple[int, ...], identity: Identity | None) -> str:
    """'confluent-kafka-python to 1.8.2 or later (librdkafka 1.8.2)': what the application depends on."""
    text = f"{library} to {client_versions.text(version)} or later"
    if library != "librdkafka" or identity is None or not identity.binding:
        return text
    versions = software.bindings().get(identity.binding, {})
    having = [each for each, inside in versions.items() if client_versions.parse(inside) >= version]
    if not having:
        return f"{identity.binding} to a version with {text}"
    first = min(having, key=client_versions.parse)
    return f"{identity.binding} to {first} or later (librdkafka {versions[first]})"
