"""What must hold for number points."""

from client_telemetry.expectations.suite import RowRule, SliceRule, Suite
from client_telemetry.tables.client_metrics import CLIENT_METRICS

SUITE = Suite(
    CLIENT_METRICS,
    (
        RowRule(
            "kind_is_known", "kind in ('gauge', 'sum')", "critical", "a number point is of a gauge or a sum"
        ),
        RowRule(
            "only_sums_accumulate",
            "kind = 'sum' or (temporality is null and is_monotonic is null)",
            "critical",
            "only sums have temporality and monotonicity",
        ),
        RowRule("metric_has_a_name", "metric <> ''", "warning", "a metric has a name"),
        RowRule(
            "point_has_a_value",
            "value is not null or value_int is not null",
            "warning",
            "a number point has a value",
        ),
        SliceRule(
            "rows_match_pushes",
            "count(*) - {number_points}",
            "critical",
            "the number of points matches the pushes",
            minimum=0,
            maximum=0,
        ),
    ),
)
