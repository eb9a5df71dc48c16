"""Broker incarnations: which release ran when (KIP-885)."""

from client_telemetry.tables.table import (
    BROKER_ID,
    BROKER_INCARNATION,
    CLUSTER_ID,
    DT,
    INT,
    STRING,
    STRINGS,
    TIMESTAMP,
    ArrayType,
    Column,
    MapType,
    Table,
    struct,
)

BROKERS = Table(
    name="brokers",
    comment="One row per broker incarnation and day: release, features, listeners, metric subscriptions.",
    columns=(
        CLUSTER_ID,
        DT,
        BROKER_ID,
        BROKER_INCARNATION,
        Column("software_name", STRING, "As the broker declares it in its manifest; null = not declared"),
        Column("software_version", STRING, "As the broker declares it, exact release; null = not declared"),
        Column(
            "releases",
            STRINGS,
            "Releases of Apache Kafka that it can be, oldest first: the declared one, or the one that a "
            "vendor's build adds to (3.9.0.redhat-00001); of a Confluent Platform version the patches of its line; otherwise all known ones whose ApiVersions answer is this one and that support the "
            "finalized features. Empty for other software and where no release explains it. Newer patches than the "
            "known ones may answer alike, so a guess of one release is no proof",
        ),
        Column(
            "releases_known_by",
            STRING,
            "declared, confluent_platform, vendor_build, guessed; where releases is empty none_explains (what it offers is "
            "known, and no known release offers it: other software, a proxy, a newer release) or null",
        ),
        Column("started_at", TIMESTAMP, "Start of the broker process, as it declares it"),
        Column(
            "last_evidence_at",
            TIMESTAMP,
            "Latest moment at which it ran for sure: of a record, or at which it noted its manifest; null = none",
        ),
        Column(
            "api_versions",
            ArrayType(struct(api_key=INT, min_version=INT, max_version=INT)),
            "What the broker advertises in ApiVersions (not always what it serves); null = not reported",
        ),
        Column("finalized_features", MapType(STRING, INT), "Finalized feature levels; null = not reported"),
        Column(
            "feature_levels",
            ArrayType(struct(at=TIMESTAMP, levels=MapType(STRING, INT))),
            "The finalized levels as they changed within the day, in order: in force at `at`, the time that the writer reports "
            "for the change; where it reports none, the last moment of the first hour with them (an hour's manifest has "
            "the levels at its end), so that they may have been raised up to an hour before; null = not reported",
        ),
        Column(
            "listeners",
            ArrayType(struct(name=STRING, security_protocol=STRING, sasl_mechanisms=STRINGS)),
            "Listeners with their SASL mechanisms; null = not reported",
        ),
        Column(
            "subscriptions",
            ArrayType(struct(name=STRING, interval_ms=INT, metrics=STRINGS, match=MapType(STRING, STRING))),
            "KIP-714 subscriptions of the last hour that tells; null = not reported",
        ),
        Column(
            "scram_users",
            ArrayType(struct(principal=STRING, mechanisms=STRINGS)),
            "Principals with SCRAM credentials of the last hour that reports them (KRaft keeps them in the metadata log); "
            "a principal is null where the broker omits principals; null = not reported",
        ),
    ),
    key=("cluster_id", "dt", "broker_id", "broker_incarnation"),
)
