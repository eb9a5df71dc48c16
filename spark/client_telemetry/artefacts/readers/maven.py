"""Maven: pom.xml with properties, dependency management and parents inside what is scanned, and resolved lists
(`mvn dependency:tree`, `dependency:list`).

A version that only a parent or an imported list (BOM) outside of the tree names is not guessed.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Container, Iterable, Iterator
from dataclasses import dataclass, field, replace

from client_telemetry.artefacts.packages import NOT_LOCKED, Package, ReadOther, declared
from client_telemetry.artefacts.readers import purposes
from client_telemetry.artefacts.readers.lines import numbered
from client_telemetry.artefacts.readers.xml_text import Element, parse
from client_telemetry.knowledge import known_packages

PARENT_NOT_HERE = "declared in a parent that is not here"
IMPORTED_NOT_HERE = "managed by a list that is not here"
_DEEPEST = 20
_PROPERTY = re.compile(r"\$\{([^${}]+)\}")
_RESOLVED = re.compile(
    r"^(?:\[INFO\])?[\s|+\\-]*([\w.-]+):([\w.-]+):(?:jar|aar|bundle|test-jar)(?::([\w.-]+))?:(\d[\w.+-]*):(compile|runtime|provided|test|system)\b"
)

_CLASSIFIER = re.compile(r"tests?(?:-sources|-javadoc)?")
"""Of the jar with a project's own tests: another one than that of the project."""
TEST, PROVIDED, SYSTEM = "test", "provided", "system"

KAFKA_CLIENTS = "org.apache.kafka:kafka-clients"
_KAFKA, _BOOT = "org.apache.kafka:", "org.springframework.boot:"


@dataclass
class Version:
    text: str
    line: int | None
    """None if it is written in another file."""


@dataclass
class Project:
    """What a pom.xml and its parents say. Keys are `group:artifact`."""

    properties: dict[str, Version] = field(default_factory=dict)
    managed: dict[str, Version] = field(default_factory=dict)
    imported: list[tuple[str, Version]] = field(default_factory=list)
    """Lists (BOMs) that are imported, in order: they are in no tree."""
    missing_parent: str = ""
    parent_line: int | None = None
    managed_scopes: dict[str, str] = field(default_factory=dict)
    """Those of dependency management alone: they are those of what other dependencies bring, too."""

    def resolve(self, version: Version | None, depth: int = 0) -> Version | None:
        """The version with its properties filled in, on the line that people change; None if one is unknown."""
        if version is None:
            return None
        match = _PROPERTY.search(version.text)
        if match is None:
            return version
        value = self.properties.get(match[1])
        if value is None or depth > _DEEPEST:
            return None
        text = version.text.replace(match[0], value.text)
        line = value.line if version.text == match[0] else version.line
        return self.resolve(Version(text, line), depth + 1)


def read_pom(text: str, read_other: ReadOther) -> Iterator[Package]:
    """The dependencies that a pom.xml declares, those of its profiles and what it manages included."""
    root = parse(text, "project")
    project = _project(root, read_other, {}, own=True)
    yield from _without_left_out(_declared(root, project), _left_out(root, project))


def _declared(root: Element, project: Project) -> Iterator[Package]:
    """Of one package that is declared several times, in profiles, each version once for the application and once for tests."""
    names: set[str] = set()
    versions: dict[tuple[str, bool], set[str | None]] = defaultdict(set)
    for container in (root, *(profile for profiles in root.all("profiles") for profile in profiles.children)):
        for dependencies in container.all("dependencies"):
            for dependency in dependencies.all("dependency"):
                package = _package(dependency, project)
                others = versions[package.name, bool(package.development)]
                if dependency.value("type") != "pom" and not others & {package.version, None}:
                    others.add(package.version)
                    if not package.development:
                        names.add(package.name)
                    yield package
    yield from _managed(project, names)


def _left_out(root: Element, project: Project) -> str:
    """Why kafka-clients is not there at run time, whatever brings it along: a test scope that is declared or managed is that of what
    others bring, too (as `mvn dependency:tree` shows). Empty if it is.
    """
    for dependencies in root.all("dependencies"):
        for dependency in dependencies.all("dependency"):
            if _key(dependency, project) == KAFKA_CLIENTS and not _is_of_tests(dependency):
                scope = _scope(dependency, project)
                return _LEFT_OUT.format(f"declared in line {dependency.line} with") if scope == TEST else ""
    return _LEFT_OUT.format("managed with") if project.managed_scopes.get(KAFKA_CLIENTS) == TEST else ""


_LEFT_OUT = (
    "kafka-clients is {} scope test: Maven then leaves it out of what is packaged, whatever brings it along, and which one the "
    "application runs with is not known"
)


def _without_left_out(packages: Iterable[Package], left_out: str) -> Iterator[Package]:
    for package in packages:
        if not left_out or package.development:
            yield package
        elif not package.managed:
            yield replace(package, left_out=left_out)


def _key(dependency: Element, project: Project) -> str:
    names = [
        project.resolve(Version(dependency.value(part), dependency.line))
        for part in ("groupId", "artifactId")
    ]
    return ":".join(name.text if name else "?" for name in names)


def _is_of_tests(dependency: Element) -> bool:
    """Whether it is the jar with a project's own tests."""
    return dependency.value("type") == "test-jar" or bool(
        _CLASSIFIER.fullmatch(dependency.value("classifier"))
    )


def _scope(dependency: Element, project: Project) -> str:
    """As it is written or managed; empty if it is neither, or not known."""
    written = project.resolve(Version(dependency.value("scope"), None))
    scope = written.text if written else ""
    return scope or project.managed_scopes.get(_key(dependency, project), "")


def _purpose(scope: str) -> tuple[str, str]:
    """(development, doubt)."""
    if scope == TEST:
        return f"scope {scope}", ""
    return "", purposes.provided(f"scope {scope}") if scope in (PROVIDED, SYSTEM) else ""


def project_of(text: str) -> Project:
    """What a published POM says by itself: its parent and what it imports are missing from it. Raises Unreadable."""
    return _project(parse(text, "project"), lambda path: None, {}, own=False)


def _managed(project: Project, declared: Container[str]) -> Iterator[Package]:
    """kafka-clients where it is managed and not declared: the version of what other dependencies bring."""
    name = KAFKA_CLIENTS.replace(":", "/")
    if name in declared:
        return
    if version := project.resolve(project.managed.get(KAFKA_CLIENTS)):
        yield _of_version(name, version, managed=True)
    elif KAFKA_CLIENTS not in project.managed and (listed := _listed(project)):
        version, through = listed
        yield _of_version(name, version, through, managed=True)


def _of_version(name: str, version: Version, through: str = "", *, managed: bool = False) -> Package:
    is_editable = version.line is not None and not through
    return Package(
        "maven",
        name,
        version.text,
        version.line,
        editable=is_editable,
        declared_only=not managed,
        managed=managed,
        through=through,
    )


def _listed(project: Project) -> tuple[Version, str] | None:
    """Kafka's version as a list that is imported, or else a parent, manages it, and through which; None if one of them is not
    known. Lists come before parents, the first before later ones. A property of this file changes what a parent says, not what
    a list says; Spring Boot's parent takes the version from kafka.version.
    """
    parent, _, parent_version = project.missing_parent.rpartition(":")
    inherited = [(parent, Version(parent_version, project.parent_line))] if parent else []
    for written, wanted in (*project.imported, *inherited):
        named = project.resolve(Version(written, None))
        key = named.text if named else ""
        if key == parent and key.startswith(_BOOT):
            own = project.resolve(project.properties.get("kafka.version"))
            if own:
                return own, ""
        version = project.resolve(wanted)
        name = key.replace(":", "/")
        is_known, managed = known_packages.managed_version("maven", name, version.text if version else None)
        if not is_known:
            return None
        if managed and version:
            return Version(managed, version.line), f"managed by {key.partition(':')[2]} {version.text}"
    return None


def _package(dependency: Element, project: Project) -> Package:
    development, doubt = _purpose(_scope(dependency, project))
    if _is_of_tests(dependency):
        development = "the jar of its tests"
    package = _versioned(dependency, _key(dependency, project), project)
    return replace(package, development=development, doubt=doubt)


def _versioned(dependency: Element, key: str, project: Project) -> Package:
    name = key.replace(":", "/")
    element = dependency.first("version")
    if element is not None:
        written: Version | None = Version(element.text.strip(), element.text_line or element.line)
    else:
        written = project.managed.get(key)
    through = ""
    if written is None and key.startswith(_KAFKA) and (listed := _listed(project)):
        written, through = listed
    line = dependency.line
    if written is None:
        return Package("maven", name, None, line, _why_missing(project), editable=True, declared_only=True)
    version = project.resolve(written)
    if version is None:
        why = f"its version is {written.text}, and {_why_missing(project)}"
        return Package("maven", name, None, line, why, editable=True, declared_only=True)
    if re.match(r"[\[(]", version.text) or version.text in ("LATEST", "RELEASE"):
        return declared("maven", name, None, version.text, version.line or line)
    package = _of_version(name, version, through)
    return package if version.line else replace(package, line=line)


def _why_missing(project: Project) -> str:
    if project.missing_parent:
        return f"{PARENT_NOT_HERE} ({project.missing_parent})"
    if project.imported:
        return f"{IMPORTED_NOT_HERE} ({', '.join(key for key, _ in project.imported[:3])})"
    return f"{NOT_LOCKED} (no version)"


def _project(root: Element, read_other: ReadOther, above: dict[str, bool], *, own: bool) -> Project:
    """`above`: the parents that have been read, which may name each other in a circle."""
    project = _parent(root, read_other, above)

    def line(element: Element) -> int | None:
        return (element.text_line or element.line) if own else None

    for container in (root, *root.everywhere("profile")):
        properties = container.first("properties")
        for element in properties.children if properties else ():
            if container is root or element.name not in project.properties:
                project.properties[element.name] = Version(element.text.strip(), line(element))
    for name, value in (("version", root.value("version")), ("groupId", root.value("groupId"))):
        if value:
            project.properties[f"project.{name}"] = Version(value, None)
    for management in root.everywhere("dependencyManagement"):
        for dependency in (management.first("dependencies") or management).all("dependency"):
            _manage(dependency, project, line)
    return project


def _manage(dependency: Element, project: Project, line: Callable[[Element], int | None]) -> None:
    key = f"{dependency.value('groupId')}:{dependency.value('artifactId')}"
    version = dependency.first("version")
    if dependency.value("scope") == "import":
        project.imported.append((key, Version(version.text.strip() if version else "", dependency.line)))
        return
    if _is_of_tests(dependency):
        return
    project.managed_scopes[key] = dependency.value("scope")
    if version is not None:
        project.managed[key] = Version(version.text.strip(), line(version))


def _parent(root: Element, read_other: ReadOther, above: dict[str, bool]) -> Project:
    parent = root.first("parent")
    if parent is None:
        return Project()
    names = [parent.value(part) for part in ("groupId", "artifactId", "version")]
    coordinates = ":".join(filter(None, names))
    path = parent.value("relativePath") if parent.first("relativePath") else "../pom.xml"
    known = {"project.parent.version": Version(names[2], None), "project.version": Version(names[2], None)}
    if not path or coordinates in above or len(above) >= _DEEPEST:
        return Project(properties=known, missing_parent=coordinates, parent_line=parent.line)
    path = path if path.endswith(".xml") else f"{path.rstrip('/')}/pom.xml"
    text = read_other(path)
    other = parse(text, "project") if text is not None else None
    if other is None or other.value("artifactId") != names[1]:
        return Project(properties=known, missing_parent=coordinates, parent_line=parent.line)
    base = path.rpartition("/")[0]

    def read_from_there(further: str) -> str | None:
        return read_other(f"{base}/{further}" if base else further)

    project = _project(other, read_from_there, above | {coordinates: True}, own=False)
    return replace(project, properties=project.properties | known)


def read_resolved(text: str) -> Iterator[Package]:
    """The output of `mvn dependency:tree` or `dependency:list`: what the build really uses."""
    packages = []
    for number, line in numbered(text):
        if match := _RESOLVED.match(line.rstrip()):
            group, artifact, classifier, version, scope = match.groups()
            development, doubt = _purpose(scope)
            if _CLASSIFIER.fullmatch(classifier or ""):
                development = "the jar of its tests"
            name = f"{group}/{artifact}"
            packages.append(Package("maven", name, version, number, development=development, doubt=doubt))
    clients = [package for package in packages if package.name == KAFKA_CLIENTS.replace(":", "/")]
    only_test = next((package.line for package in clients if package.development == f"scope {TEST}"), None)
    is_left_out = only_test is not None and all(package.development for package in clients)
    yield from _without_left_out(
        packages, _LEFT_OUT.format(f"in line {only_test} with") if is_left_out else ""
    )
