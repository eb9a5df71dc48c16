"""The burn-down of a campaign as inline SVG; classes are in campaign.css."""

import datetime as dt
from collections.abc import Sequence
from typing import Final

from markupsafe import Markup

from client_telemetry.campaign.pace import DayCount, Forecast
from client_telemetry.console.counted import counted

WIDTH: Final = 640
HEIGHT: Final = 170
_LEFT, _RIGHT, _TOP, _BOTTOM = 34, 10, 22, 22
_TICKS: Final = 6


def burn_down(counts: Sequence[DayCount], planned: dt.date, expected: Forecast | None) -> Markup:
    """Applications left by day, the forecast until the planned day as a line with its range, and that day. The numbers stand beside it
    as text. Nothing for less than two days.
    """
    if len(counts) < 2:
        return Markup("")
    first, end = counts[0].day, max(counts[-1].day, planned)
    days = (end - first).days
    top = max(1, *(each.left for each in counts), expected.high if expected else 0)

    def x(day: dt.date) -> float:
        return _LEFT + (WIDTH - _LEFT - _RIGHT) * (day - first).days / days

    def y(count: float) -> float:
        return HEIGHT - _BOTTOM - (HEIGHT - _TOP - _BOTTOM) * count / top

    last = counts[-1]
    line = " ".join(f"{x(each.day):.5g},{y(each.left):.4g}" for each in counts)
    base = f"{x(last.day):.5g},{y(0):.4g} {x(first):.5g},{y(0):.4g}"
    parts = [f'<polygon class="left" points="{line} {base}"/>', f'<polyline class="line" points="{line}"/>']
    if expected:
        at, now = f"{x(expected.day):.5g}", f"{x(last.day):.5g},{y(last.left):.4g}"
        parts.append(
            f'<polygon class="range" points="{now} {at},{y(expected.high):.4g} {at},{y(expected.low):.4g}"/>'
        )
        parts.append(f'<polyline class="forecast" points="{now} {at},{y(expected.left):.4g}"/>')
    at = f"{x(planned):.5g}"
    if first <= planned:
        parts.append(
            f'<line class="edge" x1="{at}" x2="{at}" y1="{_TOP}" y2="{y(0):.4g}"/>'
            f'<text class="axis" text-anchor="{"end" if x(planned) > WIDTH / 2 else "start"}" x="{at}" y="{_TOP - 8}">upgrade {planned}</text>'
        )
    parts.append(
        f'<text class="axis" x="0" y="{y(top) + 4:.4g}">{top:,}</text><text class="axis" x="0" y="{y(0):.4g}">0</text>'
    )
    for step in range(_TICKS):
        day = first + dt.timedelta(days=round(days * step / (_TICKS - 1)))
        anchor = "start" if step == 0 else "end" if step == _TICKS - 1 else "middle"
        text = f"{day:%m-%d}" if anchor == "middle" else f"{day}"
        parts.append(
            f'<text class="axis" text-anchor="{anchor}" x="{x(day):.5g}" y="{HEIGHT - 6}">{text}</text>'
        )
    label = f"{counted(counts[0].left, 'application')} left on {first}, {last.left:,} on {last.day}"
    return Markup(
        f'<svg class="burn-down" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{label}"><title>{label}</title>{"".join(parts)}</svg>'
    )
