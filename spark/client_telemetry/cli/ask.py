"""Asks an upgrade question of the lake through Airflow, and prints the answer and where the report is.

    client-telemetry ask CLUSTER --to V

Exit code 1: the run failed; one line says why. 2: the question cannot be asked.
"""

from collections.abc import Sequence

from client_telemetry.cli import checkout
from client_telemetry.cli.planned_upgrade import add_planned_upgrade
from client_telemetry.compatibility.listener_mechanisms import add_mechanisms
from client_telemetry.console.arguments import Arguments, day, days_of_evidence, exact_release


def main(argv: Sequence[str] | None = None) -> int:
    parser = Arguments("ask", __doc__)
    parser.add_argument("cluster", metavar="CLUSTER", help="name in the clusters file")
    parser.add_argument(
        "--to",
        required=True,
        type=exact_release,
        metavar="V",
        help="exact release to upgrade to, or name of a measured target",
    )
    parser.add_argument(
        "--from",
        type=exact_release,
        metavar="V",
        help="release before the upgrade; default: what the brokers run",
    )
    parser.add_argument(
        "--day", type=day, help="last UTC day of the evidence; default: the last processed one"
    )
    parser.add_argument(
        "--window",
        dest="window_days",
        type=days_of_evidence,
        metavar="DAYS",
        help="days of evidence; default: 7",
    )
    add_mechanisms(parser)
    add_planned_upgrade(parser)
    return checkout.run_module("ask", "ask", vars(parser.parse_args(argv)))
