"""Which library versions a client of a report stands for: the one that it declares, or both ends of a range that was inferred."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import NamedTuple

from client_telemetry.formats.report_file import Client
from client_telemetry.knowledge import client_ranges, client_versions, served, software
from client_telemetry.knowledge.kip511 import declared
from client_telemetry.rehearsal.library_programs import BY_NAME

LIBRDKAFKA = "librdkafka"
_CARRIERS = ("confluent-kafka-python", "confluent-kafka-go")
"""What runs librdkafka, in the order in which they are tried: a wheel has it whole, and the Go module has every release of it."""
WITHOUT_LOGIN = frozenset(("pykafka", "kafka-node", "kafka-rust"))
"""Whose programs do not log in: they run on the listener without logins."""
WITHOUT_TLS = frozenset(("kafka-rust",))
WITHOUT_MECHANISM: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        "OAUTHBEARER": frozenset(("confluent-kafka-go", "sarama", "kafka-go", "platformatic-kafka")),
        # The librdkafka in wheels and in the Go module is built without; the others leave it to their users.
        "GSSAPI": frozenset((*_CARRIERS, "kafka-go", "kafkajs", "platformatic-kafka")),
    }
)
"""Mechanism -> programs that log in, but not with it."""
_PINNED_BY = {"kafka-python": "api_version", "aiokafka": "api_version"}
"""Library -> the setting that pins its request versions to a release (written_configurations.csv). Sarama's Version does so too,
but what it sends at each is not in the knowledge base: it is run as its default."""
_PINS = {
    **{old: f"{old}.0" for old in ("0.10.0", "0.10.1", "0.10.2", "0.11.0")},
    **{each: each for each in ("1.0.0", "1.1.0", "2.0.0", "2.1.0", "2.3.0", "2.4.0", "2.5.0")},
}
"""Value of such a setting -> the release whose request versions it means."""
_TELLING = frozenset((0, 1, 2))
"""Produce, Fetch, ListOffsets: these follow the setting; of others the libraries take lower versions by themselves."""
_Version = tuple[int, ...]


class WayIn(NamedTuple):
    """How a client connects: with a SASL mechanism or without login; with TLS, then without login by a client certificate."""

    mechanism: str = ""
    tls: bool = False


WITHOUT = WayIn()


@dataclass(frozen=True, order=True)
class Subject:
    """A library as it is run: `program` is the library, or the binding that carries librdkafka."""

    program: str
    version: str
    configuration: str = ""
    """Settings joined by blanks, as the program takes them: `api_version=0.10.1`."""
    mechanism: str = ""
    tls: bool = False

    @property
    def text(self) -> str:
        """
        >>> Subject("kafka-python", "2.0.2", "api_version=0.10.1").text
        'kafka-python 2.0.2 (api_version=0.10.1)'
        """
        tls = ("TLS" if self.mechanism else "client certificate") if self.tls else ""
        more = ", ".join(filter(None, (self.configuration, self.mechanism, tls)))
        return f"{self.program} {self.version}" + (f" ({more})" if more else "")


@dataclass(frozen=True)
class Wanted:
    """What to run for a client: of each tuple of `subjects` the first that can be installed. None: why there is nothing."""

    subjects: tuple[tuple[Subject, ...], ...] = ()
    is_inferred: bool = False
    reason: str = ""


def of_client(client: Client, from_release: str, way_in: WayIn = WITHOUT) -> Wanted:
    """`client`: one of a report.json."""
    name = declared(client["client_software_name"])
    if name is not None:
        identity = software.identify_name(name, client["client_software_version"] or "")
        if identity is None:
            return Wanted(reason=f"no library is known that calls itself {name}")
        if identity.version is None:
            return Wanted(reason=f"the version of its {identity.library} is not known")
        own = _binding_of(identity.text) if identity.library == LIBRDKAFKA else ("", "")
        return _wanted(identity.library, (identity.version,), own, "", way_in, is_inferred=False)
    named = _inferred(client["identified_as"] or "")
    if named is None:
        return Wanted(reason="its library is not known")
    library, versions = named
    pinned_by = _PINNED_BY.get(library)
    pin = "" if pinned_by is None else _pin(library, versions[-1], _observed(client), from_release)
    if pin is None:
        return Wanted(reason=f"no {pinned_by} of {library} explains its requests")
    configuration = f"{pinned_by}={pin}" if pin else ""
    return _wanted(library, versions, ("", ""), configuration, way_in, is_inferred=True)


def _wanted(
    library: str,
    versions: tuple[_Version, ...],
    binding: tuple[str, str],
    configuration: str,
    way_in: WayIn,
    *,
    is_inferred: bool,
) -> Wanted:
    subjects = tuple(
        tuple(
            Subject(
                program, text, configuration, "" if program in WITHOUT_LOGIN else way_in.mechanism, way_in.tls
            )
            for program, text in _carried(library, version, binding)
            if _can(program, way_in)
        )
        for version in dict.fromkeys(versions)
    )
    if not all(subjects):
        return Wanted(reason=f"there is no program for {library}{_lacking(library, way_in)}")
    return Wanted(subjects, is_inferred)


def _can(program: str, way_in: WayIn) -> bool:
    lacks_tls = way_in.tls and program in WITHOUT_TLS
    return not lacks_tls and program not in WITHOUT_MECHANISM.get(way_in.mechanism, ())


def _lacking(library: str, way_in: WayIn) -> str:
    if library not in (*BY_NAME, LIBRDKAFKA):
        return ""
    return " that connects with TLS" if library in WITHOUT_TLS else f" that logs in with {way_in.mechanism}"


def _carried(library: str, version: _Version, binding: tuple[str, str]) -> list[tuple[str, str]]:
    """The program and its version, for librdkafka those that carry it, the binding's own version first."""
    text = version_text(library, version)
    if library != LIBRDKAFKA:
        return [(library, text)] if library in BY_NAME else []
    found = [binding] if binding[0] in _CARRIERS and binding[1] else []
    for carrier in _CARRIERS:
        carrying = software.bindings().get(carrier, {})
        found += [(carrier, own) for own, inside in carrying.items() if inside == text][-1:]
    # The Go module has a tag for each release of librdkafka.
    return list(dict.fromkeys([*found, ("confluent-kafka-go", text)]))


def version_text(library: str, version: _Version) -> str:
    """As the registry writes it: Kafka had four numbers until 0.11.

    >>> version_text("kafka-clients", (0, 10, 2, 0)), version_text("sarama", (1, 41, 0, 0))
    ('0.10.2.0', '1.41.0')
    """
    is_old_kafka = library == "kafka-clients" and version[0] == 0
    return ".".join(map(str, version)) if is_old_kafka else client_versions.text(version)


def _binding_of(text: str) -> tuple[str, str]:
    """Of `librdkafka 1.7.0 in confluent-kafka-python 1.7.0`."""
    match = re.search(r" in (\S+) (\d\S*)$", text)
    return (match[1], match[2]) if match else ("", "")


def _inferred(text: str) -> tuple[str, tuple[_Version, ...]] | None:
    """Library and both ends of its versions, as identification.Candidate writes them; an open end is the oldest or newest version
    that is known. None: it names no one library.

    >>> _inferred("probably kafka-clients 2.3.0 to 2.3.1")
    ('kafka-clients', ((2, 3, 0, 0), (2, 3, 1, 0)))
    >>> _inferred("not identified, candidates: brod or kafkajs")
    """
    match = re.match(
        r"probably (?P<library>\S+) (?:\(any version(?: since (?P<since>[\d.]+))?\)"
        r"|up to (?P<until>[\d.]+)|(?P<first>\d[\d.]*)(?: to (?P<last>[\d.]+))?)",
        text,
    )
    if match is None or not (known := known_versions().get(match["library"])):
        return None
    oldest, newest = known
    first = match["first"] or match["since"]
    last = match["last"] or match["until"] or match["first"]
    ends = (
        client_versions.parse(first) if first else oldest,
        client_versions.parse(last) if last else newest,
    )
    return match["library"], ends


@cache
def known_versions() -> dict[str, tuple[_Version, _Version]]:
    """Library -> the oldest and the newest version that the knowledge base has."""
    found: dict[str, tuple[_Version, _Version]] = {}
    for row in client_ranges.every():
        oldest, newest = found.get(row.library, (row.version_from, row.version_to))
        found[row.library] = (min(oldest, row.version_from), max(newest, row.version_to))
    return found


def _observed(client: Client) -> dict[int, int]:
    """API key -> the highest request version that was seen, of the findings."""
    seen: dict[int, int] = {}
    for finding in client["findings"]:
        if (finding["rule_id"] or "").startswith("observed") and finding["api_key"] is not None:
            versions = [int(each) for each in re.findall(r"\d+", finding["versions"] or "")]
            seen[finding["api_key"]] = max([seen.get(finding["api_key"], 0), *versions])
    return seen


def _pin(library: str, version: _Version, seen: Mapping[int, int], from_release: str) -> str | None:
    """The release to which requests are pinned, the oldest of those that explain them; empty: to none. None: not known."""
    ranges = {
        row.api_key: row.versions.max
        for row in client_ranges.every()
        if row.library == library and row.version_from <= version <= row.version_to
    }
    telling = {key: version for key, version in seen.items() if key in ranges and key in _TELLING}
    for pin, release in {"": from_release, **_PINS}.items():
        offered = served.by(release)
        if all(
            key in offered and version == min(ranges[key], offered[key].advertised.max)
            for key, version in telling.items()
        ):
            return pin
    return None
