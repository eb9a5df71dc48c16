"""What Maven fetches into a repository of its own, with its settings and mirrors: many POMs or jars in one process, as most of the time
of a run goes into starting it and its plugins.
"""

import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path

from client_telemetry.knowledge_package.fetching import NotFetched

BASE_ADDRESS = "CLIENT_TELEMETRY_REGISTRY_MAVEN"
"""Environment variable: the address of a repository that is read without Maven."""
TIMEOUT_S = 300
MOST_AT_ONCE = 100
"""POMs or jars of a run: what an interrupted build has to fetch again, at most."""
COORDINATES = re.compile(r"\w[\w.-]*:\w[\w.-]*:\w[\w.+-]*")
"""group:artefact:version."""
_ERROR = r"\[.*?ERROR.*?\] "
_AT_ONCE = 4
"""Connections to the repository."""
_ALL = """<project><modelVersion>4.0.0</modelVersion><groupId>client-telemetry</groupId><artifactId>all</artifactId><version>1</version>
<packaging>pom</packaging><modules>{}</modules></project>"""
_ONE = """<project><modelVersion>4.0.0</modelVersion><groupId>client-telemetry</groupId><artifactId>{}</artifactId><version>1</version>
<packaging>pom</packaging><build><plugins><plugin><artifactId>maven-dependency-plugin</artifactId><executions><execution>
<phase>validate</phase><goals><goal>copy</goal></goals><configuration><artifactItems><artifactItem><groupId>{}</groupId>
<artifactId>{}</artifactId><version>{}</version><type>{}</type></artifactItem></artifactItems></configuration></execution></executions>
</plugin></plugins></build></project>"""


def local(cache: Path) -> Path:
    """Where Maven keeps what it fetched: group, artefact and version are its folders."""
    return cache / "m2"


def fetch(cache: Path, coordinates: Iterable[str], kind: str) -> dict[str, str]:
    """Fetch the POMs or jars (`kind`) of `group:artefact:version`, and return of those that could not be fetched why. With LATEST as the
    version Maven keeps the list of versions too. What one run fetched is kept if the next one fails.
    """
    wanted = sorted(set(coordinates))
    said = {
        each: f"{each!r} is not group:artefact:version" for each in wanted if not COORDINATES.fullmatch(each)
    }
    fetched = [each for each in wanted if each not in said]
    for first in range(0, len(fetched), MOST_AT_ONCE):
        said |= _fetch(cache, fetched[first : first + MOST_AT_ONCE], kind)
    return said


def _fetch(cache: Path, coordinates: Sequence[str], kind: str) -> dict[str, str]:
    """One run, in which each artefact is a module: one that is not found stops no other."""
    names = {f"pom-{place}": each for place, each in enumerate(coordinates)}
    cache.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="poms-", dir=cache) as folder:
        for name, each in names.items():
            module = Path(folder, name)
            module.mkdir()
            (module / "pom.xml").write_text(_ONE.format(name, *each.split(":"), kind), encoding="utf-8")
        modules = "".join(f"<module>{name}</module>" for name in names)
        Path(folder, "pom.xml").write_text(_ALL.format(modules), encoding="utf-8")
        try:
            done = _run(cache, Path(folder), "-fae", f"-T{_AT_ONCE}", "-U", "validate")
        except NotFetched as error:
            return dict.fromkeys(coordinates, str(error))
    if not done.returncode:
        return {}
    reasons = dict(re.findall(rf"{_ERROR}.*? on project (pom-\d+): (.{{1,300}})", done.stdout))
    if reasons:
        return {names[name]: f"Maven: {reason.strip()}" for name, reason in reasons.items() if name in names}
    return dict.fromkeys(coordinates, _reason(done))


def run(cache: Path, *arguments: str) -> None:
    """Maven checks digests itself, and fetches what its repository does not have. Raises NotFetched."""
    cache.mkdir(parents=True, exist_ok=True)
    done = _run(cache, cache, *arguments)
    if done.returncode:
        raise NotFetched(_reason(done))


def _run(cache: Path, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    program = shutil.which("mvn")
    if program is None:
        raise NotFetched(f"no Maven repository: set {BASE_ADDRESS} to the address of one, or install Maven")
    command = [program, "-q", "-B", f"-Dmaven.repo.local={local(cache)}", *arguments]
    try:
        return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=TIMEOUT_S)
    except subprocess.TimeoutExpired:
        raise NotFetched(f"Maven did not end within {TIMEOUT_S} s") from None


def _reason(done: subprocess.CompletedProcess[str]) -> str:
    said = re.search(rf"{_ERROR}(.{{1,300}})", done.stdout)
    return f"Maven: {said[1].strip() if said else done.returncode}"
