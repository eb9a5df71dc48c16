"""Request logs, and the server logs next to them, as a source."""

from collections.abc import Sequence
from functools import partial

from client_telemetry.console.counted import first_of
from client_telemetry.sources.adapter import Conversion, Source, WrongCluster, cut_files
from client_telemetry.sources.arrivals import Form
from client_telemetry.sources.dump_root import DumpRoot
from client_telemetry.sources.log_files import LogFile, opened_text
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
from client_telemetry.sources.request_log.surveyed import Survey
from client_telemetry.sources.request_log.unread import MOST_FILES, reading_warnings, reasons_for_nothing
from client_telemetry.sources.request_log.written_incarnations import Converted
from client_telemetry.sources.staged import Failed, Staged
from client_telemetry.sources.stored_file import StoredFile


class RequestLogAdapter:
    formats = ("request_log",)
    options = frozenset(("release", "zone", "year"))

    def form(self, source: Source) -> Form:
        def is_whole(tail: bytes) -> bool:
            return request_log.is_entry(LineReader(source.zone, source.year or 2000), tail)

        return Form(LineEnds, is_whole, opened_text)

    def convert(
        self, source: Source, parts: Sequence[LogFile], cluster_id: str, before: DumpRoot, staged: Staged
    ) -> Conversion:
        open_incarnations = read_open_incarnations(before)
        known_brokers = {
            endpoint: broker
            for incarnation in open_incarnations
            for endpoint, broker in incarnation.known().items()
        }
        logs = by_family(parts)
        looks = staged.look(partial(look_at_log, zone=source.zone, year=source.year), logs)
        complete_looks, skipped = [], _Skipped()
        for files, look in zip(logs, looks, strict=True):
            if isinstance(look, Failed):
                skipped.add(f"log {files[0].family}", [log.file for log in files], look)
            else:
                complete_looks.append(look)
        survey = surveyed(parts, complete_looks, known_brokers, source.year)
        if survey.cluster_id not in (None, cluster_id):
            raise WrongCluster(
                f"the log is of cluster {survey.cluster_id}, not {cluster_id}: name that cluster"
            )
        releases = release_to_leave(survey, source.release)[0] if survey.brokers else BrokerReleases()
        of_brokers = request_log.parts(survey, releases, cluster_id, source.zone, open_incarnations)
        converted, brokers = Converted(), 0
        for part, part_result in zip(
            of_brokers, staged.write(ConversionPart.convert, of_brokers), strict=True
        ):
            if isinstance(part_result, Failed):
                skipped.add(str(part), [file.log.file for file in part.survey.files], part_result)
            else:
                converted.add(part_result)
                brokers += len(part.survey.brokers)
        if skipped.files and not converted.lines:
            raise NothingConverted(skipped.warnings[0])
        write_open_incarnations(staged.folder, open_incarnations, converted.open_incarnations)
        counts = {
            "converted_requests": converted.entries,
            "converted_pushes": converted.pushes,
            "converted_unreadable": converted.unreadable.total(),
        }
        warnings = skipped.warnings + cut_files(converted.cut) + reading_warnings(survey)
        if converted.without_entries:
            warnings.append(
                f"Files without an entry of kafka.request.logger at DEBUG: {len(converted.without_entries)}, such as "
                f"{converted.without_entries[0]}; their first lines are in undecodable_records"
            )
        numbered = [broker.broker_id for broker in survey.brokers if broker.id_known_by == "numbered"]
        if numbered:
            warnings.append(_numbered_warning(numbered))
        run = sorted(
            {releases.of(b.broker_id, incarnation) for b in survey.brokers for incarnation in b.incarnations}
            - {""}
        )
        on = f" on {', '.join(run)}" if run else ""
        left_alone = (
            f"; skipped, as they are not request logs: {first_of(sorted(converted.no_logs), MOST_FILES)}"
            if converted.no_logs
            else ""
        )
        message = f"{_counts(survey, converted, brokers, on)}, {converted.unreadable.total()} unreadable lines or files{left_alone}"
        return Conversion(message, counts, warnings, skipped.files, reasons_for_nothing(survey))


def _counts(survey: Survey, converted: Converted, brokers: int, on: str) -> str:
    """Counts of what the logs that there are can show: a zero is said only where the logs would have had it."""
    of_server_logs = f"{converted.refused} requests refused, {converted.failed_logins} failed logins"
    if not survey.has_requests:
        return f"no request log; server logs of {brokers} brokers{on}: {of_server_logs}"
    of_requests = (
        f"{converted.entries} requests of {brokers} brokers{on}: {converted.connections} connections, "
        f"{converted.pushes} pushes"
    )
    return f"{of_requests}, {of_server_logs}" if survey.has_server_log else f"{of_requests}, no server log"


class NothingConverted(RuntimeError):
    """No part of the logs could be converted; the message gives the reason for one of them."""


class _Skipped:
    """Files that could not be converted, and the warnings about them."""

    def __init__(self) -> None:
        self.files: list[StoredFile] = []
        self.warnings: list[str] = []

    def add(self, what: str, files: Sequence[StoredFile], failed: Failed) -> None:
        self.files += files
        self.warnings.append(
            f"{what} was left out, and the next run tries again: {failed.error}; files: {len(files)}, such as {files[0]}"
        )


def _numbered_warning(numbers: Sequence[int]) -> str:
    return (
        f"the log does not contain the node ids of {len(numbers)} brokers, numbered {', '.join(map(str, numbers))} here: "
        "put them before the file, as in 1=/logs/a"
    )
