"""librdkafka from its sources: what CMake fetches, what a Dockerfile or a script downloads or clones, submodules of git.

Literals only, and variables that the same file sets to a literal.
"""

import re
from collections.abc import Iterator

from client_telemetry.artefacts.packages import Package, declared, only_version
from client_telemetry.artefacts.readers.lines import numbered

NAME = "librdkafka"
_REPOSITORY = re.compile(
    r"(?:https?://|git@|git://)([\w.-]+[/:][\w./-]+?)/librdkafka(?:\.git)?(?![\w-])", re.IGNORECASE
)
_OWN = ("github.com/confluentinc", "github.com/edenhill")
"""Where librdkafka is and was; a fork has releases of its own, or none."""
_ARCHIVE = re.compile(
    r"librdkafka/(?:archive|releases/download|tarball|zipball)/(?:refs/tags/)?([^\s\"'/]+?)(?:\.tar\.gz|\.zip|/|[\s\"']|$)",
    re.IGNORECASE,
)
_TAG = re.compile(r"(?:\bGIT_TAG\s+|\s(?:-b|--branch)[\s=]+|\bcheckout\s+(?:tags/)?|@)[\"']?(\$?[\w.${}-]+)")
_SET = re.compile(
    r"""^\s*(?:(?:ARG|ENV|export)\s+|set\s*\(\s*)?(\w+)(?:\s*[=:]\s*|\s+)["']?(v?\d+\.\d+[\w.-]*)["']?\s*\)?\s*(?:\\|&&.*)?$"""
)
_VARIABLE = re.compile(r"\$\{?(\w+)\}?")
_VERSION = re.compile(r"v?(\d+\.\d+\.\d+(?:[.-]?RC\d+)?)")
_LINES_AFTER = 4
"""A clone, and the tag that is checked out; FetchContent's GIT_TAG below its GIT_REPOSITORY."""


def read(text: str) -> Iterator[Package]:
    """One package for each place that names librdkafka's repository."""
    lines = list(numbered(text))
    values = {match[1]: (match[2], number) for number, line in lines if (match := _SET.match(line))}
    for place, (number, line) in enumerate(lines):
        repository = None if line.lstrip().startswith(("#", "//")) else _REPOSITORY.search(line)
        if repository is None:
            continue
        near = " ".join(text for _, text in lines[place : place + _LINES_AFTER])
        written = _ARCHIVE.search(line) or _TAG.search(near)
        tag, line_number = written[1] if written else "", number
        if match := _VARIABLE.search(tag):
            value, line_number = values.get(match[1], (match[0], number))
            tag = tag.replace(match[0], value)
        yield _package(repository[1], tag, line_number)


def _package(repository: str, tag: str, line: int) -> Package:
    repository = repository.replace(":", "/").lower()
    if repository not in _OWN:
        return Package("generic", NAME, None, line, f"from {repository}/{NAME}, a repository of its own")
    return declared("generic", NAME, only_version(_VERSION, tag), tag or "no tag", line, declared_only=False)


def read_submodules(text: str) -> Iterator[Package]:
    """.gitmodules: the commit of a submodule is in git, not in a file."""
    for number, line in numbered(text):
        if _REPOSITORY.search(line):
            yield Package("generic", NAME, None, number, "a submodule of git: its commit is not in a file")
