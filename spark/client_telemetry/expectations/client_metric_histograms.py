"""What must hold for histogram, exponential histogram and summary points."""

from client_telemetry.expectations.suite import RowRule, SliceRule, Suite
from client_telemetry.tables.client_metric_histograms import CLIENT_METRIC_HISTOGRAMS

SUITE = Suite(
    CLIENT_METRIC_HISTOGRAMS,
    (
        RowRule(
            "kind_is_known",
            "kind in ('histogram', 'exponential_histogram', 'summary')",
            "critical",
            "the point is of a known kind",
        ),
        RowRule("count_is_not_negative", "count >= 0", "critical", "a count is not negative"),
        RowRule(
            "buckets_fit_bounds",
            "kind <> 'histogram' or size(bucket_counts) in (0, size(explicit_bounds) + 1)",
            "warning",
            "a histogram has one more bucket than bounds, or no buckets",
        ),
        SliceRule(
            "rows_match_pushes",
            "count(*) - {histogram_points}",
            "critical",
            "the number of points matches the pushes",
            minimum=0,
            maximum=0,
        ),
    ),
)
