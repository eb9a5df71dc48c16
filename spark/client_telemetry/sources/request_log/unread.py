"""What a survey saw and could not use, in sentences with the true reason, a count and an example."""

from collections.abc import Sequence

from client_telemetry.sources.request_log.surveyed import Survey, SurveyedFile, UnusedLines

ONLY_BESIDE = "no request of a client is in these logs, only what brokers log beside them: set kafka.request.logger to DEBUG"
"""Why nothing can be said of clients whose requests are not in the logs."""

_EXAMPLE_CHARACTERS = 160
MOST_FILES = 5
"""That are named, or said something of, one by one: a bundle of a machine has thousands that are no logs."""


def unused_lines(files: Sequence[SurveyedFile]) -> dict[str, UnusedLines]:
    """Lines that begin an entry and were not used, by reason, the most frequent first."""
    merged: dict[str, UnusedLines] = {}
    for file in files:
        for reason, lines in file.unused.items():
            before = merged.get(reason, UnusedLines())
            merged[reason] = UnusedLines(before.number + lines.number, before.example or lines.example)
    return dict(sorted(merged.items(), key=lambda item: item[1].number, reverse=True))


def reasons_for_nothing(survey: Survey) -> str:
    """Why none of the logs has anything that could be read; empty if something could."""
    if survey.brokers or any(file.entries or file.counted for file in survey.files):
        return ""
    files = [file for file in survey.files if file.same_as is None]
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
    elif not sentences:
        sentences.append(_without_entries(files))
    return "nothing was read: " + "; ".join(sentences)


def _without_entries(files: Sequence[SurveyedFile]) -> str:
    lines = sum(file.lines for file in files)
    if not lines:
        return "the files are empty"
    if any(file.without_message for file in files):
        return f"{lines:,} records without a message that is an entry: journalctl -o json needs --all for long ones"
    if any(file.of_kafka for file in files):
        return (
            f"{lines:,} lines, of other loggers of Kafka; none is an entry of kafka.request.logger: set this logger to "
            "DEBUG"
        )
    return (
        f"{lines:,} lines, none of which is an entry of kafka.request.logger (Completed request:…) or of "
        "kafka.server.KafkaApis at TRACE (Handling request:…)"
    )


def reading_warnings(survey: Survey) -> list[str]:
    """What was left out of logs that were read otherwise, and what was assumed."""
    files = [file for file in survey.files if file.same_as is None]
    warnings = [
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
        warnings.append(
            f"{survey.of_no_broker:,} refused requests and failed logins were left out, because nothing shows which broker "
            "logged them: give the file of each broker as 1=FILE"
        )
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
