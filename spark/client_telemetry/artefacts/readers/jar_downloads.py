"""Jars that Dockerfiles and scripts download or have Spark and Flink resolve: by the path of a Maven repository, by coordinates
behind `--packages`, and Kafka's own distribution with its tools. Literals only.
"""

import re
from collections.abc import Iterator

from client_telemetry.artefacts.packages import Package, declared
from client_telemetry.artefacts.readers.lines import numbered
from client_telemetry.knowledge import known_packages

_WORDS = re.compile(r"[\s\"'=;,]+")
_FEWEST_PARTS = 4
_MOST_FOLDERS = 8
"""Of a group's name, at its end: org/apache/kafka has three."""
_PACKAGES = re.compile(r"(?:--packages|spark\.jars\.packages)[\s=:\"']+([\w.:,-]+)")
_COORDINATES = re.compile(r"([\w.-]+):([\w.-]+):(\d[\w.-]*)")
_DISTRIBUTION = re.compile(r"\bkafka_(\d\.\d+)-(\d+(?:\.\d+){2,3})\.tgz\b")


def read(text: str) -> Iterator[Package]:
    for number, line in numbered(text):
        if line.lstrip().startswith("#"):
            continue
        yield from _jars(line, number)
        for listed in _PACKAGES.finditer(line):
            for match in _COORDINATES.finditer(listed[1]):
                yield Package("maven", f"{match[1]}/{match[2]}", match[3], number, editable=True)
        for match in _DISTRIBUTION.finditer(line):
            yield Package("maven", f"org.apache.kafka/kafka_{match[1]}", match[2], number, editable=True)


def _jars(line: str, number: int) -> Iterator[Package]:
    """`…/org/apache/kafka/kafka-clients/2.3.1/kafka-clients-2.3.1.jar`."""
    for word in _WORDS.split(line) if ".jar" in line else ():
        parts = word.partition(".jar")[0].split("/")
        if len(parts) < _FEWEST_PARTS or parts[-1] != f"{parts[-3]}-{parts[-2]}":
            continue
        artifact, version = parts[-3:-1]
        exact = version if version[:1].isdigit() else None
        if name := _known(parts[-3 - _MOST_FOLDERS : -3], artifact):
            yield declared("maven", name, exact, version, number, declared_only=False)


def _known(folders: list[str], artifact: str) -> str | None:
    """The group is a part of the path: which one, the known packages tell."""
    names = (f"{'.'.join(folders[place:])}/{artifact}" for place in range(len(folders)))
    return next((name for name in names if known_packages.find("maven", name)), None)
