"""First pass over a cluster's logs: which brokers they belong to, their time range, which processes wrote them, and
which releases these may run.

An entry names its broker only by the local address of the connection. The node id behind it follows from answers to
clients: Metadata lists the brokers with address and node id, and a broker that accepts a Produce leads the partition
whose leader Metadata names; otherwise from the server log in the same folder. What clients did is read in the second
pass (conversion.py).
"""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, tzinfo

from client_telemetry.sources.compression import CutOff
from client_telemetry.sources.log_files import LogFile, lines
from client_telemetry.sources.request_log.connection_ids import Endpoint
from client_telemetry.sources.request_log.endpoint_owners import EndpointOwners, TwoClusters
from client_telemetry.sources.request_log.log_look import LogReader, time_and_name
from client_telemetry.sources.request_log.surveyed import FileLook, LogLook, Survey, SurveyedFile
from client_telemetry.sources.stored_file import StoredFile


def survey(
    logs: Sequence[LogFile],
    zone: tzinfo = UTC,
    report: Callable[[int], None] = lambda n: None,
    known_brokers: Mapping[Endpoint, tuple[int, str]] | None = None,
    year: int | None = None,
) -> Survey:
    """Read the logs once. `report` is called now and then with the lines read so far. `known_brokers`: broker id, and
    how it is known, by endpoint, from earlier lines. Raises TwoClusters.
    """
    looks: list[LogLook] = []
    for files in by_family(logs):
        before = sum(look.lines for look in looks)
        looks.append(look_at_log(files, zone, report_from(report, before), year))
    return surveyed(logs, looks, known_brokers, year)


def report_from(report: Callable[[int], None], before: int) -> Callable[[int], None]:
    """A `report` whose counts begin after `before` lines."""
    return lambda lines: report(before + lines)


def by_family(logs: Sequence[LogFile]) -> list[list[LogFile]]:
    """The files of each log."""
    families: dict[str, list[LogFile]] = {}
    for log in logs:
        families.setdefault(log.family, []).append(log)
    return list(families.values())


def look_at_log(
    files: Sequence[LogFile],
    zone: tzinfo = UTC,
    report: Callable[[int], None] = lambda n: None,
    year: int | None = None,
) -> LogLook:
    """Read the files of one log. `year`: of times without one."""
    return LogReader(zone, year, report).look(files)


def surveyed(
    logs: Sequence[LogFile],
    looks: Sequence[LogLook],
    known_brokers: Mapping[Endpoint, tuple[int, str]] | None = None,
    year: int | None = None,
) -> Survey:
    """Combines the looks at all logs; `logs`: their files, in the order in which they are reported. Raises TwoClusters."""
    in_order = sorted((look for log_look in looks for look in log_look.files), key=time_and_name)
    by_file = {look.file.log: look.file for look in in_order}
    files = [by_file[log] for log in logs if log in by_file]
    _find_copies([look.file for look in in_order])
    folders = {file.log.file.folder for file in files if file.entries}
    for file in files:
        file.is_beside = file.log.file.folder in folders
    cluster_ids = sorted({cluster_id for look in in_order for cluster_id in look.cluster_ids})
    if len(cluster_ids) > 1:
        raise TwoClusters(_two_clusters(in_order, cluster_ids))
    who = EndpointOwners(looks, in_order, known_brokers or {})
    brokers = who.brokers([file for file in files if file.is_server_log and file.same_as is None])
    # A broker numbered by us may be any of those that Metadata names.
    without_log = sorted(who.named() - {b.broker_id for b in brokers if b.entries})
    if any(b.id_known_by == "numbered" for b in brokers):
        without_log = []
    return Survey(
        next(iter(cluster_ids), None), brokers, files, without_log, who.doubled, year, who.of_no_broker
    )


def _two_clusters(looks: Sequence[FileLook], cluster_ids: Sequence[str]) -> str:
    """Names a file of each, or one that several brokers' lines were mixed in."""
    clusters = f"the logs are of {len(cluster_ids)} clusters"
    for look in looks:
        if len(look.cluster_ids) > 1:
            return (
                f"{clusters} ({', '.join(cluster_ids)}), and {look.file.log.file} has lines of more than one: "
                "export the log of each cluster by itself"
            )
    examples = [
        f"{cluster_id}: {next(look for look in looks if cluster_id in look.cluster_ids).file.log.file}"
        for cluster_id in cluster_ids
    ]
    return f"{clusters} ({', '.join(examples)}): name the logs of one cluster at a time"


def _find_copies(files: Sequence[SurveyedFile]) -> None:
    """Finds files with the same lines: logs are often copied when they are rotated."""
    alike: dict[tuple[object, ...], list[SurveyedFile]] = {}
    for file in files:
        if file.entries or file.counted:
            alike.setdefault((file.lines, file.entries, file.first, file.last), []).append(file)
    for several in alike.values():
        digests: dict[bytes, StoredFile] = {}
        for file in several if len(several) > 1 else ():
            digest = hashlib.blake2b(digest_size=16)
            for _, line in lines(file.log, CutOff()):
                digest.update(line + b"\n")
            original = digests.setdefault(digest.digest(), file.log.file)
            file.same_as = None if original == file.log.file else original
