"""Artefacts from files and folders: a scan, grouped by folder, SBOM and image."""

import posixpath
import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from client_telemetry.artefacts import subject_files, subjects, tree
from client_telemetry.artefacts.code import Setting
from client_telemetry.artefacts.found import Found, Result, worst_first
from client_telemetry.artefacts.scan import scan
from client_telemetry.artefacts.subjects import NOTHING, Subject
from client_telemetry.artefacts.surroundings import folders
from client_telemetry.compatibility import fingerprints
from client_telemetry.console.grouped import grouped
from client_telemetry.identity.owners import OwnerRule
from client_telemetry.inventory.artefact import (
    CLIENT_ID,
    GROUP,
    IMAGE,
    PRINCIPAL,
    REPOSITORY,
    Artefact,
    Name,
    Written,
)

_KINDS: Final = {
    "client.id": CLIENT_ID,
    "group.id": GROUP,
    "application.id": GROUP,
    "sasl.username": PRINCIPAL,
}
"""Kafka Streams takes its application.id as group id."""
_ORIGIN = re.compile(r'^\[remote "origin"\][^\[]*?^\s*url\s*=\s*(\S+)', re.MULTILINE | re.DOTALL)
_LARGEST_CONFIG_BYTES = 2**20


def collect(
    paths: Sequence[Path],
    source: str,
    target: str,
    rules: Sequence[OwnerRule] = (),
    exclude: Sequence[str] = (),
) -> Written:
    """Scans files and folders. Raises OSError for a path that cannot be read."""
    result = scan(paths, source, target, rules, exclude)
    by_unit = _units(result)
    origins = _Origins()
    names, loose = _names(result.settings, by_unit)
    artefacts = []
    for unit, (file, subject, found) in by_unit.items():
        repository = next(iter(sorted(subject.repositories)), "") or origins.of(file)
        kind = IMAGE if subject.digests or subject_files.is_image(file) else REPOSITORY
        clients = tuple(sorted(found, key=worst_first))
        unread = tuple(each.reason for each in result.unread if each.of == file.shown)
        artefacts.append(Artefact(unit, kind, subject, repository, clients, tuple(names[unit]), unread))
    return Written(tuple(artefacts), tuple(result.unread), result.read, tuple(loose))


def relative(written: Written, root: str) -> Written:
    """The same with names of files as they are below `root`, which ends with a slash."""

    def short(text: str) -> str:
        return text.removeprefix(root)

    def of_found(found: Found) -> Found:
        code = replace(
            found.code,
            pins=tuple(replace(pin, where=short(pin.where)) for pin in found.code.pins),
            mechanisms=tuple((mechanism, short(where)) for mechanism, where in found.code.mechanisms),
        )
        # Of the verdict, too, no reader has the folder that was read.
        judged = replace(found.judged, explanation=found.judged.explanation.replace(root, ""))
        place = replace(found.place, file=short(found.place.file))
        return replace(found, place=place, judged=judged, owner_source=short(found.owner_source), code=code)

    artefacts = tuple(
        replace(
            each,
            name=short(each.name) if each.name != root.rstrip("/") else ".",
            clients=tuple(map(of_found, each.clients)),
            names=tuple(replace(name, where=short(name.where)) for name in each.names),
        )
        for each in written.artefacts
    )
    unread = tuple(replace(each, file=short(each.file)) for each in written.unread)
    return Written(artefacts, unread, written.files_read, written.loose)


_Unit = tuple[tree.File, Subject, list[Found]]


def _units(result: Result) -> dict[str, _Unit]:
    """Name of an artefact to one of its files, its subject and its clients: an SBOM or image is one by itself, other files
    are one with all of their folder.
    """
    by_file = grouped(result.found, lambda found: found.place.file)
    units: dict[str, _Unit] = {}
    for file in result.files:
        subject = subject_files.of_file(file)
        found_here = by_file.get(file.shown, [])
        if subject is None and not found_here:
            continue
        name = file.shown if subject is not None else posixpath.dirname(file.shown) or "."
        unit = units.setdefault(name, (file, subject or NOTHING, []))
        unit[2].extend(found_here)
    return units


def _names(
    settings: Iterable[Setting], units: dict[str, _Unit]
) -> tuple[defaultdict[str, list[Name]], list[Name]]:
    """Names by the artefact in whose folder, or the nearest one above, they are written. One that is above no name is the
    artefact of a name if it is the only one of all: deployment files stand beside the sources.
    """
    by_folder: dict[str, set[str]] = defaultdict(set)
    for unit, (file, _, _) in units.items():
        by_folder[posixpath.dirname(file.shown)].add(unit)
    of_units: defaultdict[str, list[Name]] = defaultdict(list)
    loose = []
    only = set(units) if len(units) == 1 else set()
    for setting in settings:
        kind = _KINDS.get(setting.name)
        if kind is None or (kind == CLIENT_ID and fingerprints.by_client_id(setting.value)[0]):
            continue
        name = Name(kind, setting.value, f"{setting.file}:{setting.line}")
        near = next((by_folder[each] for each in folders(setting.file) if each in by_folder), set())
        candidates = near or only
        if len(candidates) == 1:
            of_units[next(iter(candidates))].append(name)
        else:
            loose.append(name)
    return of_units, loose


class _Origins:
    """Repositories of files: by the remote `origin` in the Git configuration of a folder above, inside what was given."""

    def __init__(self) -> None:
        self._by_folder: dict[Path, str | None] = {}

    def of(self, file: tree.File) -> str:
        folder = posixpath.dirname(file.path)
        while True:
            if (origin := self._origin(file.root / folder)) is not None:
                return origin
            if not folder:
                return ""
            folder = posixpath.dirname(folder)

    def _origin(self, folder: Path) -> str | None:
        if folder not in self._by_folder:
            self._by_folder[folder] = _read_origin(folder)
        return self._by_folder[folder]


def _read_origin(folder: Path) -> str | None:
    """None: the folder is not that of a repository."""
    config = folder / ".git" / "config"
    try:
        if any(path.is_symlink() for path in (config.parent, config)) or not config.is_file():
            return None
        with config.open(encoding="utf-8", errors="replace") as opened:
            match = _ORIGIN.search(opened.read(_LARGEST_CONFIG_BYTES))
    except OSError:
        return None
    return subjects.repository(match[1]) if match else ""
