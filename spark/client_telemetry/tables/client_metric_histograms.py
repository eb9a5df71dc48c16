"""Histogram, exponential histogram and summary points of pushes."""

from client_telemetry.tables import rows
from client_telemetry.tables.client_metrics import POINT
from client_telemetry.tables.suite import WARNING, is_one_of, row_count_is, rows_satisfy
from client_telemetry.tables.table import (
    DOUBLE,
    INT,
    LABELS,
    LONG,
    STRING,
    TIMESTAMP,
    ArrayType,
    Column,
    Table,
    required,
)

CLIENT_METRIC_HISTOGRAMS: "Table[rows.ClientMetricHistogramRow]" = Table(
    name="client_metric_histograms",
    comment="One row per histogram, exponential histogram or summary point. A count above 2^63 - 1 is stored as 2^63 - 1.",
    columns=(
        *POINT,
        required("kind", STRING, "histogram, exponential_histogram or summary"),
        Column("temporality", STRING, "delta or cumulative; null for summaries and if not set"),
        required("attributes", LABELS, "Attributes of the point"),
        Column("start_time", TIMESTAMP, "Client clock; null = not set"),
        Column("time", TIMESTAMP, "Client clock; null = not set"),
        required("count", LONG, "Number of values"),
        Column("sum", DOUBLE, "Sum of the values; null = not set"),
        Column("min", DOUBLE, "Null = not set"),
        Column("max", DOUBLE, "Null = not set"),
        Column(
            "explicit_bounds", ArrayType(DOUBLE), "Histogram: upper bounds of all buckets except the last"
        ),
        Column("bucket_counts", ArrayType(LONG), "Histogram: values per bucket"),
        Column("scale", INT, "Exponential histogram: base is 2^(2^-scale)"),
        Column("zero_count", LONG, "Exponential histogram: values in the zero bucket"),
        Column("positive_offset", INT, "Exponential histogram: index of the first positive bucket"),
        Column("positive_counts", ArrayType(LONG), "Exponential histogram: values per positive bucket"),
        Column("negative_offset", INT, "Exponential histogram: index of the first negative bucket"),
        Column("negative_counts", ArrayType(LONG), "Exponential histogram: values per negative bucket"),
        Column("quantiles", ArrayType(DOUBLE), "Summary: quantiles, 0 to 1"),
        Column("quantile_values", ArrayType(DOUBLE), "Summary: value at each quantile"),
        required("resource_index", INT, "Index into client_pushes.resources"),
    ),
    key=("cluster_id", "broker_id", "broker_incarnation", "sequence", "point_index"),
    expectations=lambda: {
        "kind_is_known": is_one_of(
            "kind", ("histogram", "exponential_histogram", "summary"), "the point is of a known kind"
        ),
        "count_is_not_negative": rows_satisfy("count >= 0", "a count is not negative"),
        "buckets_fit_bounds": rows_satisfy(
            "kind <> 'histogram' or size(bucket_counts) in (0, size(explicit_bounds) + 1)",
            "a histogram has one more bucket than bounds, or no buckets",
            severity=WARNING,
        ),
        "rows_match_pushes": row_count_is("histogram_points", "the number of points matches the pushes"),
    },
)
