"""Modules of the jobs that need nothing but the standard library and markupsafe, taken by their paths as the stylesheet is: the package
of the jobs is not the scheduler's."""

import importlib
import importlib.util
import sys
from pathlib import PurePosixPath
from types import ModuleType

from include.clusters import CHECKOUT

PACKAGE = CHECKOUT / "spark" / "client_telemetry"
LIGHT = ("reports/curves.py", "reports/client_strings.py")
"""All that are taken so."""


def module(path: str) -> ModuleType:
    """One of LIGHT, loaded once. Raises OSError where the checkout has no such file."""
    name = f"telemetry_pages._{PurePosixPath(path).stem}"
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, PACKAGE / path)
        if spec is None or spec.loader is None:
            raise FileNotFoundError(PACKAGE / path)
        made = importlib.util.module_from_spec(spec)
        sys.modules[name] = made
        spec.loader.exec_module(made)
    return sys.modules[name]


def package_module(name: str) -> ModuleType:
    """`answers.questions`, which needs other modules of the package, of the standard library alone: from the installed package, or from
    the checkout."""
    if importlib.util.find_spec(PACKAGE.name) is None:
        sys.path.append(str(PACKAGE.parent))
    return importlib.import_module(f"{PACKAGE.name}.{name}")


def shown(text: str) -> str:
    """Text that a client chose, with every character visible."""
    return str(module("reports/client_strings.py").shown(text))
