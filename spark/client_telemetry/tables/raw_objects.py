"""The ledger: every object that arrived, what is in it and what became of it."""

from client_telemetry.tables.table import (
    CLUSTER_ID,
    DT,
    INT,
    LONG,
    PROCESSING_TIME,
    STRING,
    STRINGS,
    TIMESTAMP,
    Column,
    Table,
)

STATUSES = {
    "new": "arrived, not yet decoded, or changed since it was decoded",
    "decoded": "read to its end",
    "torn": "ends in the middle of a record; all whole records before the tail are in the tables",
    "damaged": "unreadable from some byte on; all whole records before it are in the tables",
    "unreadable": "nothing in it could be read",
    "empty": "holds no byte, or no record",
    "too_late": "arrived when its day was no longer looked at, and was not read: `error` says how to",
}

RAW_OBJECTS = Table(
    name="raw_objects",
    comment="One row per raw object: the ledger of what arrived and what became of it.",
    columns=(
        CLUSTER_ID,
        DT,
        Column("object_key", STRING, "Key relative to the raw location", nullable=False),
        Column("dataset", STRING, "client_pushes, connections or manifests", nullable=False),
        Column("hour", INT, "Hour of the day, UTC, from the key", nullable=False),
        Column("broker_id", INT, "Kafka's node id, from the key", nullable=False),
        Column(
            "broker_incarnation",
            STRING,
            "From the object's name; null = the name does not follow the contract",
        ),
        Column("first_sequence", LONG, "From the object's name; null as above"),
        Column("last_sequence", LONG, "From the object's name; null as above"),
        Column("bytes", LONG, "Size of the object", nullable=False),
        Column("modified_at", TIMESTAMP, f"{PROCESSING_TIME}when the object store last changed the object"),
        Column("sha256", STRING, "Digest that the manifest states, hex; null = no manifest lists the object"),
        Column("status", STRING, "; ".join(f"`{k}`: {v}" for k, v in STATUSES.items()), nullable=False),
        Column("error", STRING, "Why the status is not `decoded`, and what to do"),
        Column("records", LONG, "Records found: rows + duplicates + undecodable; null = not decoded yet"),
        Column("rows", LONG, "Records that became a row"),
        Column("duplicates", LONG, "Records that another object, or an earlier place in this one, holds too"),
        Column("undecodable", LONG, "Records (or tails) in undecodable_records"),
        Column("points", LONG, "Data points of the rows, number points and histograms together"),
        Column("flags", STRINGS, "Sorted; see the vocabulary", nullable=False),
        Column("collected_at", TIMESTAMP, f"{PROCESSING_TIME}when the object was first listed"),
    ),
    key=("object_key",),
    flags={
        "no_manifest": "no manifest of the object's broker incarnation and hour exists or can be read",
        "not_in_manifest": "the manifest of its incarnation and hour does not list the object",
        "digest_mismatch": "the bytes have another SHA-256 than the manifest states",
        "size_mismatch": "the object has another size than the manifest states",
        "record_count_mismatch": "the object holds another number of records than the manifest states",
        "name_not_by_contract": "the object's name is not <incarnation>-<first>-<last>",
        "other_day": "some record was received on another day than the key says",
    },
)
