"""Request logs, and the server logs beside them, as a source."""

from collections.abc import Sequence
from pathlib import Path

from client_telemetry.sources.adapter import Conversion, Source, WrongCluster, cut_files
from client_telemetry.sources.arrivals import Form
from client_telemetry.sources.dump_root import DumpRoot
from client_telemetry.sources.log_files import LogFile
from client_telemetry.sources.message_ends import LineEnds
from client_telemetry.sources.request_log import conversion as request_log
from client_telemetry.sources.request_log.broker_releases import BrokerReleases, release_to_leave
from client_telemetry.sources.request_log.broker_survey import survey
from client_telemetry.sources.request_log.log_line import LineReader
from client_telemetry.sources.request_log.open_incarnation import (
    read_open_incarnations,
    write_open_incarnations,
)


class RequestLogAdapter:
    formats = ("request_log",)
    options = frozenset(("release", "zone"))

    def form(self, source: Source) -> Form:
        def is_whole(tail: bytes) -> bool:
            return request_log.is_entry(LineReader(source.zone), tail)

        return Form(LineEnds, is_whole)

    def convert(
        self, source: Source, parts: Sequence[LogFile], cluster_id: str, before: DumpRoot, staged: Path
    ) -> Conversion:
        open_incarnations = read_open_incarnations(before)
        known = {
            endpoint: broker
            for incarnation in open_incarnations
            for endpoint, broker in incarnation.known().items()
        }
        seen = survey(parts, source.zone, known=known)
        if seen.cluster_id not in (None, cluster_id):
            raise WrongCluster(
                f"the log is of cluster {seen.cluster_id}, not {cluster_id}: name that cluster"
            )
        releases = release_to_leave(seen, source.release)[0] if seen.brokers else BrokerReleases()
        done = request_log.convert(seen, releases, cluster_id, staged, source.zone, before=open_incarnations)
        write_open_incarnations(staged, open_incarnations, done.open_incarnations)
        counts = {
            "converted_requests": done.entries,
            "converted_pushes": done.pushes,
            "converted_unreadable": done.unreadable.total(),
        }
        warnings = cut_files(done.cut)
        if done.without_entries:
            warnings.append(
                f"{len(done.without_entries)} files have no entry of kafka.request.logger at DEBUG, such as "
                f"{done.without_entries[0]}: how they begin is in undecodable_records. Is the logger on?"
            )
        numbered = [broker.broker_id for broker in seen.brokers if broker.id_known_by == "numbered"]
        if numbered:
            warnings.append(_numbers_of_ours(numbered))
        run = sorted(
            {releases.of(b.broker_id, incarnation) for b in seen.brokers for incarnation in b.incarnations}
            - {""}
        )
        on = f" on {', '.join(run)}" if run else ""
        left_alone = (
            f"; no request logs, left alone: {', '.join(sorted(done.no_logs))}" if done.no_logs else ""
        )
        message = (
            f"{done.entries} requests of {len(seen.brokers)} brokers{on}: "
            f"{done.connections} connections, {done.pushes} pushes, {done.refused} requests refused, {done.failed_logins} "
            f"failed logins, {done.unreadable.total()} unreadable lines or files{left_alone}"
        )
        return Conversion(message, counts, warnings)


def _numbers_of_ours(numbers: Sequence[int]) -> str:
    return (
        f"the log does not tell the node id of {len(numbers)} brokers, numbered {', '.join(map(str, numbers))} here: "
        "say it before the file, as 1=/logs/a"
    )
