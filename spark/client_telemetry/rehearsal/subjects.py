"""Which library versions a client of a report stands for: the one that it declares, or both ends of a range that was inferred."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache

from client_telemetry.formats.report_file import Client
from client_telemetry.knowledge import client_ranges, client_versions, served, software
from client_telemetry.knowledge.kip511 import declared
from client_telemetry.rehearsal.library_programs import BY_NAME

LIBRDKAFKA = "librdkafka"
WITHOUT_LOGIN = frozenset(("pykafka", "kafka-node", "kafka-rust"))
"""Whose programs do not log in: they run on the listener without logins."""
_TOKENS = "OAUTHBEARER"
WITHOUT_TOKENS = frozenset(("confluent-kafka-go", "sarama", "kafka-go", "platformatic-kafka"))
"""Whose programs log in, but not with OAUTHBEARER."""
_CARRIERS = ("confluent-kafka-python", "confluent-kafka-go")
"""What runs librdkafka, in the order in which they are tried: a wheel has it whole, and the Go module has every release of it."""
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


@dataclass(frozen=True, order=True)
class Subject:
    """A library as it is run: `program` is the library, or the binding that carries librdkafka."""

    program: str
    version: str
    configuration: str = ""
    """Settings joined by blanks, as the program takes them: `api_version=0.10.1`."""
    mechanism: str = ""

    @property
    def text(self) -> str:
        """
        >>> Subject("kafka-python", "2.0.2", "api_version=0.10.1").text
        'kafka-python 2.0.2 (api_version=0.10.1)'
        """
        more = ", ".join(filter(None, (self.configuration, self.mechanism)))
        return f"{self.program} {self.version}" + (f" ({more})" if more else "")


@dataclass(frozen=True)
class Wanted:
    """What to run for a client: of each tuple of `subjects` the first that can be installed. None: why there is nothing."""

    subjects: tuple[tuple[Subject, ...], ...] = ()
    is_inferred: bool = False
    reason: str = ""


def of_client(client: Client, from_release: str, mechanism: str = "") -> Wanted:
    """`client`: one of a report.json."""
    name = declared(client["client_software_name"])
    if name is not None:
        identity = software.identify_name(name, client["client_software_version"] or "")
        if identity is None:
            return Wanted(reason=f"no library is known that calls itself {name}")
        if identity.version is None:
            return Wanted(reason=f"the version of its {identity.library} is not known")
        own = _binding_of(identity.text) if identity.library == LIBRDKAFKA else ("", "")
        return _wanted(identity.library, (identity.version,), own, "", mechanism, is_inferred=False)
    named = _inferred(client["identified_as"] or "")
    if named is None:
        return Wanted(reason="its library is not known")
    library, versions = named
    pinned_by = _PINNED_BY.get(library)
    pin = "" if pinned_by is None else _pin(library, versions[-1], _observed(client), from_release)
    if pin is None:
        return Wanted(reason=f"no {pinned_by} of {library} explains its requests")
    configuration = f"{pinned_by}={pin}" if pin else ""
    return _wanted(library, versions, ("", ""), configuration, mechanism, is_inferred=True)


def _wanted(
    library: str,
    versions: tuple[_Version, ...],
    binding: tuple[str, str],
    configuration: str,
    mechanism: str,
    *,
    is_inferred: bool,
) -> Wanted:
    subjects = tuple(
        tuple(
            Subject(program, text, configuration, "" if program in WITHOUT_LOGIN else mechanism)
            for program, text in _carried(library, version, binding)
            if mechanism != _TOKENS or program not in WITHOUT_TOKENS
        )
        for version in dict.fromkeys(versions)
    )
    if not all(subjects):
        logging_in = " that logs in with OAUTHBEARER" if mechanism == _TOKENS else ""
        return Wanted(reason=f"there is no program for {library}{logging_in}")
    return Wanted(subjects, is_inferred)


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
    for file in (client_ranges.FILE, client_ranges.UNNAMED_FILE):
        for row in client_ranges.read(file):
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
        for file in (client_ranges.FILE, client_ranges.UNNAMED_FILE)
        for row in client_ranges.read(file)
        if row.library == library and row.version_from <= version <= row.version_to
    }
    telling = {key: version for key, version in seen.items() if key in ranges and key in _TELLING}
    for pin, release in {"": from_release, **_PINS}.items():
        offered = served.by(release)
        if all(version == _chosen(ranges[key], offered, key) for key, version in telling.items()):
            return pin
    return None


def _chosen(most: int, offered: Mapping[int, served.BrokerApi], key: int) -> int:
    """A request that no release has is one that this one does not explain."""
    return min(most, offered[key].advertised.max) if key in offered else -1


def libraries(subjects: Iterable[Subject]) -> list[str]:
    return sorted({subject.program for subject in subjects})
