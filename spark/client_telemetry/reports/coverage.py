"""Which hours of which brokers an answer could see, from rows of `broker_hours` and `brokers`."""

from collections.abc import Iterable, Mapping
from datetime import UTC, date, datetime, time, timedelta
from operator import itemgetter

from client_telemetry.console.counted import counted
from client_telemetry.console.grouped import grouped
from client_telemetry.formats.typed_values import of_row
from client_telemetry.knowledge.vocabulary import Completeness
from client_telemetry.reports.cluster_states import cluster_states
from client_telemetry.reports.evidence import BrokerIncarnation, Coverage, CoverageRun, Missed, Watched
from client_telemetry.tables.rows import BrokerHourRow, BrokerRow

COMPLETENESS = {
    Completeness.COMPLETE: "seen completely",
    Completeness.NO_MANIFEST: "no manifest: no data",
    "no_manifest_but_records": "no manifest: records were read, but whether all of them is not known",
    Completeness.BAD_MANIFEST: "the manifest cannot be read",
    Completeness.MISSING_OBJECTS: "raw objects are missing",
    Completeness.SEQUENCE_GAP: "records are missing",
    Completeness.DROPPED_RECORDS: "the broker dropped records",
    Completeness.UNREAD_RECORDS: "fewer records were read than exist",
    Completeness.REGISTRY_NOT_WATCHING: "connections were observed for only part of the hour, or not at all",
    Completeness.REGISTRY_INCOMPLETE: "the broker counted connections or requests that the plugin did not see",
}
"""The vocabulary of `broker_hours.completeness` in a reader's words, which tells an hour without a manifest and without
objects from one with objects."""

HOUR = timedelta(hours=1)
NOTHING = (Completeness.NO_MANIFEST,)
"""Completeness of an hour of which a broker reported nothing."""
MAX_WINDOWS = 4
"""That are reported in sentences; the others are counted."""


def coverage(
    first_dt: date,
    last_dt: date,
    evidence_until: datetime | None,
    hour_rows: Iterable[BrokerHourRow],
    broker_rows: Iterable[BrokerRow],
) -> Coverage:
    """Hours from the start of `first_dt` to the end of `last_dt`, or of the hour in which the evidence ends.
    A broker hour without a row counts as `no_manifest`: there is no data."""
    first = datetime.combine(first_dt, time(), UTC)
    end = datetime.combine(last_dt, time(), UTC) + 24 * HOUR
    if evidence_until is not None:
        end = max(first, min(end, _hour_end(evidence_until)))
    rows = list(hour_rows)
    known: dict[tuple[int, datetime], tuple[str, ...]] = {
        (row["broker_id"], _hour(row)): _completeness(row) for row in rows
    }
    brokers = tuple(
        sorted(
            {of_row(BrokerIncarnation, row) for row in broker_rows if first_dt <= row["dt"] <= last_dt},
            key=lambda b: (b.broker_id, b.started_at or first, b.broker_incarnation),
        )
    )
    ids = sorted({broker_id for broker_id, _ in known} | {b.broker_id for b in brokers})
    runs = tuple(run for broker_id in ids for run in _runs(broker_id, first, end, known))
    hours = len(ids) * ((end - first) // HOUR)
    complete = sum(
        (run.end - run.start) // HOUR for run in runs if run.completeness == (Completeness.COMPLETE,)
    )
    return Coverage(
        first_hour=first,
        end_hour=end,
        broker_ids=tuple(ids),
        broker_hours=hours,
        complete_broker_hours=complete,
        complete_share=round(complete / hours, 4) if hours else None,
        runs=runs,
        brokers=_latest(brokers),
        cluster_states=cluster_states(_latest(brokers)),
        watched=_watched(rows, end),
        deprecated_only=_deprecated_only(rows),
        missed=_missed(row for row in rows if _hour(row) < end),
    )


def watched_for(seen: Coverage) -> tuple[timedelta, timedelta] | None:
    """For how long each broker was watched, of the brokers that were watched at all: the least and the most. None = there
    are hours that were watched all the time, or nothing is known of when."""
    if not seen.watched:
        return None
    of_brokers = grouped(seen.watched, lambda window: window.broker_id).values()
    times = [sum((window.end - window.start for window in of_one), timedelta()) for of_one in of_brokers]
    return min(times), max(times)


def duration(time: timedelta) -> str:
    """In the largest unit of which there are two: `90 seconds`, `10 minutes`, `3 hours`, `7 days`."""
    seconds = max(1, round(time.total_seconds()))
    for unit, size in (("day", 86400), ("hour", 3600), ("minute", 60)):
        if seconds >= 2 * size:
            return f"{round(seconds / size)} {unit}s"
    return f"{seconds} second{'' if seconds == 1 else 's'}"


def traffic_seen(seen: Coverage, begin: datetime | None, end: datetime | None) -> str | None:
    """The window that the answer rests on. `begin`, `end`: first and last evidence; None = there is none. Of logs of minutes
    `10 minutes of traffic on 2 of 3 brokers`, of windows `at least 50 minutes of traffic on each of 2 brokers, sampled over 24 hours`,
    of whole days `7 days of traffic on 3 brokers, 2 of 504 broker hours incomplete`."""
    what = "traffic"
    if seen.deprecated_only and seen.deprecated_only == seen.broker_ids:
        what = "requests of deprecated versions"
    times = watched_for(seen)
    if times is not None and seen.watched:
        least, most = map(duration, times)
        brokers = {window.broker_id for window in seen.watched}
        on = _on(len(brokers), len(seen.broker_ids))
        time = (
            f"{least} of {what} on {on}" if least == most else f"at least {least} of {what} on each of {on}"
        )
        if len(seen.watched) == len(brokers):
            return time
        period = max(w.end for w in seen.watched) - min(w.start for w in seen.watched)
        return f"{time}, sampled over {duration(period)}"
    if begin is None or end is None or end <= begin:
        return None
    time = f"{duration(end - begin)} of {what}"
    reported = _reported(seen)
    if not reported:
        return time
    incomplete, hours = incomplete_hours(seen, begin, end)
    gaps = f", {incomplete:,} of {hours:,} broker hours incomplete" if incomplete else ""
    return f"{time} on {_on(len(reported), len(seen.broker_ids))}{gaps}"


def incomplete_hours(seen: Coverage, begin: datetime, end: datetime) -> tuple[int, int]:
    """Broker hours not seen completely, and all, of the hours from the one in which the evidence begins to the one in which
    it ends. Of brokers that reported nothing in any hour, and where only requests of deprecated versions were watched: none."""
    first = max(seen.first_hour, begin.replace(minute=0, second=0, microsecond=0))
    last = min(seen.end_hour, _hour_end(end))
    reported = _reported(seen) - set(seen.deprecated_only)
    incomplete = sum(
        max(timedelta(), min(run.end, last) - max(run.start, first)) // HOUR
        for run in seen.runs
        if run.broker_id in reported and run.completeness != (Completeness.COMPLETE,)
    )
    return incomplete, len(reported) * (max(timedelta(), last - first) // HOUR)


def _reported(seen: Coverage) -> set[int]:
    """Brokers that reported anything."""
    return {run.broker_id for run in seen.runs if run.completeness != NOTHING}


def _on(brokers: int, known: int) -> str:
    """
    >>> _on(1, 1), _on(2, 3)
    ('1 broker', '2 of 3 brokers')
    """
    return counted(known, "broker") if brokers == known else f"{brokers} of {counted(known, 'broker')}"


def hour_sentences(seen: Coverage, begin: datetime | None, end: datetime | None) -> list[str]:
    """How complete the hours of the evidence are. Where connections were watched at times only, that says more:
    watched_sentences."""
    if not seen.broker_hours:
        return ["Coverage is unknown: no broker reported its hours."]
    if seen.watched or begin is None or end is None:
        return []
    silent = sorted(set(seen.broker_ids) - _reported(seen))
    sentences = [f"Nothing was reported by {_brokers(silent)}."] if silent else []
    incomplete, hours = incomplete_hours(seen, begin, end)
    if incomplete:
        share = f"{incomplete:,} of {counted(hours, 'broker hour')} between the first and the last evidence"
        sentences += [f"{share} {'was' if incomplete == 1 else 'were'} not seen completely."]
    elif hours:
        sentences += ["Every broker hour between the first and the last evidence was seen completely."]
    return sentences


def unobserved_reason(seen: Coverage) -> str | None:
    """What the evidence lacks altogether, where connections to some of the known brokers were never observed; otherwise None."""
    watched = {window.broker_id for window in seen.watched or ()} | set(seen.deprecated_only)
    unobserved = sorted(set(seen.broker_ids) - (watched if seen.watched else _reported(seen)))
    if not unobserved:
        return None
    return (
        f"no connection to {_brokers(unobserved)} was observed: clients that use no other broker are missing"
    )


def watched_sentences(seen: Coverage) -> list[str]:
    """What is to be said where connections were watched at times only, or not all requests of them."""
    return [*_deprecated_only_sentences(seen), *_window_sentences(seen), *_missed_sentences(seen)]


def _missed_sentences(seen: Coverage) -> list[str]:
    if not seen.missed:
        return []
    counts = [
        f"{sum(getattr(each, kind) for each in seen.missed):,} {kind}"
        for kind in ("connections", "requests")
        if any(getattr(each, kind) for each in seen.missed)
    ]
    return [
        f"{_brokers(each.broker_id for each in seen.missed).capitalize()} counted {' and '.join(counts)} that the "
        "plugin did not see: their clients may be missing from this report."
    ]


def _deprecated_only_sentences(seen: Coverage) -> list[str]:
    if not seen.deprecated_only:
        return []
    return [
        f"Of requests to {_brokers(seen.deprecated_only)}, only those of deprecated versions were observed: "
        "clients that sent none to them are missing from this report, unless other brokers saw them."
    ]


def _window_sentences(seen: Coverage) -> list[str]:
    if seen.watched is None or set(seen.deprecated_only) == set(seen.broker_ids):
        return []
    windows = grouped(
        seen.watched, lambda window: (window.start.replace(second=0), window.end.replace(second=0))
    )
    sentences = []
    for (start, end), alike in sorted(windows.items(), key=itemgetter(0))[:MAX_WINDOWS]:
        brokers = [window.broker_id for window in alike]
        last = f"{end:%H:%M}" if end.date() == start.date() else f"{end:%Y-%m-%d %H:%M}"
        sentences.append(
            f"Connections to {_brokers(brokers)} were observed from {start:%Y-%m-%d %H:%M} to {last}."
        )
    if len(windows) > MAX_WINDOWS:
        sentences.append(f"They were observed {counted(len(windows) - MAX_WINDOWS, 'more time')}.")
    watched = {window.broker_id for window in seen.watched}
    unwatched = sorted(set(seen.broker_ids) - watched - set(seen.deprecated_only))
    if unwatched:
        sentences.append(f"Connections to {_brokers(unwatched)} were not observed at all.")
    return [
        *sentences,
        "Clients that sent no request to an observed broker in that time are not in this report.",
    ]


def _brokers(ids: Iterable[int]) -> str:
    numbers = [str(i) for i in sorted(set(ids))]
    return f"broker{'s' * (len(numbers) > 1)} {', '.join(numbers)}"


def _watched(rows: Iterable[BrokerHourRow], end: datetime) -> tuple[Watched, ...] | None:
    """Windows that touch are one: each hour has its own."""
    found: list[Watched] = []
    reported = [row for row in rows if row["incarnations"]]
    if not reported or any(row["registry_windows"] is None for row in reported):
        return None
    for row in sorted(reported, key=lambda row: (row["broker_id"], row["dt"], row["hour"])):
        for window in row["registry_windows"] or ():
            first, last = (
                datetime.combine(row["dt"], time.fromisoformat(moment), UTC) for moment in window.split("-")
            )
            before = found[-1] if found and found[-1].broker_id == row["broker_id"] else None
            if first >= end:
                continue
            if before and first - before.end <= timedelta(seconds=1):
                found[-1] = Watched(before.broker_id, before.start, max(before.end, last))
            else:
                found.append(Watched(row["broker_id"], first, last))
    return tuple(found)


def _deprecated_only(rows: Iterable[BrokerHourRow]) -> tuple[int, ...]:
    hours = grouped((row for row in rows if row["incarnations"]), lambda row: row["broker_id"])
    return tuple(
        broker_id
        for broker_id, of_one in sorted(hours.items())
        if {row["registry_mode"] for row in of_one} == {"deprecated_only"}
    )


def _missed(rows: Iterable[BrokerHourRow]) -> tuple[Missed, ...]:
    """Of each broker the most connections of an hour, which may be the same ones hour after hour, and all requests.
    Rows that were written before there was a comparison have none."""
    incomplete = (row for row in rows if Completeness.REGISTRY_INCOMPLETE in row["completeness"])
    found = [
        Missed(
            broker_id,
            max(row.get("connections_missed") or 0 for row in of_one),
            sum(row.get("requests_missed") or 0 for row in of_one),
        )
        for broker_id, of_one in sorted(grouped(incomplete, lambda row: row["broker_id"]).items())
    ]
    return tuple(each for each in found if each.connections or each.requests)


def _hour(row: BrokerHourRow) -> datetime:
    return datetime.combine(row["dt"], time(row["hour"]), UTC)


def _hour_end(moment: datetime) -> datetime:
    start = moment.replace(minute=0, second=0, microsecond=0)
    return start if start == moment else start + HOUR


def _runs(
    broker_id: int, first: datetime, end: datetime, known: Mapping[tuple[int, datetime], tuple[str, ...]]
) -> list[CoverageRun]:
    runs: list[CoverageRun] = []
    for index in range((end - first) // HOUR):
        hour = first + index * HOUR
        completeness = known.get((broker_id, hour), NOTHING)
        if runs and runs[-1].completeness == completeness:
            runs[-1] = CoverageRun(broker_id, runs[-1].start, hour + HOUR, completeness)
        else:
            runs.append(CoverageRun(broker_id, hour, hour + HOUR, completeness))
    return runs


def _completeness(row: BrokerHourRow) -> tuple[str, ...]:
    with_objects: dict[str, str] = (
        {Completeness.NO_MANIFEST: "no_manifest_but_records"} if row.get("objects") else {}
    )
    return tuple(with_objects.get(word, word) for word in row["completeness"])


def _latest(brokers: Iterable[BrokerIncarnation]) -> tuple[BrokerIncarnation, ...]:
    """One entry per incarnation, though each of its days has a row: the one with the latest evidence."""
    latest: dict[tuple[int, str], BrokerIncarnation] = {}
    for broker in brokers:
        key = (broker.broker_id, broker.broker_incarnation)
        before = latest.get(key)
        if before is None or (broker.last_evidence_at or datetime.min.replace(tzinfo=UTC)) > (
            before.last_evidence_at or datetime.min.replace(tzinfo=UTC)
        ):
            latest[key] = broker
    return tuple(latest.values())
