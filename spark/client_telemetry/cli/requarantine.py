"""Reprocesses all days that have quarantined records, in all clusters, through Airflow, and prints what came out.

client-telemetry requarantine
"""

from collections.abc import Sequence

from client_telemetry.cli import checkout
from client_telemetry.console.arguments import Arguments


def main(argv: Sequence[str] | None = None) -> int:
    Arguments("requarantine", __doc__).parse_args(argv)
    return checkout.run_module("requarantine", "requarantine")
