"""The knowledge base: CSV files with a source in every row, and the one way to read them.

docs/knowledge-base.md describes every file column by column. The contents are checked by the module that owns the file
(releases, apis, served, libraries, roles, known_issues); only the form is checked here.

A data package (docs/knowledge.md) takes the place of the files that ship. A user's own folder may hold files with the same
names and columns (OWN_FILES): their rows come before those and are checked in the same way. `use` activates both for this
process; knowledge_package.store and own_knowledge.py read and check them.
"""

import csv
import datetime as dt
import hashlib
import io
import json
import sys
import zlib
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple

from client_telemetry import Unusable

OWN_FILES = (
    "artefact_packages.csv",
    "broker_api_versions.csv",
    "broker_features.csv",
    "carried_versions.csv",
    "client_api_versions.csv",
    "client_software.csv",
    "cluster_notes.csv",
    "default_client_ids.csv",
    "feature_api_versions.csv",
    "known_issues.csv",
    "library_advice.csv",
    "product_client_ids.csv",
    "products.csv",
    "releases.csv",
    "unnamed_client_api_versions.csv",
    "unreviewed_releases.csv",
    "version_aliases.csv",
    "version_negotiation.csv",
)
"""What a user's folder can hold: releases, clients, products, issues, packages and notes; not what every release shares (APIs, roles)."""
CHECKED_FILES: Mapping[str, tuple[str, ...]] = {
    "api_fallbacks.csv": ("library", "version_from", "api_key"),
    "apis.csv": ("api_key",),
    "artefact_packages.csv": ("type", "name"),
    "client_software.csv": ("software_name",),
    "cluster_notes.csv": ("note_id",),
    "confluent_platform.csv": ("confluent_platform",),
    "default_client_ids.csv": ("client_id_pattern",),
    "error_codes.csv": ("code",),
    "feature_api_versions.csv": ("feature", "level", "release_from", "api_name"),
    "known_issues.csv": ("rule_id",),
    "library_advice.csv": ("library", "apis", "where_served"),
    "library_edits.csv": ("phrase", "file"),
    "mixed_window_issues.csv": ("rule_id",),
    "product_client_ids.csv": ("client_id_pattern",),
    "products.csv": ("product", "library", "apis"),
    "removed_settings.csv": ("name",),
    "roles.csv": ("role", "api_key"),
    "standard_telemetry_metrics.csv": ("metric", "client_type"),
    "version_aliases.csv": ("software_name", "reported_version"),
    "version_negotiation.csv": ("library", "version_from"),
    "vulnerabilities.csv": ("id", "library", "version_from"),
    "written_configurations.csv": ("library", "version_from", "version_to", "configuration"),
}
"""Files whose rows people write from a source that they read -> the columns that identify a row. What commands measure, or read
from artefacts, has no such file."""
CHECKED_ON = "checked_on"
"""Their last column: the day on which somebody last compared the row with its source (checked.py). Packages that were built before
there was the column lack it, and a user's files may."""
_CACHES_OF = "client_telemetry."
"""Modules whose cached functions may hold what follows from the rows: those of every room read them."""


class Line(int):
    """A line number that carries its file unless that is a shipped one."""

    file: str

    @classmethod
    def of(cls, number: int, file: str) -> "Line":
        line = cls(number)
        line.file = file
        return line


class DamagedKnowledge(Unusable):
    """A contradiction or mistake in a knowledge file; names file, line and reason. Line 0: the folder itself."""

    def __init__(self, file: str, line: int, reason: str) -> None:
        file = getattr(line, "file", file)
        super().__init__(f"{file} line {line}: {reason}" if line else f"{file}: {reason}")
        self.file, self.line, self.reason = file, line, reason


@dataclass(frozen=True)
class OwnKnowledge:
    """A user's folder in memory: file name -> text. It is sent to workers, which need not see the folder."""

    folder: str
    texts: Mapping[str, str]


class UnusablePackage(Unusable):
    """A data package that is damaged, not trusted, or not for this version of the program; the message has one line."""


@dataclass(frozen=True)
class Package:
    """A data package in memory (knowledge_package/package_files.py reads and writes them). It is sent to workers, which need not see the
    file: 800 KB of CSV are 90 KB here.
    """

    origin: str
    """Where it was read: a path or URL."""
    built_at: dt.datetime
    """UTC."""
    compressed: Mapping[str, bytes]
    """File name -> its UTF-8 text, compressed by zlib."""
    extended_with: tuple[str, ...] = ()
    """Releases that were added in memory from their jars: only their request versions are known."""

    @classmethod
    def of_texts(cls, origin: str, built_at: dt.datetime, texts: Mapping[str, str]) -> "Package":
        return cls(origin, built_at, {}).with_texts(texts)

    def text(self, file: str) -> str:
        """Raises KeyError for a file that it lacks."""
        return zlib.decompress(self.compressed[file]).decode()

    def names(self) -> Collection[str]:
        """The names of its files, sorted."""
        return sorted(self.compressed)

    def extended(self, release: str, texts: Mapping[str, str]) -> "Package":
        """The package with these files in place of its own, which add a release."""
        return replace(self.with_texts(texts), extended_with=(*self.extended_with, release))

    def with_texts(self, texts: Mapping[str, str]) -> "Package":
        """The package with these files in place of its own."""
        compressed = {file: zlib.compress(text.encode()) for file, text in texts.items()}
        return replace(self, compressed={**self.compressed, **compressed})


Range = tuple[int, int]
ONLY_MEASURED = (
    "only which requests these brokers answer was measured: their own bugs and settings are not known"
)
"""The condition of every verdict on a measured target that says that a client works."""


class MeasuredTarget(NamedTuple):
    """Brokers that `client-telemetry probe` has measured (measured_targets.py): what they accept is known, and their bugs are
    not. The name, of its own, stands wherever that of a release may.
    """

    name: str
    measured_at: str
    """ISO 8601, UTC."""
    bootstrap: str
    answers_like: tuple[str, ...]
    """Releases of Apache Kafka that advertise the same, oldest first; empty for a broker that none explains. Known issues of
    these releases count, as it may be a build of any of them.
    """
    served: Mapping[int, Range]
    """API key -> versions that every broker answers. Those that could not be asked (`not_asked`) count as they are advertised."""
    advertised: Mapping[int, Range]
    mechanisms: tuple[str, ...]
    """SASL mechanisms that the measured listener enables; empty if it has no logins."""
    features: Mapping[str, tuple[int, int, int]]
    """Feature -> lowest and highest supported level, finalized level."""
    not_asked: tuple[int, ...]
    """Keys of APIs of which `served` has versions that were only seen advertised."""
    scram_nonce: Mapping[str, str]
    """Kind of wrong nonce -> `accepted` or `refused` at a login with SCRAM; only what was measured (probe/scram_nonce.py)."""
    product: str
    """What was measured, in words, with its version; empty: brokers of whoever asks."""
    text: str
    """The file's text, which tables keep of each question: whoever publishes its report need not see the file."""

    def in_words(self) -> str:
        """Two sentences: that its brokers are others than those of today, and what is not known of them."""
        like = (
            f", which advertise what Apache Kafka {' or '.join(self.answers_like)} does"
            if self.answers_like
            else ""
        )
        brokers = f"are brokers of {self.product}" if self.product else f"are the brokers at {self.bootstrap}"
        return (
            f"{self.name} {brokers}{like}, as measured at {self.measured_at}: moving to them is no "
            f"rolling upgrade. {ONLY_MEASURED[0].upper()}{ONLY_MEASURED[1:]}."
        )


@dataclass(frozen=True)
class InUse:
    """What this process answers from; workers are sent it, and get the same rows."""

    package: Package | None = None
    """None: the files that ship."""
    own: OwnKnowledge | None = None
    targets: tuple[MeasuredTarget, ...] = ()


MANIFEST = "manifest.json"
"""Beside the files that ship: when they were last built (form: knowledge_package/package_files.py)."""
_in_use = InUse()


def read_folder(folder: Path) -> OwnKnowledge:
    """The files of a user's folder. Raises DamagedKnowledge for a file that is not one of OWN_FILES, cannot be read or
    is not UTF-8.
    """
    if folder.is_file():
        raise DamagedKnowledge(str(folder), 0, "is a file; name the folder that has it")
    if not folder.is_dir():
        raise DamagedKnowledge(str(folder), 0, "there is no such folder")
    texts = {}
    for path in sorted(folder.glob("*.csv")):
        if path.name not in OWN_FILES:
            raise DamagedKnowledge(
                str(path), 1, f"not a file of your own knowledge, which can be: {', '.join(OWN_FILES)}"
            )
        try:
            content = path.read_bytes()
            texts[path.name] = content.decode("utf-8-sig")
        except OSError as error:
            raise DamagedKnowledge(str(path), 0, f"cannot be read: {error.strerror}") from error
        except UnicodeDecodeError as error:
            line = content.count(b"\n", 0, error.start) + 1
            reason = f"not UTF-8 (byte {content[error.start]:#04x}): save the file as UTF-8"
            raise DamagedKnowledge(str(path), line, reason) from error
    if not texts:
        raise DamagedKnowledge(str(folder), 0, f"holds none of {', '.join(OWN_FILES)}")
    return OwnKnowledge(str(folder), texts)


def use(wanted: InUse | None) -> bool:
    """Answer from these files in this process; None: from those that ship. Clears what was derived from the previous rows;
    does nothing if they are in use already. Returns whether anything changed.
    """
    global _in_use
    wanted = wanted or InUse()
    if wanted == _in_use:
        return False
    _in_use = wanted
    for name, module in list(sys.modules.items()):
        if name.startswith(_CACHES_OF):
            for member in list(vars(module).values()):
                if getattr(member, "__module__", None) == name and hasattr(member, "cache_clear"):
                    member.cache_clear()
    return True


def use_own(own: OwnKnowledge | None) -> bool:
    """Likewise: activate a user's rows, or deactivate them (None), beside the package in use."""
    return use(replace(_in_use, own=own))


def use_package(package: Package | None) -> bool:
    """Likewise: a data package in place of the files that ship (None), beside the user's own rows."""
    return use(replace(_in_use, package=package))


def in_use() -> InUse:
    return _in_use


def measured_target(name: str) -> MeasuredTarget | None:
    """None for a release of Apache Kafka."""
    return next((target for target in _in_use.targets if target.name == name), None)


def shipped_manifest() -> str:
    """The text of the manifest of the files that ship."""
    return (files(__name__) / MANIFEST).read_text(encoding="utf-8")


@cache
def shipped_built_at() -> dt.datetime:
    """UTC."""
    return dt.datetime.fromisoformat(json.loads(shipped_manifest())["built_at"])


def built_at() -> dt.datetime:
    """When the files in use were built, UTC."""
    return _in_use.package.built_at if _in_use.package else shipped_built_at()


def extended_with() -> tuple[str, ...]:
    """Releases that were added in memory from their jars, of which only request versions may be known."""
    return _in_use.package.extended_with if _in_use.package else ()


def shipped_texts() -> dict[str, str]:
    """File name -> text of the files that ship with the program."""
    folder = sorted(files(__name__).iterdir(), key=lambda file: file.name)
    return {file.name: file.read_text(encoding="utf-8") for file in folder if file.name.endswith(".csv")}


def texts() -> dict[str, str]:
    """File name -> text of the files in use, without the user's own rows."""
    package = _in_use.package
    return {file: package.text(file) for file in package.names()} if package else shipped_texts()


def rows(file: str, columns: tuple[str, ...]) -> list[tuple[int, list[str]]]:
    """(line number, cells) of each row, cells in the order of `columns`, which must match the file's header. A user's
    rows come first.
    """
    return own_rows(file, columns) + shipped_rows(file, columns)


def rows_if_there(file: str, columns: tuple[str, ...]) -> list[tuple[int, list[str]]]:
    """The same of a file that is newer than the first packages: a package that was built before there was it adds none."""
    return own_rows(file, columns) + shipped_rows_if_there(file, columns)


def shipped_rows_if_there(file: str, columns: tuple[str, ...]) -> list[tuple[int, list[str]]]:
    """Those of `shipped_rows`, likewise."""
    package = _in_use.package
    return [] if package is not None and file not in package.names() else shipped_rows(file, columns)


def shipped_rows(file: str, columns: tuple[str, ...]) -> list[tuple[int, list[str]]]:
    """The rows that ship with the product, or those of the data package in their place."""
    package = _in_use.package
    if package is None:
        return _rows(file, columns, (files(__name__) / file).read_text(encoding="utf-8"))
    if file not in package.names():
        raise DamagedKnowledge(f"{package.origin}: {file}", 0, "is not in the package")
    return _rows(file, columns, package.text(file))


def own_rows(file: str, columns: tuple[str, ...]) -> list[tuple[int, list[str]]]:
    """The user's own rows."""
    own = _in_use.own
    if own is None or file not in own.texts:
        return []
    name = str(Path(own.folder) / file)
    return [(Line.of(line, name), cells) for line, cells in _rows(name, columns, own.texts[file])]


def _rows(file: str, columns: tuple[str, ...], text: str) -> list[tuple[int, list[str]]]:
    if "\0" in text:
        raise DamagedKnowledge(file, text.count("\n", 0, text.index("\0")) + 1, "has a NUL character")
    (_, header), *lines = numbered(text) or [(1, [])]
    is_dated = tuple(header) == (*columns, CHECKED_ON) and Path(file).name in CHECKED_FILES
    if not is_dated and tuple(header) != columns:
        raise DamagedKnowledge(file, 1, _wrong_header(header, columns))
    for line, cells in lines:
        if len(cells) != len(header):
            hint = "; a text with a comma or a line break stands in quotes" if len(cells) > 1 else ""
            raise DamagedKnowledge(file, line, f"{len(cells)} cells, expected {len(header)}{hint}")
        if is_dated:
            day(file, line, cells.pop())
    return lines


def numbered(text: str) -> list[tuple[int, list[str]]]:
    """(line number, cells) of the header, which may be empty, and of each row that is not; of a row in several lines the first."""
    reader = csv.reader(io.StringIO(text, newline=""))
    lines, line = [], 1
    for cells in reader:
        if cells or line == 1:
            lines.append((line, cells))
        line = reader.line_num + 1
    return lines


def day(file: str, line: int, text: str) -> dt.date | None:
    """A cell of CHECKED_ON; None for an empty one."""
    try:
        parsed = dt.date.fromisoformat(text) if text else None
    except ValueError:
        parsed = None
    if text != (parsed.isoformat() if parsed else ""):
        raise DamagedKnowledge(file, line, f"{CHECKED_ON} {text!r} is not a date: write it as 2026-11-30")
    return parsed


def _wrong_header(header: list[str], columns: tuple[str, ...]) -> str:
    expected = (*columns, CHECKED_ON) if CHECKED_ON in header else columns
    if not header:
        return f"is empty; the first line must be {','.join(expected)}"
    for separator, name in ((";", "semicolons"), ("\t", "tabs")):
        if tuple(",".join(header).split(separator)) in (columns, (*columns, CHECKED_ON)):
            return f"its columns are separated by {name}: save the file with commas"
    return f"columns are {','.join(header)}, expected {','.join(expected)}"


def whole(file: str, line: int, column: str, text: str) -> int:
    """A cell as a non-negative whole number."""
    if not text.isdecimal():
        raise DamagedKnowledge(file, line, f"{column} {text!r} is not a whole number")
    return int(text)


def one_of(file: str, line: int, column: str, text: str, allowed: Collection[str]) -> None:
    """A cell that has one of some words."""
    if text not in allowed:
        raise DamagedKnowledge(file, line, f"{column} {text!r} is none of {', '.join(allowed)}")


def due(file: str, line: int, **cells: str) -> None:
    """The cells of a row that must not be empty, by column name."""
    if empty := [column for column, text in cells.items() if not text.strip()]:
        raise DamagedKnowledge(
            file, line, f"{' and '.join(empty)} {'is' if len(empty) == 1 else 'are'} required"
        )


def version() -> str:
    """Digest of the files, 12 hex digits: reports with the same digest used the same rules."""
    digest = hashlib.sha256()
    for name, text in texts().items():
        digest.update(name.encode() + b"\0" + text.encode())
    if _in_use.own is not None:
        for name, text in sorted(_in_use.own.texts.items()):
            digest.update(b"own " + name.encode() + b"\0" + text.encode())
    return digest.hexdigest()[:12]
