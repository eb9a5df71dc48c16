"""The stages as commands: arguments, inputs, transform, write. The one room that may import all others."""

import importlib
from collections.abc import Callable, Sequence


def main_of(stage: str) -> Callable[[Sequence[str] | None], int]:
    """The main function of a stage. Its module is imported when the function is called: Spark takes seconds to import."""

    def main(argv: Sequence[str] | None = None) -> int:
        result: int = importlib.import_module(f"{__name__}.{stage}").main(argv)
        return result

    return main
