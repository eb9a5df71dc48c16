"""What the names of scopes, configurations and groups say about what a dependency is for: the application, what the platform
brings along, or tests and development.
"""

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from client_telemetry.artefacts.packages import Package

_DEVELOPMENT_GROUP: Final = re.compile(
    r"(?:[\w-]+[-_])?(?:dev|devel|develop|development|tests?|testing)(?:[-_](?:dependencies|deps|requirements|only))?"
    r"|lint(?:ing|ers?)?|docs?|typing|mypy|ci|qa|coverage|bench(?:marks?)?|pre-commit",
    re.IGNORECASE,
)
_TEST_CONFIGURATION: Final = re.compile(r"tests?(?![a-z]).*|[\w-]*Tests?(?![a-z])\w*")
_COMPILE_ONLY: Final = re.compile(
    r"(?:\w+C|c)ompile(?:Classpath|Only|OnlyApi)|provided(?:Compile|Runtime)?|compileOnly(?:Api)?"
)
_DEVELOPMENT_FILE: Final = re.compile(
    r"(?:.*[-_./])?(?:dev|devel|develop|development|tests?|testing|lint|docs?|ci)(?:[-_.].*)?\.(?:txt|in|ya?ml)"
    r"|(?:dev|test)requirements\.(?:txt|in)",
    re.IGNORECASE,
)


def is_development_group(name: str) -> bool:
    """Whether a group of dependencies is one for development by its name.

    >>> [is_development_group(name) for name in ("dev", "integration-tests", "worker", "kafka", "latest")]
    [True, True, False, False, False]
    """
    return bool(_DEVELOPMENT_GROUP.fullmatch(name))


def of_groups(groups: Iterable[str]) -> str:
    """What says that all groups of a dependency are for development; empty if one is not, or there is none."""
    names = sorted(set(groups))
    return f"group {', '.join(names)}" if names and all(map(is_development_group, names)) else ""


def is_test_configuration(name: str) -> bool:
    """Whether a configuration of Gradle is one of tests.

    >>> [is_test_configuration(name) for name in ("testImplementation", "integrationTestRuntimeClasspath", "latestRuntime")]
    [True, True, False]
    """
    return bool(_TEST_CONFIGURATION.fullmatch(name))


def of_configurations(configurations: Iterable[str]) -> tuple[str, str]:
    """(development, doubt) of a dependency that is in these configurations of Gradle only."""
    names = sorted(set(configurations))
    others = [name for name in names if not is_test_configuration(name)]
    if names and not others:
        return f"configuration {', '.join(names)}", ""
    if others and all(_COMPILE_ONLY.fullmatch(name) for name in others):
        return "", provided(f"configuration {', '.join(others)}")
    return "", ""


def provided(said_by: str) -> str:
    """Why the version is not certain of what is there to compile with and not packaged."""
    return (
        f"{said_by} leaves it to the platform that the application runs on, whose version is not written here"
    )


def of_file_name(name: str) -> str:
    """Why packages of a file with this name may not be the application's; empty if the name says nothing.

    >>> of_file_name("requirements-dev.txt")
    'whether the application installs requirements-dev.txt is not known: by its name it is for development'
    >>> of_file_name("requirements.txt"), of_file_name("device-requirements.txt")
    ('', '')
    """
    if not _DEVELOPMENT_FILE.fullmatch(name):
        return ""
    return f"whether the application installs {name} is not known: by its name it is for development"


def by_manifest(
    packages: Sequence[Package],
    development: Mapping[str, str],
    application: Collection[str],
    is_needed: Callable[[str], bool],
) -> Iterable[Package]:
    """Packages of a lock file that does not say what they are for, with what the manifest beside it says: those that it names for
    development only (`development`: what says so) and that no other package needs.
    """
    for package in packages:
        why = development.get(package.name, "")
        if why and package.name not in application and not is_needed(package.name):
            package = replace(package, development=why)
        yield package


def all_needed(names: Iterable[str], needs: Mapping[str, Collection[str]]) -> set[str]:
    """The names, and what they need by way of any number of others.

    >>> sorted(all_needed({"a"}, {"a": {"b"}, "b": {"a", "c"}, "d": {"e"}}))
    ['a', 'b', 'c']
    """
    reached = set(names)
    waiting = list(reached)
    while waiting:
        new = set(needs.get(waiting.pop(), ())) - reached
        reached |= new
        waiting += new
    return reached
