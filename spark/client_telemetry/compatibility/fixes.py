"""What to change so that a client survives: the library version, or another target release."""

from collections.abc import Collection

from client_telemetry.compatibility import apis, client_ranges, client_versions, roles, served, software
from client_telemetry.compatibility.served import BrokerApi, Versions
from client_telemetry.compatibility.software import Identity


def works(declared: Versions, target: BrokerApi) -> bool:
    """Whether a client with this range gets along: it takes the highest version that both have.

    By the advertised range it chooses, by the served range the choice works.
    """
    chosen = min(declared.max, target.advertised.max)
    return (
        chosen >= max(declared.min, target.advertised.min)
        and target.served.min <= chosen <= target.served.max
    )


def for_refused(
    key: int, versions: str, identity: Identity | None, client_roles: Collection[str], target: str
) -> str:
    """The fix for a refused request version, or for a range that the target does not serve."""
    api = served.by(target).get(key)
    needed = f" ({apis.name(key)} {api.served.min} or later)" if api else ""
    upgrade = None
    if identity and identity.version_decides and client_ranges.known(identity.library):
        upgrade = _first_good(identity, set(client_roles), target)
    if upgrade:
        fix = f"upgrade {upgrade}"
    elif identity:
        fix = f"upgrade {identity.library}, or raise the Kafka version that its configuration pins{needed}"
    else:
        fix = f"find its client library and upgrade it, or raise the Kafka version that its configuration pins{needed}"
    other = _other_targets(key, versions, target)
    return f"{fix}; {other}" if other else fix


def for_issue(fixed_in: str, identity: Identity) -> str:
    """`fixed_in` of a known issue ('librdkafka 1.8.0') in terms of what the application depends on."""
    library, _, version = fixed_in.partition(" ")
    return f"upgrade {_as_dependency(library, client_versions.parse(version), identity)}"


def _first_good(identity: Identity, client_roles: set[str], target: str) -> str | None:
    """The first version of the library from which all that the roles need works on the target."""
    needed = {key for role in client_roles for key in roles.needs()[role] if roles.needs()[role][key].needed}
    good: tuple[int, ...] | None = None
    for step in client_ranges.steps(identity.library):
        ranges = [
            (client_ranges.of(identity.library, step, key), served.by(target).get(key)) for key in needed
        ]
        fine = all(api is not None and (row is None or works(row.versions, api)) for row, api in ranges)
        good = (good or step) if fine else None
    if good is None or (identity.version is not None and good <= identity.version):
        return None
    return _as_dependency(identity.library, good, identity)


def _as_dependency(library: str, version: tuple[int, ...], identity: Identity) -> str:
    text = f"{library} to {_text(version)} or later"
    if library != "librdkafka" or not identity.binding:
        return text
    having = [
        binding_version
        for binding_version, librdkafka in software.bindings().get(identity.binding, {}).items()
        if client_versions.parse(librdkafka) >= version
    ]
    if not having:
        return f"{identity.binding} to a version with {library} {_text(version)} or later"
    first = min(having, key=client_versions.parse)
    return (
        f"{identity.binding} to {first} or later ({library} {software.bindings()[identity.binding][first]})"
    )


def _other_targets(key: int, versions: str, target: str) -> str:
    """A newer release that serves again what this one does not (JoinGroup 0-1: 4.0.0 no, 4.0.1 yes)."""
    if not versions.isdecimal():
        return ""
    serving = served.releases_that_serve(key, int(versions), target)
    return (
        f"or upgrade the brokers to {serving[0]} or later, which serves {apis.name(key)} {versions}"
        if serving
        else ""
    )


def _text(version: tuple[int, ...]) -> str:
    numbers = list(version)
    while len(numbers) > 3 and numbers[-1] == 0:
        numbers.pop()
    return ".".join(str(number) for number in numbers)
