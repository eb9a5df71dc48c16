"""Whether a metric differs between two windows, over many comparisons at once. Pure.

For a single client or instance the unit of comparison is a block of time; for a version or an owner it is the client or
instance. Consecutive blocks are correlated, so they count for fewer (by their autocorrelation at lag 1, over both
windows). With many comparisons, a change is reported only if the false discovery rate stays below FALSE_DISCOVERY_RATE
(Benjamini and Hochberg, 1995), and if it exceeds the differences of healthy clients between periods (Scale.least). How
often that is right: docs/review-accuracy.md.
"""

import math
import zlib
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from client_telemetry.activity.samples import Values

FALSE_DISCOVERY_RATE = 0.05
LEAST_BLOCKS = 5
"""Blocks with a value, in each window."""
LEAST_MEMBERS = 3
"""Members of a version or an owner; with fewer, the individual changes say as much."""
RESAMPLES = 400
AT_ONCE = 4096
"""Pairs that are resampled together: 26 MB."""
_THREADS = 2
_Z = np.vectorize(math.erfc)

USUAL_FREEDOM, CHANCE_FREEDOM = 8.0, 30.0
_ONE_IN_A_HUNDRED = 2.326
"""Quantile of the normal distribution: this rarely is chance variance taken for bursts."""

RATIO, DIFFERENCE = "ratio", "difference"
BY_CHANCE = "by_chance"


class Scale(NamedTuple):
    """How values are compared. `form`: RATIO of means (of logarithms if `is_log`), or DIFFERENCE. `least`: smallest
    change that is reported, as a factor for RATIO, as a difference for DIFFERENCE. `resolution`: what is
    indistinguishable from zero, in the metric's unit. `reference`: BY_CHANCE for rare events, whose variance is
    measured in units of their chance variance.
    """

    form: str
    least: float
    resolution: float
    is_log: bool = False
    reference: str = ""


class Pair(NamedTuple):
    """Values of the blocks (or members) before and after, without missing ones. `floor`: the least plausible variance
    of the values, by window (counts cannot vary by less than whole requests). `independent`: at most how many of the
    values count as independent, by window. `is_paired`: each value before belongs to the one after at the same
    place.
    """

    scale: Scale
    before: Values
    after: Values
    floor: tuple[float, float] = (0.0, 0.0)
    independent: tuple[float, float] = (math.inf, math.inf)
    is_paired: bool = False


class Compared(NamedTuple):
    """`estimate`: ratio or difference, with its 95 % interval."""

    before: float
    after: float
    estimate: float
    low: float
    high: float
    p_value: float


def compare(pairs: Sequence[Pair]) -> list[Compared]:
    """Results in the order of the pairs. Pairs of the same shape and kind of comparison are computed together."""
    results: list[Compared | None] = [None] * len(pairs)
    paired: dict[int, list[int]] = {}
    alike: dict[tuple[int, int, str, bool], list[int]] = {}
    for index, pair in enumerate(pairs):
        if pair.is_paired:
            paired.setdefault(len(pair.before), []).append(index)
        else:
            key = len(pair.before), len(pair.after), pair.scale.form, pair.scale.is_log
            alike.setdefault(key, []).append(index)
    for indices in paired.values():
        for index, result in zip(indices, _paired([pairs[i] for i in indices]), strict=True):
            results[index] = result
    parts = [(indices, _part([pairs[index] for index in indices])) for _, indices in sorted(alike.items())]
    usual = _usual_variances(pairs, parts)
    for indices, part in parts:
        for index, result in zip(indices, _moderated([pairs[i] for i in indices], part, usual), strict=True):
            results[index] = result
    return [result for result in results if result is not None]


def accepted(p_values: Sequence[float]) -> list[bool]:
    """Benjamini and Hochberg's step-up procedure.

    >>> accepted([0.001, 0.5, 0.002]), accepted([0.5, 0.04])
    ([True, False, True], [False, False])
    """
    ordered = sorted(range(len(p_values)), key=lambda i: p_values[i])
    last = 0
    for rank, index in enumerate(ordered, start=1):
        if p_values[index] <= FALSE_DISCOVERY_RATE * rank / len(p_values):
            last = rank
    real = set(ordered[:last])
    return [index in real for index in range(len(p_values))]


def is_large(scale: Scale, compared: Compared) -> bool:
    if scale.form == DIFFERENCE:
        return abs(compared.estimate) >= scale.least
    if max(abs(compared.before), abs(compared.after)) < scale.resolution:
        return False
    return not 1 / scale.least < compared.estimate < scale.least


def _transformed(pairs: Sequence[Pair], which: str) -> Values:
    """Values of pairs of the same shape."""
    values = np.array([getattr(pair, which) for pair in pairs])
    logs = np.array([pair.scale.is_log for pair in pairs])
    if logs.any():
        small = np.array([[pair.scale.resolution] for pair in pairs])
        values[logs] = np.log(np.maximum(values, 0.0) + small)[logs]
    return values


class _Part(NamedTuple):
    """Pairs of the same shape and kind of comparison, by window: means, variances in `reference` units, and numbers of
    independent values.
    """

    sides: list[Values]
    means: list[Values]
    variances: list[Values]
    counts: list[Values]
    reference: Values


def _part(pairs: Sequence[Pair]) -> _Part:
    sides = [_transformed(pairs, which) for which in ("before", "after")]
    means = [side.mean(axis=1) for side in sides]
    floors = np.array([pair.floor for pair in pairs])
    reference = _references(pairs, means, floors)
    independent = np.array([pair.independent for pair in pairs])
    correlation = _lag_one(sides)
    effective = (1 - correlation) / (1 + correlation)
    counts = [
        np.maximum(np.minimum(side.shape[1] * effective, independent[:, i]), 2.0)
        for i, side in enumerate(sides)
    ]
    variances = [
        np.maximum(side.var(axis=1, ddof=1), floors[:, i]) / reference for i, side in enumerate(sides)
    ]
    return _Part(sides, means, variances, counts, reference)


def _references(pairs: Sequence[Pair], means: Sequence[Values], floors: Values) -> Values:
    """The unit of variances of one scale, so that those of several clients can be compared: the square of the mean for
    a rate, the chance variance for rare events, 1 for logarithms and shares.
    """
    is_rate = [not pair.scale.is_log and pair.scale.form == RATIO for pair in pairs]
    is_rare = [not pair.scale.is_log and pair.scale.reference == BY_CHANCE for pair in pairs]
    of_rates = np.maximum((means[0] + means[1]) / 2, 1e-6) ** 2
    by_chance = np.maximum((floors[:, 0] + floors[:, 1]) / 2, 1e-12)
    return np.where(is_rare, by_chance, np.where(is_rate, of_rates, 1.0))


def _usual_variances(pairs: Sequence[Pair], parts: Sequence[tuple[list[int], _Part]]) -> dict[Scale, float]:
    """The median over the pairs of a scale; for rare events, the chance variance."""
    by_scale: dict[Scale, list[float]] = {}
    for indices, part in parts:
        for place, index in enumerate(indices):
            by_scale.setdefault(pairs[index].scale, []).append(
                float(part.variances[0][place] + part.variances[1][place]) / 2
            )
    return {
        scale: 1.0 if scale.reference == BY_CHANCE else float(np.median(values))
        for scale, values in by_scale.items()
    }


def _moderated(pairs: Sequence[Pair], part: _Part, usual: dict[Scale, float]) -> list[Compared]:
    """Two-sided test of two means. Blocks are few: the variance is pooled with the scale's usual one, which counts as
    USUAL_FREEDOM degrees of freedom (Smyth, 2004). Rare events have their known chance variance, unless they come in
    bursts: then their own.
    """
    prior = np.array([usual[pair.scale] for pair in pairs])
    is_rare = np.array([pair.scale.reference == BY_CHANCE for pair in pairs])
    own = part.counts[0] + part.counts[1] - 2
    variance = sum(v * (c - 1) for v, c in zip(part.variances, part.counts, strict=True)) / own
    is_by_chance = is_rare & (variance <= _most_by_chance(own))
    freedom = np.where(is_by_chance, CHANCE_FREEDOM, USUAL_FREEDOM)
    variance = np.where(
        is_rare & ~is_by_chance, variance, (variance * own + freedom * prior) / (own + freedom)
    )
    error = np.sqrt(variance * part.reference * sum(1 / count for count in part.counts)) + 1e-12
    t = (part.means[1] - part.means[0]) / error
    p_values = _two_sided(t, own + freedom)

    def results(start: int) -> list[Compared]:
        some = slice(start, start + AT_ONCE)
        resampled = [side[some] @ _weights(side.shape[1], seed).T for seed, side in enumerate(part.sides)]
        return _results(pairs[some], [means[some] for means in part.means], p_values[some], resampled)

    with ThreadPoolExecutor(
        _THREADS
    ) as pool:  # NumPy releases the interpreter lock while it multiplies and sorts
        return [result for chunk in pool.map(results, range(0, len(pairs), AT_ONCE)) for result in chunk]


def _paired(pairs: Sequence[Pair]) -> list[Compared]:
    """For members: each one's own change; the interval comes from resampled members."""
    sides = [_transformed(pairs, which) for which in ("before", "after")]
    is_ratio = np.array([[p.scale.form == RATIO and not p.scale.is_log] for p in pairs])
    small = np.array([[max(p.scale.resolution, 1e-9)] for p in pairs])
    logs = [np.where(is_ratio, np.log(np.maximum(side, 0.0) + small), side) for side in sides]
    changes = logs[1] - logs[0]
    number = changes.shape[1]
    middle = changes.mean(axis=1)
    error = np.maximum(np.sqrt(changes.var(axis=1, ddof=1) / number), 0.02 / math.sqrt(number))
    p_values = _two_sided(middle / error, np.full(len(pairs), number - 1.0))
    weights = _weights(number, 2)
    resampled = changes @ weights.T
    low, high = _interval(resampled)
    results = []
    for i, pair in enumerate(pairs):
        exponent = math.exp if pair.scale.form == RATIO else float
        results.append(
            Compared(
                float(pair.before.mean()),
                float(pair.after.mean()),
                exponent(float(middle[i])),
                exponent(float(min(low[i], middle[i]))),
                exponent(float(max(high[i], middle[i]))),
                float(p_values[i]),
            )
        )
    return results


def _results(
    pairs: Sequence[Pair], middles: Sequence[Values], p_values: Values, resampled: Sequence[Values]
) -> list[Compared]:
    """Results of pairs with the same kind of comparison."""
    scale = pairs[0].scale
    resolution = np.array([pair.scale.resolution for pair in pairs])

    def compared(before: Values, after: Values) -> Values:
        if scale.form == DIFFERENCE:
            return np.asarray(after - before)
        if scale.is_log:
            return np.asarray(np.exp(after - before))
        least = np.maximum(resolution, 1e-9).reshape((-1, *(1,) * (before.ndim - 1)))
        ratios = after + least
        ratios /= before + least
        return ratios

    estimates = compared(middles[0], middles[1])
    low, high = _interval(compared(resampled[0], resampled[1]))
    shown = middles
    if scale.is_log and scale.form != DIFFERENCE:
        shown = [np.maximum(np.exp(middle) - resolution, 0.0) for middle in middles]
    columns = (*shown, estimates, np.minimum(low, estimates), np.maximum(high, estimates), p_values)
    return [Compared(*row) for row in zip(*(column.tolist() for column in columns), strict=True)]


def _lag_one(sides: Sequence[Values]) -> Values:
    """Autocorrelation of neighbouring blocks within each window, as far as it exceeds what chance gives for that many
    values.
    """
    above, below = np.zeros(len(sides[0])), np.full(len(sides[0]), 1e-12)
    for side in sides:
        rest = side - side.mean(axis=1, keepdims=True)
        above += (rest[:, 1:] * rest[:, :-1]).sum(axis=1)
        below += (rest**2).sum(axis=1)
    by_chance = 1 / math.sqrt(sum(side.shape[1] for side in sides))
    return np.clip(above / below - by_chance, 0.0, 0.8)


def _two_sided(t: Values, freedom: Values) -> Values:
    """Two-sided p-value of Student's distribution, by the normal one after Wallace's transformation (error below 0.001
    for 5 and more degrees of freedom).
    """
    freedom = np.maximum(freedom, 1.0)
    z = np.sqrt(freedom * np.log1p(t * t / freedom)) * (8 * freedom + 1) / (8 * freedom + 3)
    return np.minimum(1.0, _Z(z / math.sqrt(2)))


def _most_by_chance(freedom: Values) -> Values:
    """What a variance with that many degrees of freedom exceeds once in a hundred times if the true one is 1:
    chi-squared over its degrees of freedom, after Wilson and Hilferty (1931). With few blocks that is much: 3.3 for
    4, 1.8 for 22.
    """
    part = 2 / (9 * freedom)
    return np.asarray((1 - part + _ONE_IN_A_HUNDRED * np.sqrt(part)) ** 3)


@lru_cache(maxsize=64)
def _weights(number: int, seed: int) -> Values:
    """RESAMPLES draws with replacement, as weights of the values; the same ones each time."""
    chance = np.random.default_rng(zlib.crc32(f"{number} {seed}".encode()))
    return chance.multinomial(number, np.full(number, 1 / number), size=RESAMPLES) / number


def _interval(resampled: Values) -> tuple[Values, Values]:
    """The middle 95 % of each row, interpolated as numpy.quantile does, which looks up its places one by one and takes
    several times as long.
    """
    last = resampled.shape[1] - 1
    ordered = np.sort(resampled, axis=1)
    low, high = (
        _between(ordered[:, int(place)], ordered[:, int(place) + 1], place % 1)
        for place in (0.025 * last, 0.975 * last)
    )
    return low, high


def _between(below: Values, above: Values, part: float) -> Values:
    return above - (above - below) * (1 - part) if part >= 0.5 else below + (above - below) * part
