"""publish_fleet: the fleet of a day as HTML, CSV and JSON, and the search index of client instances.

Reads the snapshots that were published together, and compares with the day and the week before.
"""

from collections.abc import Sequence

from client_telemetry.fleet.day import READ, publish_day
from client_telemetry.identity.hosts import NO_HOSTS, host_names
from client_telemetry.pipeline.inputs import StageInputs
from client_telemetry.pipeline.options import add_options, no_days
from client_telemetry.pipeline.stage import Outcome, Stage, parser, run
from client_telemetry.pipeline.text_file import read_text_file


def publish_fleet(stage: Stage) -> Outcome:
    args = stage.arguments
    inputs = StageInputs.of(stage, args.days, READ)
    processed = stage.lake.published_days(stage.cluster, "profile")
    hosts = read_text_file(args.hosts, "host names", host_names) if args.hosts else NO_HOSTS
    pages = {day: publish_day(stage, inputs.on([day]), processed, hosts) for day in args.days}
    last = max(pages)
    page, sentence = pages[last]
    details: dict[str, object] = {"page": page, "sentence": sentence}
    return Outcome(f"publish_fleet: {last}: {sentence}\n{page}", {"pages": len(pages)}, details)


def main(argv: Sequence[str] | None = None) -> int:
    arguments = parser("publish_fleet", __doc__)
    add_options(arguments, "--days", "--publish", "--hosts", "--without-spark-up-to")
    nothing_to_do = no_days("publish_fleet")
    return run(arguments, publish_fleet, argv, nothing_to_do, has_gate=False)
