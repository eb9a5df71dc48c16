"""Metrics over time as inline SVG, drawn on the server: pages show them without a script.

    curve(title, unit, lines, marks=(), shaded=()) -> Markup     one drawing, 340 wide, with what it shows and a time axis in UTC
    small_multiples(drawings) -> Markup                          several beside each other

    curve(
        "Request latency",
        "ms",
        [Line("librdkafka 2.3.0", [(1795349097.0, 4.2), (1795349127.0, None), (1795349157.0, 8.4)])],
        marks=[Mark(1795349110.0, "broker 3 on 4.0.1")],
        shaded=[Shaded(1795349110.0, 1795349140.0, "brokers differ")],
    )

Times are seconds since 1970. None as a value is a gap: nothing was measured there, so nothing is drawn. At most MOST_LINES lines
can be distinguished; drawings of one comparison get the same `least_time`, `greatest_time` and `greatest_value`, so that they can be
held beside each other. Colours are in page.css by class (`curve`); names that clients choose are escaped here.
"""

import math
import re
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from typing import NamedTuple

from markupsafe import Markup

WIDTH, HEIGHT = 340, 132
LEFT, RIGHT, TOP, BOTTOM = 46, 8, 10, 18
LABEL_HEIGHT, LABEL_LETTER = 10, 5
"""Of the labels of marks, which stand in rows above the drawing."""
MOST_LABEL_ROWS = 3
MOST_LINES = 5
MOST_POINTS = 400
"""Of a line: more are not seen at this width. Neighbours are averaged."""
_STEPS = (60, 120, 300, 600, 1800, 3600, 7200, 10800, 21600, 43200, 86400, 172800, 604800)
_Scale = Callable[[float], float]


class Line(NamedTuple):
    """Points in order of time: (seconds, value)."""

    name: str
    points: Sequence[tuple[float, float | None]]


class Mark(NamedTuple):
    """Something that happened at a time: a vertical line with a label, if there is room for it, and a tooltip."""

    at: float
    words: str

    @property
    def label(self) -> str:
        """
        >>> Mark(0.0, "broker 3 started on 4.0.1").label
        'broker 3: 4.0.1'
        """
        return re.sub(r" (?:started )?on ", ": ", self.words, count=1)


class Shaded(NamedTuple):
    """A period that is set off from the others."""

    since: float
    until: float
    words: str


def curve(
    title: str,
    unit: str,
    lines: Sequence[Line],
    marks: Sequence[Mark] = (),
    shaded: Sequence[Shaded] = (),
    *,
    least_time: float | None = None,
    greatest_time: float | None = None,
    greatest_value: float | None = None,
) -> Markup:
    """A figure; empty where no line has a value. The scale begins at 0."""
    lines = [Line(line.name, _thinned(line.points)) for line in lines[:MOST_LINES]]
    values = [v for line in lines for _, v in line.points if v is not None and math.isfinite(v)]
    if not values:
        return Markup("")
    times = [at for line in lines for at, _ in line.points]
    since = min(times) if least_time is None else least_time
    until = max(max(times) if greatest_time is None else greatest_time, since + 1.0)
    top = _round_up(max(values) if greatest_value is None else greatest_value)

    def x(at: float) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * (min(max(at, since), until) - since) / (until - since)

    def y(value: float) -> float:
        return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * min(max(value, 0.0), top) / top

    labels = _labels([mark for mark in marks if since <= mark.at <= until], x)
    head = LABEL_HEIGHT * (1 + max((row for _, row in labels.values()), default=-1))
    parts = []
    for area in shaded:
        if area.until > since and area.since < until:
            begin, end = x(area.since), x(area.until)
            parts.append(
                Markup('<rect class="mixed" x="{:.1f}" y="{}" width="{:.1f}" height="{}"><title>{}</title></rect>').format(
                    begin, TOP, end - begin, HEIGHT - TOP - BOTTOM, area.words
                )
            )  # fmt: skip
    parts += _axes(since, until, top, x, y)
    for mark in marks:
        if since <= mark.at <= until:
            _, row = labels.get(mark, (0.0, -1))
            parts.append(
                Markup('<line class="mark" x1="{0:.1f}" x2="{0:.1f}" y1="{1}" y2="{2}"><title>{3}</title></line>').format(
                    x(mark.at), TOP - LABEL_HEIGHT * (row + 1), HEIGHT - BOTTOM, f"{_clock(mark.at, 0)} {mark.words}"
                )
            )  # fmt: skip
    parts += [
        Markup('<text class="of-mark" x="{:.1f}" y="{}">{}</text>').format(
            at, TOP - 2 - LABEL_HEIGHT * row, mark.label
        )
        for mark, (at, row) in labels.items()
    ]
    for place, line in enumerate(lines):
        parts.append(_drawn(line, place, x, y))
    ends = f"{_clock(since, until - since)} to {_clock(until, until - since)}"
    findings = [_finding(line, until - since) for line in lines]
    said = "; ".join(f"{line.name}: {finding}" for line, finding in zip(lines, findings, strict=True))
    legend = Markup("") if len(lines) < 2 else _legend(lines)
    first = f"{lines[0].name} " if len(lines) > 1 else ""
    return Markup(
        '<figure class="curve"><figcaption>{} <small>{}</small></figcaption>'
        '<svg viewBox="0 {} {} {}" role="img" aria-label="{}">{}</svg>{}</figure>'
    ).format(
        title,
        f"{unit}: {first}{findings[0]}",
        -head,
        WIDTH,
        HEIGHT + head,
        f"{title} ({unit}), {ends}: {said}",
        Markup("").join(parts),
        legend,
    )


def _labels(marks: Sequence[Mark], x: _Scale) -> dict[Mark, tuple[float, int]]:
    """Place and row (0 is the lowest) of the labels that have room. Of labels above one another the earliest is the highest, and
    lines end at the row of their label, so that none crosses another label.
    """
    found: dict[Mark, tuple[float, int]] = {}
    ends: list[float] = []
    for mark in sorted(set(marks)):
        width = LABEL_LETTER * len(mark.label)
        at = min(x(mark.at) + 3, WIDTH - width)
        row = next(row for row in range(len(ends) + 1) if all(end < at for end in ends[row:]))
        if row < MOST_LABEL_ROWS and at > 0:
            ends[row:] = [at + width]
            found[mark] = at, row
    highest = max((row for _, row in found.values()), default=0)
    return {mark: (at, highest - row) for mark, (at, row) in found.items()}


def _finding(line: Line, span: float) -> str:
    """What a curve shows, in words. One slot without a value at an end is seen in part; more of them are said.

    >>> _finding(Line("a", [(0.0, 3.0), (60.0, 4.0), (120.0, 0.0), (180.0, 0.0)]), 180.0)
    '0 after 00:01, at most 4'
    >>> _finding(Line("a", [(0.0, 3.0), (60.0, 4.0), (120.0, None), (180.0, None)]), 180.0)
    '3 at first, nothing after 00:01, at most 4'
    """
    known = [
        place for place, (_, value) in enumerate(line.points) if value is not None and math.isfinite(value)
    ]
    points = [(line.points[place][0], line.points[place][1] or 0.0) for place in known]
    other = [at for at, value in points if value]
    if not points:
        return "nothing measured"
    if not other:
        return "0 throughout"
    (begin, first), (end, last) = points[0], points[-1]
    at_first, at_last = f"{number(first)} at first", f"{number(last)} at last"
    if known[0] > 1:
        at_first = f"from {_clock(begin, span)} on"
    elif not first and _clock(other[0], span) != _clock(begin, span):
        at_first = f"0 until {_clock(other[0], span)}"
    if len(line.points) - known[-1] > 2:
        at_last = f"nothing after {_clock(end, span)}"
    elif not last and _clock(other[-1], span) != _clock(end, span):
        at_first, at_last = "", f"0 after {_clock(other[-1], span)}"
    said = [text for text in (at_first, at_last) if text]
    return ", ".join([*said, f"at most {number(max(value for _, value in points))}"])


def small_multiples(drawings: Iterable[Markup]) -> Markup:
    found = [drawing for drawing in drawings if drawing]
    return Markup('<div class="curves">{}</div>').format(Markup("").join(found)) if found else Markup("")


def _drawn(line: Line, number: int, x: _Scale, y: _Scale) -> Markup:
    """Segments between gaps; a point with a gap on both sides is a dot."""
    segments: list[list[tuple[float, float]]] = [[]]
    for at, value in line.points:
        if value is None or not math.isfinite(value):
            segments.append([])
        else:
            segments[-1].append((x(at), y(value)))
    path = "".join(
        "M" + "L".join(f"{px:.1f} {py:.1f}" for px, py in segment) for segment in segments if len(segment) > 1
    )
    dots = Markup("").join(
        Markup('<circle cx="{:.1f}" cy="{:.1f}" r="1.6"/>').format(*segment[0])
        for segment in segments
        if len(segment) == 1
    )
    return Markup('<g class="line l-{}"><title>{}</title><path d="{}"/>{}</g>').format(
        number, line.name, path, dots
    )


def _legend(lines: Sequence[Line]) -> Markup:
    return Markup('<ul class="lines">{}</ul>').format(
        Markup("").join(
            Markup('<li class="l-{}">{}</li>').format(i, line.name) for i, line in enumerate(lines)
        )
    )


def _axes(since: float, until: float, top: float, x: _Scale, y: _Scale) -> list[Markup]:
    parts = []
    for value in (0.0, top / 2, top):
        parts.append(
            Markup(
                '<line class="grid" x1="{0}" x2="{1}" y1="{2:.1f}" y2="{2:.1f}"/>'
                '<text class="n" x="{3}" y="{4:.1f}">{5}</text>'
            ).format(LEFT, WIDTH - RIGHT, y(value), LEFT - 4, y(value) + 3.5, number(value))
        )
    step = next((s for s in _STEPS if (until - since) / s <= 5), 604800 * 4)
    at = math.ceil(since / step) * step
    while at <= until:
        parts.append(
            Markup('<text class="at" x="{:.1f}" y="{}">{}</text>').format(
                x(at), HEIGHT - 4, _clock(at, until - since)
            )
        )
        at += step
    return parts


def _thinned(points: Sequence[tuple[float, float | None]]) -> list[tuple[float, float | None]]:
    if len(points) <= MOST_POINTS:
        return list(points)
    many = -(-len(points) // MOST_POINTS)
    found: list[tuple[float, float | None]] = []
    for start in range(0, len(points), many):
        part = points[start : start + many]
        values = [value for _, value in part if value is not None]
        middle = part[len(part) // 2][0]
        found.append((middle, sum(values) / len(values) if values else None))
    return found


def number(value: float) -> str:
    """Three digits, four of thousands, large ones with a letter.

    >>> number(0.0412), number(4.25), number(2500.0), number(12345.0), number(0.0)
    ('0.041', '4.25', '2500', '12.3k', '0')
    """
    for limit, letter in ((1e9, "G"), (1e6, "M"), (1e4, "k")):
        if abs(value) >= limit:
            scale = {"G": 1e9, "M": 1e6, "k": 1e3}[letter]
            return f"{value / scale:.3g}{letter}"
    if abs(value) >= 1000:
        return f"{value:.0f}"
    return f"{value:.3g}" if abs(value) >= 1 or value == 0 else f"{value:.2g}"


def _round_up(value: float) -> float:
    """To 1, 2, 2.5, 4, 5 or 8 times a power of ten: the scale's end has a number that can be read."""
    if value <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(value))
    return next(step * power for step in (1, 2, 2.5, 4, 5, 8, 10) if step * power >= value * 0.9999)


def _clock(at: float, span: float) -> str:
    moment = datetime.fromtimestamp(at, UTC)
    return f"{moment:%m-%d}" if span > 2 * 86400 else f"{moment:%H:%M}"
