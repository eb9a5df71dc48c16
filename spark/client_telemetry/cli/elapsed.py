"""Shows that a command is still running."""

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

SAID_EVERY_S = 10


@contextmanager
def elapsed_said(every_s: float = SAID_EVERY_S) -> Iterator[None]:
    """Prints the elapsed seconds every few seconds, to the standard output of the start."""
    ended, console, begin = threading.Event(), sys.stdout, time.monotonic()

    def say() -> None:
        while not ended.wait(every_s):
            print(f"    {time.monotonic() - begin:.0f} s", file=console, flush=True)

    saying = threading.Thread(target=say, daemon=True)
    saying.start()
    try:
        yield
    finally:
        ended.set()
        saying.join()
