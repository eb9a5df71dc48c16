"""Converts request logs or OpenTelemetry files to a raw dump, which the daily run reads.

    client-telemetry convert FORMAT --cluster ID --raw FOLDER [--release V] [--zone Z] [--year Y] FILE ...

The daily run does the same for a cluster with a `source` in the clusters file. FORMAT: request_log (--release is then
what the brokers run, if the log does not prove it), or one of the formats of sources/otlp/files.py. FILE: files, folders
or patterns. FOLDER: a folder or URL, the `raw` of the cluster in the clusters file. What was converted before is not
converted again. Exit code 2: nothing could be read or the options do not fit; one line says why and what to write.
"""

import json
import sys
from collections.abc import Callable, Sequence
from datetime import timedelta
from functools import partial

from client_telemetry import Unusable
from client_telemetry.cli.log_times import spelled
from client_telemetry.console.arguments import Arguments
from client_telemetry.console.progress import Progress
from client_telemetry.console.refusal import refuses
from client_telemetry.sources.adapters import ADAPTERS
from client_telemetry.sources.conversion import convert_new, declared
from client_telemetry.sources.request_log.broker_releases import UnclearRelease
from client_telemetry.sources.staged import Part, Result

_spelled = partial(spelled, of_make=False)


@refuses("convert", _spelled)
def main(argv: Sequence[str] | None = None) -> int:
    parser = Arguments("convert", __doc__)
    parser.add_argument("format", choices=list(ADAPTERS))
    parser.add_argument("files", nargs="+", metavar="FILE", help="files, folders or patterns")
    parser.add_argument("--cluster", required=True, help="Kafka's cluster id")
    parser.add_argument("--raw", required=True, help="output folder or URL of the dump")
    parser.add_argument(
        "--release", help="exact release of the brokers, if the log does not prove it (request_log)"
    )
    parser.add_argument("--zone", help="time zone of timestamps without a zone (request_log); default: UTC")
    parser.add_argument(
        "--year",
        type=int,
        help="year of timestamps without one (request_log); default: that of the file's time",
    )
    args = parser.parse_args(argv)
    optional = {name: value for name in ("release", "zone", "year") if (value := getattr(args, name))}
    source = {"format": args.format, "files": args.files, **optional}
    with Progress(f"looking for what is new in {', '.join(args.files)}") as progress:

        def shown(work: Callable[[Part], Result], parts: Sequence[Part]) -> list[Result]:
            return [work(part) for part in progress.counted("converting; parts", parts)]

        try:
            conversion = convert_new(
                declared(json.dumps(source)),
                args.cluster,
                args.raw,
                settled=timedelta(0),
                spread=shown,
                keep_unread=False,
            )
        except UnclearRelease as error:
            raise Unusable(f"{error}; specify it with --release") from None
    print(conversion.message)
    for warning in conversion.warnings:
        print(f"client-telemetry convert: warning: {_spelled(warning)}", file=sys.stderr)
    return 0
