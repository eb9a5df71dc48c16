"""When Python looks for cycles of objects that refer to each other."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def collector_paused() -> Iterator[None]:
    """Within it nobody looks for cycles: what many rows are made into has none, and looking through it again and again costs
    more than making it."""
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
