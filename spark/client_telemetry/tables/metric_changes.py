"""What an upgrade changed in what clients measure of themselves, and in what brokers count of them."""

from client_telemetry.tables import rows
from client_telemetry.tables.suite import WARNING, aggregate_is, is_one_of, rows_satisfy
from client_telemetry.tables.table import (
    BINARY,
    BOOLEAN,
    CLIENT,
    CLUSTER_ID,
    DOUBLE,
    INSTANCE_ID,
    LONG,
    SOFTWARE,
    STRING,
    TIMESTAMP,
    Column,
    Table,
    required,
)

SCOPES = ("client", "instance", "version", "owner")
FORMS = ("ratio", "difference")

METRIC_CHANGES: "Table[rows.MetricChangeRow]" = Table(
    name="metric_changes",
    comment="One row per review of an upgrade, group of clients and metric: values before and after, with an interval.",
    columns=(
        CLUSTER_ID,
        required("review_id", STRING, "Id of the review; a re-run replaces its rows"),
        required("scope", STRING, "client, instance (of KIP-714), version (of the software) or owner"),
        *CLIENT,
        Column("client_instance_id", BINARY, "scope instance: 16 bytes; null otherwise"),
        INSTANCE_ID,
        *SOFTWARE,
        Column("owner", STRING, "scope owner: owner of the clients; null = without owner"),
        required(
            "metric",
            STRING,
            "KIP-714's name without `org.apache.kafka.`; or counted by brokers: `requests.<API>`, `requests.failed`, "
            "`connections.opened`",
        ),
        required("unit", STRING, "Of `before` and `after`"),
        required("form", STRING, "`estimate` is a ratio (after / before) or a difference"),
        required("before_from", TIMESTAMP, "Start of the window before the upgrade"),
        required("before_until", TIMESTAMP, "End of the window before the upgrade"),
        required("after_from", TIMESTAMP, "Start of the window after the upgrade"),
        required("after_until", TIMESTAMP, "End of the window after the upgrade"),
        required("before", DOUBLE, "Mean before the upgrade"),
        required("after", DOUBLE, "Mean after the upgrade"),
        required("estimate", DOUBLE, "after / before, or after - before: see `form`"),
        required("low", DOUBLE, "Lower end of the 95 % interval of the estimate"),
        required("high", DOUBLE, "Upper end of that interval"),
        required("instances", LONG, "Number of client instances, or of clients, that the row is based on"),
        required("p_value", DOUBLE, "p-value of the hypothesis of no change"),
        required(
            "changed",
            BOOLEAN,
            "Whether the change is significant, with the false discovery rate controlled over the review",
        ),
        required("direction", STRING, "up, down or same"),
        required("worse", BOOLEAN, "Whether the change is for the worse"),
    ),
    key=(
        "cluster_id",
        "review_id",
        "scope",
        "client_id",
        "principal",
        "client_instance_id",
        "client_software_name",
        "client_software_version",
        "owner",
        "metric",
    ),
    partition=("cluster_id", "review_id"),
    expectations=lambda: {
        "scope_is_known": is_one_of("scope", SCOPES, "the scope is a value of the vocabulary"),
        "form_is_known": is_one_of("form", FORMS, "the form is a value of the vocabulary"),
        "interval_is_ordered": rows_satisfy(
            "low <= high", "the lower end of an interval is not above its upper end"
        ),
        "p_value_is_a_probability": rows_satisfy("p_value between 0 and 1", "a p value is between 0 and 1"),
        "direction_is_known": is_one_of(
            "direction", ("up", "down", "same"), "the direction is a value of the vocabulary"
        ),
        "unchanged_is_not_worse": rows_satisfy("changed or not worse", "only a changed metric can be worse"),
        "windows_do_not_overlap": rows_satisfy(
            "before_from < before_until and before_until <= after_from and after_from < after_until",
            "the window before the upgrade ends before the window after it begins",
        ),
        "has_instances": rows_satisfy("instances > 0", "a comparison is based on at least one instance"),
        "most_is_as_before": aggregate_is(
            "coalesce(avg(if(changed, 1, 0)), 0)",
            "at most 50 % of metrics changed: with more, the two windows may not be comparable",
            at_least=0,
            at_most=0.5,
            severity=WARNING,
        ),
    },
)
