"""Cache of the machine code of compiled functions.

numba's own cache needs a writable folder, even for reading, and does not notice changes in functions that were compiled
into others. Here a file's name covers everything that it depends on. Files are read from the `__pycache__` next to the
module and from `cache_folder`, in this order, in each first code for this processor, then code for any processor of the
architecture, which `NUMBA_CPU_NAME=generic` produces. They are written to the first writable of NUMBA_CACHE_DIR,
`__pycache__` and the user's cache. If none is writable, each process compiles for itself and prints what to set.

    NUMBA_CPU_NAME=generic python -m client_telemetry.formats.raw.machine_code     # for an image or a packed environment
"""

import contextlib
import hashlib
import importlib
import os
import pickle
import sys
import uuid
from collections.abc import Callable, Iterator
from functools import cache
from importlib import resources
from itertools import groupby
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Final

import numba
from numba.core import compiler, serialize, sigutils
from numba.core import config as numba_config
from numba.core.caching import NullCache

# numba is barely typed.
_config: Any = numba_config
_compiler: Any = compiler
_serialize: Any = serialize
_sigutils: Any = sigutils

MODULES: Final = (
    "formats.raw.wire",
    "formats.raw.push_scan",
    "formats.otlp.scan",
    "formats.otlp.label_sets",
    "formats.otlp.parts",
    "formats.otlp.columns",
    "formats.otlp.zstd_frames",
    "formats.otlp.stored_payloads",
    "sources.request_log.byte_scan",
    "sources.request_log.json_scan",
    "sources.request_log.text_scan",
    "sources.request_log.line_scan",
    "activity.event_files",
    "review.span_series",
    "sessionize.distinct_rows",
    "sessionize.push_groups",
    "sessionize.push_intervals",
)
"""All modules with compiled functions, below `client_telemetry`."""

_PACKAGE = "client_telemetry"


def cache_folder() -> Path | None:
    """Where this user's machine code goes if it cannot be stored next to the modules: NUMBA_CACHE_DIR, or
    `client-telemetry` in the user's cache folder. None for a user without a home.
    """
    if _config.CACHE_DIR:
        return Path(_config.CACHE_DIR)
    caches = os.environ.get("XDG_CACHE_HOME")
    try:
        return Path(caches if caches else Path.home() / ".cache") / "client-telemetry"
    except RuntimeError:
        return None


@cache
def sources_digest() -> bytes:
    """Digest of the source of all modules with compiled functions: any of them may be part of any machine code."""
    digest = hashlib.sha256()
    for module in MODULES:
        *folders, name = module.split(".")
        digest.update(resources.files(_PACKAGE).joinpath(*folders, f"{name}.py").read_bytes())
    return digest.digest()


@cache
def _may_write(folder: Path) -> bool:
    trial = folder / f".{uuid.uuid4().hex}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        trial.touch()
        trial.unlink()
    except OSError:
        return False
    return True


@cache
def _say_that_nothing_is_kept(beside: Path, of_user: Path | None) -> None:
    print(
        f"client-telemetry: machine code of the decoder cannot be kept, so every new process compiles it for seconds: "
        f"{beside} and {of_user or 'the home of this user'} cannot be written to. Set NUMBA_CACHE_DIR to a folder that this "
        "user, and nobody else, may write to (docs/deployment.md#compiled-code)",
        file=sys.stderr,
    )


def keep_machine_code(dispatcher: Any, function: Callable[..., object]) -> None:
    """Have a function that numba compiles kept here. `njit(cache=True)` takes no other cache."""
    dispatcher._cache = MachineCode(function)


class MachineCode(NullCache):
    """numba's cache of one function. Of numba's private names, this module alone uses `Dispatcher._cache`,
    `CompileResult._reduce` and `CompileResult._rebuild` (test_machine_code.py says when they are not needed any more).
    """

    def __init__(self, function: Callable[..., object]):
        self._name = f"{function.__module__.rpartition('.')[2]}.{function.__qualname__}"
        self._beside = Path(function.__code__.co_filename).parent / "__pycache__"
        self._of_user = cache_folder()

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The compiled function for the signature; None if no usable one is cached."""
        target_context.refresh()
        for path in self._candidates(sig, target_context.codegen()):
            # Another release of numba uses other file names, so a file that cannot be read is damaged.
            with contextlib.suppress(OSError, pickle.UnpicklingError, EOFError, ValueError):
                return _compiler.CompileResult._rebuild(target_context, *pickle.loads(_trusted(path)))
        return None

    def save_overload(self, sig: Any, data: Any) -> None:
        folder = self._folder_to_write()
        if folder is None:
            return _say_that_nothing_is_kept(self._beside, self._of_user)
        path = folder / self._file(sig, data.codegen.magic_tuple())
        temporary = path.with_suffix(f".{uuid.uuid4().hex}")
        temporary.write_bytes(_serialize.dumps(data._reduce()))
        temporary.replace(path)

    def _candidates(self, sig: Any, codegen: Any) -> Iterator[Path]:
        here = codegen.magic_tuple()
        for folder in (self._beside, self._of_user):
            if folder is not None:
                for processor in (here, (here[0], "generic", "")):
                    yield folder / self._file(sig, processor)

    def _folder_to_write(self) -> Path | None:
        folders = (self._of_user, self._beside) if _config.CACHE_DIR else (self._beside, self._of_user)
        return next((folder for folder in folders if folder is not None and _may_write(folder)), None)

    def _file(self, sig: object, processor: tuple[str, str, str]) -> str:
        says = (numba.__version__, sys.implementation.cache_tag, sys.abiflags, processor)
        inputs = repr((says, str(_sigutils.normalize_signature(sig)))).encode() + sources_digest()
        return f"{self._name}-{hashlib.sha256(inputs).hexdigest()[:20]}.nbc"


def _trusted(path: Path) -> bytes:
    """The file's content, provided that this user, root or the installer of this package wrote it: it will be executed."""
    with path.open("rb") as file:
        owner = os.fstat(file.fileno()).st_uid
        if owner not in (0, os.geteuid(), Path(__file__).stat().st_uid):
            raise PermissionError(f"{path} belongs to another user")
        return file.read()


def _compile(modules: list[str]) -> None:
    for module in modules:
        importlib.import_module(f"{_PACKAGE}.{module}")


def main() -> int:
    """Compile everything, rooms side by side; prints how many files of machine code are next to the modules."""
    rooms = [list(modules) for _, modules in groupby(MODULES, lambda module: module.partition(".")[0])]
    _compile(list(MODULES[:1]))  # what all others are made of, and forks have it
    with get_context("fork").Pool(min(len(rooms), os.cpu_count() or 1)) as pool:
        pool.map(_compile, rooms, chunksize=1)
    package = Path(__file__).parents[2]
    print(f"{len(list(package.glob('**/__pycache__/*.nbc')))} files of machine code in {package}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
