"""One run of a program: installed once for each version of its library, then run against a broker as often as it is asked."""

import hashlib
import json
import re
import shutil
from collections.abc import Mapping
from pathlib import Path

from client_telemetry.knowledge_package import confinement
from client_telemetry.rehearsal.library_programs import STEPS, Program
from client_telemetry.rehearsal.workplace import PROGRAMS, NotInstalled, Workplace

RUN_S = 240
OK, NOT_AVAILABLE = "ok", "n/a"
_SAID = 300
_MADE_OF, _WITH_GSSAPI = "made_of", "with_gssapi"
"""File of a folder that was installed whole: the digest of its program."""


def install(name: str, program: Program, version: str, cache: Path, sources: Path = PROGRAMS) -> Path:
    """The folder of a version of a library with its program, made if it is not there or of another program. Raises
    NotInstalled.
    """
    folder, current = _folder(name, version, cache), digest(sources / program.source)
    if _is_made_of(folder, current):
        return folder
    if not re.fullmatch(r"\d+(\.\d+)+([-.\w]*)", version):
        raise NotInstalled(f"{version!r} is not an exact version")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    program.install(Workplace(folder, cache), version)
    (folder / _MADE_OF).write_text(current, encoding="utf-8")
    return folder


def install_gssapi(program: Program, folder: Path, cache: Path) -> None:
    """What a login with Kerberos needs besides the library in its folder. Raises NotInstalled."""
    done = folder / _WITH_GSSAPI
    if program.for_gssapi and not done.exists():
        program.for_gssapi(Workplace(folder, cache))
        done.touch()


def is_installed(name: str, program: Program, version: str, cache: Path) -> bool:
    return _is_made_of(_folder(name, version, cache), digest(PROGRAMS / program.source))


def _folder(name: str, version: str, cache: Path) -> Path:
    return cache / "clients" / name / version


def _is_made_of(folder: Path, digest_of_program: str) -> bool:
    made_of = folder / _MADE_OF
    return made_of.exists() and made_of.read_text(encoding="utf-8") == digest_of_program


def digest(folder: Path) -> str:
    """Changes when a program does: what was installed before is made anew."""
    files = (each for each in sorted(folder.iterdir()) if each.is_file())
    return hashlib.sha256(b"".join(each.read_bytes() for each in files)).hexdigest()


def settings(topic: str, configuration: str) -> dict[str, str]:
    """Variables of a program that say what it does, beside those of its broker."""
    return {"TOPIC": topic, "GROUP": f"group-of-{topic}", "CONFIGURATION": configuration}


def steps(program: Program, folder: Path, settings: Mapping[str, str]) -> dict[str, str]:
    """Step -> ok, n/a, or the library's error: those that were reached. `settings`: of the program, as variables."""
    environment = {**confinement.of_programs(folder / "home"), **settings}
    try:
        ended = confinement.run(program.command(folder), environment, folder, RUN_S)
    except OSError as error:
        return {"connect": f"{Path(str(error.filename)).name}: {error.strerror}"}
    outcomes = _said_steps(ended.output)
    if not outcomes:
        late = f"ended after {RUN_S} s" if ended.code is None else "no output"
        outcomes["connect"] = (ended.output.strip().splitlines() or [late])[-1]
    if "commit" in outcomes and "group" not in outcomes:
        outcomes["group"] = outcomes.pop("commit")
    return {step: readable(text) for step, text in outcomes.items() if text != "not reached"}


def _said_steps(output: str) -> dict[str, str]:
    outcomes: dict[str, str] = {}
    for line in output.splitlines():
        if not line.startswith('{"'):
            continue
        try:
            said = json.loads(line)
            step, outcome = str(said["step"]), str(said["outcome"])
        except (ValueError, KeyError):
            continue
        if step in STEPS:
            outcomes[step] = NOT_AVAILABLE if outcome.endswith(NOT_AVAILABLE) else outcome
    return outcomes


def readable(text: str) -> str:
    """Without ports, times and line breaks, which differ from run to run.

    >>> readable("KafkaError: 127.0.0.1:15123 closed\\n after 12 ms")
    'KafkaError: BROKER closed after some ms'
    """
    text = re.sub(r"(b')?127\.0\.0\.1'?:\d+", "BROKER", " ".join(text.split()))
    return re.sub(r"\bafter \d+ ?ms\b", "after some ms", text)[:_SAID]
