"""Inline SVG of the page: bars of clients by outcome, and the strip of broker hours. Colours and patterns are in
page.css by class; widths are attributes, since the page's policy forbids style attributes."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta

from markupsafe import Markup

from client_telemetry.knowledge.vocabulary import Completeness
from client_telemetry.reports.coverage import COMPLETENESS
from client_telemetry.reports.evidence import Coverage, CoverageRun, DaySeen
from client_telemetry.reports.outcomes import OUTCOMES, split_safe

STRIP_WIDTH = 560
LABEL_WIDTH = 66
ROW_HEIGHT = 16
RUNS_WITH_TOOLTIP = 600

_TILES = {
    "breaks_latent": '<path d="M-1 7L7 -1M-1 1L1 -1M5 7L7 5"/>',
    "insufficient_evidence": '<circle cx="1.5" cy="1.5" r="1.1"/><circle cx="4.5" cy="4.5" r="1.1"/>',
    "degrades": '<path d="M0 1.5H6M0 4.5H6"/>',
    "unsupported": '<path d="M1.5 0V6M4.5 0V6"/>',
    "partly": '<path d="M-1 7L7 -1M-1 1L1 -1M5 7L7 5"/>',
}
"""Pattern tiles of 6 by 6: outcomes can be told apart without colour. The others are filled plainly."""


def patterns() -> Markup:
    """Definitions that the other drawings of the page use; once per page."""
    tiles = "".join(
        f'<pattern id="p-{name}" class="t-{name}" width="6" height="6" patternUnits="userSpaceOnUse">'
        f'<rect width="6" height="6"/>{shape}</pattern>'
        for name, shape in _TILES.items()
    )
    return Markup(f'<svg width="0" height="0" class="defs" aria-hidden="true"><defs>{tiles}</defs></svg>')


def bar(counts: Mapping[str, int], scale: int, height: int = 12, safe_so_far: int = 0) -> Markup:
    """A stacked bar; `scale` clients fill the width that page.css gives it. The numbers must stand beside it as
    text: the drawing says them only in its tooltip. `safe_so_far`: of the safe ones, drawn as these."""
    shown = split_safe(counts, safe_so_far) if safe_so_far else counts
    words = ", ".join(f"{OUTCOMES.get(name, name)} {count:,}" for name, count in shown.items() if count)
    rects, x = "", 0.0
    for outcome, count in counts.items():
        if count:
            part = 100 * count / scale
            rects += f'<rect class="f-{outcome}" x="{x:.4g}%" width="{part:.4g}%" height="{height}"/>'
            x += part
    return Markup(
        f'<svg class="bar" height="{height}" role="img" aria-label="{words}"><title>{words}</title>{rects}</svg>'
    )


def count_bar(count: int, marked: int, scale: int, words: str, height: int = 12) -> Markup:
    """A bar of `count` clients, of which `marked` are hatched; `scale` clients fill the width. `words` are the tooltip;
    the numbers must stand beside it as text."""
    parts = (("deprecated", 0, marked), ("clients", marked, count - marked))
    rects = "".join(
        f'<rect class="f-{name}" x="{100 * start / scale:.4g}%" width="{100 * width / scale:.4g}%" height="{height}"/>'
        for name, start, width in parts
        if width
    )
    return Markup('<svg class="bar" height="{}" role="img" aria-label="{}"><title>{}</title>{}</svg>').format(
        height, words, words, Markup(rects)
    )


def pareto_bar(left: int, of: int) -> Markup:
    """How many of `of` applications still break after a change and those before it. The number must stand beside it as
    text."""
    share = 100 * left / of if of else 0
    words = f"{left:,} of {of:,} still break"
    return Markup(
        f'<svg class="bar pareto" height="10" role="img" aria-label="{words}"><title>{words}</title>'
        f'<rect class="none" width="100%" height="10"/><rect class="f-breaks_at_once" width="{share:.4g}%" height="10"/></svg>'
    )


DAYS_SEEN_WIDTH, DAYS_SEEN_HEIGHT = 260, 12
LEAST_WIDTH = 1.5
"""So that seconds of a week are seen."""


def days_seen_strip(days: Sequence[DaySeen], begin: datetime, end: datetime) -> Markup:
    """When a client was seen between the beginning and the end of the evidence, a bar for each day from its first to its
    last evidence. The numbers must stand beside it as text."""
    span = end - begin
    if span <= timedelta(0) or not days:
        return Markup("")
    parts = []
    for day in days:
        start, stop = (
            min(max((moment - begin) / span, 0), 1) * DAYS_SEEN_WIDTH
            for moment in (day.first_seen_at, day.last_seen_at)
        )
        start = min(start, DAYS_SEEN_WIDTH - LEAST_WIDTH)
        words = (
            f"{day.first_seen_at:%Y-%m-%d %H:%M} to {day.last_seen_at:%H:%M}: {day.connections:,} connections"
        )
        parts.append(
            f'<rect class="whole" x="{start:.4g}" width="{max(stop - start, LEAST_WIDTH):.4g}" '
            f'height="{DAYS_SEEN_HEIGHT}"><title>{words}</title></rect>'
        )
    label = f"seen on {len(days)} {'day' if len(days) == 1 else 'days'} of the evidence"
    return Markup(
        f'<svg class="strip days-seen" viewBox="0 0 {DAYS_SEEN_WIDTH} {DAYS_SEEN_HEIGHT}" role="img" aria-label="{label}">'
        f'<rect class="none" width="{DAYS_SEEN_WIDTH}" height="{DAYS_SEEN_HEIGHT}"/>{"".join(parts)}</svg>'
    )


def coverage_strip(
    coverage: Coverage, evidence_from: datetime | None = None, evidence_until: datetime | None = None
) -> Markup:
    """Brokers downwards, hours to the right, ticks at days (or every sixth hour of a single day), and lines where
    the evidence begins and ends, if it is not all of them."""
    span = coverage.end_hour - coverage.first_hour
    if not coverage.broker_ids or span <= timedelta(0):
        return Markup("")
    drawn = STRIP_WIDTH - LABEL_WIDTH
    height = ROW_HEIGHT * len(coverage.broker_ids)

    def x(moment: datetime) -> float:
        return LABEL_WIDTH + drawn * ((moment - coverage.first_hour) / span)

    rows = {broker_id: ROW_HEIGHT * index for index, broker_id in enumerate(coverage.broker_ids)}
    parts = [f'<text x="0" y="{y + 11}">broker {broker_id}</text>' for broker_id, y in rows.items()]
    tooltips = len(coverage.runs) <= RUNS_WITH_TOOLTIP
    for run in coverage.runs:
        y, start, end = rows[run.broker_id] + 2, x(run.start), x(run.end)
        rect = f'<rect class="{_kind(run)}" x="{start:.5g}" y="{y}" width="{end - start:.4g}" height="12"'
        parts += [f"{rect}><title>{_words(run)}</title></rect>" if tooltips else f"{rect}/>"]
    parts += _ticks(coverage, x, height)
    for name, moment in (("from", evidence_from), ("until", evidence_until)):
        if moment is not None and coverage.first_hour <= moment <= coverage.end_hour:
            at = f"{x(moment):.5g}"
            parts += [f'<line class="edge" x1="{at}" x2="{at}" y1="0" y2="{height}"><title>evidence {name} ']
            parts += [f"{moment:%Y-%m-%d %H:%M}</title></line>"]
    label = f"{coverage.complete_broker_hours} of {coverage.broker_hours} broker hours seen completely"
    return Markup(
        f'<svg class="strip" viewBox="0 0 {STRIP_WIDTH} {height + 18}" role="img" aria-label="{label}">'
        f"{''.join(parts)}</svg>"
    )


def _kind(run: CoverageRun) -> str:
    """`whole`, `none` or `partly` seen."""
    if run.completeness == (Completeness.COMPLETE,):
        return "whole"
    return "none" if run.completeness == (Completeness.NO_MANIFEST,) else "partly"


def _words(run: CoverageRun) -> str:
    what = ", ".join(COMPLETENESS.get(word, word) for word in run.completeness)
    return f"broker {run.broker_id}, {run.start:%Y-%m-%d %H:%M} to {run.end:%Y-%m-%d %H:%M}: {what}"


def _ticks(coverage: Coverage, x: Callable[[datetime], float], height: int) -> list[str]:
    """At most some ten labels."""
    span = coverage.end_hour - coverage.first_hour
    days = span / timedelta(days=1)
    step = timedelta(hours=6 if days > 0.5 else 1) if days <= 1 else timedelta(days=-(-days // 10))
    parts, moment = [], coverage.first_hour
    while moment < coverage.end_hour:
        text = f"{moment:%H:%M}" if days <= 1 else f"{moment:%m-%d}"
        at = f"{x(moment):.5g}"
        parts += [f'<line class="tick" x1="{at}" x2="{at}" y1="{height}" y2="{height + 4}"/>']
        parts += [f'<text class="axis" x="{at}" y="{height + 15}">{text}</text>']
        moment += step
    return parts
