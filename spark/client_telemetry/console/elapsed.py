"""Shows that a command is still running."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from client_telemetry.console.progress import every

SAID_EVERY_S = 10


@contextmanager
def elapsed_said(every_s: float = SAID_EVERY_S) -> Iterator[None]:
    """Prints the elapsed seconds every few seconds, to the standard output of the start."""
    console = sys.stdout
    with every(every_s, every_s, lambda elapsed_s: print(f"    {elapsed_s:.0f} s", file=console, flush=True)):
        yield
