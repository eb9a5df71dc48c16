"""pyproject.toml declares what the package imports: executors have the extra `spark` and nothing else."""

import ast
import re
import sys
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, packages_distributions, requires
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).parents[1]
PACKAGE = CHECKOUT / "spark/client_telemetry"
PROGRAMS = PACKAGE / "rehearsal/programs"
"""Run by Python of their own, with the library that is rehearsed."""


def imported_packages() -> set[str]:
    """Top-level packages that the package imports, other than itself and the standard library."""
    names: set[str] = set()
    for path in set(PACKAGE.rglob("*.py")) - set(PROGRAMS.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                names |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.level == 0:
                names.add((node.module or "").partition(".")[0])
    return names - set(sys.stdlib_module_names) - {"client_telemetry"}


def normalized(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def requirements(distribution: str, extra: str) -> Iterator[tuple[str, str]]:
    """Distributions that one requires when it is installed with an extra ("" = without), with their own extras."""
    for line in requires(distribution) or []:
        requirement, _, marker = line.partition(";")
        if "extra ==" in marker and not re.search(rf"extra == ['\"]{re.escape(extra)}['\"]", marker):
            continue
        match = re.match(r"\s*([A-Za-z0-9._-]+)(?:\[([^]]*)\])?", requirement)
        assert match, line
        for wanted in ["", *(match[2] or "").replace(" ", "").split(",")]:
            yield match[1], wanted


def closure(distribution: str, extra: str) -> set[str]:
    names: set[str] = set()
    waiting, seen = [(distribution, extra)], set()
    while waiting:
        pair = waiting.pop()
        if pair in seen:
            continue
        seen.add(pair)
        names.add(normalized(pair[0]))
        try:
            waiting += requirements(*pair)
        except PackageNotFoundError:
            continue  # for another platform
    return names


def test_the_extra_spark_has_all_that_the_package_imports():
    installed = closure("client-telemetry", "spark")
    providers = packages_distributions()
    own_extras = {"mcp"}
    lacking = {
        name: providers.get(name)
        for name in imported_packages() - own_extras
        if not installed & {normalized(provider) for provider in providers.get(name, [])}
    }
    assert not lacking


@pytest.mark.parametrize(
    "path",
    [
        "requirements.txt",
        "include/uv_requirements.txt",
        "benchmarks/requirements.txt",
        "tests/end_to_end/requirements.txt",
        "tests/end_to_end/real_kafka/clients/requirements.txt",
    ],
)
def test_every_pinned_package_has_hashes(path):
    pinned = (CHECKOUT / path).read_text().replace("\\\n", " ").splitlines()
    packages = [line for line in pinned if line and not line.lstrip().startswith("#")]
    assert packages
    assert [
        line[:60] for line in packages if not re.search(r"==\S+ .*--hash=sha256:[0-9a-f]{64}", line)
    ] == []
