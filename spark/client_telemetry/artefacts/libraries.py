"""From a package to the Kafka client library in it: which version, or why that is not known."""

import re
from collections.abc import Set
from dataclasses import dataclass, replace

from client_telemetry.artefacts.packages import Package, only_version
from client_telemetry.knowledge import carried_versions, client_versions, known_packages, software
from client_telemetry.knowledge.known_packages import (
    BRINGS,
    IS,
    MANAGES,
    MANAGES_NOTHING,
    SAME_VERSION,
    KnownPackage,
)
from client_telemetry.knowledge.software import WrittenLibrary

_SYS_CRATE = re.compile(r"[^+]+\+v?(\d+(?:\.\d+)+)(?:-.*)?")
"""rdkafka-sys carries the version of librdkafka as build metadata: 4.8.0+2.3.0."""
_DISTRIBUTION = re.compile(r"(?:\d+:)?(\d+(?:\.\d+)+)(?=[-+~_.]|$|r).*")
"""2.0.2-1+b1, 1:2.0.2-1, 2.3.0-r1, 2.2.0+dfsg-1: the upstream version comes first."""


_BUILD_DECIDES = (
    "another dependency or list of versions may decide otherwise: a resolved list (mvn dependency:tree), a lock file or an SBOM "
    "says which it is"
)


@dataclass(frozen=True)
class Client:
    """A client library that a file names. `written` is None if its version, or what it is, is not known."""

    package: Package
    library: str
    """Empty if nothing is known about what the package sends."""
    written: WrittenLibrary | None
    why_unknown: str = ""
    itself: bool = True
    """False for a package that only brings the library along."""
    may_differ: str = ""
    """Why a build may have another version of the library; empty if it cannot."""

    @property
    def text(self) -> str:
        """As readers see it: 'librdkafka 2.3.0 in confluent-kafka-python 2.3.0'."""
        if self.written is None:
            return self._carrier
        library, version, binding, binding_version, *_ = self.written
        through = self.package.through or (
            f"brought by {self._carrier}" if not self.itself and self.may_differ else ""
        )
        return f"{library} {version}" + (
            f" in {binding} {binding_version}" if binding else through and f" {through}"
        )

    @property
    def _carrier(self) -> str:
        name = self.package.name.rpartition("/")[2] if self.package.type == "maven" else self.package.name
        return f"{name} {self.package.version}" if self.package.version else name

    def with_own_version(self, version: str) -> "Client":
        """A binding whose library is a package of its own in the same list has the version of that, not the one that it was
        released with.
        """
        if self.written is None or not self.written.binding:
            return self
        return replace(self, written=self.written._replace(version=version))

    def with_system_version(self, versions: Set[str]) -> "Client":
        """A binding that has no librdkafka of its own, by the versions of those that the system has, an unknown one as an empty text:
        that version if it is exactly one.
        """
        if self.written is None:
            return self
        if len(versions) == 1 and (version := next(iter(versions))):
            return replace(self, written=self.written._replace(version=version))
        texts = sorted(version or "one of unknown version" for version in versions)
        known = f"the system has {' and '.join(texts)}" if any(versions) else ""
        why = known or "the version of which is not known here"
        return replace(
            self,
            written=None,
            why_unknown=f"it runs with the librdkafka of the system ({self.package.without_librdkafka}): {why}",
        )


def of(package: Package) -> Client | None:
    """None for a package that has nothing to do with Kafka, as far as the table knows."""
    client = _of(package)
    if client is None or not client.library:
        return client
    if package.left_out and not client.itself:
        return replace(client, written=None, why_unknown=package.left_out, may_differ="")
    if package.doubt and client.written:
        return replace(client, may_differ="; ".join(filter(None, (package.doubt, client.may_differ))))
    return client


def _of(package: Package) -> Client | None:
    known = known_packages.find(package.type, package.name)
    if known is None or known.contains in (MANAGES, MANAGES_NOTHING):
        return None
    itself = known.contains == IS
    if not known.library:
        why = known.note or "nothing is known about what it sends"
        return Client(package, "", None, why, itself)
    if known.contains == BRINGS:
        carried = package.version and carried_versions.library_version(
            known.type, known.name, package.version
        )
        if carried:
            brought = WrittenLibrary(known.library, carried)
            return Client(package, known.library, brought, itself=False, may_differ=_BUILD_DECIDES)
        note = f" ({known.note})" if known.note else ""
        why = f"brings {known.library}, whose version is not written here{note}"
        return Client(package, known.library, None, why, itself=False)
    if package.version is None:
        return Client(package, known.library, None, package.why_unknown, itself)
    written, why = _written(known, package.version)
    return Client(package, known.library, written, why, itself)


def _written(known: KnownPackage, version: str) -> tuple[WrittenLibrary | None, str]:
    """The library with its version, or None and the reason."""
    if known.binding:
        inside = software.bindings().get(known.binding, {}).get(_plain(version))
        if inside is None:
            return None, f"which librdkafka is inside {known.binding} {version} is not known here"
        return WrittenLibrary(known.library, inside, known.binding, _plain(version)), ""
    is_crate = (known.type, known.name) == ("cargo", "rdkafka-sys")
    if is_crate or known.type in ("deb", "apk", "rpm"):
        inside = only_version(_SYS_CRATE if is_crate else _DISTRIBUTION, version)
        if inside is None:
            return None, f"version {version} {'names no librdkafka' if is_crate else 'is not understood'}"
        return WrittenLibrary(known.library, inside), ""
    plain = _plain(version)
    try:
        client_versions.parse(plain)
    except client_versions.NotAVersion:
        return None, f"{version!r} is not a version"
    written = WrittenLibrary(known.library, plain)
    if known.contains == SAME_VERSION and known.library == software.JAVA_LIBRARY and plain.startswith("0.8"):
        return None, "the clients of Kafka 0.8 are in this jar, and nothing is known about what they send"
    return written, ""


def _plain(version: str) -> str:
    return version.strip().removeprefix("v").removeprefix("=")
