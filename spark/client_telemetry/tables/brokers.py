"""Broker incarnations: which release ran when (KIP-885)."""

from client_telemetry.tables import rows
from client_telemetry.tables.suite import WARNING, rows_satisfy
from client_telemetry.tables.table import (
    BROKER_ID,
    BROKER_INCARNATION,
    CLUSTER_ID,
    DT,
    INT,
    LONG,
    STRING,
    STRINGS,
    TIMESTAMP,
    ArrayType,
    Column,
    MapType,
    Table,
    struct,
)

BROKERS: "Table[rows.BrokerRow]" = Table(
    name="brokers",
    comment="One row per broker incarnation and day: release, features, listeners, metric subscriptions.",
    columns=(
        CLUSTER_ID,
        DT,
        BROKER_ID,
        BROKER_INCARNATION,
        Column("software_name", STRING, "As reported in the broker's manifest; null = not reported"),
        Column(
            "software_version",
            STRING,
            "Exact release as reported in the broker's manifest; null = not reported",
        ),
        Column(
            "releases",
            STRINGS,
            "Possible releases of Apache Kafka, oldest first: the reported one, or the one that a "
            "vendor's build is based on (3.9.0.redhat-00001); for a Confluent Platform version, the patches of its line; otherwise "
            "all known releases with the same ApiVersions response that support the finalized features. Empty for other software "
            "and if no release fits. Patches newer than the known ones may respond alike, so a guess of one release is not proof",
        ),
        Column(
            "releases_known_by",
            STRING,
            "declared, confluent_platform, vendor_build, guessed; if releases is empty, none_explains (its ApiVersions response is "
            "known and no known release sends it: other software, a proxy, a newer release) or null",
        ),
        Column("started_at", TIMESTAMP, "Start of the broker process, as reported"),
        Column(
            "last_evidence_at",
            TIMESTAMP,
            "Latest time at which it certainly ran: that of a record, or of an update of its manifest; null = none",
        ),
        Column(
            "api_versions",
            ArrayType(struct(api_key=INT, min_version=INT, max_version=INT)),
            "What the broker advertises in ApiVersions (not always what it accepts); null = not reported",
        ),
        Column("finalized_features", MapType(STRING, INT), "Finalized feature levels; null = not reported"),
        Column(
            "feature_levels",
            ArrayType(struct(at=TIMESTAMP, levels=MapType(STRING, INT))),
            "The finalized levels and their changes within the day, in order: in force at `at`, the time that the writer reports "
            "for the change; if it reports none, the last moment of the first hour with these levels (an hour's manifest has "
            "the levels at the end of the hour), so they may have been raised up to an hour earlier; null = not reported",
        ),
        Column(
            "listeners",
            ArrayType(struct(name=STRING, security_protocol=STRING, sasl_mechanisms=STRINGS)),
            "Listeners with their SASL mechanisms; null = not reported",
        ),
        Column(
            "subscriptions",
            ArrayType(struct(name=STRING, interval_ms=INT, metrics=STRINGS, match=MapType(STRING, STRING))),
            "KIP-714 subscriptions of the last hour that reports them; null = not reported",
        ),
        Column(
            "scram_users",
            ArrayType(struct("principal", principal=STRING, mechanisms=STRINGS)),
            "Principals with SCRAM credentials, from the last hour that reports them (KRaft keeps them in the metadata log); "
            "a principal is null if the broker omits principals; null = not reported",
        ),
        Column(
            "failed_logins",
            LONG,
            "Failed logins of the day that the broker's log shows, including those of which no event was kept; null = not reported",
        ),
        Column(
            "settings",
            MapType(STRING, STRING),
            "Settings that the broker printed at its start, of those that decide something about an upgrade; `[set]` stands for "
            "secrets and addresses, `null` for a setting that is not set. Settings of one listener are not among them; null = not reported",
        ),
    ),
    key=("cluster_id", "dt", "broker_id", "broker_incarnation"),
    expectations=lambda: {
        "incarnation_is_hex": rows_satisfy(
            "broker_incarnation rlike '^[0-9a-f]{{32}}$'", "incarnation is 32 hex digits"
        ),
        "release_is_declared": rows_satisfy(
            "software_version is not null and software_version <> ''",
            "the broker reports its release; an upgrade question cannot use brokers that do not",
            severity=WARNING,
        ),
        "releases_have_a_reason": rows_satisfy(
            "if(coalesce(size(releases), 0) = 0, coalesce(releases_known_by = 'none_explains', true), "
            "coalesce(releases_known_by in ('declared', 'confluent_platform', 'vendor_build', 'guessed'), false))",
            "possible releases of a broker are given together with how they are known",
        ),
        "evidence_follows_the_start": rows_satisfy(
            "last_evidence_at is null or started_at is null or last_evidence_at >= started_at - interval 5 minutes",
            "no evidence is older than the start of the broker; otherwise its clock or its manifest is wrong",
            severity=WARNING,
        ),
    },
)
