"""Ask the brokers of a cluster which requests they answer.

client-telemetry probe HOST:PORT[,…] [--command-config client.properties] --output target.json [--dry-run]

Nothing is changed at the brokers: each request is empty and on a list (docs/probe.md); --dry-run prints the list. Exit code 0 if
every broker was asked, 1 if some could not be (the file says which), 2 if none could or an argument cannot be used.
"""

import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from client_telemetry.console.arguments import Arguments
from client_telemetry.console.output_file import whole_file
from client_telemetry.console.progress import Progress
from client_telemetry.console.refusal import refuses
from client_telemetry.formats import target_file
from client_telemetry.probe import measurement, probing, request_bodies
from client_telemetry.probe.listener import Listener, read_properties
from client_telemetry.probe.measurement import Measured
from client_telemetry.probe.probing import Limits


@refuses("probe")
def main(argv: Sequence[str] | None = None) -> int:
    parser = Arguments("probe", __doc__)
    parser.add_argument("bootstrap", metavar="HOST:PORT[,…]", help="brokers to start with")
    parser.add_argument(
        "--command-config",
        type=Path,
        metavar="FILE",
        help="client.properties: security.protocol and what it needs",
    )
    parser.add_argument("--output", type=Path, metavar="FILE", help="target file, such as target.json")
    parser.add_argument("--dry-run", action="store_true", help="print what would be sent, and send nothing")
    parser.add_argument(
        "--rate",
        type=float,
        default=Limits.per_second,
        metavar="N",
        help="requests a second, at most; default: %(default)g",
    )
    args = parser.parse_args(argv)
    if not 0 < args.rate <= 1000:
        parser.error(f"--rate={args.rate:g} is not a number of requests a second: use 1 to 1000")
    if not args.output and not args.dry_run:
        parser.error("name the file to write: --output target.json, or --dry-run to see what would be sent")
    settings = read_properties(args.command_config) if args.command_config else {}
    bootstrap = measurement.bootstrap_listeners(args.bootstrap, settings)
    if args.dry_run:
        print("\n".join(dry_run(bootstrap)))
        return 0
    with Progress(f"connecting to {args.bootstrap}") as progress:
        measured = measurement.measure(bootstrap, Limits(per_second=args.rate), progress)
    return _write(args.output, bootstrap, measured)


def _write(output: Path, bootstrap: Sequence[Listener], measured: Measured) -> int:
    content = measurement.content(measured, bootstrap)
    with whole_file(output) as opened:
        opened.write(target_file.text(content))
    for line in summary(measured, content["answers_like"]):
        print(line, file=sys.stderr)
    return 1 if measured.failures else 0


def summary(measured: Measured, answers_like: Sequence[str]) -> list[str]:
    lines = []
    for name, broker in measured.brokers.items():
        outcomes = Counter(broker.outcomes.values())
        counts = ", ".join(f"{count:,} {outcome}" for outcome, count in outcomes.most_common())
        lines.append(f"broker {name} at {broker.address}: {counts}, {len(broker.not_asked):,} not asked")
    lines.append(
        f"advertises what Apache Kafka {' or '.join(answers_like)} does"
        if answers_like
        else "advertises what no known release of Apache Kafka does"
    )
    lines += [f"broker {name} was not asked: {reason}" for name, reason in measured.failures.items()]
    return lines + measured.notes


def dry_run(bootstrap: Sequence[Listener]) -> list[str]:
    """What would be sent to each broker that the cluster names, request by request."""
    where = ", ".join(str(entry.address) for entry in bootstrap)
    lines = [
        f"To {where} ({bootstrap[0].security_protocol}) and each broker that it names, as client id {request_bodies.CLIENT_ID}:"
    ]
    left_out = []
    for request in probing.in_order():
        permission = request_bodies.permission(request.api_key, request.version)
        name = f"{request.api_key} {request.api_name} {request.version}"
        if permission.permitted == request_bodies.NO:
            left_out.append(f"{name}: {permission.reason}")
            continue
        only = "" if permission.permitted == request_bodies.YES else f" (only {permission.permitted})"
        lines.append(f"  {name}{only}: {request.body.hex() or 'nothing'} ({permission.reason})")
    return [*lines, "Not sent:", *(f"  {line}" for line in left_out)]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
