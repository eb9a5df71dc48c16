"""Verdicts on the clients of an upgrade question, as rows of upgrade_verdicts and upgrade_findings.

Clients whose evidence is alike in what the engine looks at have the same verdict: what differs (how often, when, on
which brokers, in which raw records) stays in Spark, and Python workers judge each distinct evidence once. A hundred
thousand clients have some thousand distinct evidences.
"""

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.pandas.types import to_arrow_type
from pyspark.sql.types import ArrayType, StructField, StructType

from client_telemetry.client_evidence import keyed_by_client
from client_telemetry.compatibility import (
    ApiUse,
    ClientEvidence,
    Finding,
    fingerprints,
    judge,
    judge_mixed_window,
    judge_rollback,
    targets,
)
from client_telemetry.compatibility.evidence import UNKNOWN
from client_telemetry.compatibility.releases import is_rollback, parse
from client_telemetry.compatibility.verdict import BREAKS
from client_telemetry.impact import Question
from client_telemetry.nearby_targets import COUNTED_AS, differing, on_nearby_targets
from client_telemetry.tables.clients import CLIENT_KEY
from client_telemetry.tables.table import INTS, STRING, Table, struct
from client_telemetry.tables.upgrade_findings import UPGRADE_FINDINGS
from client_telemetry.tables.upgrade_verdicts import UPGRADE_VERDICTS, VERDICTS

MAX_RECORDS = 16
_OF_THE_CLIENT = (
    "owner",
    "owner_contact",
    "connections",
    "requests",
    "broker_ids",
    "first_seen_at",
    "last_seen_at",
)
_OF_THE_QUESTION = ("cluster_id", "report_id", *CLIENT_KEY)
_OF_THE_USES = (
    "requests",
    "first_seen_at",
    "last_seen_at",
    "broker_ids",
    "source_objects",
    "source_sequences",
)


def _kinds(table: Table, without: tuple[str, ...]) -> list[StructField]:
    return [StructField(c.name, c.kind) for c in table.columns if c.name not in without]


_FINDING = StructType(
    [
        *_kinds(UPGRADE_FINDINGS, (*_OF_THE_QUESTION, *_OF_THE_USES, "finding")),
        StructField("seen_versions", INTS),
    ]
)
_JUDGED = StructType(
    [
        *_kinds(UPGRADE_VERDICTS, (*_OF_THE_QUESTION, *_OF_THE_CLIENT)),
        StructField("targets", ArrayType(struct(to_release=STRING, counted_as=STRING))),
        StructField("findings", ArrayType(_FINDING)),
    ]
)


def judged(clients: DataFrame, asked: Question, mechanisms: Mapping[str, str | None]) -> DataFrame:
    """`clients` (rows of `evidence`) with `judged`: the columns of upgrade_verdicts that follow from the evidence,
    `targets` (release and how the client is counted there) and `findings`.

    `mechanisms`: listener to its only SASL mechanism.
    """
    from_release, to_release = asked.from_release, asked.to_release

    def verdicts(texts: pa.Array) -> pa.Array:
        distinct = texts.dictionary_encode()
        rows = [_judged(text, from_release, to_release) for text in distinct.dictionary.to_pylist()]
        return pa.array(rows, to_arrow_type(_JUDGED, timestamp_utc=True)).take(distinct.indices)

    decides = F.to_json(_what_decides(mechanisms), {"ignoreNullFields": "false"})
    with_others = clients.join(F.broadcast(_declared(clients)), ["principal", "client_id"], "left")
    return with_others.withColumn("judged", F.arrow_udf(verdicts, _JUDGED)(decides)).drop("declared")


def upgrade_verdicts(
    judged_clients: DataFrame, asked: Question, report_id: str, profiled: DataFrame
) -> DataFrame:
    """Rows of upgrade_verdicts. `profiled`: rows of `clients` of the days, whose latest tells the owner."""
    owners = (
        keyed_by_client(profiled)
        .groupBy("client_hash", "client")
        .agg(F.max(F.struct("dt", "owner", "owner_contact")).alias("owned"))
    )
    requests = F.aggregate(
        F.coalesce("uses", F.array()), F.lit(0).cast("long"), lambda total, use: total + use.requests
    )
    rows = keyed_by_client(judged_clients).join(owners, ["client_hash", "client"], "left")
    return _of(
        UPGRADE_VERDICTS,
        rows.select(
            *_question(asked, report_id), "*", "judged.*", "owned.owner", "owned.owner_contact"
        ).withColumn("requests", requests),
    )


def upgrade_findings(judged_clients: DataFrame, asked: Question, report_id: str) -> DataFrame:
    """Rows of upgrade_findings. How often, when and where is the client's own, of the versions that a finding names."""
    each = judged_clients.select(
        *CLIENT_KEY, "uses", F.posexplode("judged.findings").alias("finding", "told")
    )
    found = each.select(
        *_question(asked, report_id),
        *CLIENT_KEY,
        "finding",
        *(F.col(f"told.{f.name}") for f in _FINDING.fields),
        F.filter(
            F.coalesce("uses", F.array()),
            lambda use: (
                (use.api_key == F.col("told.api_key"))
                & F.array_contains("told.seen_versions", use.version)
                & (use.requests > 0)
            ),
        ).alias("seen"),
    )
    total = F.aggregate("seen", F.lit(0).cast("long"), lambda total, use: total + use.requests)
    records = F.filter(
        F.transform("seen", lambda use: F.struct(use.source_object, use.source_sequence)),
        lambda record: record.source_object.isNotNull(),
    )
    return _of(
        UPGRADE_FINDINGS,
        found.withColumns(
            {
                "requests": F.when(F.size("seen") > 0, total),
                "first_seen_at": F.array_min(F.transform("seen", lambda use: use.first_request_at)),
                "last_seen_at": F.array_max(F.transform("seen", lambda use: use.last_request_at)),
                "broker_ids": F.array_sort(
                    F.array_distinct(F.flatten(F.transform("seen", lambda use: use.broker_ids)))
                ),
                "records": F.slice(F.array_sort(F.array_distinct(records)), 1, MAX_RECORDS),
            }
        ).withColumns(
            {
                "source_objects": F.col("records.source_object"),
                "source_sequences": F.col("records.source_sequence"),
            }
        ),
    )


def compared_targets(judged_clients: DataFrame, asked: Question) -> list[dict]:
    """upgrade_reports.targets: clients per release and how they are counted there, oldest release first."""
    counts: dict[str, dict[str, int]] = {}
    each = judged_clients.select(F.inline("judged.targets")).groupBy("to_release", "counted_as").count()
    for row in each.collect():
        counts.setdefault(row.to_release, dict.fromkeys(COUNTED_AS, 0))[row.counted_as] = row["count"]
    for release in (asked.to_release, *targets.nearby(asked.from_release, asked.to_release)):
        counts.setdefault(release, dict.fromkeys(COUNTED_AS, 0))
    return [{"to_release": release} | counts[release] for release in sorted(counts, key=parse)]


def verdict_counts(targets_: Sequence[Mapping], release: str) -> dict[str, int]:
    """Clients per verdict on one of the compared releases."""
    counts = next(row for row in targets_ if row["to_release"] == release)
    breaks = counts["breaks_at_once"] + counts["breaks_latent"]
    return {verdict: breaks if verdict == BREAKS else counts[verdict] for verdict in VERDICTS}


def _of(table: Table, rows: DataFrame) -> DataFrame:
    return rows.select(*(F.col(column.name).cast(column.kind) for column in table.columns))


def _question(asked: Question, report_id: str) -> tuple[Column, Column]:
    return F.lit(asked.cluster_id).alias("cluster_id"), F.lit(report_id).alias("report_id")


def _declared(clients: DataFrame) -> DataFrame:
    """Software that several clients with one principal and client id declared: some libraries name only a part of
    their connections. Without a principal or client id connections have nothing in common."""
    name = F.col("client_software_name")
    software = F.struct("client_software_name", "client_software_version")
    tells = (F.coalesce(name, F.lit("")) != "") & (name != UNKNOWN)
    return (
        clients.where((F.col("client_id") != "") & (F.col("principal") != ""))
        .groupBy("principal", "client_id")
        .agg(F.collect_set(F.when(tells, software)).alias("declared"), F.count("*").alias("clients"))
        .where((F.col("clients") > 1) & (F.size("declared") > 0))
        .drop("clients")
    )


def _what_decides(mechanisms: Mapping[str, str | None]) -> Column:
    """The part of a client's evidence that a verdict depends on. Not how often and when; nor a client id that is no
    default of a library."""
    answered = F.filter(F.coalesce("uses", F.array()), lambda use: use.requests > 0)
    protocols = F.array_distinct(F.transform("listeners", lambda listener: listener.security_protocol))
    listeners = F.array_distinct(F.transform("listeners", lambda listener: listener.listener_name))
    own = F.struct("client_software_name", "client_software_version")
    others = F.filter(F.coalesce("declared", F.array()), lambda software: software != own)
    return F.struct(
        "client_software_name",
        "client_software_version",
        F.arrow_udf(_default_client_ids, STRING)("client_id").alias("client_id"),
        F.transform(answered, lambda use: F.array(use.api_key, use.version)).alias("api_uses"),
        _only(_mechanisms_of(listeners, mechanisms)).alias("sasl_mechanism"),
        # Several protocols or mechanisms under one client: which of them a connection used decides nothing here.
        _only(protocols).alias("security_protocol"),
        F.array_sort(
            F.transform(others, lambda s: F.array(s.client_software_name, s.client_software_version))
        ).alias("also_declared"),
    )


def _mechanisms_of(listeners: Column, mechanisms: Mapping[str, str | None]) -> Column:
    known = [F.lit(text) for each in sorted(mechanisms.items()) if each[1] for text in each]
    if not known:
        return F.array().cast("array<string>")
    by_listener = F.create_map(*known)
    return F.array_distinct(F.transform(listeners, lambda name: F.try_element_at(by_listener, name)))


def _only(values: Column) -> Column:
    """The value of an array of one."""
    return F.when(F.size(values) == 1, F.get(values, 0))


def _default_client_ids(client_ids: pa.Array) -> pa.Array:
    """The client ids that are defaults of a library; null for all others."""
    named = [text if fingerprints.by_client_id(text)[0] else None for text in client_ids.to_pylist()]
    return pa.array(named, pa.string())


@lru_cache(maxsize=50_000)
def _judged(text: str, from_release: str, to_release: str) -> dict:
    """A row of _JUDGED for the JSON of `_what_decides`."""
    told = json.loads(text)
    known = ClientEvidence(
        client_software_name=told["client_software_name"],
        client_software_version=told["client_software_version"],
        client_id=told["client_id"],
        api_uses=tuple(ApiUse(key, version) for key, version in told["api_uses"]),
        sasl_mechanism=told["sasl_mechanism"],
        security_protocol=told["security_protocol"],
        also_declared=tuple(tuple(each) for each in told["also_declared"]),
    )
    releases = (from_release, to_release)
    verdict = judge(known, *releases)
    there = on_nearby_targets(known, *releases, verdict)
    mixed = judge_mixed_window(*releases, verdict)
    # To an older release the verdict itself is that of the way back: there is no other.
    back = None if is_rollback(*releases) else judge_rollback(known, *releases, verdict)
    return {
        "verdict": verdict.verdict,
        "confidence": verdict.confidence,
        "when": verdict.when,
        "roles": sorted(verdict.roles),
        "explanation": verdict.explanation,
        "fix": verdict.fix or None,
        "missing": list(verdict.missing),
        "identified_as": verdict.identified_as or None,
        "rollback_verdict": back.verdict if back else None,
        "rollback_explanation": back.explanation if back else None,
        "mixed_verdict": mixed.verdict,
        "mixed_explanation": mixed.explanation,
        "other_targets": differing(there, to_release),
        "targets": [
            {"to_release": release, "counted_as": each.counted_as} for release, each in there.items()
        ],
        "findings": [_finding(finding) for finding in verdict.findings],
    }


def _finding(finding: Finding) -> dict:
    return {
        "rule_id": finding.rule_id,
        "verdict": finding.verdict,
        "confidence": finding.confidence,
        "when": finding.when,
        "trigger": finding.trigger or None,
        "condition": finding.condition or None,
        "condition_met": finding.condition_met,
        "api_key": finding.api_key,
        "api_name": finding.api_name or None,
        "versions": finding.versions or None,
        "explanation": finding.explanation,
        "fix": finding.fix or None,
        "source": finding.source,
        "seen_versions": sorted(versions_in(finding.versions)) if finding.requests else [],
    }


def versions_in(text: str) -> set[int]:
    """The versions that a finding names.

    >>> sorted(versions_in("0–2, 5"))
    [0, 1, 2, 5]
    """
    versions: set[int] = set()
    for part in filter(None, text.split(", ")):
        low, _, high = part.partition("–")
        versions.update(range(int(low), int(high or low) + 1))
    return versions
