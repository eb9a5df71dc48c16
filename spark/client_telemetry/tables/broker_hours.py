"""Coverage: how completely each hour of each broker is known."""

from client_telemetry.knowledge.vocabulary import Completeness
from client_telemetry.tables import rows
from client_telemetry.tables.suite import WARNING, aggregate_is, is_zero, rows_satisfy
from client_telemetry.tables.table import (
    BROKER_ID,
    CLUSTER_ID,
    DT,
    INT,
    LONG,
    STRING,
    STRINGS,
    ArrayType,
    Column,
    MapType,
    Table,
    listed,
    required,
    struct,
)

COMPLETENESS = {
    Completeness.COMPLETE: "the hour has a manifest, and every record that it lists was read",
    Completeness.NO_MANIFEST: "the hour has no manifest: what happened is not known",
    Completeness.BAD_MANIFEST: "the hour has a manifest that cannot be read",
    Completeness.MISSING_OBJECTS: "a manifest lists an object that does not exist",
    Completeness.SEQUENCE_GAP: "record numbers of an incarnation have a gap that starts in this hour",
    Completeness.DROPPED_RECORDS: "the broker reported dropped records in this hour",
    Completeness.UNREAD_RECORDS: "fewer records were read than the manifests list",
    Completeness.REGISTRY_NOT_WATCHING: "connections were watched for only part of the hour, or not at all",
    Completeness.REGISTRY_INCOMPLETE: "the broker counted connections or requests that its connection registry lacks",
}

_WORDS = listed(COMPLETENESS)

BROKER_HOURS: "Table[rows.BrokerHourRow]" = Table(
    name="broker_hours",
    comment=(
        "One row per broker and hour of the day, for every broker named by a manifest or an object of the day: "
        "how completely the hour was seen. A missing manifest means unknown, an empty one means nothing happened."
    ),
    columns=(
        CLUSTER_ID,
        DT,
        BROKER_ID,
        required("hour", INT, "Hour of the day, UTC, 0 to 23"),
        required(
            "completeness",
            STRINGS,
            "Sorted, never empty: " + "; ".join(f"`{k}`: {v}" for k, v in COMPLETENESS.items()),
        ),
        required("incarnations", STRINGS, "Broker incarnations that reported the hour, sorted"),
        required("objects", LONG, "Existing objects of the hour, not counting manifests"),
        Column("pushes_expected", LONG, "Pushes that the manifests list; null = no manifest"),
        Column("pushes_read", LONG, "Pushes found in the objects; null = not yet decoded"),
        Column(
            "connection_events_expected",
            LONG,
            "Connection events that the manifests list; null = no manifest",
        ),
        Column(
            "connection_events_read", LONG, "Connection events found in the objects; null = not yet decoded"
        ),
        required("dropped", MapType(STRING, LONG), "Records that the broker dropped, by reason"),
        Column(
            "requests_counted",
            ArrayType(struct(api_key=INT, version=INT, requests=LONG)),
            "Requests by the broker's own counters, including those of other brokers; null = not reported",
        ),
        Column("registry_mode", STRING, "continuous, sampled, deprecated_only; null = not reported"),
        Column(
            "registry_windows",
            STRINGS,
            "When connections were watched, if not all the time: times of day as 05:00:00-05:04:59, both "
            "inclusive, sorted; null = the manifests contain no windows",
        ),
        Column(
            "connections_missed",
            LONG,
            "Connections open at the end of the hour according to the broker's KIP-511 gauges that its registry lacks; "
            "null = not compared",
        ),
        Column(
            "connections_counted",
            ArrayType(struct(software_name=STRING, software_version=STRING, connections=LONG)),
            "Connections open at the end of the hour according to the broker's KIP-511 gauges, by declared software, including "
            "those of other brokers; null = not reported",
        ),
        Column(
            "requests_missed",
            LONG,
            "Requests that the broker counted while all were watched and that its registry lacks; null = not compared",
        ),
    ),
    key=("cluster_id", "dt", "broker_id", "hour"),
    expectations=lambda: {
        "hour_is_of_the_day": rows_satisfy("hour between 0 and 23", "hour is 0 to 23"),
        "completeness_is_known": rows_satisfy(
            f"size(completeness) > 0 and size(array_except(completeness, array({_WORDS}))) = 0",
            "completeness has at least one value, all from the vocabulary",
        ),
        "complete_stands_alone": rows_satisfy(
            "size(completeness) = 1 or not array_contains(completeness, 'complete')",
            "an hour is complete or has faults, not both",
        ),
        "every_broker_has_a_day": is_zero(
            "count(*) - 24 * count(distinct dt, broker_id)",
            "24 hours for every broker and day",
        ),
        "nothing_was_lost": aggregate_is(
            "count_if(size(array_intersect(completeness, array('missing_objects', 'sequence_gap', 'dropped_records', "
            "'unread_records', 'bad_manifest'))) > 0)",
            "no broker hours with records known to be missing: see their completeness",
            at_most=0,
            severity=WARNING,
        ),
    },
)
