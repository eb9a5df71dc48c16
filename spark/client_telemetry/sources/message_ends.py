"""Where messages end in a file that may still be being written: what follows the last end may be half a message.

One object reads one file from its first byte on, block by block. It does not interpret the messages.
"""

from collections.abc import Callable
from typing import Protocol


class MessageEnds(Protocol):
    is_lost: bool
    """The bytes so far were not the beginning of a message: no further end will be found."""

    def last_end(self, block: bytes) -> int:
        """The length of the block up to the last end of a message in it; 0 = none ends in it."""


class LineEnds:
    """A line is a message."""

    is_lost = False

    def last_end(self, block: bytes) -> int:
        return block.rfind(b"\n") + 1


class FrameEnds:
    """`{ length, message }*`. `length_of`: the value of a length's bytes: None = more bytes follow, negative = not a
    length.
    """

    def __init__(self, length_of: Callable[[bytes], int | None]) -> None:
        self.is_lost = False
        self._length_of = length_of
        self._head, self._left = b"", 0

    def last_end(self, block: bytes) -> int:
        at = end = 0
        while at < len(block) and not self.is_lost:
            if self._left:
                taken = min(self._left, len(block) - at)
                at, self._left = at + taken, self._left - taken
                end = end if self._left else at
                continue
            self._head += block[at : at + 1]
            at += 1
            length = self._length_of(self._head)
            if length is not None:
                self.is_lost = length < 0
                self._head, self._left = b"", max(length, 0)
                end = at if length == 0 else end
        return end


class OnlyEnd:
    """A file is one message, which ends where the file does."""

    is_lost = False

    def last_end(self, block: bytes) -> int:
        return 0
