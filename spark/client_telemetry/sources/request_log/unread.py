"""What a survey saw and could not use, in sentences with the true reason, a count and an example."""

from collections import Counter
from collections.abc import Sequence
from operator import attrgetter

from client_telemetry.console.counted import counted
from client_telemetry.sources.request_log.server_log import UnusedLines
from client_telemetry.sources.request_log.surveyed import Survey, SurveyedFile

TURN_ON = (
    "to log requests, set kafka.request.logger to DEBUG on each broker for ten minutes (kafka-configs.sh --bootstrap-server B:9092 "
    "--entity-type broker-loggers --entity-name <node id> --alter --add-config kafka.request.logger=DEBUG), then to WARN"
)

_EXAMPLE_CHARACTERS = 160
MOST_FILES = 5
"""That are named, or said something of, one by one: a bundle of a machine has thousands that are no logs."""


def unused_lines(files: Sequence[SurveyedFile]) -> dict[str, UnusedLines]:
    """Lines that begin an entry and were not used, by reason, the most frequent first."""
    merged: dict[str, UnusedLines] = {}
    for file in files:
        for reason, lines in file.unused.items():
            merged[reason] = merged.get(reason, UnusedLines()).and_more(*lines)
    return dict(sorted(merged.items(), key=lambda item: item[1].number, reverse=True))


def no_requests(survey: Survey) -> str:
    """Why nothing can be said of clients: no request of one is in the logs. Empty if there are requests."""
    if any(broker.entries for broker in survey.brokers):
        return ""
    if survey.has_requests:
        return f"the requests in these logs are of controllers, none of a client of a broker: {TURN_ON}"
    files = [file for file in survey.files if file.same_as is None]
    unread = _unread(files)
    if not any(file.counted for file in files):
        return "nothing was read: " + "; ".join(unread or _without_entries(files))
    if unread:
        return f"no request was read: {'; '.join(unread)}. Beside them {_server_logs(files)}"
    return f"there is no request log: these {_server_logs(files)}; {TURN_ON}"


def reasons_for_nothing(survey: Survey) -> str:
    """Why none of the logs has anything that could be read; empty if something could."""
    if survey.brokers or survey.has_requests:
        return ""
    return f"nothing was read: {_of_no_broker(survey)}" if survey.of_no_broker else no_requests(survey)


def _of_no_broker(survey: Survey) -> str:
    return (
        f"{survey.of_no_broker:,} refused requests and failed logins were left out, because nothing shows which broker "
        "logged them: give the file of each broker as 1=FILE"
    )


def _server_logs(files: Sequence[SurveyedFile]) -> str:
    """What server logs say without a request log, and what they do not."""
    counts = sum((file.counted for file in files), Counter[str]())
    events = (event for file in files for source in file.server.values() for event in source.events)
    releases = dict.fromkeys(
        event.text for event in sorted(events, key=attrgetter("nanos")) if event.kind == "release"
    )
    of = f" of {', '.join(releases)}" if releases else ""
    return (
        f"are server logs{of}, with {counted(counts['started'], 'start')}, {counted(counts['refused'], 'refused request')} and "
        f"{counted(counts['login_failed'], 'failed login')}, and not which clients are connected or which versions of requests they send"
    )


def _unread(files: Sequence[SurveyedFile]) -> list[str]:
    """Why something that may be a request log was not read."""
    sentences = [f"{file.log.file} is {file.foreign}" for file in files if file.foreign][:MOST_FILES]
    sentences += [f"{file.log.file}: {file.cut}" for file in files if file.cut and not file.foreign][
        :MOST_FILES
    ]
    unused = unused_lines(files)
    begun = sum(lines.number for lines in unused.values())
    if begun:
        reason, most = next(iter(unused.items()))
        which = "none of them can be read" if len(unused) == 1 else f"{most.number:,} of them cannot be read"
        sentences.append(
            f"{begun:,} lines begin an entry; {which}: {reason}, such as `{shortened(most.example)}`"
        )
    return sentences


def _without_entries(files: Sequence[SurveyedFile]) -> list[str]:
    lines = sum(file.lines for file in files)
    if not lines:
        return ["the files are empty"]
    if any(file.without_message for file in files):
        return [
            f"{lines:,} records without a message that is an entry: journalctl -o json needs --all for long ones"
        ]
    kinds = [f"{file.log.file} {kind}" for file in files if (kind := _kind(file))]
    what = kinds[:MOST_FILES]
    if len(kinds) > MOST_FILES:
        what.append(f"{len(kinds) - MOST_FILES:,} more files are no request logs either")
    unknown = [file for file in files if file.lines and not _kind(file)]
    lines = sum(file.lines for file in unknown)
    if any(file.of_kafka for file in unknown):
        what.append(f"{lines:,} lines, of other loggers of Kafka; none is an entry of kafka.request.logger")
    elif unknown:
        what.append(
            f"{lines:,} lines, none of which is an entry of kafka.request.logger (Completed request:…) or of "
            "kafka.server.KafkaApis at TRACE (Handling request:…)"
        )
    return [*what, TURN_ON]


def _kind(file: SurveyedFile) -> str:
    """What a log without entries is, by most of its first lines that show it; empty if none does."""
    if file.of_client is not None:
        return f"is a log of a client (kafka-clients {file.of_client}), not of a broker"
    return max(file.kinds, key=file.kinds.__getitem__, default="")


def reading_warnings(survey: Survey) -> list[str]:
    """What was left out of logs that were read otherwise, and what was assumed."""
    files = [file for file in survey.files if file.same_as is None]
    warnings = [] if survey.has_requests or not survey.brokers else [no_requests(survey)]
    warnings += [
        f"{lines.number:,} lines begin an entry and were not used: {reason}, such as `{shortened(lines.example)}`"
        for reason, lines in unused_lines(files).items()
    ]
    unread = [file.unread_server_lines for file in files if file.unread_server_lines.number]
    if unread:
        warnings.append(
            f"{sum(lines.number for lines in unread):,} server lines (starts, refused requests, failed logins) were seen and "
            f"not read, because the logger or the time cannot be told, such as `{shortened(unread[0].example)}`"
        )
    if survey.of_no_broker:
        warnings.append(_of_no_broker(survey))
    if left_out := sum(file.without_message for file in files):
        warnings.append(
            f"{left_out:,} records have no message: journalctl -o json leaves out those above 4096 bytes; run it with --all"
        )
    if any(file.has_no_year for file in files):
        warnings.append(
            "times without a year: the year is that of the file's time; specify the year if the file was copied later"
        )
    if survey.is_deprecated_only:
        warnings.append(
            f"all {sum(file.entries for file in files):,} requests are deprecated ones, which Kafka 3.9.1 and later log at "
            "INFO: the logs say nothing of other requests and clients. Set kafka.request.logger to DEBUG"
        )
    if survey.doubled:
        warnings.append(
            "lines of kafka.server.KafkaApis were left out: the request logger logged these requests"
        )
    return warnings


def shortened(line: str) -> str:
    """The beginning of a line, on one line. Clients choose a part of it: nothing in it may command a terminal."""
    text = "".join(
        each if each.isprintable() else "\N{REPLACEMENT CHARACTER}" for each in " ".join(line.split())
    )
    return text if len(text) <= _EXAMPLE_CHARACTERS else f"{text[:_EXAMPLE_CHARACTERS]}…"
