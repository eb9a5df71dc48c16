"""Progress of a subcommand of `client-telemetry`, for people who wait: lines on standard error, none within two seconds.
Standard output has nothing but what the subcommand prints.
"""

import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from types import TracebackType
from typing import TypeVar

FIRST_S = 2.0
EVERY_S = 5.0

_Item = TypeVar("_Item")


@contextmanager
def every(first_s: float, then_s: float, say: Callable[[float], None]) -> Iterator[None]:
    """Calls `say` in a thread of its own with the elapsed seconds: after `first_s` seconds, then every `then_s`."""
    ended, begin = threading.Event(), time.monotonic()

    def saying() -> None:
        wait_s = first_s
        while not ended.wait(wait_s):
            say(time.monotonic() - begin)
            wait_s = then_s

    thread = threading.Thread(target=saying, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


class Progress:
    """Prints what is being done, with the elapsed seconds; calling it says what is done from now on."""

    def __init__(self, doing: str) -> None:
        self._doing, self._done, self._total = doing, 0, 0
        self._printing = ExitStack()

    def __call__(self, doing: str) -> None:
        self._doing, self._done, self._total = doing, 0, 0

    def counted(self, doing: str, items: Sequence[_Item]) -> Iterator[_Item]:
        """The items, of which it says how many are done."""
        self._doing, self._done, self._total = doing, 0, len(items)
        for self._done, item in enumerate(items):
            yield item

    def __enter__(self) -> "Progress":
        self._console = sys.stderr
        self._printing.enter_context(every(FIRST_S, EVERY_S, self._print))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._printing.close()

    def _print(self, elapsed_s: float) -> None:
        counted = f", {self._done:,} of {self._total:,}" if self._total else ""
        print(f"  {elapsed_s:.0f} s: {self._doing}{counted}", file=self._console, flush=True)
