"""Lines of files that are read line by line."""

from collections.abc import Iterator

LONGEST = 4096
"""No line of a lock file that people or tools write is longer; patterns need time that grows with a power of the length."""


def numbered(text: str) -> Iterator[tuple[int, str]]:
    """Lines with their numbers as editors count them. Longer ones than LONGEST are left out."""
    for number, line in enumerate(text.split("\n"), 1):
        if len(line) <= LONGEST:
            yield number, line.rstrip("\r")
