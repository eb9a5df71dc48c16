"""Converts what was recorded in another form into a dump that the daily run reads.

    python -m client_telemetry.sources FORMAT --cluster ID --raw FOLDER [--release V] [--zone Z] FILE ...

FORMAT: request_log (then --release is what the brokers run, where the log does not prove it), or one of the formats of
otlp_files.py. FILE: files, folders or patterns. FOLDER: the `raw` of the cluster in the clusters file. Converting the same
files again gives the same objects. Exit code 2: one line tells what to say instead.
"""

import argparse
import sys
from pathlib import Path
from zoneinfo import ZoneInfo

from client_telemetry.compatibility.releases import UnusableRelease
from client_telemetry.sources import otlp_conversion, request_log
from client_telemetry.sources.broker_survey import TwoClusters, survey
from client_telemetry.sources.log_files import NoLogs, find_logs
from client_telemetry.sources.otlp_files import FORMATS

REQUEST_LOG = "request_log"


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m client_telemetry.sources", description=__doc__.splitlines()[0]
    )
    parser.add_argument("format", choices=[REQUEST_LOG, *FORMATS])
    parser.add_argument("files", nargs="+", metavar="FILE")
    parser.add_argument("--cluster", required=True, help="Kafka's id of the cluster")
    parser.add_argument("--raw", type=Path, required=True, help="folder for the dump")
    parser.add_argument("--release", help="release that the brokers run (request_log)")
    parser.add_argument(
        "--zone", type=ZoneInfo, default=ZoneInfo("UTC"), help="of times without one (request_log)"
    )
    told = parser.parse_args(argv)
    try:
        print(_request_log(told) if told.format == REQUEST_LOG else _otlp(told))
    except (NoLogs, TwoClusters, UnusableRelease, request_log.ReleaseNotTold, WrongCluster) as error:
        print(f"sources: {error}", file=sys.stderr)
        return 2
    return 0


class WrongCluster(ValueError):
    """The log is of another cluster than was told."""


def _request_log(told: argparse.Namespace) -> str:
    seen = survey(find_logs(told.files), told.zone)
    if seen.cluster_id not in (None, told.cluster):
        raise WrongCluster(
            f"the log is of cluster {seen.cluster_id}, not {told.cluster}: say --cluster={seen.cluster_id}"
        )
    release = request_log.release_of_all(seen, told.release)
    done = request_log.convert(seen, release, told.cluster, told.raw, told.zone)
    return (
        f"{done.entries} requests of {len(seen.brokers)} brokers on {release}: {done.connections} connections, "
        f"{done.pushes} pushes, {done.unreadable.total()} unreadable lines"
    )


def _otlp(told: argparse.Namespace) -> str:
    paths = [log.path for log in find_logs(told.files)]
    done = otlp_conversion.convert(paths, told.format, told.cluster, told.raw)
    return (
        f"{done.messages} messages of {done.files} files: {done.pushes} pushes, {done.unreadable.total()} unreadable "
        f"messages, {done.other_signals} of logs or traces, {done.other_clusters} resources of other clusters"
    )


if __name__ == "__main__":
    sys.exit(main())
