"""Request logs, and the server logs beside them, as a source."""

from collections.abc import Sequence
from functools import partial

from client_telemetry.sources.adapter import Conversion, Source, WrongCluster, cut_files
from client_telemetry.sources.arrivals import Form
from client_telemetry.sources.dump_root import DumpRoot
from client_telemetry.sources.log_files import LogFile
from client_telemetry.sources.message_ends import LineEnds
from client_telemetry.sources.request_log import conversion as request_log
from client_telemetry.sources.request_log.broker_releases import BrokerReleases, release_to_leave
from client_telemetry.sources.request_log.broker_survey import by_family, look_at_log, surveyed
from client_telemetry.sources.request_log.conversion import ConversionPart
from client_telemetry.sources.request_log.log_line import LineReader
from client_telemetry.sources.request_log.open_incarnation import (
    read_open_incarnations,
    write_open_incarnations,
)
from client_telemetry.sources.staged import Failed, Staged
from client_telemetry.sources.stored_file import StoredFile


class RequestLogAdapter:
    formats = ("request_log",)
    options = frozenset(("release", "zone"))

    def form(self, source: Source) -> Form:
        def is_whole(tail: bytes) -> bool:
            return request_log.is_entry(LineReader(source.zone), tail)

        return Form(LineEnds, is_whole)

    def convert(
        self, source: Source, parts: Sequence[LogFile], cluster_id: str, before: DumpRoot, staged: Staged
    ) -> Conversion:
        open_incarnations = read_open_incarnations(before)
        known = {
            endpoint: broker
            for incarnation in open_incarnations
            for endpoint, broker in incarnation.known().items()
        }
        logs = by_family(parts)
        looks = staged.look(partial(look_at_log, zone=source.zone), logs)
        read, left = [], _Left()
        for files, look in zip(logs, looks, strict=True):
            if isinstance(look, Failed):
                left.add(f"log {files[0].family}", [log.file for log in files], look)
            else:
                read.append(look)
        seen = surveyed(parts, read, known)
        if seen.cluster_id not in (None, cluster_id):
            raise WrongCluster(
                f"the log is of cluster {seen.cluster_id}, not {cluster_id}: name that cluster"
            )
        releases = release_to_leave(seen, source.release)[0] if seen.brokers else BrokerReleases()
        of_brokers = request_log.parts(seen, releases, cluster_id, source.zone, open_incarnations)
        done, brokers = request_log.Converted(), 0
        for part, converted in zip(of_brokers, staged.write(ConversionPart.convert, of_brokers), strict=True):
            if isinstance(converted, Failed):
                left.add(str(part), [file.log.file for file in part.survey.files], converted)
            else:
                done.add(converted)
                brokers += len(part.survey.brokers)
        if left.files and not done.lines:
            raise NothingConverted(left.warnings[0])
        write_open_incarnations(staged.folder, open_incarnations, done.open_incarnations)
        counts = {
            "converted_requests": done.entries,
            "converted_pushes": done.pushes,
            "converted_unreadable": done.unreadable.total(),
        }
        warnings = left.warnings + cut_files(done.cut)
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
            f"{done.entries} requests of {brokers} brokers{on}: "
            f"{done.connections} connections, {done.pushes} pushes, {done.refused} requests refused, {done.failed_logins} "
            f"failed logins, {done.unreadable.total()} unreadable lines or files{left_alone}"
        )
        return Conversion(message, counts, warnings, left.files)


class NothingConverted(RuntimeError):
    """No part of the logs could be converted; the message says of one of them why."""


class _Left:
    """Files that could not be converted, and what to say of them."""

    def __init__(self) -> None:
        self.files: list[StoredFile] = []
        self.warnings: list[str] = []

    def add(self, what: str, files: Sequence[StoredFile], failed: Failed) -> None:
        self.files += files
        self.warnings.append(
            f"{what} was left out, and the next run tries again: {failed.error}; files: {len(files)}, such as {files[0]}"
        )


def _numbers_of_ours(numbers: Sequence[int]) -> str:
    return (
        f"the log does not tell the node id of {len(numbers)} brokers, numbered {', '.join(map(str, numbers))} here: "
        "say it before the file, as 1=/logs/a"
    )
