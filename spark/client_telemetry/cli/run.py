"""Processes the bundled sample through Airflow, and prints the path of the upgrade report.

client-telemetry run
"""

from collections.abc import Sequence

from client_telemetry.cli import checkout
from client_telemetry.console.arguments import Arguments


def main(argv: Sequence[str] | None = None) -> int:
    Arguments("run", __doc__).parse_args(argv)
    return checkout.run_module("run", "sample_run")
