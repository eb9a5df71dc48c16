"""The Dockerfile's steps, run as Docker runs them where there is no Docker: each stage has a file system of its own, which is
this machine's with what the stage changed laid over it (overlayfs), and each step runs in it as the stage's user with nothing
of this environment. Of another machine's image are only Python, Java and make: those of this machine are taken.

Needs root, overlayfs and a loop device; nothing is changed outside of a disk image in the given folder."""

import os
import re
import shlex
import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.end_to_end.lake.servers import CHECKOUT

PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
CACHE = Path.home() / ".cache" / "uv"
_NETWORK = re.compile(
    r"(SSL_CERT|REQUESTS_CA|CURL_CA|NODE_EXTRA|HTTPS?_PROXY|NO_PROXY|PIP_|UV_|JAVA_TOOL_OPTIONS)",
    re.IGNORECASE,
)
"""What this machine's network needs, as `docker build` takes proxies from its own environment."""
_DISK = "14G"
"""Sparse: as much as is written."""


@dataclass
class ImageStage:
    """A stage of the Dockerfile. `base`: a stage before it, or an image that is somebody else's."""

    name: str
    base: str
    steps: list[tuple[str, str]] = field(default_factory=list)


def stages_of(text: str) -> list[ImageStage]:
    """The stages, their steps as instruction and argument, in order.

    >>> stages_of("FROM a AS b\\n# c\\nRUN d \\\\\\n  && e\\n")
    [ImageStage(name='b', base='a', steps=[('RUN', 'd  && e')])]
    """
    lines = "\n".join(line for line in text.splitlines() if not line.startswith("#"))
    found: list[ImageStage] = []
    for line in re.sub(r"\\\n\s*", " ", lines).splitlines():
        instruction, _, argument = line.strip().partition(" ")
        if instruction == "FROM":
            base, _, name = argument.partition(" AS ")
            found.append(ImageStage(name, base))
        elif instruction:
            found[-1].steps.append((instruction, argument.strip()))
    return found


class _Script:
    """Shell commands that build the stages one after the other below `disk`."""

    def __init__(self, disk: Path) -> None:
        self.disk = disk
        # As the builder of an image has it, whatever the caller has.
        self.lines = ["set -euo pipefail", "umask 022"]
        self._lowers: dict[str, str] = {}
        self._settings: dict[str, tuple[str, str, dict[str, str]]] = {}

    def add(self, *command: object) -> None:
        self.lines.append(shlex.join(map(str, command)))

    def mount(self, stage: str, base: str) -> Path:
        """The stage's file system, over that of its base."""
        lower = self._lowers.get(base, "/")
        folder = self.disk / stage
        self.add("mkdir", "-p", *(folder / name for name in ("upper", "work", "root")))
        options = f"lowerdir={lower},upperdir={folder}/upper,workdir={folder}/work"
        root = folder / "root"
        self.add("mount", "-t", "overlay", "overlay", "-o", options, root)
        self.add("mount", "--bind", "/dev", root / "dev")
        self.add("mount", "-t", "proc", "proc", root / "proc")
        self._lowers[stage] = f"{folder}/upper:{lower}"
        return root

    def unmount(self, root: Path) -> None:
        """A stage is whole: others are laid over it."""
        self.add("umount", root / "dev", root / "proc", root)

    def run(self, root: Path, user: str, folder: str, environment: dict[str, str], command: str) -> str:
        """The command in the stage's file system."""
        home = "/root" if user == "root" else f"/home/{user}"
        network = {name: value for name, value in os.environ.items() if _NETWORK.match(name)}
        given = {**network, "PATH": PATH, "HOME": home, "UV_CACHE_DIR": str(CACHE), **environment}
        within = f"cd {shlex.quote(folder)} || exit; {command}"
        settings = [f"{name}={value}" for name, value in given.items()]
        as_user = ["runuser", "-u", user, "--"] if user != "root" else []
        return shlex.join(["chroot", str(root), *as_user, "env", "-i", *settings, "bash", "-c", within])

    def base(self) -> None:
        """What the public images and Debian's packages bring is of this machine."""
        root = self.mount("machine", "")
        self.add("bash", "-c", f"printf '#!/bin/sh\\n' > {root}/usr/local/sbin/apt-get")
        self.add("chmod", "755", root / "usr/local/sbin/apt-get")
        # So that this machine's cache of packages can be used by the user of the image.
        self.add("chmod", "755", f"{root}{Path.home()}", f"{root}{CACHE.parent}")
        to_write = ["-type", "d", "-o", "-name", "*.lock", "-o", "-name", ".git*", "-o", "-name", "*.TAG"]
        self.add("find", f"{root}{CACHE}", "(", *to_write, ")", "-exec", "chmod", "a+rwX", "{}", "+")
        self.unmount(root)

    def build(self, stage: ImageStage, checks: Iterable[str], logs: Path) -> None:
        user, folder, environment = self._settings.get(stage.base, ("root", "/", {}))
        environment = dict(environment)
        root = self.mount(stage.name, stage.base if stage.base in self._settings else "machine")
        for instruction, argument in stage.steps:
            self.lines.append(f"echo {shlex.quote(f'{stage.name}: {instruction} {argument}')}")
            if instruction == "RUN":
                self.lines.append(self.run(root, user, folder, environment, argument))
            elif instruction == "USER":
                user = argument
            elif instruction == "WORKDIR":
                folder = argument
                self.add("mkdir", "-p", f"{root}{folder}")
            elif instruction == "ENV":
                environment |= dict(each.partition("=")[::2] for each in shlex.split(argument))
            elif instruction == "COPY":
                self._copy(root, folder, argument)
            elif instruction not in ("EXPOSE", "VOLUME", "HEALTHCHECK", "CMD", "ENTRYPOINT"):
                raise ValueError(f"{instruction} is not known here")
        self._settings[stage.name] = user, folder, environment
        for number, check in enumerate(checks):
            self.lines.append(f"echo {shlex.quote(f'{stage.name}: {check}')}")
            command = self.run(root, user, folder, environment, check)
            self.lines.append(
                f"code=0; {command} >{logs}/{stage.name}.{number}.log 2>&1 || code=$?; "
                f"echo $code >{logs}/{stage.name}.{number}.code"
            )
        self.unmount(root)

    def _copy(self, root: Path, folder: str, argument: str) -> None:
        words = shlex.split(argument)
        options = dict(word.removeprefix("--").split("=") for word in words if word.startswith("--"))
        source, target = (word for word in words if not word.startswith("--"))
        place = f"{root}{Path(folder, target)}"
        self.add("mkdir", "-p", place)
        if "from" in options:
            # Of another stage, which is whole: its own layer has what it made.
            self.add("cp", "-a", f"{self.disk / options['from']}/upper{source}/.", place)
        else:
            left_out = (CHECKOUT / ".dockerignore").read_text(encoding="utf-8").split()
            excluded = " ".join(f"--exclude=./{name}" for name in left_out)
            self.lines.append(
                f"tar -C {CHECKOUT} {excluded} -cf - {source} | tar -C {shlex.quote(place)} -xf -"
            )
        if "chown" in options:
            self.add("chroot", root, "chown", "-R", options["chown"], place.removeprefix(str(root)))


def why_not() -> str | None:
    """What this machine lacks for it."""
    if os.geteuid() != 0:
        return "only root lays file systems over one another"
    program = "mkdir -p d && truncate -s 64M i && mkfs.ext4 -q -F i && mount -o loop i d && mkdir d/u d/w d/r && mount -t overlay o -o lowerdir=/,upperdir=d/u,workdir=d/w d/r"
    tried = subprocess.run(
        ["bash", "-c", f'cd "$(mktemp -d)" && unshare -m bash -c "{program}"'], capture_output=True, text=True
    )
    return f"no overlay of file systems: {tried.stderr.strip()}" if tried.returncode else None


def build(
    folder: Path, checks: dict[str, Sequence[str]]
) -> tuple[str, dict[tuple[str, str], tuple[int, str]]]:
    """Build all stages, then run commands in them: what the steps printed, and exit code and output of each check. Raises
    AssertionError with the log's end if a step fails."""
    disk = folder / "disk"
    script = _Script(disk)
    script.add("mkdir", "-p", disk)
    script.add("truncate", "-s", _DISK, folder / "disk.img")
    script.add("mkfs.ext4", "-q", "-F", folder / "disk.img")
    script.add("mount", "-o", "loop", folder / "disk.img", disk)
    script.base()
    for stage in stages_of((CHECKOUT / "Dockerfile").read_text(encoding="utf-8")):
        script.build(stage, checks.get(stage.name, ()), folder)
    log = folder / "steps.log"
    with log.open("w") as out:
        done = subprocess.run(
            ["unshare", "-m", "bash", "-c", "\n".join(script.lines)], stdout=out, stderr=subprocess.STDOUT
        )
    (folder / "disk.img").unlink(missing_ok=True)
    text = log.read_text(encoding="utf-8", errors="replace")
    assert done.returncode == 0, text[-3000:]
    found = {
        (stage, check): (
            int((folder / f"{stage}.{number}.code").read_text()),
            (folder / f"{stage}.{number}.log").read_text(encoding="utf-8", errors="replace"),
        )
        for stage, commands in checks.items()
        for number, check in enumerate(commands)
    }
    return text, found
