"""Redirects the output of stages, Spark and its JVM to a file, while a command's own output is shown."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path


@contextmanager
def output_of_libraries_to(log: Path) -> Iterator[None]:
    """A JVM that starts meanwhile keeps writing to the file until it ends."""
    log.parent.mkdir(parents=True, exist_ok=True)
    before = os.dup(2)
    try:
        with log.open("a", encoding="utf-8") as file, redirect_stdout(file), redirect_stderr(file):
            os.dup2(file.fileno(), 2)
            yield
    finally:
        os.dup2(before, 2)
        os.close(before)
