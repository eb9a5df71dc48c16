"""A folder in which the tools of registries (pip, npm, go, cargo, Maven) run, with the settings by which they reach them."""

import re
import shutil
from dataclasses import dataclass
from pathlib import Path

from client_telemetry.knowledge_package import confinement

PROGRAMS = Path(__file__).parent / "programs"
INSTALL_S = 540


class NotInstalled(RuntimeError):
    """A version of a library that cannot be had here, with the line that said so."""


@dataclass(frozen=True)
class Workplace:
    """`folder`: of one version of one library. `cache`: shared by all of them."""

    folder: Path
    cache: Path

    def environment(self) -> dict[str, str]:
        """What the tools of the registries are run with."""
        return confinement.of_installers(self.folder / "home", self.cache)

    def do(self, *command: str | Path, inside: str = ".") -> str:
        """Runs a tool of a registry. Raises NotInstalled."""
        try:
            ended = confinement.run(command, self.environment(), self.folder / inside, INSTALL_S)
        except OSError:
            raise NotInstalled(f"{Path(command[0]).name} is not installed") from None
        if ended.code is None:
            raise NotInstalled(f"{Path(command[0]).name} did not end within {INSTALL_S} s")
        if ended.code:
            raise NotInstalled(_reason(ended.output) or f"{Path(command[0]).name} failed")
        return ended.output

    def copy(self, pattern: str) -> None:
        for file in PROGRAMS.glob(pattern):
            shutil.copy(file, self.folder)


_SAYS_WHY = re.compile(
    r"no matching|not found|unknown revision|undefined|cannot|could not|error: |\*\*\* ", re.IGNORECASE
)


def _reason(output: str) -> str:
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    saying = [line for line in lines if _SAYS_WHY.search(line)]
    return (saying or lines[-1:] or [""])[0][:300]
