"""Redirects the output of stages, Spark and its JVM to a file, while a command's own output is shown."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path

from client_telemetry.console.progress import every

_SAID_EVERY_S = 10


@contextmanager
def output_of_libraries_to(log: Path, every_s: float = _SAID_EVERY_S) -> Iterator[None]:
    """Prints the elapsed seconds every few seconds, to the standard output of the start. A JVM that starts meanwhile keeps writing to the
    file until it ends.
    """
    log.parent.mkdir(parents=True, exist_ok=True)
    before, console = os.dup(2), sys.stdout

    def say(elapsed_s: float) -> None:
        print(f"    {elapsed_s:.0f} s", file=console, flush=True)

    try:
        with (
            every(every_s, every_s, say),
            log.open("a", encoding="utf-8") as file,
            redirect_stdout(file),
            redirect_stderr(file),
        ):
            os.dup2(file.fileno(), 2)
            yield
    finally:
        os.dup2(before, 2)
        os.close(before)
