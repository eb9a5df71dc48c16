"""Modules that a library imports for what is not used here: imported only when somebody uses them after all."""

import importlib
import sys
from types import ModuleType


class _Stand(ModuleType):
    """For a module, under its name, until one of its names is asked for. importlib.util.LazyLoader does the same for `import x`
    alone: `from package import x` already asks its module for something."""

    def __getattr__(self, name: str) -> object:
        # Asked of every module by who looks for the source of a function (inspect.getmodule).
        if name == "__file__":
            raise AttributeError(name)
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]
        return getattr(importlib.import_module(self.__name__), name)


def import_when_used(*modules: str) -> None:
    """Of modules that nobody has imported yet."""
    for name in modules:
        sys.modules.setdefault(name, _Stand(name))
