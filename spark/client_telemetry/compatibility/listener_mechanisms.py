"""Which SASL mechanisms a listener offers (sasl.enabled.mechanisms), as somebody states them:
`CLIENTS=SCRAM-SHA-512,PLAIN INTERNAL=GSSAPI`.
"""

import argparse
from collections.abc import Collection, Iterable, Mapping

from client_telemetry import Unusable
from client_telemetry.knowledge.logins import MECHANISMS, mechanisms_in

Offered = Mapping[str, tuple[str, ...]]
"""Listener, in upper case as brokers compare names, -> its SASL mechanisms, sorted."""

EXAMPLE = "CLIENTS=SCRAM-SHA-512,PLAIN"


class BadMechanisms(Unusable):
    """The text does not state mechanisms of listeners; the message says what to write instead."""


def listener_mechanisms(text: str) -> dict[str, tuple[str, ...]]:
    """Raises BadMechanisms.

    >>> listener_mechanisms("clients=scram-sha-512,PLAIN; INTERNAL=GSSAPI")
    {'CLIENTS': ('PLAIN', 'SCRAM-SHA-512'), 'INTERNAL': ('GSSAPI',)}
    """
    offered: dict[str, tuple[str, ...]] = {}
    for entry in text.replace(";", " ").split():
        listener, separator, names = entry.partition("=")
        if not (listener and separator and names.strip(",")):
            raise BadMechanisms(
                f"{entry!r} does not say which mechanisms a listener offers: write LISTENER=MECHANISM[,MECHANISM], such as {EXAMPLE}"
            )
        if listener.upper() in offered:
            raise BadMechanisms(f"listener {listener} is stated twice: put its mechanisms after one =")
        offered[listener.upper()] = _known(names)
    if not offered:
        raise BadMechanisms(f"no listener is stated: write LISTENER=MECHANISM[,MECHANISM], such as {EXAMPLE}")
    return offered


def check_listeners(offered: Offered, seen: Iterable[str]) -> None:
    """Raises BadMechanisms for a listener that is none of those that were seen, if any was."""
    known = {name.upper() for name in seen if name}
    if known and (unknown := sorted(set(offered) - known)):
        raise BadMechanisms(
            f"no connection to a listener {unknown[0]} was seen: listeners are {', '.join(sorted(known))}"
        )


def by_security_protocol(
    offered: Offered, listeners: Mapping[str, Collection[str]]
) -> dict[str, tuple[str, ...]]:
    """Security protocol -> what its listeners offer, where that is stated of all of them. `listeners`: names by protocol."""
    return {
        protocol: tuple(sorted({mechanism for name in names for mechanism in offered[name.upper()]}))
        for protocol, names in listeners.items()
        if names and all(name.upper() in offered for name in names)
    }


def _known(names: str) -> tuple[str, ...]:
    mechanisms: set[str] = set()
    for name in filter(None, names.split(",")):
        meant = mechanisms_in(name)
        if not meant or meant - set(MECHANISMS):
            raise BadMechanisms(f"{name!r} is not a known SASL mechanism: use {', '.join(MECHANISMS)}")
        mechanisms |= meant
    return tuple(sorted(mechanisms))


def add_mechanisms(parser: argparse.ArgumentParser) -> None:
    """The option --mechanisms: a text that `listener_mechanisms` can read."""
    parser.add_argument(
        "--mechanisms",
        type=_mechanisms,
        metavar="LISTENER=MECHANISM[,MECHANISM]",
        help=f"SASL mechanisms that listeners offer (sasl.enabled.mechanisms), separated by blanks, such as '{EXAMPLE}'; default: what "
        "the brokers report or print at their start",
    )


def _mechanisms(text: str) -> str:
    try:
        listener_mechanisms(text)
    except BadMechanisms as error:
        raise argparse.ArgumentTypeError(str(error)) from error
    return text
