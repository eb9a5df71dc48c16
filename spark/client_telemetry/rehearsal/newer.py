"""Versions of libraries that the registries have and the knowledge base has not."""

import datetime as dt
import re
import shutil
from collections.abc import Iterable
from pathlib import Path

from client_telemetry.knowledge import client_versions, releases, software
from client_telemetry.knowledge.software import JAVA_LIBRARY
from client_telemetry.knowledge_package.artefacts import MavenRepository
from client_telemetry.rehearsal.library_programs import BY_NAME
from client_telemetry.rehearsal.subjects import LIBRDKAFKA, known_versions
from client_telemetry.rehearsal.workplace import NotInstalled, Workplace

_Version = tuple[int, ...]


def library_of(program: str) -> str:
    """What the knowledge base calls the library that a program runs."""
    return LIBRDKAFKA if program in software.bindings() else program


def newest_known(program: str) -> _Version:
    """Of a binding, its own newest version; the empty tuple if none is known."""
    if program in software.bindings():
        return max(map(client_versions.parse, software.bindings()[program]))
    return known_versions().get(program, ((), ()))[1]


def published(program: str, cache: Path) -> list[str]:
    """Final releases, oldest first, at least one. Raises NotInstalled or NotFetched."""
    found = _listed(program, cache)
    if not found:
        raise NotInstalled("its registry lists no release")
    return found


def _listed(program: str, cache: Path, before: dt.date | None = None) -> list[str]:
    """Final releases, oldest first. `before`: those that its registry had before that day (UTC); releases of Kafka by the day of their
    commit, as Maven says no other. Raises NotInstalled or NotFetched if the registry cannot be asked, or says no day.
    """
    if program == JAVA_LIBRARY:
        listed = MavenRepository(cache / "artefacts").kafka_releases()
        days = releases.committed_on()
        return [each for each in listed if before is None or (each in days and days[each] < before)]
    ask = BY_NAME[program].published
    if ask is None:
        raise NotInstalled("its registry is not asked")
    folder = cache / "lists" / program
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return final(ask(Workplace(folder, cache), before))


def final(versions: Iterable[str]) -> list[str]:
    """Without candidates and the like, oldest first.

    >>> final(["2.0.0", "1.10.0", "1.9.0", "2.0.0rc1", "2.1.0-beta.1", "1.9.0"])
    ['1.9.0', '1.10.0', '2.0.0']
    """
    return sorted(
        {each for each in versions if re.fullmatch(r"\d+(\.\d+)+", each)}, key=client_versions.parse
    )


def newer(program: str, cache: Path) -> list[str]:
    """Raises NotInstalled or NotFetched."""
    known = newest_known(program)
    return [each for each in _whole(program, cache) if client_versions.parse(each) > known]


def since(program: str, cache: Path, day: dt.date) -> list[str]:
    """Final releases that the registry has since that day, oldest first. Raises NotInstalled or NotFetched."""
    listed, older = _whole(program, cache), set(_listed(program, cache, day))
    return [each for each in listed if each not in older]


def _whole(program: str, cache: Path) -> list[str]:
    """What is published. Raises NotInstalled or NotFetched; also where the registry lists less than is known: it may not list what
    is new either."""
    listed = published(program, cache)
    if client_versions.parse(listed[-1]) < newest_known(program):
        raise NotInstalled(f"it lists none after {listed[-1]}, which is older than that")
    return listed


def programs() -> list[str]:
    """Those whose registry can be asked."""
    return [
        name
        for name, program in BY_NAME.items()
        if newest_known(name) and (program.published is not None or name == JAVA_LIBRARY)
    ]
