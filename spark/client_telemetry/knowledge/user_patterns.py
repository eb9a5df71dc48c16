"""Regular expressions that users write (owner rules, their own knowledge), for text that clients choose.

They run on RE2, whose time grows with the length of the text and never explodes: with a backtracking engine a client could
choose an id that keeps a rule busy for weeks. Syntax: https://github.com/google/re2/wiki/Syntax. Patterns that ship with
the product do not belong here: they are Python's, reviewed, and held to ids of limited length
(docs/decisions/0026-patterns-of-users-run-on-re2.md).
"""

import re
from collections.abc import Mapping, Set
from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol

from client_telemetry import Unusable
from client_telemetry.knowledge import DamagedKnowledge, Line


class BadPattern(Unusable):
    """The pattern cannot be used; the message is what follows the pattern in a sentence."""


class Match(Protocol):
    """What a match knows: its named groups, null where a group did not take part."""

    def groupdict(self) -> dict[str, str | None]: ...


@dataclass(frozen=True)
class UserPattern:
    """A regular expression in RE2's syntax; raises BadPattern. Classes such as `\\d` and `\\w` mean ASCII characters.

    >>> UserPattern(r"orders-\\d+").fullmatch("orders-7") is not None
    True
    """

    text: str

    def __post_init__(self) -> None:
        _compiled(self.text)

    @property
    def group_names(self) -> Set[str]:
        return set(_compiled(self.text).groupindex)

    def fullmatch(self, value: str) -> Match | None:
        """The match of the whole text. Characters that are not valid Unicode match as `?`."""
        try:
            return _compiled(self.text).fullmatch(value)
        except UnicodeEncodeError:
            return _compiled(self.text).fullmatch(value.encode("utf-8", "replace").decode())


class Compiled(Protocol):
    """A pattern of re2."""

    @property
    def groupindex(self) -> Mapping[str, int]: ...

    def fullmatch(self, text: str) -> Match | None: ...


@lru_cache(maxsize=4096)
def _compiled(text: str) -> Compiled:
    try:
        # Not needed by `client-telemetry compatibility` with the shipped knowledge, which needs nothing but Python.
        import re2
    except ModuleNotFoundError:
        raise BadPattern(
            "cannot be used: patterns of your own need the package google-re2: pip install google-re2"
        ) from None
    options = re2.Options()
    options.log_errors = False
    try:
        return re2.compile(text, options)
    except UnicodeEncodeError:
        raise BadPattern("is not valid Unicode") from None
    except re2.error as error:
        raise BadPattern(f"is not a valid regular expression: {_reason(error)}") from None


def _reason(error: Exception) -> str:
    (said,) = error.args
    reason = said.decode("utf-8", "replace") if isinstance(said, bytes) else str(said)
    if reason.startswith(("invalid perl operator: (?", "invalid named capture group: (?P=")):
        return f"{reason}; patterns run on RE2, which has no lookaround and no backreferences"
    if reason.startswith("invalid escape sequence: \\") and reason[-1].isdigit():
        return f"{reason}; patterns run on RE2, which has no backreferences"
    return reason


def knowledge_pattern(file: str, line: int, column: str, text: str) -> re.Pattern[str] | UserPattern:
    """The pattern in a cell of a knowledge file: a user's own row runs on RE2, a shipped one on Python's engine."""
    try:
        return UserPattern(text) if isinstance(line, Line) else re.compile(text)
    except BadPattern as error:
        reason = str(error)
    except re.error as error:
        reason = f"is not a valid regular expression: {error}"
    raise DamagedKnowledge(file, line, f"{column} {text!r} {reason}")


def group_names(pattern: re.Pattern[str] | UserPattern) -> Set[str]:
    return pattern.group_names if isinstance(pattern, UserPattern) else pattern.groupindex.keys()
