"""Version numbers of client libraries, as they are declared.

Libraries write them in many ways (1.7.0, v1.22.2, 1.4.2-dirty, 3.5.0.redhat-00012); the leading numbers
order them.
"""

import re
from functools import lru_cache

LENGTH = 4


class NotAVersion(ValueError):
    """A text without a leading version number."""


@lru_cache(maxsize=4096)
def parse(text: str) -> tuple[int, ...]:
    """'v1.4.2-dirty' -> (1, 4, 2, 0). Always four numbers, so that 2.6 and 2.6.0 are equal."""
    match = re.match(r"v?(\d{1,9}(?:\.\d{1,9})*)", text)
    if not match:
        raise NotAVersion(f"{text!r} does not begin with a version number")
    numbers = [int(number) for number in match[1].split(".")][:LENGTH]
    return tuple(numbers + [0] * (LENGTH - len(numbers)))
