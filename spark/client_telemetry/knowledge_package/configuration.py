"""The configuration keys of broker releases, from their own code: java/BrokerConfiguration.java asks the ConfigDef of brokers and topics
in the jars of a release. That runs the static initialisers of these classes, and nothing else of Kafka. It also lists the classes of
Kafka that a value can name.

Some defaults are those of the Java that runs it: `ssl.protocol`, `ssl.enabled.protocols` and the like.
"""

import json
import os
import shutil
import tempfile
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from client_telemetry.knowledge import broker_classes, broker_configuration, releases
from client_telemetry.knowledge.broker_configuration import NULL, RANGE, REQUIRED, SCOPES, Key
from client_telemetry.knowledge.broker_release import csv_text
from client_telemetry.knowledge_package import broker_jars, confinement
from client_telemetry.knowledge_package.artefacts import MavenRepository

PROGRAM = Path(__file__).parent / "java" / "BrokerConfiguration.java"
TIMEOUT_S = 60
_SPECIAL = {"null": NULL, "required": REQUIRED}


class UnreadableConfiguration(ValueError):
    """No Java, or the jars do not define their configuration as they have so far; the message has one line."""


class Configuration(NamedTuple):
    keys: Mapping[str, Mapping[str, Key]]
    """Scope -> key -> definition."""
    source: str
    """Coordinates and class of each scope, separated by a blank."""
    classes: Mapping[str, str]
    """Those that a value can name -> coordinates of the jar."""


def read(repository: MavenRepository, release: str) -> Configuration:
    """Of a release, whose jars are fetched if they are not in the cache. Raises NotFetched or UnreadableConfiguration."""
    if shutil.which("java") is None:
        raise UnreadableConfiguration("Java is not installed")
    broker_jars.fetch(repository, [release])
    jars = broker_jars.class_path(repository, release)
    return _parsed(release, _printed(jars, broker_classes.before(release)))


def _printed(jars: Sequence[Path], older_classes: Collection[str]) -> str:
    """With what Kafka's classes say while they are initialised."""
    class_path = os.pathsep.join(map(str, jars))
    java = ["java", "-XX:TieredStopAtLevel=1", "-Duser.language=en", "-cp", class_path]
    with tempfile.TemporaryDirectory() as home:
        folder = Path(home)
        try:
            command = [*java, str(PROGRAM), *sorted(older_classes)]
            ended = confinement.run(command, confinement.of_programs(folder), folder, TIMEOUT_S)
        except OSError as error:
            raise UnreadableConfiguration(f"Java cannot be run: {error.strerror}") from None
    if ended.code is None:
        raise UnreadableConfiguration(f"Java did not end within {TIMEOUT_S} s")
    if ended.code:
        said = [line for line in ended.output.splitlines() if "Exception" in line or "rror" in line]
        raise UnreadableConfiguration(
            f"its jars define no configuration: {(said or ['no reason'])[-1].strip()[:300]}"
        )
    return ended.output


def _parsed(release: str, printed: str) -> Configuration:
    keys: dict[str, dict[str, Key]] = {}
    sources: dict[str, str] = {}
    classes: dict[str, str] = {}
    scope = ""
    try:
        for row in map(json.loads, (line for line in printed.splitlines() if '{"' in line)):
            if "scope" in row:
                scope = row["scope"]
                sources[scope] = f"{_coordinates(row['jar'], release)}:{row['class']}"
                keys[scope] = {}
            elif "implementation" in row:
                classes[row["implementation"]] = _coordinates(row["jar"], release)
            else:
                keys[scope][row["key"]] = _key(row)
    except (ValueError, LookupError, TypeError) as error:
        raise UnreadableConfiguration(f"what its ConfigDef printed cannot be read: {error}") from error
    if not all(keys.get(each) for each in SCOPES):
        raise UnreadableConfiguration("its ConfigDef is empty")
    if not classes:
        raise UnreadableConfiguration("its jars have no class that a value can name")
    return Configuration(keys, " ".join(sources[each] for each in SCOPES), classes)


def _coordinates(jar: str, release: str) -> str:
    """
    >>> _coordinates("kafka_2.13-4.0.0.jar", "4.0.0")
    'org.apache.kafka:kafka_2.13:4.0.0'
    """
    return f"org.apache.kafka:{jar.removesuffix('.jar').removesuffix(f'-{release}')}:{release}"


def _key(row: Mapping[str, str]) -> Key:
    default = _SPECIAL.get(row["kind"], row["default"])
    valid = row["valid"] if RANGE.fullmatch(row["valid"]) else ""
    return Key(row["type"], default, valid, bool(row["internal"]))


def rewritten(found: Mapping[str, Configuration]) -> dict[str, str]:
    """The files of the knowledge base with these releases too: file name -> text."""
    known = {
        release: {scope: broker_configuration.of(scope, release) for scope in SCOPES}
        for release in broker_configuration.read()
    }
    by_release = {**known, **{release: each.keys for release, each in found.items()}}
    sources = {**broker_configuration.sources(), **{release: each.source for release, each in found.items()}}
    in_order = sorted(sources, key=releases.parse)
    classes = {release: broker_classes.of(release) for release in broker_configuration.read()}
    classes.update((release, each.classes) for release, each in found.items())
    return {
        broker_configuration.FILE: csv_text(
            broker_configuration.COLUMNS, broker_configuration.rows_of(by_release, sources)
        ),
        broker_configuration.RELEASES_FILE: csv_text(
            broker_configuration.RELEASES_COLUMNS, [(release, sources[release]) for release in in_order]
        ),
        broker_classes.FILE: csv_text(broker_classes.COLUMNS, broker_classes.rows_of(classes)),
    }


def differences(release: str, of_jars: Configuration) -> list[str]:
    """Where jars and knowledge base disagree about a release, one line each."""
    if broker_configuration.not_known_for(release):
        return [f"{release}: configuration not known here"]
    differing = [
        f"{release} {scope} key {key}: {ours.get(key)} here, {theirs.get(key)} in the jars"
        for scope in SCOPES
        for ours, theirs in [(broker_configuration.of(scope, release), of_jars.keys[scope])]
        for key in sorted(ours.keys() | theirs.keys())
        if ours.get(key) != theirs.get(key)
    ]
    here = broker_classes.of(release)
    return differing + [
        f"{release} class {name}: {'not here' if name in of_jars.classes else 'not in the jars'}"
        for name in sorted(here.keys() ^ of_jars.classes.keys())
    ]
