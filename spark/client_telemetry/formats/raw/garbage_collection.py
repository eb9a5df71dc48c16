"""Pauses Python's search for reference cycles."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def collector_paused() -> Iterator[None]:
    """Pauses the cycle collector: objects made from many rows have no cycles, and scanning them again and again costs
    more than making them.
    """
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        # What was made meanwhile counts as old: the next search for young cycles would scan all of it.
        gc.freeze()
        gc.unfreeze()
        gc.enable()
