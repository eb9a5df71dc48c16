"""The picture of the package: its folders, and which imports which.

    .venv/bin/python -m benchmarks.rooms

prints how many folders and arrows there are (an arrow: some module of one folder imports one of another), then each folder
with those that it imports. `LEVELS` is the order that a test holds them to: imports go to the same level or down.
"""

import ast
from collections import defaultdict
from collections.abc import Iterator
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
    {"probe", "artefacts", "campaign"},
    {"activity"},
    {"decode", "sessionize", "profile", "impact"},
    {"review"},
    {"reports"},
    {"fleet"},
    {"jobs"},
    {"cli"},
)
"""Lowest first."""


def imports() -> Iterator[tuple[str, str]]:
    """Module and imported module of the package, both without its name: `decode.plan`, `raw.reader`."""
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
                yield own, _module(name.removeprefix(f"{NAME}."))


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


def main() -> None:
    found = arrows()
    rooms = sorted(path.parent.name for path in PACKAGE.glob("*/__init__.py"))
    print(f"{len(rooms)} folders, {sum(map(len, found.values()))} arrows")
    for name in rooms:
        print(f"{name}: {', '.join(sorted(found[name])) or 'nothing'}")


if __name__ == "__main__":
    main()
