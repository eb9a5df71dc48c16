"""Starts Airflow with the fleet's pages, reports and a form for questions, until Ctrl-C.

client-telemetry ui [--port N]
"""

import argparse
import os
from collections.abc import Sequence

from client_telemetry.cli import checkout
from client_telemetry.console.arguments import Arguments


def main(argv: Sequence[str] | None = None) -> int:
    parser = Arguments("ui", __doc__)
    parser.add_argument("--port", type=_port, help="port on 127.0.0.1; default: the variable PORT, or 8080")
    port = parser.parse_args(argv).port
    if port is not None:
        os.environ |= dict.fromkeys(("PORT", "AIRFLOW__API__PORT"), str(port))
    return checkout.become("ui", str(checkout.UI))


def _port(text: str) -> int:
    """A larger number is taken by its lowest 16 bits: Airflow would be started, and its address lead nowhere."""
    if not (text.isdecimal() and 0 < int(text) < 2**16):
        raise argparse.ArgumentTypeError(f"{text!r} is not a port: write a number from 1 to 65535")
    return int(text)
