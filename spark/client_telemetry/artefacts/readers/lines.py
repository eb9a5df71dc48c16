"""Lines of files that are read line by line."""

import re
from collections.abc import Iterator

LONGEST = 4096
"""No line of a lock file that people or tools write is longer; patterns need time that grows with a power of the length."""


def numbered(text: str) -> Iterator[tuple[int, str]]:
    """Lines with their numbers as editors count them. Longer ones than LONGEST are left out."""
    for number, line in enumerate(text.split("\n"), 1):
        if len(line) <= LONGEST:
            yield number, line.rstrip("\r")


def matches(pattern: re.Pattern[str], text: str, comment: str = "") -> Iterator[tuple[int, re.Match[str]]]:
    """Each place in a line that the pattern finds, with the line's number; not behind what begins a comment."""
    for number, line in numbered(text):
        for match in pattern.finditer(line.partition(comment)[0] if comment else line):
            yield number, match
