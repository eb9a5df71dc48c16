"""A ticket as it should be, and an issue as a tracker has it. The key in the body says that they are the same."""

import hashlib
import re
from dataclasses import dataclass
from typing import Final

LONGEST_BODY: Final = 32_000
"""Characters: GitHub takes 65,536, GitLab 1,048,576, Jira 32,767 (jira.text.field.character.limit)."""
LONGEST_TITLE: Final = 250
"""Jira and GitLab take 255 characters, GitHub 256."""
_SHORTEST_CUT: Final = 100
_KEY: Final = re.compile(r"^client-telemetry (ct-[0-9a-f]{16}), (left|fixed)", re.M)
"""At the beginning of a line only: no text that a client or an owner chose begins one."""


@dataclass(frozen=True)
class Ticket:
    """`markdown`, `wiki`: the body in the markup of trackers. `due`: ISO date or empty. `is_fixed`: evidence shows that nothing is left. `has_work`:
    something is left for its owner; neither: what is left is waived."""

    key: str
    title: str
    markdown: str
    wiki: str
    due: str
    is_fixed: bool
    has_work: bool


@dataclass(frozen=True)
class Issue:
    """`number`: by which the tracker's API names it. `was_fixed`: its body says that it was fixed when it was written last."""

    number: str
    url: str
    title: str
    body: str
    is_open: bool

    @property
    def key(self) -> str:
        """Empty for an issue of others."""
        found = _KEY.search(self.body)
        return found[1] if found else ""

    @property
    def was_fixed(self) -> bool:
        found = _KEY.search(self.body)
        return bool(found and found[2] == "fixed")


def key_of(*parts: str) -> str:
    """
    >>> key_of("orders-4.0", "erp", "upgrade brod")
    'ct-c1dad32755d7e2bc'
    """
    return f"ct-{hashlib.sha256(chr(0).join(parts).encode(errors='surrogatepass')).hexdigest()[:16]}"


def key_line(key: str, *, is_fixed: bool) -> str:
    """The last line of a body: by it the issue is found again. What people write below it stays."""
    return f"client-telemetry {key}, {'fixed' if is_fixed else 'left'} (keep this line; notes below it stay)"


def with_notes(body: str, before: str) -> str:
    """A new body, with what people wrote below the key line of the one before."""
    before = before.replace("\r\n", "\n")
    found = _KEY.search(before)
    notes = before[found.end() :].partition("\n")[2].strip() if found else ""
    return f"{body.rstrip()}\n\n{notes}\n" if notes else body


def is_same(issue: Issue, title: str, body: str) -> bool:
    """Whether the tracker has this already; it may have changed line ends and blanks, and shortened the title."""

    def lines(text: str) -> list[str]:
        return [line.rstrip() for line in text.replace("\r\n", "\n").split("\n") if line.strip()]

    return _is_title(issue.title.strip(), title.strip()) and lines(issue.body) == lines(body)


def _is_title(kept: str, title: str) -> bool:
    """Gitea shortens a title that is wider than 255 letters, counting those that are neither ASCII nor Latin 1 twice.

    >>> _is_title("a", "a"), _is_title("注" * 126 + "…", "注" * 200), _is_title("a…", "ab")
    (True, True, False)
    """
    beginning = kept.removesuffix("…").removesuffix("...")
    is_shortened = beginning != kept and len(kept) > _SHORTEST_CUT
    return kept == title or (is_shortened and title.startswith(beginning))
