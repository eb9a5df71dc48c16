"""setup.py and setup.cfg of setuptools: requirements as they are written there. The script is parsed, not run."""

import ast
import re
import warnings
from collections.abc import Iterator
from dataclasses import replace

from client_telemetry.artefacts.packages import Package
from client_telemetry.artefacts.readers.lines import numbered
from client_telemetry.artefacts.readers.python import requirement

_REQUIRES = re.compile(r"(?:install|setup|tests|extras?)_requires?|requirements|dependencies", re.IGNORECASE)
_WRITTEN = re.compile(r"""["']([A-Za-z][\w.-]*(?:\[[\w, .-]*\])?\s*[=<>~!]=?[^"']*)["']""")
_LONGEST = 1_000_000
_KEY = re.compile(r"([\w.-]+)\s*[=:]\s*(.*)")


def read_script(text: str) -> Iterator[Package]:
    """Every literal with a version; names alone only where requirements are set, as they may be anything elsewhere."""
    seen = set()
    for line, written in [*_literals(text), *_with_version(text)]:
        package = requirement(written.strip(), line)
        if package and (package.name, line) not in seen:
            seen.add((package.name, line))
            yield replace(package, declared_only=True)


def _literals(text: str) -> Iterator[tuple[int, str]]:
    """Texts in the values of `install_requires` and its kind; none of a script that Python 3 cannot read or that is no
    setup script by its length.
    """
    if len(text) > _LONGEST:
        return
    try:
        with warnings.catch_warnings():
            # What Python thinks of a stranger's script is nothing that the user can change.
            warnings.simplefilter("ignore")
            tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    for node in ast.walk(tree):
        value = _required(node)
        keys = (
            {id(key) for part in ast.walk(value) if isinstance(part, ast.Dict) for key in part.keys}
            if value
            else ()
        )
        for part in ast.walk(value) if value else ():
            if isinstance(part, ast.Constant) and isinstance(part.value, str) and id(part) not in keys:
                yield part.lineno, part.value


def _required(node: ast.AST) -> ast.expr | None:
    """The value, if the node sets requirements by a keyword or a variable: calls in it may have any arguments."""
    if isinstance(node, ast.keyword):
        name, value = node.arg, node.value
    elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
        name, value = node.targets[0].id, node.value
    else:
        return None
    literal = isinstance(value, ast.List | ast.Tuple | ast.Dict)
    return value if literal and name and _REQUIRES.fullmatch(name) else None


def _with_version(text: str) -> Iterator[tuple[int, str]]:
    for number, line in numbered(text):
        if not line.lstrip().startswith("#"):
            yield from ((number, match[1]) for match in _WRITTEN.finditer(line))


def read_configuration(text: str) -> Iterator[Package]:
    """setup.cfg: `install_requires` and its kind in `[options]`, and all keys of `[options.extras_require]`."""
    section, inside = "", False
    for number, line in numbered(text):
        if not line.strip() or line.lstrip().startswith(("#", ";")):
            continue
        if line.startswith("["):
            section, inside = line.strip("[] "), False
            continue
        written = line.strip()
        if not line[0].isspace() and (key := _KEY.match(line)):
            inside = section == "options.extras_require" or (
                section == "options" and bool(_REQUIRES.fullmatch(key[1]))
            )
            written = key[2]
        if inside and (package := requirement(written, number)):
            yield replace(package, declared_only=True)
