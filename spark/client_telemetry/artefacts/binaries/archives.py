"""Jars (fat, nested and shaded ones), wars, and archives of Python: wheels, eggs, ZIP applications."""

import re
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from io import BytesIO
from typing import BinaryIO

from client_telemetry.artefacts.packages import Package, Unreadable
from client_telemetry.knowledge import known_packages

JAVA = (".jar", ".war", ".ear", ".aar")
PYTHON = (".whl", ".egg", ".pex", ".pyz")
"""pex keeps the wheels below `.deps`, shiv below `site-packages`."""
MOST_ENTRIES = 200_000
LARGEST_ENTRY_BYTES = 256 * 2**20
MOST_BYTES = 2 * 2**30
"""Of nested archives together, unpacked."""
_DEEPEST = 4
_POM = re.compile(r"(?:.*/)?META-INF/maven/([^/]+)/([^/]+)/pom\.properties")
_KAFKA_VERSION = re.compile(r"(?:.*/)?kafka/kafka-version\.properties")
_KAFKA_CLASS = re.compile(r"(?:.*/)?kafka/clients/NetworkClient\.class")
_NAME = re.compile(r"(?:.*/)?kafka-clients-(\d[\w.]*(?:-[\w.]+)*?)\.jar")
_METADATA = re.compile(r"(?:(?:site-packages|\.deps/[^/]+)/)?[^/]+\.dist-info/METADATA|EGG-INFO/PKG-INFO")
KAFKA_CLIENTS = "org.apache.kafka/kafka-clients"
SHADED = "shaded, cannot tell the version"


@dataclass
class Budget:
    """How much of nested archives may still be unpacked."""

    left: int = MOST_BYTES

    def read(self, archive: zipfile.ZipFile, entry: zipfile.ZipInfo, most: int) -> bytes:
        """The content of an entry, whatever its header says about its size."""
        try:
            with archive.open(entry) as opened:
                content = opened.read(most + 1)
        except (zipfile.BadZipFile, zlib.error, RuntimeError, OSError, EOFError, ValueError) as error:
            raise Unreadable(f"{entry.filename}: {error}") from None
        self.left -= len(content)
        if len(content) > most or self.left < 0:
            raise Unreadable(f"{entry.filename} unpacks to more than {most // 2**20} MiB: refused")
        return content


def read_java(opened: BinaryIO, name: str, budget: Budget | None = None, depth: int = 0) -> Iterator[Package]:
    """Kafka's packages in a jar and in the jars within it; `inside` is the path of the jar in which they are, empty for the
    outermost one. Raises Unreadable.
    """
    budget = budget or Budget()
    with _archive(opened) as archive:
        entries = archive.infolist()
        yield from _own(archive, entries, name, budget)
        for entry in entries:
            if not entry.filename.lower().endswith(JAVA) or entry.is_dir():
                continue
            if depth >= _DEEPEST:
                raise Unreadable(f"jars are nested more than {_DEEPEST} deep")
            content = BytesIO(budget.read(archive, entry, LARGEST_ENTRY_BYTES))
            for package in read_java(content, entry.filename, budget, depth + 1):
                inside = "!".join(filter(None, (entry.filename, package.inside)))
                yield replace(package, inside=inside)


def _archive(opened: BinaryIO) -> zipfile.ZipFile:
    try:
        archive = zipfile.ZipFile(opened)
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as error:
        raise Unreadable(f"not a ZIP archive: {error}") from None
    if len(archive.infolist()) > MOST_ENTRIES:
        raise Unreadable(f"more than {MOST_ENTRIES:,} entries")
    return archive


def _own(
    archive: zipfile.ZipFile, entries: list[zipfile.ZipInfo], name: str, budget: Budget
) -> Iterator[Package]:
    """What the jar itself has, not the jars in it."""
    versions, has_classes = set(), False
    for entry in entries:
        has_classes |= bool(_KAFKA_CLASS.fullmatch(entry.filename))
        if _KAFKA_VERSION.fullmatch(entry.filename):
            versions.add(_property(_text(archive, entry, budget), "version"))
        elif (match := _POM.fullmatch(entry.filename)) and known_packages.find(
            "maven", f"{match[1]}/{match[2]}"
        ):
            version = _property(_text(archive, entry, budget), "version")
            why = "" if version else "its pom.properties has no version"
            yield Package("maven", f"{match[1]}/{match[2]}", version or None, why_unknown=why)
    if match := _NAME.fullmatch(name):
        versions = versions or {match[1]}
    versions.discard("")
    if has_classes and len(versions) == 1:
        yield Package("maven", KAFKA_CLIENTS, versions.pop())
    elif has_classes:
        why = f"has versions {', '.join(sorted(versions))}" if versions else SHADED
        yield Package("maven", KAFKA_CLIENTS, None, why_unknown=why)


def _text(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, budget: Budget) -> str:
    return budget.read(archive, entry, 2**20).decode("utf-8", "replace")


def _property(text: str, name: str) -> str:
    match = re.search(rf"^\s*{name}\s*[=:]\s*(\S+)\s*$", text, re.MULTILINE)
    return match[1] if match else ""


def read_python(opened: BinaryIO) -> Iterator[Package]:
    """The distributions in a wheel, an egg or a ZIP application."""
    budget = Budget()
    with _archive(opened) as archive:
        for entry in archive.infolist():
            if _METADATA.fullmatch(entry.filename):
                yield from read_metadata(_text(archive, entry, budget))


def read_metadata(text: str) -> Iterator[Package]:
    """METADATA of an installed Python distribution, or of a wheel: headers as in an e-mail."""
    head = text.partition("\n\n")[0]
    name = re.search(r"^Name:\s*(\S+)\s*$", head, re.MULTILINE)
    version = re.search(r"^Version:\s*(\S+)\s*$", head, re.MULTILINE)
    if name and version:
        yield Package("pypi", known_packages.normal_name("pypi", name[1]), version[1])
