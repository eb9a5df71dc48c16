"""Who owns a file: rules of the user on the client ids and groups that are written beside it, CODEOWNERS, and Backstage's
catalog-info.yaml. The first of these that says something counts.
"""

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

import yaml

from client_telemetry.artefacts.readers.json_text import mapping, text_of
from client_telemetry.artefacts.readers.lines import numbered

CODEOWNERS = ("CODEOWNERS", ".github/CODEOWNERS", ".gitlab/CODEOWNERS", "docs/CODEOWNERS")
_PLACES = tuple(sorted(CODEOWNERS, key=len, reverse=True))
CATALOG = ("catalog-info.yaml", "catalog-info.yml")


class Owner(NamedTuple):
    """`source`: the file that says so, with its line if it has one."""

    name: str
    source: str


class CodeOwners(NamedTuple):
    """`rules`: pattern, owners and line, in their order."""

    file: str
    rules: tuple[tuple[str, str, int], ...]

    def owner(self, path: str) -> Owner | None:
        """The last rule that matches decides; one without owners means that there is none (GitHub, GitLab)."""
        for pattern, owners, line in reversed(self.rules):
            if _expression(pattern).match(path):
                return Owner(owners, f"{self.file}:{line}") if owners else None
        return None


def read_codeowners(file: str, text: str) -> CodeOwners:
    """GitHub's and GitLab's syntax; sections of GitLab (`[Docs] @team`) give their owners to rules that have none."""
    rules, of_section = [], ""
    for number, line in numbered(text):
        words = re.split(r"(?<!\\)\s+", re.sub(r"(^|\s)#.*$", "", line).strip())
        if section := re.match(r"^\^?\[[^\]]+\](?:\[\d+\])?\s*(.*)$", line.strip()):
            of_section = " ".join(section[1].split())
        elif words[0]:
            rules.append((words[0].replace("\\ ", " "), " ".join(words[1:]) or of_section, number))
    return CodeOwners(file, tuple(rules))


def repository_of(path: str) -> str | None:
    """What stands before the paths that a CODEOWNERS file is about, by its own path; None for any other file.

    >>> repository_of("docs/CODEOWNERS"), repository_of("orders/.github/CODEOWNERS"), repository_of("CODEOWNERS.md")
    ('', 'orders/', None)
    """
    for place in _PLACES:
        if path == place or path.endswith(f"/{place}"):
            return path.removesuffix(place)
    return None


@lru_cache(maxsize=4096)
def _expression(pattern: str) -> re.Pattern[str]:
    """A pattern like those of .gitignore: without a slash inside it matches at any depth, a folder with all in it."""
    anchored = "/" in pattern.rstrip("/")
    body = pattern.strip("/")
    expression = ""
    for part in re.split(r"(\*\*/|/\*\*|\*\*|\*|\?)", body):
        expression += {
            "**/": "(?:.*/)?",
            "/**": "/.*",
            "**": ".*",
            "*": "[^/]*",
            "?": "[^/]",
        }.get(part, re.escape(part))
    # `docs/*` means the files of the folder alone; what names a folder, or anything else, includes what is below it.
    end = "$" if body.endswith("/*") or (body == "*" and anchored) else "(?:/.*)?$"
    return re.compile(("" if anchored else "(?:.*/)?") + expression + end)


def read_catalog(file: str, text: str) -> Owner | None:
    """`spec.owner` of the first entity that has one; None if the file is not a catalogue's."""
    try:
        for document in yaml.safe_load_all(text):
            if owner := text_of(mapping(mapping(document).get("spec")).get("owner")):
                return Owner(owner, file)
    except (yaml.YAMLError, RecursionError, AttributeError):
        return None
    return None


def all_of_one(owners: Iterable[Owner]) -> Owner | None:
    """The owner if all are the same one."""
    by_name = {owner.name: owner for owner in owners}
    return next(iter(by_name.values())) if len(by_name) == 1 else None
