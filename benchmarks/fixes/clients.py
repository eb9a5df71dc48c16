"""The clients that the plan names: those of a rehearsal (client_telemetry.rehearsal.library_programs), and brod from its sources."""

import re
from collections.abc import Mapping
from pathlib import Path

from client_telemetry.rehearsal import client_runs, library_programs
from client_telemetry.rehearsal.library_programs import STEPS, Program
from client_telemetry.rehearsal.workplace import NotInstalled, Workplace

CACHE = Path(__file__).parents[2] / "var" / "fixes"
ERLANG = Path(__file__).parent / "programs"

__all__ = ["CACHE", "STEPS", "NotInstalled", "run"]


def run(name: str, version: str, environment: Mapping[str, str]) -> dict[str, str]:
    """Step -> ok, n/a, or the library's error. Raises NotInstalled."""
    program, sources = (
        (_BROD, ERLANG) if name == "brod" else (library_programs.BY_NAME[name], library_programs.PROGRAMS)
    )
    folder = client_runs.install(name, program, version, CACHE, sources)
    return client_runs.steps(program, folder, environment)


def _install_brod(at: Workplace, version: str) -> None:
    """With the compilers alone: rebar3 takes the parts of a build from hex."""
    _clone(at, "kafka4beam/brod", version, "lib/brod")
    wanted = dict(
        re.findall(
            r'{(kafka_protocol|supervisor3|snappyer), "([^"]+)"}',
            (at.folder / "lib/brod/rebar.config").read_text(),
        )
    )
    _clone(at, "kafka4beam/kafka_protocol", wanted["kafka_protocol"], "lib/kafka_protocol")
    if _needs(at.folder, "supervisor3"):
        _clone(at, "klarna/supervisor3", wanted["supervisor3"], "lib/supervisor3")
    if _needs(at.folder, "snappyer"):  # started and not called: its C++ is not compiled
        _clone(at, "kafka4beam/snappyer", wanted["snappyer"], "lib/snappyer")
    # The checksum in C, of one version: it computes the same in all of them, and this one has every function.
    _clone(at, "kafka4beam/crc32cer", "1.1.3", "lib/crc32cer")
    at.do("git", "submodule", "-q", "update", "--init", inside="lib/crc32cer")
    at.do("cmake", "-S", "lib/crc32cer", "-B", "crc32cer")
    at.do("cmake", "--build", "crc32cer", "--target", "crc32cer_nif")
    for each in ("supervisor3", "snappyer", "crc32cer", "kafka_protocol", "brod"):
        _compile(at, at.folder / "lib" / each)
    at.do("erlc", *(ERLANG / "erlang").glob("*.erl"))


def _needs(folder: Path, application: str) -> bool:
    return application in (folder / "lib/brod/src/brod.app.src").read_text()


def _clone(at: Workplace, repository: str, tag: str, into: str) -> None:
    url = f"https://github.com/{repository}"
    at.do("git", "clone", "-q", "--depth", "1", "--branch", tag, url, into)


def _compile(at: Workplace, application: Path) -> None:
    """An Erlang application, into its ebin/."""
    if not application.exists():
        return
    (application / "ebin").mkdir()
    resources = application / "src" / f"{application.name}.app.src"
    text = resources.read_text().replace("vsn,git", 'vsn,"0"')
    (application / "ebin" / f"{application.name}.app").write_text(text)
    sources = sorted((application / "src").glob("*.erl"))
    at.do(
        "erlc", "-I", application / "include", "-I", at.folder / "lib", "-o", application / "ebin", *sources
    )


def _erl(folder: Path) -> list[str]:
    code = [str(folder), *(str(each) for each in sorted(folder.glob("lib/*/ebin")))]
    quiet = ["erl", "-noshell", "-kernel", "logger_level", "none"]
    return [*quiet, "-pa", *code, "-s", "brod_client_steps", "main"]


_BROD = Program("erlang", _install_brod, _erl)
