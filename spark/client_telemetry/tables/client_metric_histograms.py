"""Histogram, exponential histogram and summary points of pushes."""

from typing import TYPE_CHECKING

from client_telemetry.tables.client_metrics import POINT
from client_telemetry.tables.suite import Expectations, Suite
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
)

if TYPE_CHECKING:
    from client_telemetry.tables.rows import ClientMetricHistogramRow

CLIENT_METRIC_HISTOGRAMS: "Table[ClientMetricHistogramRow]" = Table(
    name="client_metric_histograms",
    comment="One row per histogram, exponential histogram or summary point. A count above 2^63 - 1 is stored as 2^63 - 1.",
    columns=(
        *POINT,
        Column("kind", STRING, "histogram, exponential_histogram or summary", nullable=False),
        Column("temporality", STRING, "delta or cumulative; null for summaries and if not set"),
        Column("attributes", LABELS, "Attributes of the point", nullable=False),
        Column("start_time", TIMESTAMP, "Client clock; null = not set"),
        Column("time", TIMESTAMP, "Client clock; null = not set"),
        Column("count", LONG, "Number of values", nullable=False),
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
        Column("resource_index", INT, "Index into client_pushes.resources", nullable=False),
    ),
    key=("cluster_id", "broker_id", "broker_incarnation", "sequence", "point_index"),
)


def _expectations() -> Expectations:
    from client_telemetry.tables.expectations import WARNING, ExpectRowsToSatisfy, ExpectTableRowCountToEqual

    return {
        "kind_is_known": ExpectRowsToSatisfy(
            condition="kind in ('histogram', 'exponential_histogram', 'summary')",
            description="the point is of a known kind",
        ),
        "count_is_not_negative": ExpectRowsToSatisfy(
            condition="count >= 0", description="a count is not negative"
        ),
        "buckets_fit_bounds": ExpectRowsToSatisfy(
            condition="kind <> 'histogram' or size(bucket_counts) in (0, size(explicit_bounds) + 1)",
            severity=WARNING,
            description="a histogram has one more bucket than bounds, or no buckets",
        ),
        "rows_match_pushes": ExpectTableRowCountToEqual(
            value={"$PARAMETER": "histogram_points"},
            description="the number of points matches the pushes",
        ),
    }


SUITE = Suite(CLIENT_METRIC_HISTOGRAMS, _expectations)
