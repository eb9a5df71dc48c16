"""index.html of a review: self-contained, loads nothing, works without JavaScript. Markup is in review.html; looks and script
are those of the upgrade report (reports/markup.py)."""

from dataclasses import replace
from functools import cache

from jinja2 import Template

from client_telemetry.activity.comparison import RATIO
from client_telemetry.knowledge import age, apis, kip511
from client_telemetry.reports.client_strings import client_label
from client_telemetry.reports.curves import number
from client_telemetry.reports.markup import page_parts, template, text_file
from client_telemetry.reports.review import metrics
from client_telemetry.reports.review import report as reports
from client_telemetry.reports.review.report import ReviewReport, message_paths, moment
from client_telemetry.reports.review.wording import KIND_WORDS, OUTCOME_WORDS, predicted, well_again
from client_telemetry.reports.upgrade import changes
from client_telemetry.reports.wording import period
from client_telemetry.review import applications
from client_telemetry.review.metric_changes import CLIENT, INSTANCE, Group, MetricChange
from client_telemetry.review.metric_curves import MOST_GROUPS
from client_telemetry.review.model import ReviewedClient
from client_telemetry.review.outcome import Happened
from client_telemetry.review.prediction import Comparison

ROWS_SHOWN = 300
"""Longest list of clients; outcomes.csv has all."""

PHASE_WORDS = {
    "before": "before",
    "rolling": "rolling",
    "not_finalized": "not finalized",
    "finalized": "finalized",
    "rolled_back": "rolled back",
}
DECISION_WORDS = {"go": "Continue", "stop": "Stop", "cannot_tell": "Cannot tell"}
_COLORS = {
    Happened.FAILING: "breaks_at_once",
    Happened.GONE: "breaks_latent",
    Happened.FAILING_BEFORE: "degrades",
    Happened.NOT_TESTED: "insufficient_evidence",
    Happened.NOT_SEEN: "insufficient_evidence",
    Happened.CHANGED: "unsupported",
    Happened.NEW: "unsupported",
    Happened.UNAFFECTED: "safe",
}


def review_page(report: ReviewReport) -> str:
    review = report.review
    wrong = reports.of_comparison(review, Comparison.UNEXPECTED, Comparison.DID_NOT_HAPPEN)
    # What Jinja renders with refers to itself and stays until Python looks for cycles: so it gets no more than the page shows.
    without_lists = replace(
        report, review=replace(review, clients=(), answered={}), metrics=replace(report.metrics, changes=())
    )
    return page_template().render(
        report=without_lists,
        review=without_lists.review,
        sentence=report.sentence,
        knowledge=age.paragraph(report.knowledge_version, report.knowledge_built_at, report.created_at),
        applications=reports.applications_of(review.clients),
        number_of_clients=len(review.clients),
        clients=review.clients[:ROWS_SHOWN],
        comparisons=len(report.metrics.changes),
        upgrade=review.upgrade,
        act_now=reports.act_now(review),
        wrong=wrong,
        gone=reports.with_outcome(review, Happened.GONE),
        fixed=reports.of_comparison(review, Comparison.FIXED_MEANWHILE),
        waiting=reports.of_comparison(review, Comparison.NOT_TRIGGERED),
        before=reports.with_outcome(review, Happened.FAILING_BEFORE),
        unseen=[
            *reports.with_outcome(review, Happened.NOT_SEEN),
            *reports.with_outcome(review, Happened.NOT_TESTED),
        ],
        metric_changes=[change for change in report.metrics.changes if change.changed],
        changed_curves=metrics.of_changed(report.metrics.changed, review.upgrade),
        group_curves=[
            (words, curves)
            for words, found in (
                ("software version", report.metrics.versions),
                ("owner", report.metrics.owners),
            )
            if (curves := metrics.by_group(found, review.upgrade))
        ],
        packs=message_paths(review.clients),
        counts=list(applications.outcome_counts(review.clients).items()),
        **page_parts(text_file("review.css", __package__), has_filters=False),
    )


def _software(client: ReviewedClient) -> str:
    return kip511.software(client.software_name, client.software_version)


def _change(change: MetricChange) -> str:
    if change.metric.scale.form != RATIO:
        return f"{change.estimate:+.3f}"
    if _is_nothing(change, change.before):
        return "from zero"
    return "to zero" if _is_nothing(change, change.after) else _times(change.estimate)


def _interval(change: MetricChange) -> str:
    if change.metric.scale.form != RATIO:
        return f"{change.low:+.3f} to {change.high:+.3f}"
    if _is_nothing(change, change.before) or _is_nothing(change, change.after):
        return ""
    return f"{_times(change.low)} to {_times(change.high).removeprefix(_TIMES)}"


_TIMES = "×"


def _times(ratio: float) -> str:
    return f"{_TIMES}{ratio:.2f}" if ratio >= 0.1 else f"{_TIMES}{ratio:.1g}"


def _is_nothing(change: MetricChange, value: float) -> bool:
    return value < max(change.metric.scale.resolution, 0.01)


def _whose(group: Group) -> str:
    if group.scope in (CLIENT, INSTANCE):
        return client_label(group.client_id)
    return group.owner or f"{group.software_name} {group.software_version}".strip()


@cache
def page_template() -> Template:
    filters: dict[str, object] = {
        "moment": moment,
        "software_of": _software,
        "applications_of": reports.applications_of,
        "change_of_fix": changes.of_fix,
        "by_candidate": changes.by_candidate,
        "for_any_other": changes.for_any_other,
        "predicted_of": predicted,
        "well_again": well_again,
        "api": apis.name,
        "color": lambda word: _COLORS[word],
        "outcome_words": lambda word: OUTCOME_WORDS[word],
        "kind_words": lambda word: KIND_WORDS.get(word, word) if word else "",
        "period_of": lambda phase: period(moment(phase.since), moment(phase.until)),
        "phase_words": lambda word: PHASE_WORDS.get(word, word),
        "share": lambda value: "" if value is None else f"{100 * value:.0f} %",
        "whose_of": _whose,
        "value": number,
        "change_of": _change,
        "interval_of": _interval,
        "comparison_words": lambda word: word.replace("_", " "),
    }
    values: dict[str, object] = {
        "ROWS_SHOWN": ROWS_SHOWN,
        "MOST_GROUPS": MOST_GROUPS,
        "DECISION_WORDS": DECISION_WORDS,
    }
    return template("review.html", __package__, filters, values)
