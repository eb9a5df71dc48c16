"""The picture of the package: its folders, and which imports which.

    .venv/bin/python -m benchmarks.rooms

prints each folder with those that it imports, how many arrows there are (an arrow: some module of one folder imports one of
another) and the longest chain of imports. It fails for an import that goes to a higher level (`LEVELS`), for modules that import
each other, and for a chain that is too long.
"""

import ast
import sys
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).parents[1] / "spark/client_telemetry"
NAME = PACKAGE.name

LEVELS = (
    {"console"},
    {"formats"},
    {"knowledge"},
    {"knowledge_package"},
    {"compatibility"},
    {"identity", "subscriptions"},
    {"tables"},
    {"lake"},
    {"workers"},
    {"pipeline"},
    {"sources"},
    {"probe", "artefacts", "campaign", "rehearsal", "trackers"},
    {"inventory"},
    {"activity"},
    {"decode", "sessionize", "profile", "impact"},
    {"review"},
    {"reports"},
    {"fleet", "notices", "answers"},
    {"jobs"},
    {"cli"},
)
"""Lowest first."""

LONGEST_CHAIN = 16
"""Modules. To understand the first, one may have to read all of them."""


def imports() -> Iterator[tuple[str, str]]:
    """Module and imported module of the package, both without its name: `decode.plan`, `raw.reader`. Not the package itself,
    which Python imports before any of its modules.
    """
    for file in sorted(PACKAGE.rglob("*.py")):
        own = ".".join(file.relative_to(PACKAGE).with_suffix("").parts)
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == NAME:
                whole = [f"{node.module}.{each.name}" for each in node.names]
            elif isinstance(node, ast.Import):
                whole = [each.name for each in node.names if each.name.startswith(f"{NAME}.")]
            else:
                continue
            for name in whole:
                if module := _module(name.removeprefix(f"{NAME}.")):
                    yield own, module


def _module(name: str) -> str:
    """The module of an imported name, which may be the module itself or something in it."""
    path = PACKAGE.joinpath(*name.split("."))
    return name if path.is_dir() or path.with_suffix(".py").exists() else name.rpartition(".")[0]


def room(module: str) -> str:
    return module.partition(".")[0]


def arrows() -> dict[str, set[str]]:
    """Folder to the folders that it imports."""
    found: dict[str, set[str]] = defaultdict(set)
    for own, other in imports():
        if room(own) != room(other) and (PACKAGE / room(own)).is_dir() and room(other):
            found[room(own)].add(room(other))
    return found


def upward() -> list[str]:
    """Imports that go from a level to a higher one."""
    level = {name: number for number, names in enumerate(LEVELS) for name in names}
    return sorted(
        f"{own} imports {other}"
        for own, other in set(imports())
        if room(own) in level and room(other) in level and level[room(own)] < level[room(other)]
    )


def circles() -> list[list[str]]:
    """Modules that import each other, directly or through others; each circle sorted."""
    imported = _imported()
    reached = {module: _reached(module, imported) for module in imported}
    found = {
        tuple(sorted(other for other in all_of_it if module in reached.get(other, ())))
        for module, all_of_it in reached.items()
        if module in all_of_it
    }
    return sorted(map(list, found))


def longest_chain() -> list[str]:
    """The modules of the longest chain of imports, without circles."""
    imported = _imported()

    @cache
    def below(module: str) -> tuple[str, ...]:
        chains = (below(other) for other in sorted(imported.get(module, ())))
        return (module, *max(chains, key=len, default=()))

    return list(max(map(below, sorted(imported)), key=len))


def _imported() -> dict[str, set[str]]:
    found: dict[str, set[str]] = defaultdict(set)
    for own, other in imports():
        own = own.removesuffix(".__init__")
        if own != other:
            found[own].add(other)
    return dict(found)


def _reached(module: str, imported: dict[str, set[str]]) -> set[str]:
    reached: set[str] = set()
    left = [module]
    while left:
        for other in imported.get(left.pop(), set()) - reached:
            reached.add(other)
            left.append(other)
    return reached


def main() -> int:
    found = arrows()
    rooms = sorted(path.parent.name for path in PACKAGE.glob("*/__init__.py"))
    for name in rooms:
        print(f"{name}: {', '.join(sorted(found[name])) or 'nothing'}")
    print(f"{len(rooms)} rooms, {sum(map(len, found.values()))} arrows")
    bad = [f"upward: {each}" for each in upward()] + [f"circle: {', '.join(each)}" for each in circles()]
    if not bad:
        chain = longest_chain()
        print(f"longest chain of imports, {len(chain)} modules: {' > '.join(chain)}")
        if len(chain) > LONGEST_CHAIN:
            bad.append(f"a chain of {len(chain)} imports; no more than {LONGEST_CHAIN}")
    for each in bad:
        print(each, file=sys.stderr)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
