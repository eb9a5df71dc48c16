"""Versions of libraries that the registries have and the knowledge base has not."""

import re
import shutil
from collections.abc import Iterable
from pathlib import Path

from client_telemetry.knowledge import client_versions, software
from client_telemetry.knowledge.software import JAVA_LIBRARY
from client_telemetry.knowledge_package.artefacts import MavenRepository
from client_telemetry.rehearsal.library_programs import BY_NAME, NotInstalled, Workplace
from client_telemetry.rehearsal.subjects import LIBRDKAFKA, known_versions

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
    """Final releases, oldest first. Raises NotInstalled or NotFetched if its registry cannot be asked."""
    if program == JAVA_LIBRARY:
        return MavenRepository(cache / "artefacts").kafka_releases()
    ask = BY_NAME[program].published
    if ask is None:
        raise NotInstalled("its registry is not asked")
    folder = cache / "lists" / program
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    found = final(ask(Workplace(folder, cache)))
    if not found:
        raise NotInstalled("its registry lists no release")
    return found


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
    return [each for each in published(program, cache) if client_versions.parse(each) > known]


def programs() -> list[str]:
    """Those whose registry can be asked."""
    return [
        name
        for name, program in BY_NAME.items()
        if newest_known(name) and (program.published is not None or name == JAVA_LIBRARY)
    ]
