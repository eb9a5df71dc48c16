"""How often changes of metrics are called rightly: unchanged stretches cut anywhere (A/A), and harm put into them (A/B).

Part of `make review-accuracy` (review_accuracy.py writes docs/review-accuracy.md). Stretches are times of the recordings in which no
broker was stopped or started, no feature raised and no leader moved; of each, the halves around cuts every 20 seconds are compared.
A/B changes one client (or instance) at a time from the cut on, in its real data: requests a third fewer, 5 % of the requests (or
records) failed, latency doubled; found is a change that is called at that client and metric, in the right direction.
"""

import random
import struct
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple, TypeVar

import zstandard
from client_telemetry.activity.client_metrics import (
    ERROR_SHARE,
    ERRORS,
    NAMES,
    PREFIX,
    SENT,
    Instance,
    Point,
    Series,
    series,
)
from client_telemetry.activity.samples import Sample
from client_telemetry.formats.otlp.codecs import decompress
from client_telemetry.formats.otlp.reference import decode
from client_telemetry.formats.raw.raw_dump_v1_pb2 import ClientPush
from client_telemetry.review.metric_changes import (
    FAILED,
    LEAST_OF_A_SHARE,
    LEAST_REQUESTS,
    MetricChange,
    all_changes,
    of_track,
)
from client_telemetry.review.tracks import Failures, Span, Track
from client_telemetry.review.windows import Windows

CUT_EVERY_SECONDS = 20.0
DRAWS = 5
"""Times that all harm is put in, with other random numbers."""
_One = TypeVar("_One")
SHORTEST_SECONDS = 90.0
"""Of a half: less are too few blocks for anything."""
FEWER, LATENCY, ERROR_RATE = "a third fewer requests", "latency × 2", "error rate + 5 %"


@dataclass(frozen=True)
class Recording:
    """`stretches`: unchanged times, seconds; `warm`: those of them in which the brokers had run for five minutes, so
    that latencies do not fall any more. `shortest_half`: of A/B in seconds, three snapshots of a registry.
    `left_out`: client ids whose owner changed something within the stretches."""

    name: str
    tracks: Sequence[Track]
    pushed: Sequence[Series]
    stretches: Sequence[tuple[float, float]]
    warm: Sequence[tuple[float, float]]
    slot_seconds: float
    shortest_half: float = 0.0
    left_out: frozenset[str] = frozenset()


class Score(NamedTuple):
    """`pairs`: (client, metric) of all cuts that were compared, or harm that was put in; `called`: changed, or found."""

    recording: str
    what: str
    pairs: int
    called: int
    elsewhere: int = 0
    """A/B: changes called at other clients, beside those that A/A calls."""


def pushed_series(root: Path) -> list[Series]:
    """Of a dump as it lies on disk: what the tables client_pushes and client_metrics hold."""
    found: dict[Instance, list[Point]] = {}
    for push in _pushes(root):
        client = push.client
        instance = Instance(
            push.client_instance_id,
            client.client_id if client.HasField("client_id") else None,
            client.principal,
            client.client_software_name,
            client.client_software_version,
        )
        received = push.received_at_nanos / 1e9
        payload = decompress(push.payload, push.compression_type)
        for number in decode(payload).numbers:
            name = number.metric.removeprefix(PREFIX)
            value = number.value if number.value is not None else number.value_int
            if name in NAMES and value is not None:
                found.setdefault(instance, []).append(
                    Point(
                        name,
                        str(sorted(number.attributes.items())),
                        number.temporality,
                        received,
                        None if number.start_time_ns is None else number.start_time_ns / 1e9,
                        None if number.time_ns is None else number.time_ns / 1e9,
                        float(value),
                    )
                )
    return series(found)


def _pushes(root: Path) -> Iterator[ClientPush]:
    for path in sorted((root / "dataset=client_pushes").rglob("*.zst")):
        with path.open("rb") as stored:
            data = zstandard.ZstdDecompressor().stream_reader(stored).read()
        at = 0
        while at < len(data):
            (length,) = struct.unpack_from(">I", data, at)
            yield ClientPush.FromString(data[at + 4 : at + 4 + length])
            at += 4 + length


def cuts(stretches: Sequence[tuple[float, float]]) -> Iterator[Windows]:
    for since, until in stretches:
        at = since + SHORTEST_SECONDS
        while at + SHORTEST_SECONDS <= until:
            length = min(at - since, until - at)
            yield Windows((at - length, at), (at, at + length))
            at += CUT_EVERY_SECONDS


def unchanged(recording: Recording) -> tuple[Score, list[MetricChange]]:
    """A/A."""
    pairs, called = 0, []
    for tracks, pushed, windows in _halves(recording):
        found = _compared(recording, tracks, pushed, windows)
        pairs += len(found)
        called += [each for each in found if each.changed]
    return Score(recording.name, "unchanged", pairs, len(called)), called


def _halves(recording: Recording) -> Iterator[tuple[Sequence[Track], Sequence[Series], Windows]]:
    for windows in cuts(recording.stretches):
        yield recording.tracks, (), windows
    for windows in cuts(recording.warm):
        yield (), recording.pushed, windows


def harmed(recording: Recording) -> tuple[list[Score], list[str]]:
    """A/B, at the middle of each stretch, one client and harm at a time; and what was not found, in words."""
    counts: dict[str, list[int]] = {}
    missed: Counter[str] = Counter()
    for seed in range(DRAWS):
        _harm_each(recording, random.Random(seed + 1), counts, missed)
    return [Score(recording.name, what, *own) for what, own in counts.items()], [
        f"{said}{f' ({times} times)' * (times > 1)}" for said, times in missed.items()
    ]


def _harm_each(
    recording: Recording, chance: random.Random, counts: dict[str, list[int]], missed: Counter[str]
) -> None:
    for stretches, tracks, pushed in (
        (recording.stretches, recording.tracks, ()),
        (recording.warm, (), recording.pushed),
    ):
        for since, until in stretches:
            if tracks and (until - since) / 2 < recording.shortest_half:
                continue
            middle, half = (since + until) / 2, (until - since) / 2
            windows = Windows((middle - half, middle), (middle, middle + half))
            usual = _compared(recording, tracks, pushed, windows)
            before = {(each.group, each.metric.name) for each in usual if each.changed}
            for what, who, metrics, harmed_tracks, harmed_pushed in _harms(
                tracks, pushed, usual, middle, until, chance
            ):
                found = _compared(recording, harmed_tracks, harmed_pushed, windows)
                called = [
                    each for each in found if each.changed and each.group.scope in ("client", "instance")
                ]
                right = [each for each in called if _who(each) == who and each.metric.name in metrics]
                others = [
                    each
                    for each in called
                    if _who(each) != who and (each.group, each.metric.name) not in before
                ]
                own = counts.setdefault(what, [0, 0, 0])
                own[0] += 1
                own[1] += bool(right)
                own[2] += len(others)
                if not right:
                    missed.update(
                        f"{recording.name}, {what}: {each.group.client_id} ({each.group.software_name}), {each.metric.words} "
                        f"{each.before:.3g} before and {each.after:.3g} after, p = {each.p_value:.2g}"
                        for each in found
                        if _who(each) == who and each.metric.name in metrics
                    )


_Harm = tuple[str, tuple[object, ...], tuple[str, ...], Sequence[Track], Sequence[Series]]


def _harms(
    tracks: Sequence[Track],
    pushed: Sequence[Series],
    usual: Sequence[MetricChange],
    at: float,
    until: float,
    chance: random.Random,
) -> Iterator[_Harm]:
    comparable: dict[tuple[object, ...], list[str]] = {}
    for each in usual:
        enough = each.metric.unit != "a minute" or each.before * (until - at) / 60 >= LEAST_REQUESTS
        if enough:
            comparable.setdefault(_who(each), []).append(each.metric.name)
    for index, track in enumerate(tracks):
        who = ("client", track.key.client_id, track.key.principal, track.key.software_name)
        rates = tuple(
            name
            for of, names in comparable.items()
            if of[:3] == who[:3]
            for name in names
            if name.startswith("requests.") and name != FAILED.name
        )
        if rates:
            yield FEWER, who, rates, _with(tracks, index, fewer(track, at, chance)), pushed
        sent_before = sum(span.requests for span in track.all_requests if 2 * at - until <= span.first < at)
        failed_before = sum(f.failed + f.refused for f in track.failures if 2 * at - until <= f.first < at)
        works = failed_before <= 0.05 * sent_before
        if works and sum(s.requests for s in track.all_requests if at <= s.first < until) >= LEAST_OF_A_SHARE:
            yield ERROR_RATE, who, (FAILED.name,), _with(tracks, index, failing(track, at, chance)), pushed
    for index, one in enumerate(pushed):
        who = ("instance", one.instance.client_instance_id)
        for name in comparable.get(who, ()):
            if "latency" in name and "rebalance" not in name:
                yield LATENCY, who, (name,), tracks, _with(pushed, index, doubled(one, name, at))
        sent = [sample.value for sample in one.samples.get(SENT, []) if at <= sample.since < until]
        if sum(sent) >= LEAST_OF_A_SHARE:
            yield ERROR_RATE, who, (ERROR_SHARE.name,), tracks, _with(pushed, index, erring(one, at, chance))


def fewer(track: Track, at: float, chance: random.Random) -> Track:
    """Each request from the cut on left out with a chance of a third."""

    def kept(spans: list[Span]) -> list[Span]:
        found = []
        for span in spans:
            if span.last < at:
                found.append(span)
                continue
            left = sum(chance.random() >= 1 / 3 for _ in range(span.requests))
            if left:
                found.append(span._replace(requests=left))
        return found

    return replace(
        track,
        by_api={key: kept(spans) for key, spans in track.by_api.items()},
        all_requests=kept(track.all_requests),
    )


def failing(track: Track, at: float, chance: random.Random) -> Track:
    """Each request from the cut on answered with an error with a chance of 5 %."""
    failures = list(track.failures)
    answered: dict[int, list[Span]] = {}
    for key, spans in track.by_api.items():
        own = answered.setdefault(key, [])
        for span in spans:
            later = max(span.first, at)
            share = (span.last - later) / (span.last - span.first) if span.last > span.first else 1.0
            failed = (
                0 if span.last < at else sum(chance.random() < 0.05 * share for _ in range(span.requests))
            )
            if failed:
                failures.append(Failures(later, span.last, failed, 0, key, 0, span.incarnation, 1))
            if span.requests > failed:
                own.append(span._replace(requests=span.requests - failed))
    return replace(track, by_api=answered, failures=failures)


def doubled(one: Series, metric: str, at: float) -> Series:
    samples = [
        sample._replace(value=2 * sample.value) if sample.until >= at else sample
        for sample in one.samples[metric]
    ]
    return Series(one.instance, {**one.samples, metric: samples}, one.interval)


def erring(one: Series, at: float, chance: random.Random) -> Series:
    """5 % of the records that were sent from the cut on fail."""
    errors = [
        Sample(
            sample.since, sample.until, float(sum(chance.random() < 0.05 for _ in range(round(sample.value))))
        )
        for sample in one.samples[SENT]
        if sample.since >= at
    ]
    return Series(
        one.instance, {**one.samples, ERRORS: [*one.samples.get(ERRORS, []), *errors]}, one.interval
    )


def _compared(
    recording: Recording, tracks: Sequence[Track], pushed: Sequence[Series], windows: Windows
) -> list[MetricChange]:
    single = [each for track in tracks for each in of_track(track, windows, recording.slot_seconds)]
    found = all_changes(single, pushed, windows, lambda *client: None)
    return [each for each in found if each.group.client_id not in recording.left_out]


def _who(change: MetricChange) -> tuple[object, ...]:
    group = change.group
    if group.scope == "instance":
        return "instance", group.client_instance_id
    return group.scope, group.client_id, group.principal, group.software_name


def _with(all_of: Sequence[_One], index: int, one: _One) -> list[_One]:
    return [*all_of[:index], one, *all_of[index + 1 :]]
