"""What must hold for changes of metrics."""

from client_telemetry.expectations.suite import RowRule, SliceRule, Suite
from client_telemetry.tables.metric_changes import FORMS, METRIC_CHANGES, SCOPES

_SCOPES = ", ".join(f"'{scope}'" for scope in SCOPES)
_FORMS = ", ".join(f"'{form}'" for form in FORMS)

SUITE = Suite(
    METRIC_CHANGES,
    (
        RowRule(
            "scope_is_known", f"scope in ({_SCOPES})", "critical", "the scope is a value of the vocabulary"
        ),
        RowRule("form_is_known", f"form in ({_FORMS})", "critical", "the form is a value of the vocabulary"),
        RowRule(
            "interval_is_ordered",
            "low <= high",
            "critical",
            "the lower end of an interval is not above its upper end",
        ),
        RowRule(
            "p_value_is_a_probability", "p_value between 0 and 1", "critical", "a p value is between 0 and 1"
        ),
        RowRule(
            "direction_is_known",
            "direction in ('up', 'down', 'same')",
            "critical",
            "the direction is a value of the vocabulary",
        ),
        RowRule(
            "unchanged_is_not_worse",
            "changed or not worse",
            "critical",
            "only a changed metric can be worse",
        ),
        RowRule(
            "windows_do_not_overlap",
            "before_from < before_until and before_until <= after_from and after_from < after_until",
            "critical",
            "the window before the upgrade ends before the window after it begins",
        ),
        RowRule(
            "has_instances", "instances > 0", "critical", "a comparison is based on at least one instance"
        ),
        SliceRule(
            "most_is_as_before",
            "coalesce(avg(if(changed, 1, 0)), 0)",
            "warning",
            "at most 50 % of metrics changed: with more, the two windows may not be comparable",
            minimum=0,
            maximum=0.5,
        ),
    ),
)
