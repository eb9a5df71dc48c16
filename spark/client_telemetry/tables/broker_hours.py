"""Coverage: what is known of each hour of each broker."""

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
    struct,
)

COMPLETENESS = {
    "complete": "a manifest tells of the hour, and every record that it lists was read",
    "no_manifest": "no manifest tells of the hour: what happened is not known",
    "bad_manifest": "a manifest of the hour is there but cannot be read",
    "missing_objects": "a manifest lists an object that is not there",
    "sequence_gap": "record numbers of an incarnation have a hole that starts in this hour",
    "dropped_records": "the broker says that it dropped records in this hour",
    "unread_records": "fewer records were read than the manifests list",
    "registry_not_watching": "connections were watched for a part of the hour only, or not at all",
    "registry_incomplete": "the broker counted connections or requests that its registry of connections does not have",
}

BROKER_HOURS = Table(
    name="broker_hours",
    comment=(
        "One row per broker and hour of the day, for every broker that a manifest or an object of the day names: "
        "how completely the hour was seen. An absent manifest means unknown, an empty one means nothing happened."
    ),
    columns=(
        CLUSTER_ID,
        DT,
        BROKER_ID,
        Column("hour", INT, "Hour of the day, UTC, 0 to 23", nullable=False),
        Column(
            "completeness",
            STRINGS,
            "Sorted, never empty: " + "; ".join(f"`{k}`: {v}" for k, v in COMPLETENESS.items()),
            nullable=False,
        ),
        Column("incarnations", STRINGS, "Broker incarnations that reported the hour, sorted", nullable=False),
        Column("objects", LONG, "Objects of the hour that are there, manifests not counted", nullable=False),
        Column("pushes_expected", LONG, "Pushes that the manifests list; null = no manifest"),
        Column("pushes_read", LONG, "Pushes found in the objects; null = not decoded yet"),
        Column(
            "connection_events_expected",
            LONG,
            "Connection events that the manifests list; null = no manifest",
        ),
        Column(
            "connection_events_read", LONG, "Connection events found in the objects; null = not decoded yet"
        ),
        Column(
            "dropped",
            MapType(STRING, LONG),
            "Records that the broker dropped, by reason",
            nullable=False,
        ),
        Column(
            "requests_counted",
            ArrayType(struct(api_key=INT, version=INT, requests=LONG)),
            "Requests by the broker's own counters, those of other brokers among them; null = not reported",
        ),
        Column("registry_mode", STRING, "continuous, sampled, deprecated_only; null = not reported"),
        Column(
            "registry_windows",
            STRINGS,
            "When connections were watched, where not all the time: times of day as 05:00:00-05:04:59, both "
            "included, sorted; null = the manifests tell no windows",
        ),
        Column(
            "connections_missed",
            LONG,
            "Connections open at the end of the hour by the broker's KIP-511 gauges that its registry does not have; "
            "null = not compared",
        ),
        Column(
            "connections_counted",
            ArrayType(struct(software_name=STRING, software_version=STRING, connections=LONG)),
            "Connections open at the end of the hour by the broker's KIP-511 gauges, by declared software, those of other "
            "brokers among them; null = not told",
        ),
        Column(
            "requests_missed",
            LONG,
            "Requests that the broker counted while all were watched and its registry does not have; null = not compared",
        ),
    ),
    key=("cluster_id", "dt", "broker_id", "hour"),
)
