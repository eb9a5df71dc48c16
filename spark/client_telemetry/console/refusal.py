"""What a user gave and no command can use: one line that says why and what to write instead, and exit code 2."""

import sys
from collections.abc import Callable, Sequence
from functools import wraps
from typing import Final

from client_telemetry import Unusable

FAILED: Final = 1
BAD_ARGUMENTS: Final = 2


Main = Callable[[Sequence[str] | None], int]


def refused(program: str, reason: object) -> int:
    print(f"{program}: {reason}", file=sys.stderr, flush=True)
    return BAD_ARGUMENTS


def refuses(
    subcommand: str,
    worded: Callable[[str], str] = str,
    failure: Callable[[Exception], str | None] = lambda error: None,
) -> Callable[[Main], Main]:
    """Has a subcommand of `client-telemetry` end by `refused` at Unusable, and at a file that cannot be read or written.
    `worded`: how it says what an error says. `failure`: what did not work, if an error is not the program's; exit code 1.
    """
    program = f"client-telemetry {subcommand}"

    def refusing(main: Main) -> Main:
        @wraps(main)
        def run(argv: Sequence[str] | None = None) -> int:
            try:
                return main(argv)
            except Unusable as error:
                return refused(program, worded(str(error)))
            except Exception as error:
                if reason := failure(error):
                    refused(program, reason)
                    return FAILED
                if not isinstance(error, OSError) or isinstance(error, ConnectionError):
                    raise
                return refused(program, f"{error.filename}: {error.strerror}" if error.filename else error)

        return run

    return refusing
