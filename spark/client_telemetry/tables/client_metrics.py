"""Number data points of pushes: gauges and sums."""

from typing import TYPE_CHECKING

from client_telemetry.tables.suite import Expectations, Suite
from client_telemetry.tables.table import (
    BINARY,
    BOOLEAN,
    BROKER_ID,
    BROKER_INCARNATION,
    CLUSTER_ID,
    DOUBLE,
    DT,
    INT,
    LABELS,
    LONG,
    SEQUENCE,
    STRING,
    TIMESTAMP,
    Column,
    Table,
)

if TYPE_CHECKING:
    from client_telemetry.tables.rows import ClientMetricRow

POINT = (
    CLUSTER_ID,
    DT,
    BROKER_ID,
    BROKER_INCARNATION,
    SEQUENCE,
    Column(
        "point_index",
        INT,
        "Index of the point in its push, from 0, counting all kinds of points",
        nullable=False,
    ),
    Column("client_instance_id", BINARY, "Of the push, 16 bytes; null = the push contains none"),
    Column("received_at", TIMESTAMP, "Of the push, broker clock", nullable=False),
    Column("metric", STRING, "Metric name as sent", nullable=False),
)
"""What every data point carries, whatever its kind."""

CLIENT_METRICS: "Table[ClientMetricRow]" = Table(
    name="client_metrics",
    comment="One row per number data point. The sender is in client_pushes, under the same key.",
    columns=(
        *POINT,
        Column("kind", STRING, "gauge or sum", nullable=False),
        Column("temporality", STRING, "delta or cumulative; null for gauges and if not set"),
        Column("is_monotonic", BOOLEAN, "For sums; null for gauges"),
        Column("attributes", LABELS, "Attributes of the point", nullable=False),
        Column("start_time", TIMESTAMP, "Client clock; null = not set"),
        Column("time", TIMESTAMP, "Client clock; null = not set"),
        Column("value", DOUBLE, "Value if the client sent a double; NaN and infinities are kept"),
        Column("value_int", LONG, "Value if the client sent an integer; at most one of the two is set"),
        Column("resource_index", INT, "Index into client_pushes.resources", nullable=False),
    ),
    key=("cluster_id", "broker_id", "broker_incarnation", "sequence", "point_index"),
)


def _expectations() -> Expectations:
    from client_telemetry.tables.expectations import WARNING, ExpectRowsToSatisfy, ExpectTableRowCountToEqual

    return {
        "kind_is_known": ExpectRowsToSatisfy(
            condition="kind in ('gauge', 'sum')", description="a number point is of a gauge or a sum"
        ),
        "only_sums_accumulate": ExpectRowsToSatisfy(
            condition="kind = 'sum' or (temporality is null and is_monotonic is null)",
            description="only sums have temporality and monotonicity",
        ),
        "metric_has_a_name": ExpectRowsToSatisfy(
            condition="metric <> ''", severity=WARNING, description="a metric has a name"
        ),
        "point_has_a_value": ExpectRowsToSatisfy(
            condition="value is not null or value_int is not null",
            severity=WARNING,
            description="a number point has a value",
        ),
        "rows_match_pushes": ExpectTableRowCountToEqual(
            value={"$PARAMETER": "number_points"},
            description="the number of points matches the pushes",
        ),
    }


SUITE = Suite(CLIENT_METRICS, _expectations)
