"""Python: requirements files and the output of pip freeze, poetry.lock, uv.lock, pdm.lock, pylock.toml, Pipfile.lock,
and pyproject.toml. Conda's files: conda.py.
"""

import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from fnmatch import fnmatchcase

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import (
    InvalidSdistFilename,
    InvalidWheelFilename,
    parse_sdist_filename,
    parse_wheel_filename,
)

from client_telemetry.artefacts.packages import NOT_LOCKED, Package, ReadOther, declared
from client_telemetry.artefacts.readers import purposes, toml_text
from client_telemetry.artefacts.readers.json_text import Lines, elements, mapping, parse_object, text_of
from client_telemetry.artefacts.readers.lines import numbered
from client_telemetry.knowledge import known_packages
from client_telemetry.knowledge.known_packages import normal_name

REQUIREMENTS = (
    *(f"*{word}*.{suffix}" for word in ("requirements", "constraints") for suffix in ("txt", "in")),
    *(f"requirements/*.{suffix}" for suffix in ("txt", "in")),
    "*freeze*.txt",
)
"""Names of files that pip reads, as people give them."""
_INCLUDED = re.compile(r"^\s*(?:-r|--requirement|-c|--constraint)[\s=]*([^\s#]+)", re.MULTILINE)
_MOST_INCLUDED = 100
_OPTION = re.compile(r"\s+(?:--hash[=\s]|--config-settings?[=\s]|--global-option[=\s]).*")
_EDITABLE = re.compile(r"^(?:-e|--editable)[\s=]+")
_REPOSITORY = re.compile(
    r"(?:git\+\S+|https?://(?:www\.)?(?:github|gitlab)\.com/[^/\s]+)/(?P<name>[\w.-]+?)(?:\.git)?"
    r"(?:@[^\s#]+|/(?:-/)?archive/[^\s#]+|/(?:tarball|zipball)/[^\s#]+)?(?:#(?:\S*&)?(?:egg=(?P<egg>[\w.-]+)\S*|\S*))?(?:\s*;.*)?"
)
"""A repository of git, or an archive of one; `#egg=` names the project, otherwise the repository does."""


def read_requirements(text: str, read_other: ReadOther) -> Iterator[Package]:
    """One requirement a line, as pip reads it. Files that it includes and that have a name of their own kind are read by
    themselves, others as a part of this one.
    """
    yield from _requirements(text)
    waiting_for = {match[1]: number for number, line in numbered(text) if (match := _INCLUDED.match(line))}
    seen: set[str] = set()
    while waiting_for and len(seen) < _MOST_INCLUDED:
        path, line = waiting_for.popitem()
        included = None if path in seen or is_requirements(path) else read_other(path)
        seen.add(path)
        if included is None:
            continue
        for package in _requirements(included):
            yield replace(package, line=line, inside=path, editable=False)
        for further in _INCLUDED.findall(included):
            waiting_for.setdefault(posixpath.normpath(posixpath.join(posixpath.dirname(path), further)), line)


def is_requirements(path: str) -> bool:
    """Whether a file is one of requirements by its name: those are read wherever they are."""
    return any(fnmatchcase(f"/{path}", f"*/{pattern}") for pattern in REQUIREMENTS)


def _requirements(text: str) -> Iterator[Package]:
    waiting, begun = "", 0
    for number, line in numbered(text):
        line = re.sub(r"(^|\s)#.*$", "", line)
        begun = begun or number
        if line.rstrip().endswith("\\"):
            waiting += line.rstrip()[:-1] + " "
            continue
        wanted, line_number, waiting, begun = waiting + line, begun, "", 0
        if package := requirement(_OPTION.sub("", wanted).strip(), line_number):
            yield package


def requirement(text: str, line: int | None) -> Package | None:
    text = _EDITABLE.sub("", text)
    if not text or text.startswith("-"):
        return None
    try:
        wanted = Requirement(text)
    except InvalidRequirement:
        return _of_file(text, line)
    if wanted.name.endswith((".whl", ".tar.gz", ".zip")):
        return _of_file(wanted.name, line)
    name = _with_extra(normal_name("pypi", wanted.name), wanted.extras)
    pins = [clause.version for clause in wanted.specifier if clause.operator in ("==", "===")]
    pinned = len(pins) == 1 and not pins[0].endswith("*")
    if wanted.url:
        file = _of_file(wanted.url, line)
        version = file.version if file else None
        why = "" if version else f"installed from {wanted.url}"
        return Package("pypi", name, version, line, why, editable=bool(version), declared_only=not version)
    why = "" if pinned else f"{NOT_LOCKED} ({wanted.specifier or 'no version'})"
    return Package(
        "pypi", name, pins[0] if pinned else None, line, why, editable=True, declared_only=not pinned
    )


def _of_file(text: str, line: int | None) -> Package | None:
    """A wheel, a source distribution or a repository by its URL or path, or None: pip installs these, too."""
    if match := _REPOSITORY.fullmatch(text.strip("\"'")):
        name = normal_name("pypi", match["egg"] or match["name"])
        return Package("pypi", name, None, line, f"installed from {text}", declared_only=True)
    name = re.split(r"[#?;\s]", text, maxsplit=1)[0].rpartition("/")[2]
    try:
        if name.endswith(".whl"):
            project, version, *_ = parse_wheel_filename(name)
        elif name.endswith((".tar.gz", ".zip")):
            project, version = parse_sdist_filename(name)
        else:
            return None
    except (InvalidWheelFilename, InvalidSdistFilename):
        return None
    return Package("pypi", normal_name("pypi", project), str(version), line, editable=True)


def _with_extra(name: str, extras: Iterable[str]) -> str:
    """The name as it is known with the extra that brings a client along: faststream[kafka]."""
    named = (normal_name("pypi", f"{name}[{extra}]") for extra in sorted(extras))
    return next((known for known in named if known_packages.find("pypi", known)), name)


def read_pipfile_lock(text: str) -> Iterator[Package]:
    content, lines = parse_object(text), Lines(text)
    for group in ("default", "develop"):
        for name, entry in mapping(content.get(group)).items():
            development = "" if group == "default" or name in mapping(content.get("default")) else group
            version = text_of(mapping(entry).get("version"))
            exact = version[2:].lstrip("=") if version and version.startswith("==") else None
            why = "" if exact else f"locked to {version}" if version else "the lock file has no version"
            line = lines.of(f'"{name}": {{')
            yield Package("pypi", normal_name("pypi", name), exact, line, why, development=development)


def read_pyproject(text: str) -> Iterator[Package]:
    """Dependencies as the standard (PEP 621, 735) and Poetry write them."""
    content, lines = toml_text.parse(text), Lines(text)
    project = mapping(content.get("project"))
    own = normal_name("pypi", text_of(project.get("name")) or "")
    for names, entries in _standard_groups(content):
        for entry in entries:
            package = requirement(entry, lines.of(entry)) if isinstance(entry, str) else None
            # A project names itself for the extras of others: all = ["faststream[kafka,rabbit]"].
            if package and package.name.partition("[")[0] != own:
                yield replace(package, declared_only=True, development=purposes.of_groups(names))
    poetry = mapping(mapping(content.get("tool")).get("poetry"))
    groups = {
        name: mapping(group).get("dependencies") for name, group in mapping(poetry.get("group")).items()
    }
    groups |= {"": poetry.get("dependencies"), "dev-dependencies": poetry.get("dev-dependencies")}
    for name, group in groups.items():
        yield from _poetry(mapping(group).items(), lines, purposes.of_groups([name] if name else []))


def _standard_groups(content: Mapping[str, object]) -> Iterator[tuple[list[str], list[object]]]:
    """The names of the group, if it has one, and what is in it: PEP 621 and 735, and what uv and PDM had before."""
    project, tool = mapping(content.get("project")), mapping(content.get("tool"))
    yield [], elements(project.get("dependencies"))
    of_pdm = mapping(tool.get("pdm")).get("dev-dependencies")
    for groups in (project.get("optional-dependencies"), content.get("dependency-groups"), of_pdm):
        for name, entries in mapping(groups).items():
            yield [name], elements(entries)
    yield ["dev-dependencies"], elements(mapping(tool.get("uv")).get("dev-dependencies"))


def _poetry(entries: Iterable[tuple[str, object]], lines: Lines, development: str) -> Iterator[Package]:
    for name, entry in entries:
        wanted = text_of(entry) or text_of(mapping(entry).get("version"))
        exact = wanted if wanted and re.fullmatch(r"(?:==\s*)?\d+\.\d+[\w.]*", wanted) else None
        exact = exact.lstrip("= ") if exact else None
        line = lines.of(f"\n{name} =", f"\n{name}=")
        extras = [extra for extra in elements(mapping(entry).get("extras")) if isinstance(extra, str)]
        known = _with_extra(normal_name("pypi", name), extras)
        yield declared("pypi", known, exact, wanted, line + 1 if line else None, development)


def read_pipfile(text: str) -> Iterator[Package]:
    content, lines = toml_text.parse(text), Lines(text)
    for group in ("packages", "dev-packages"):
        yield from _poetry(
            mapping(content.get(group)).items(), lines, "" if group == "packages" else f"group {group}"
        )
