"""Resolves a registered software name and version (KIP-511) to the library that speaks to the broker.

Bindings are resolved to the librdkafka inside them, Confluent Platform versions to their Kafka.
"""

import re
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import NamedTuple

from client_telemetry.knowledge import DamagedKnowledge, client_versions, due, kip511, releases, rows
from client_telemetry.knowledge.user_patterns import UserPattern, group_names, knowledge_pattern

FILE = "client_software.csv"
ALIASES_FILE = "version_aliases.csv"
ALIASES_COLUMNS = ("software_name", "reported_version", "library_version", "source")
BINDINGS_FILE = "binding_librdkafka_versions.csv"
BINDINGS_COLUMNS = ("binding", "binding_version", "librdkafka_version", "note", "source")

_CONFLUENT_PLATFORM = re.compile(r"(\d+\.\d+)(?:\.\d+)*(?:-[a-zA-Z0-9.]+)*?-c(?:cs|e)\b")
"""7.6.1-ccs and 7.6.1-ce, also 7.6.1-14-ccs of a hotfix: a Confluent Platform release, not a Kafka one."""
_LINE = re.compile(r"(\d{1,3}\.\d{1,3})(?!\d)")
SECOND_VERSION = re.compile(r"v?\d+(?:\.\d+)+-v?\d+\.\d")
"""Two versions in one text: a range, or Scala's before Kafka's (2.11-0.10.2.1)."""
_NO_VERSION = re.compile(r"v?0\.0\.0(?![\d.])")
"""Of a build without a version: Go's pseudo-versions begin so (v0.0.0-20211011…), whatever commit they are of."""
_JAVA = "apache-kafka-java"
JAVA_LIBRARY = "kafka-clients"


class Software(NamedTuple):
    """One line of client_software.csv."""

    software_name: str
    library: str
    version_pattern: re.Pattern[str] | UserPattern
    binding: str
    negotiates_since: tuple[int, ...] | None
    """First version that negotiates by the broker's ApiVersions; None = unknown."""
    names_every_connection_since: tuple[int, ...] | None
    """First version whose connections all declare its name; None = unknown."""
    version_decides: bool
    """Whether name and version determine the request versions (not for Sarama, where config.Version does)."""
    source: str


COLUMNS = Software._fields


class WrittenLibrary(NamedTuple):
    """The library of a client as a lock file, an SBOM or an image names it: what is written, not what a broker saw."""

    library: str
    version: str
    binding: str = ""
    """The binding and its version, if the library is inside one (binding_librdkafka_versions.csv)."""
    binding_version: str = ""
    configuration: str = ""
    """Which rows of unnamed_client_api_versions.csv say what it sends, where these depend on its configuration."""
    pinned_to: str = ""
    """The exact release as of which it speaks, where its code pins one (sarama Version, kafka-python api_version): it sends
    no request version that this release did not have."""


@dataclass(frozen=True)
class Identity:
    """Library and version behind a declared name; `version` is None if the declared text has none."""

    library: str
    version: tuple[int, ...] | None
    text: str
    """As readers see it: 'librdkafka 1.7.0 in confluent-kafka-python 1.7.0'."""
    binding: str = ""
    negotiates: bool | None = None
    version_decides: bool = True
    leaves_connections_unnamed: bool = False
    """Some connections of this version carry no name, others do."""
    configuration: str | None = None
    """For a library that is written down rather than declared: the rows of unnamed_client_api_versions.csv that hold for
    it. None: only those of libraries that declare a name."""
    pinned_to: str = ""
    """As in WrittenLibrary."""


@cache
def known() -> dict[str, Software]:
    """Registered software name -> what is known about it."""
    by_name: dict[str, Software] = {}
    for line, (name, library, pattern, binding, since, named, decides, source) in rows(FILE, COLUMNS):
        due(FILE, line, software_name=name, library=library)
        if name in by_name:
            raise DamagedKnowledge(FILE, line, f"{name} occurs twice")
        if decides not in ("yes", "no") or not source:
            raise DamagedKnowledge(FILE, line, "version_decides is yes or no, and a source is required")
        compiled = knowledge_pattern(FILE, line, "version_pattern", pattern)
        if "library" not in group_names(compiled):
            raise DamagedKnowledge(FILE, line, "version_pattern has no group named library")
        by_name[name] = Software(
            name,
            library,
            compiled,
            binding,
            client_versions.of_cell(FILE, line, "negotiates_since", since) if since else None,
            client_versions.of_cell(FILE, line, "names_every_connection_since", named) if named else None,
            decides == "yes",
            source,
        )
    return by_name


def kafka_of_confluent_platform(version: str) -> str | None:
    """The line of Kafka in a Confluent Platform release as clients and brokers report it (`7.6.1-ccs` -> `3.6`)."""
    match = _CONFLUENT_PLATFORM.match(version)
    return releases.platforms().get(match[1]) if match else None


def _platform_line(version: str) -> str | None:
    """The line of Confluent Platform: of a version with its suffix, or without it if Kafka has not reached the number
    yet (a custom build, `7.6.1-SNAPSHOT`). Once Kafka does reach it, that release would be taken for an older one.
    """
    if match := _CONFLUENT_PLATFORM.match(version):
        return match[1]
    match = _LINE.match(version)
    beyond = match and int(match[1].partition(".")[0]) > releases.parse(releases.known()[-1])[0]
    return match[1] if match and beyond and match[1] in releases.platforms() else None


@cache
def _aliases() -> dict[tuple[str, str], str]:
    aliases: dict[tuple[str, str], str] = {}
    for line, (name, reported, version, source) in rows(ALIASES_FILE, ALIASES_COLUMNS):
        due(ALIASES_FILE, line, software_name=name, reported_version=reported, source=source)
        client_versions.of_cell(ALIASES_FILE, line, "library_version", version)
        if name not in known():
            raise DamagedKnowledge(ALIASES_FILE, line, f"software_name {name} is not in {FILE}")
        aliases.setdefault((name, reported), version)
    return aliases


@cache
def bindings() -> dict[str, dict[str, str]]:
    """Binding -> its version -> the librdkafka version inside it."""
    versions_by_binding: dict[str, dict[str, str]] = {}
    for line, (binding, version, librdkafka, _, source) in rows(BINDINGS_FILE, BINDINGS_COLUMNS):
        if version in versions_by_binding.setdefault(binding, {}):
            raise DamagedKnowledge(BINDINGS_FILE, line, f"{binding} {version} occurs twice")
        if not source:
            raise DamagedKnowledge(BINDINGS_FILE, line, "no source")
        versions_by_binding[binding][version] = librdkafka
    return versions_by_binding


def check() -> None:
    """Read all files about software: raises DamagedKnowledge at the first mistake."""
    known(), _aliases(), releases.platforms(), bindings()


@cache
def names_every_connection_since(library: str) -> tuple[int, ...] | None:
    """First version of a library whose connections all carry a name; None if there is none or it is unknown."""
    return next(
        (
            declared.names_every_connection_since
            for declared in known().values()
            if declared.library == library
        ),
        None,
    )


@lru_cache(maxsize=4096)
def identify_name(name: str, version: str) -> Identity | None:
    """The library behind a software name and version; None if the name is unknown."""
    software = known().get(name)
    if software is None:
        return None
    if not _is_one_version(software, version):
        inside = f" in {software.binding}" if software.binding else ""
        return _identity(software, None, f"{software.library}, version unknown{inside}")
    if name == _JAVA and (line := _platform_line(version)):
        kafka = releases.platforms().get(line)
        what = f"{software.library} {kafka or ''}".strip() + f" of Confluent Platform {version}"
        return _identity(software, kafka, what)
    match = software.version_pattern.fullmatch(_aliases().get((name, version), version))
    groups = match.groupdict() if match else {}
    library_version, binding_version = groups.get("library"), groups.get("binding")
    if library_version is None and binding_version:
        library_version = bindings().get(software.binding, {}).get(binding_version)
    what = (
        f"{software.library} {library_version}" if library_version else f"{software.library}, version unknown"
    )
    if not software.version_decides:
        declared_version = version if kip511.is_valid(version) else "not readable" if version else "none"
        what = f"{software.library}, declared version {declared_version}"
    if software.binding:
        what += f" in {software.binding}" + (f" {binding_version}" if binding_version else "")
    return _identity(software, library_version, what)


def _is_one_version(software: Software, text: str) -> bool:
    """Whether a text can be the version that a client declares. Brokers refuse what KIP-511 does not allow, so a list of
    versions, a range or a remark was written by somebody; so was a line that Kafka never had, such as Scala's 2.13.
    """
    if not software.version_decides or not text:
        return True  # what it sends does not hang on the text
    if not kip511.is_valid(text) or SECOND_VERSION.match(text) or _NO_VERSION.match(text):
        return False
    match = _LINE.match(text.removeprefix("v"))
    return (
        software.software_name != _JAVA
        or match is None
        or _CONFLUENT_PLATFORM.match(text) is not None
        or _may_be_kafka(match[1])
    )


def _may_be_kafka(line: str) -> bool:
    """Whether Kafka has had this line ('2.8', '0.10'), is older than what is known here, or has not reached it yet."""
    number = tuple(int(part) for part in line.split("."))
    known = {releases.parse(release)[:2] for release in releases.known()}
    return number in known or not min(known) < number < max(known)


@lru_cache(maxsize=4096)
def identify_written(written: WrittenLibrary) -> Identity | None:
    """The version of Java is that of Kafka, or a vendor's; None if it is not a version of Kafka at all."""
    library, version_text, binding, binding_version, configuration, pinned_to = written
    if library == JAVA_LIBRARY:
        identity = identify_name(_JAVA, version_text)
        return identity if identity and identity.version else None
    software = next((named for named in known().values() if named.library == library), None)
    version = client_versions.parse(version_text)
    since = software.negotiates_since if software else None
    return Identity(
        library=library,
        version=version,
        text=f"{library} {version_text}" + (f" in {binding} {binding_version}" if binding else ""),
        binding=binding,
        negotiates=None if since is None else version >= since,
        configuration=configuration,
        pinned_to=pinned_to,
    )


def _identity(software: Software, version_text: str | None, what: str) -> Identity:
    version = client_versions.parse(version_text) if version_text else None
    since, named = software.negotiates_since, software.names_every_connection_since
    return Identity(
        library=software.library,
        version=version,
        text=what,
        binding=software.binding,
        negotiates=None if since is None or version is None else version >= since,
        version_decides=software.version_decides,
        leaves_connections_unnamed=named is not None and version is not None and version < named,
    )
