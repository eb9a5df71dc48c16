"""Programs of others: an environment that holds nothing of this process but what is named, a HOME of their own, no input, a
deadline, and a limit on what they write.

This is no jail: what runs has the rights of the user who asked for it. docs/rehearse.md says so.
"""

import os
import resource
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

_KEPT = ("PATH", "LANG", "LC_ALL", "TZ", "JAVA_HOME", "SSL_CERT_FILE", "SSL_CERT_DIR")
_REGISTRY_PREFIXES = (
    "PIP_",
    "NPM_CONFIG_",
    "MAVEN_",
    "CARGO_",
    "RUSTUP_",
    "GOPROXY",
    "GOSUMDB",
    "GONOSUMDB",
    "GOPRIVATE",
    "GONOPROXY",
)
_REGISTRY_NAMES = ("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "REQUESTS_CA_BUNDLE", "NODE_EXTRA_CA_CERTS")
_SETTINGS_FILES = {
    "PIP_CONFIG_FILE": (".config/pip/pip.conf", ".pip/pip.conf"),
    "NPM_CONFIG_USERCONFIG": (".npmrc",),
    "GOENV": (".config/go/env",),
    "CARGO_HOME": (".cargo",),
    "RUSTUP_HOME": (".rustup",),
}
"""Variable of a tool -> where below the user's home its settings are: with a HOME of its own it would not find them."""
_ENDED_ALREADY = (ProcessLookupError, PermissionError)
"""What is raised about such a process."""
MOST_WRITTEN = 2 * 2**30
"""Bytes of one file."""
_READ = 2**20
"""Bytes of output that are looked at: the last ones."""


@dataclass(frozen=True)
class Ended:
    code: int | None
    """Exit code; None: it was ended at its deadline."""
    output: str


def of_programs(home: Path) -> dict[str, str]:
    """The environment of a program that runs: nothing but PATH, the language and a HOME of its own."""
    home.mkdir(parents=True, exist_ok=True)
    kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
    return {**kept, "HOME": str(home), "TMPDIR": str(home), "npm_config_update_notifier": "false"}


def of_installers(home: Path, cache: Path) -> dict[str, str]:
    """The same with what the tools of the registries need: their addresses, proxies, certificates and settings files, from the
    variables and files where these tools look, and caches below `cache`."""
    own = {
        name: value
        for name, value in os.environ.items()
        if name.upper().startswith(_REGISTRY_PREFIXES) or name.upper() in _REGISTRY_NAMES
    }
    for name, places in _SETTINGS_FILES.items():
        found = next((file for place in places if (file := Path.home() / place).exists()), None)
        if found and name not in own:
            own[name] = str(found)
    caches = {
        "PIP_CACHE_DIR": cache / "pip",
        "NPM_CONFIG_CACHE": cache / "npm",
        "GOPATH": cache / "go",
        "GOCACHE": cache / "go-build",
    }
    go = {"GOFLAGS": "-mod=mod -modcacherw", "GOTOOLCHAIN": "local"}
    return {**of_programs(home), **own, **go, **{name: str(place) for name, place in caches.items()}}


def run(command: Sequence[str | Path], environment: Mapping[str, str], folder: Path, limit_s: float) -> Ended:
    """Runs a command to its end or its deadline. Raises OSError if there is no such program."""
    with tempfile.TemporaryFile(dir=folder) as output:
        with started(command, environment, folder, output.fileno()) as process:
            try:
                code: int | None = process.wait(timeout=limit_s)
            except subprocess.TimeoutExpired:
                code = None
        output.seek(max(0, output.seek(0, os.SEEK_END) - _READ))
        return Ended(code, output.read().decode(errors="replace"))


@contextmanager
def started(
    command: Sequence[str | Path], environment: Mapping[str, str], folder: Path, output: int
) -> Iterator[subprocess.Popen[bytes]]:
    """A process in a session of its own while the block runs; it and its children are ended with it."""
    process = subprocess.Popen(
        command,
        cwd=folder,
        env=dict(environment),
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    try:
        if hasattr(resource, "prlimit"):
            with suppress(*_ENDED_ALREADY):
                resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (MOST_WRITTEN, MOST_WRITTEN))
        yield process
    finally:
        with suppress(*_ENDED_ALREADY):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


@contextmanager
def ended_in_order() -> Iterator[None]:
    """SIGTERM ends the block as an interrupt does, so that what was started in it is ended too: it is in sessions of its own."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def bytes_below(folder: Path) -> int:
    """Size of the files of a folder."""
    found, folders = 0, [str(folder)]
    while folders:
        try:
            with os.scandir(folders.pop()) as entries:
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        folders.append(entry.path)
                    else:
                        found += entry.stat(follow_symlinks=False).st_size
        except FileNotFoundError:
            continue  # a tool has tidied up meanwhile
    return found
