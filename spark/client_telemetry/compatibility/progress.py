"""Progress of a subcommand of `client-telemetry`, for people who wait: lines on standard error, none within two seconds.
Standard output has nothing but what the subcommand prints.
"""

import sys
import threading
import time
from collections.abc import Iterator, Sequence
from types import TracebackType
from typing import TypeVar

FIRST_S = 2.0
EVERY_S = 5.0

_Item = TypeVar("_Item")


class Progress:
    """Prints what is being done, with the elapsed seconds; calling it says what is done from now on."""

    def __init__(self, doing: str) -> None:
        self._doing, self._done, self._total = doing, 0, 0
        self._ended = threading.Event()
        self._printing = threading.Thread(target=self._print, daemon=True)

    def __call__(self, doing: str) -> None:
        self._doing, self._done, self._total = doing, 0, 0

    def counted(self, doing: str, items: Sequence[_Item]) -> Iterator[_Item]:
        """The items, of which it says how many are done."""
        self._doing, self._done, self._total = doing, 0, len(items)
        for self._done, item in enumerate(items):
            yield item

    def __enter__(self) -> "Progress":
        self._begin, self._console = time.monotonic(), sys.stderr
        self._printing.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ended.set()
        self._printing.join()

    def _print(self) -> None:
        wait_s = FIRST_S
        while not self._ended.wait(wait_s):
            counted = f", {self._done:,} of {self._total:,}" if self._total else ""
            print(
                f"  {time.monotonic() - self._begin:.0f} s: {self._doing}{counted}",
                file=self._console,
                flush=True,
            )
            wait_s = EVERY_S
