"""poetry.lock, uv.lock, pdm.lock and pylock.toml, and which of their packages only development has."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Final

from client_telemetry.artefacts.packages import Package, ReadOther, Unreadable, locked_to
from client_telemetry.artefacts.readers import purposes, python, toml_text
from client_telemetry.artefacts.readers.json_text import Lines, mapping, objects, text_of
from client_telemetry.knowledge.known_packages import normal_name

_Entry = Mapping[str, object]
_MAIN: Final = {"main", "default"}
_ONLY_IN_GROUPS = re.compile(r"""\(?\s*(?:["']([\w.-]+)["'] in dependency_groups\s*(?:or\s*|\)?\s*$))+""")
_GROUP = re.compile(r"""["']([\w.-]+)["'] in dependency_groups""")


def read(text: str, read_other: ReadOther) -> Iterator[Package]:
    """`[[package]]`, in pylock.toml `[[packages]]`. Raises Unreadable."""
    content = toml_text.parse(text)
    lines = Lines(text)
    entries = [*objects(content.get("package")), *objects(content.get("packages"))]
    development = _of_graph(entries) or _of_pyproject(entries, read_other)
    for entry in entries:
        name, version = text_of(entry.get("name")), text_of(entry.get("version"))
        if name:
            line = lines.of(f'name = "{name}"', f"name = '{name}'")
            commit = _repository(entry)
            why = locked_to(commit) if commit else "" if version else "the lock file has no version"
            normal = normal_name("pypi", name)
            purpose = _of_entry(entry) or development.get(normal, "")
            yield Package("pypi", normal, None if commit else version, line, why, development=purpose)


def _repository(entry: _Entry) -> str | None:
    """The repository of what no release is installed from."""
    source, vcs = mapping(entry.get("source")), mapping(entry.get("vcs"))
    of_poetry = text_of(source.get("url")) if source.get("type") == "git" else None
    return text_of(source.get("git")) or of_poetry or text_of(entry.get("git")) or text_of(vcs.get("url"))


def _of_entry(entry: _Entry) -> str:
    """What an entry says by itself: `category` (Poetry before 1.5), `groups` (Poetry since 2, PDM), a marker (PEP 751)."""
    if entry.get("category") == "dev":
        return 'category = "dev"'
    groups = entry.get("groups")
    if isinstance(groups, list):
        return purposes.of_groups(map(str, groups))
    marker = text_of(entry.get("marker")) or ""
    return purposes.of_groups(_GROUP.findall(marker)) if _ONLY_IN_GROUPS.fullmatch(marker) else ""


def _names(needs: object) -> set[str]:
    """Of `[{name = "x"}]` (uv) or `{x = "^1"}` (Poetry)."""
    named = {text_of(each.get("name")) or "" for each in objects(needs)} | set(mapping(needs))
    return {normal_name("pypi", name) for name in named}


def _of_graph(entries: list[_Entry] | list[dict[str, object]]) -> dict[str, str]:
    """uv: what the projects that the file is of need in groups for development only, with those groups."""
    needs: dict[str, set[str]] = defaultdict(set)
    application: set[str] = set()
    by_group: dict[str, set[str]] = defaultdict(set)
    for entry in entries:
        name = normal_name("pypi", text_of(entry.get("name")) or "")
        extras = [
            (group, _names(each)) for group, each in mapping(entry.get("optional-dependencies")).items()
        ]
        needs[name] |= _names(entry.get("dependencies"))
        if not mapping(entry.get("source")).keys() & {"editable", "virtual", "directory"}:
            needs[name] |= {each for _, of_extra in extras for each in of_extra}
            continue
        application.add(name)
        groups = [(group, _names(each)) for group, each in mapping(entry.get("dev-dependencies")).items()]
        for group, of_group in (*extras, *groups):
            if purposes.is_development_group(group):
                by_group[group] |= of_group
            else:
                application |= of_group
    application = purposes.all_needed(application, needs)
    found: dict[str, str] = {}
    for group, names in sorted(by_group.items()):
        for name in purposes.all_needed(names, needs) - application:
            found.setdefault(name, purposes.of_groups([group]))
    return found


def _of_pyproject(entries: list[dict[str, object]], read_other: ReadOther) -> dict[str, str]:
    """Poetry 1.5 to 1.8 wrote no groups: what pyproject.toml beside it has for development only, and no other package needs."""
    if any("groups" in entry or "category" in entry or "marker" in entry for entry in entries):
        return {}
    try:
        declared = list(python.read_pyproject(read_other("pyproject.toml") or ""))
    except Unreadable:
        return {}
    needed = {name for entry in entries for name in _names(entry.get("dependencies"))}
    needed |= {package.name for package in declared if not package.development}
    return {
        package.name: f"{package.development} of pyproject.toml"
        for package in declared
        if package.development and package.name not in needed
    }
