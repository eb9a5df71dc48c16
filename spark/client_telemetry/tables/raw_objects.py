"""The ledger: every object that arrived, its content and its status."""

from client_telemetry.tables import rows
from client_telemetry.tables.suite import WARNING, aggregate_is, flags_are_known, is_one_of, rows_satisfy
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
    required,
)

STATUSES = {
    "new": "arrived and not yet decoded, or changed since it was decoded",
    "decoded": "read completely",
    "torn": "ends in the middle of a record; all complete records before that are in the tables",
    "damaged": "unreadable from some byte on; all complete records before that are in the tables",
    "unreadable": "nothing in the object could be read",
    "empty": "contains no bytes, or no records",
    "too_late": "arrived after the period in which late objects are read, and was not read: `error` says how to read it",
}

RAW_OBJECTS: "Table[rows.RawObjectRow]" = Table(
    name="raw_objects",
    comment="One row per raw object: the ledger of what arrived, with its status.",
    columns=(
        CLUSTER_ID,
        DT,
        required("object_key", STRING, "Key relative to the raw location"),
        required("dataset", STRING, "client_pushes, connections or manifests"),
        required("hour", INT, "Hour of the day, UTC, from the key"),
        required("broker_id", INT, "Kafka's node id, from the key"),
        Column(
            "broker_incarnation",
            STRING,
            "From the object's name; null = the name does not follow the contract",
        ),
        Column("first_sequence", LONG, "From the object's name; null as above"),
        Column("last_sequence", LONG, "From the object's name; null as above"),
        required("bytes", LONG, "Size of the object"),
        Column("modified_at", TIMESTAMP, f"{PROCESSING_TIME}when the object store last changed the object"),
        Column("sha256", STRING, "Digest in the manifest, hex; null = no manifest lists the object"),
        required("status", STRING, "; ".join(f"`{k}`: {v}" for k, v in STATUSES.items())),
        Column("error", STRING, "Why the status is not `decoded`, and what to do"),
        Column("records", LONG, "Records found: rows + duplicates + undecodable; null = not yet decoded"),
        Column("rows", LONG, "Records that became a row"),
        Column("duplicates", LONG, "Records that also occur in another object or earlier in this one"),
        Column("undecodable", LONG, "Records (or tails) in undecodable_records"),
        Column("points", LONG, "Data points of the rows, both number points and histograms"),
        required("flags", STRINGS, "Sorted; see the vocabulary"),
        Column("collected_at", TIMESTAMP, f"{PROCESSING_TIME}when the object was first listed"),
    ),
    key=("object_key",),
    flags={
        "no_manifest": "no manifest of the object's broker incarnation and hour exists or can be read",
        "not_in_manifest": "the manifest of its incarnation and hour does not list the object",
        "digest_mismatch": "the SHA-256 of the bytes differs from the manifest",
        "size_mismatch": "the size of the object differs from the manifest",
        "record_count_mismatch": "the number of records differs from the manifest",
        "name_not_by_contract": "the object's name is not <incarnation>-<first>-<last>",
        "other_day": "some record was received on a different day than the key says",
    },
    expectations=lambda: {
        "status_is_known": is_one_of("status", STATUSES, "status is a value of the vocabulary"),
        "records_add_up": rows_satisfy(
            "records is null or records = rows + duplicates + undecodable",
            "every record of an object is a row, a duplicate or an undecodable record",
        ),
        "name_tells_a_range": rows_satisfy(
            "first_sequence is null or first_sequence <= last_sequence",
            "the sequences in the name are a range",
        ),
        "fault_has_a_reason": rows_satisfy(
            "status in ('new', 'decoded') or error is not null",
            "an object that was not read completely has a reason",
        ),
        "flags_are_known": flags_are_known(RAW_OBJECTS),
        "objects_are_readable": aggregate_is(
            "count_if(status in ('torn', 'damaged', 'unreadable', 'empty'))",
            "no objects (including manifests) that could not be read completely: see their error, and undecodable_records",
            at_most=0,
            severity=WARNING,
        ),
        "objects_match_manifests": aggregate_is(
            "count_if(size(array_intersect(flags, array('digest_mismatch', 'size_mismatch', 'record_count_mismatch', "
            "'not_in_manifest'))) > 0)",
            "no objects that differ from their manifest: see their flags",
            at_most=0,
            severity=WARNING,
        ),
    },
)
