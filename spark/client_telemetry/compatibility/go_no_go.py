"""Whether verdicts stop an upgrade, as an exit code for a pipeline."""

import argparse
from collections.abc import Mapping, Sequence
from typing import Final

from client_telemetry.compatibility.verdict import INSUFFICIENT_EVIDENCE, PRECEDENCE

GO: Final = 0
NO_GO: Final = 3
CANNOT_TELL: Final = 4


def decide(verdicts: Mapping[str, int], fail_on: Sequence[str]) -> tuple[int, str]:
    """Exit code and sentence. `verdicts`: clients by verdict. NO_GO: a client has a verdict of `fail_on`; CANNOT_TELL: none
    has, and one lacks evidence.

    >>> decide({"breaks": 2, "safe": 5}, ["breaks"])
    (3, 'no-go: 2 clients with breaks')
    """
    stopping = sum(verdicts.get(verdict, 0) for verdict in fail_on)
    if stopping:
        return NO_GO, f"no-go: {stopping} clients with {' or '.join(fail_on)}"
    if verdicts.get(INSUFFICIENT_EVIDENCE):
        return CANNOT_TELL, f"cannot tell: {verdicts[INSUFFICIENT_EVIDENCE]} clients lack evidence"
    return GO, "go"


def add_fail_on(parser: argparse.ArgumentParser, *, default: tuple[str, ...] | None) -> None:
    """The option --fail-on. Without a `default` the exit code does not depend on verdicts unless it is given."""
    without = default[0] if default else "the exit code says nothing of verdicts"
    parser.add_argument(
        "--fail-on",
        type=_verdicts,
        default=default,
        metavar="VERDICT[,VERDICT]",
        help=f"verdicts that stop the upgrade, out of {', '.join(PRECEDENCE)}: exit code 3, or 4 if clients lack evidence; "
        f"default: {without}",
    )


def _verdicts(text: str) -> tuple[str, ...]:
    verdicts = tuple(part.strip() for part in text.split(",") if part.strip())
    unknown = [verdict for verdict in verdicts if verdict not in PRECEDENCE]
    if unknown or not verdicts:
        raise argparse.ArgumentTypeError(f"{text!r} has to name verdicts of {', '.join(PRECEDENCE)}")
    return verdicts
