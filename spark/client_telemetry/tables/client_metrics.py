"""Number data points of pushes: gauges and sums."""

from client_telemetry.tables import rows
from client_telemetry.tables.suite import WARNING, is_one_of, row_count_is, rows_satisfy
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
    required,
)

POINT = (
    CLUSTER_ID,
    DT,
    BROKER_ID,
    BROKER_INCARNATION,
    SEQUENCE,
    required("point_index", INT, "Index of the point in its push, from 0, counting all kinds of points"),
    Column("client_instance_id", BINARY, "Of the push, 16 bytes; null = the push contains none"),
    required("received_at", TIMESTAMP, "Of the push, broker clock"),
    required("metric", STRING, "Metric name as sent"),
)
"""What every data point carries, whatever its kind."""

CLIENT_METRICS: "Table[rows.ClientMetricRow]" = Table(
    name="client_metrics",
    comment="One row per number data point. The sender is in client_pushes, under the same key.",
    columns=(
        *POINT,
        required("kind", STRING, "gauge or sum"),
        Column("temporality", STRING, "delta or cumulative; null for gauges and if not set"),
        Column("is_monotonic", BOOLEAN, "For sums; null for gauges"),
        required("attributes", LABELS, "Attributes of the point"),
        Column("start_time", TIMESTAMP, "Client clock; null = not set"),
        Column("time", TIMESTAMP, "Client clock; null = not set"),
        Column("value", DOUBLE, "Value if the client sent a double; NaN and infinities are kept"),
        Column("value_int", LONG, "Value if the client sent an integer; at most one of the two is set"),
        required("resource_index", INT, "Index into client_pushes.resources"),
    ),
    key=("cluster_id", "broker_id", "broker_incarnation", "sequence", "point_index"),
    expectations=lambda: {
        "kind_is_known": is_one_of("kind", ("gauge", "sum"), "a number point is of a gauge or a sum"),
        "only_sums_accumulate": rows_satisfy(
            "kind = 'sum' or (temporality is null and is_monotonic is null)",
            "only sums have temporality and monotonicity",
        ),
        "metric_has_a_name": rows_satisfy("metric <> ''", "a metric has a name", severity=WARNING),
        "point_has_a_value": rows_satisfy(
            "value is not null or value_int is not null", "a number point has a value", severity=WARNING
        ),
        "rows_match_pushes": row_count_is("number_points", "the number of points matches the pushes"),
    },
)
