"""Verdicts on the clients of an upgrade question, as rows of upgrade_verdicts and upgrade_findings.

Clients whose evidence is alike in what the engine looks at have the same verdict: what differs (how often, when, on
which brokers, in which raw records) stays in Spark, and Python workers judge each distinct evidence once. A hundred
thousand clients have some thousand distinct evidences.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import islice
from typing import Any, NamedTuple

import pyarrow as pa
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.pandas.functions import arrow_udf
from pyspark.sql.pandas.types import to_arrow_type
from pyspark.sql.types import ArrayType, DataType, StructField, StructType

from client_telemetry.compatibility import (
    ApiUse,
    ClientEvidence,
    Finding,
    fingerprints,
    judge_mixed_window,
    judge_rollback,
    knowledge,
    products,
    targets,
)
from client_telemetry.compatibility.releases import is_rollback, parse
from client_telemetry.compatibility.verdict import BREAKS
from client_telemetry.compatibility.well_observed import is_well_observed
from client_telemetry.identity import kip511
from client_telemetry.identity.applications import NO_CLIENT_ID
from client_telemetry.impact.client_evidence import keyed_by_client
from client_telemetry.impact.nearby_releases import COUNTED_AS, differing, on_nearby_targets, on_the_way
from client_telemetry.impact.question import Question
from client_telemetry.tables.clients import APPLICATION, CLIENT_KEY
from client_telemetry.tables.table import BOOLEAN, INTS, STRING, Table, struct
from client_telemetry.tables.upgrade_findings import UPGRADE_FINDINGS
from client_telemetry.tables.upgrade_verdicts import UPGRADE_VERDICTS, VERDICTS

MAX_RECORDS = 16
MOST_IN_MEMORY = 10_000
"""Verdicts of about 10 kB each."""
# PySpark's overloads do not know a function of arrays that is given with its type.
_arrow_udf: Callable[[Callable[..., Any], DataType], Callable[..., Column]] = arrow_udf  # type: ignore[assignment]
_OF_THE_PROFILE = ("owner", "owner_contact", *(column.name for column in APPLICATION))
_OF_THE_CLIENT = (
    *_OF_THE_PROFILE,
    "connections",
    "requests",
    "broker_ids",
    "first_seen_at",
    "last_seen_at",
    "well_observed",
)
_OF_THE_QUESTION = ("cluster_id", "report_id", *CLIENT_KEY, "program")
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
        StructField("targets", ArrayType(struct(to_release=STRING, counted_as=STRING, works_again=BOOLEAN))),
        StructField("findings", ArrayType(_FINDING)),
    ]
)


class JudgedClients(NamedTuple):
    clients: DataFrame
    """Rows of `evidence`, with `alike`: a text that clients of one verdict share."""
    verdicts: DataFrame
    """One row for each distinct `alike`, with `judged`: the columns of upgrade_verdicts that follow from the evidence,
    `targets` (release and how the client is counted there) and `findings`."""
    few: bool
    """Whether the verdicts fit into every worker's memory."""
    counts: DataFrame
    """For each distinct `alike` its number of `clients`, with `judged`."""

    def rows(self) -> DataFrame:
        """One row for each client, with `judged`."""
        return self.with_verdicts(self.clients)

    def with_verdicts(self, clients: DataFrame) -> DataFrame:
        """`clients` (columns of self.clients, perhaps others too) with `judged`."""
        verdicts = F.broadcast(self.verdicts) if self.few else self.verdicts
        return clients.join(verdicts, "alike").drop("alike")

    def forget(self) -> None:
        self.clients.unpersist()
        self.counts.unpersist()

    def already_failing(self) -> int:
        failing = self.counts.where("judged.already_failing").agg(F.sum("clients").alias("clients"))
        return failing.toArrow().to_pylist()[0]["clients"] or 0


def judged(
    clients: DataFrame,
    asked: Question,
    mechanisms: Mapping[str, tuple[str, ...]],
    scram_users: frozenset[str] | None = None,
) -> JudgedClients:
    """The verdicts on `clients` (rows of `evidence`), kept by Spark until they are forgotten.

    `mechanisms`: listener to the SASL mechanisms that it offers. `scram_users`: principals with SCRAM credentials; None =
    not known.
    """
    from_release, to_release, own = asked.from_release, asked.to_release, knowledge.in_use()

    def verdicts(texts: pa.Array) -> pa.Array:
        if knowledge.use(own):
            _judged.cache_clear()
        rows = [_judged(text, from_release, to_release) for text in texts.to_pylist()]
        return pa.array(rows, to_arrow_type(_JUDGED, timestamp_utc=True))

    # Looked at twice: by what others of one name declared, and for what decides. `alike` then has it all.
    clients = clients.persist()
    decides = F.to_json(_what_decides(mechanisms, scram_users), {"ignoreNullFields": "false"})
    with_others = clients.join(F.broadcast(_declared(clients)), ["principal", "client_id"], "left")
    alike = with_others.withColumn("alike", decides).drop("declared").persist()
    # A part for each worker and none more: each starts with an empty memory of what it knows of libraries and releases.
    distinct = alike.groupBy("alike").agg(F.count("*").alias("clients"))
    counted = distinct.repartition(_workers(alike.sparkSession), "alike")
    counts = counted.withColumn("judged", _arrow_udf(verdicts, _JUDGED)("alike")).persist()
    few = counts.count() <= MOST_IN_MEMORY
    clients.unpersist()
    return JudgedClients(alike, counts.drop("clients"), few, counts)


def _workers(session: SparkSession) -> int:
    """Spark's default parallelism; a Connect session has no SparkContext to ask."""
    parts = session.range(10_000).select(F.spark_partition_id().alias("part"))
    return parts.distinct().count()


def upgrade_verdicts(
    judged_clients: JudgedClients,
    asked: Question,
    report_id: str,
    profiled: DataFrame,
    of_programs: DataFrame | None = None,
) -> DataFrame:
    """Rows of upgrade_verdicts. `profiled`: rows of `clients` of the days, whose latest has the owner and the
    application. `of_programs`: the applications of some clients and programs, as `applications_of_programs` gives them."""
    profiles = (
        keyed_by_client(profiled)
        .groupBy("client_hash", "client")
        .agg(F.max_by(F.struct(*_OF_THE_PROFILE), "dt").alias("profile"))
    )
    requests = F.aggregate(
        F.coalesce("uses", F.array()), F.lit(0).cast("long"), lambda total, use: total + use.requests
    )
    client_id = F.coalesce("client_id", F.lit(NO_CLIENT_ID))
    owned = keyed_by_client(judged_clients.clients).join(profiles, ["client_hash", "client"], "left")
    if of_programs is not None:
        owned = _regrouped(owned, of_programs)
    return _of(
        UPGRADE_VERDICTS,
        judged_clients.with_verdicts(owned)
        .select(
            *_question(asked, report_id), "*", "judged.*", *(f"profile.{name}" for name in _OF_THE_PROFILE)
        )
        .withColumns(
            {
                "requests": requests,
                "well_observed": _well_observed(_watched(judged_clients.clients)),
                # A client that no profile has, as by a run that was stopped in between, is an application of its own.
                "application": F.coalesce("profile.application", client_id),
                "application_kind": F.coalesce("profile.application_kind", F.lit("application")),
                "application_notes": F.coalesce("profile.application_notes", F.array().cast("array<string>")),
                "program": _null_if_one(),
            }
        ),
    )


def _watched(clients: DataFrame) -> int:
    """The cells of time in which any client sent anything: of the others nothing is known."""
    each = F.aggregate(
        F.coalesce("uses", F.array()),
        F.lit(0).cast("long"),
        lambda cells, use: cells.bitwiseOR(F.coalesce(use.cells, F.lit(0))),
    )
    return clients.agg(F.bit_or(each).alias("watched")).toArrow().to_pylist()[0]["watched"] or 0


def _well_observed(watched: int) -> Column:
    def found(roles: pa.Array, keys: pa.Array, cells: pa.Array, cell_s: pa.Array) -> pa.Array:
        # Arrays of numbers are read whole: a dict for each use takes several times as long.
        lengths = keys.value_lengths().to_pylist()
        uses = iter(zip(keys.flatten().to_pylist(), cells.flatten().to_pylist(), strict=True))
        activities = (tuple(islice(uses, length)) for length in lengths)
        rows = zip(roles.to_pylist(), activities, cell_s.to_pylist(), strict=True)
        return pa.array([_is_well_observed(*row, watched) for row in rows], pa.bool_())

    uses = F.coalesce("uses", F.array())
    return _arrow_udf(found, BOOLEAN)(
        "roles",
        F.transform(uses, lambda use: use.api_key),
        F.transform(uses, lambda use: F.coalesce(use.cells, F.lit(0))),
        "cell_s",
    )


def _is_well_observed(
    roles: Sequence[str], uses: Iterable[tuple[int, int]], cell_s: float | None, watched: int
) -> bool:
    activity: dict[int, int] = {}
    for api_key, cells in uses:
        activity[api_key] = activity.get(api_key, 0) | cells
    return cell_s is not None and is_well_observed(roles, activity, watched, cell_s)


def _regrouped(owned: DataFrame, of_programs: DataFrame) -> DataFrame:
    """`owned` with the applications of `of_programs` in `profile`, where there are some."""
    names = [column.name for column in APPLICATION]
    theirs = of_programs.select("client_hash", "program", F.struct(*names).alias("application_of_program"))
    application = F.coalesce(
        "application_of_program", F.struct(*(F.col(f"profile.{name}").alias(name) for name in names))
    )
    return owned.join(theirs, ["client_hash", "program"], "left").withColumn(
        "profile",
        F.struct(
            "profile.owner",
            "profile.owner_contact",
            *(application.getField(name).alias(name) for name in names),
        ),
    )


def _null_if_one() -> Column:
    return F.nullif("program", F.lit("")).alias("program")


def _named_uses() -> Column:
    """The client's uses of the versions that a finding names: of most findings one, of many none."""
    named = F.filter(
        "uses",
        lambda use: (
            (use.api_key == F.col("values.api_key")) & F.array_contains("values.seen_versions", use.version)
        ),
    )
    return F.coalesce(F.when(F.size("values.seen_versions") > 0, named), F.array())


def upgrade_findings(judged_clients: JudgedClients, asked: Question, report_id: str) -> DataFrame:
    """Rows of upgrade_findings. How often, when and where is the client's own, of the versions that a finding names."""
    each = judged_clients.rows().select(
        *CLIENT_KEY, "program", "uses", F.posexplode("judged.findings").alias("finding", "values")
    )
    found = (
        each.select(
            *_question(asked, report_id),
            *CLIENT_KEY,
            _null_if_one(),
            "finding",
            *(F.col(f"values.{f.name}") for f in _FINDING.fields),
            _named_uses().alias("named"),
        )
        .withColumn("answered", F.filter("named", lambda use: use.requests > 0))
        .withColumn(
            # A version that the brokers of now refuse already has no answered request: then those that it refused count.
            "seen",
            F.when(F.size("answered") > 0, F.col("answered")).otherwise(
                F.filter("named", lambda use: use.rejected > 0)
            ),
        )
    )
    total = F.aggregate(
        "seen",
        F.lit(0).cast("long"),
        lambda total, use: total + F.when(F.size("answered") > 0, use.requests).otherwise(use.rejected),
    )
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


def compared_targets(judged_clients: JudgedClients, asked: Question) -> list[dict[str, Any]]:
    """upgrade_reports.targets: clients per release and how they are counted there, oldest release first."""
    compared = (asked.to_release, *targets.nearby(asked.from_release, asked.to_release))
    counts = {release: dict.fromkeys((*COUNTED_AS, "works_again"), 0) for release in compared}
    each = judged_clients.counts.select("clients", F.inline("judged.targets"))
    for row in (
        each.groupBy("to_release", "counted_as")
        .agg(
            F.sum("clients").alias("clients"),
            F.sum(F.when(F.col("works_again"), F.col("clients")).otherwise(0)).alias("works_again"),
        )
        .collect()
    ):
        counts[row.to_release][row.counted_as] = row.clients
        counts[row.to_release]["works_again"] += row.works_again
    return [{"to_release": release} | counts[release] for release in sorted(counts, key=parse)]


def verdict_counts(targets_: Sequence[Mapping[str, Any]], release: str) -> dict[str, int]:
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
    software = F.struct("client_software_name", "client_software_version")
    tells = F.expr(kip511.is_declared("client_software_name"))
    return (
        clients.where((F.col("client_id") != "") & (F.col("principal") != ""))
        .groupBy("principal", "client_id")
        .agg(F.collect_set(F.when(tells, software)).alias("declared"), F.count("*").alias("clients"))
        .where((F.col("clients") > 1) & (F.size("declared") > 0))
        .drop("clients")
    )


def _what_decides(mechanisms: Mapping[str, tuple[str, ...]], scram_users: frozenset[str] | None) -> Column:
    """The part of a client's evidence that a verdict depends on. Not when; how often only by its power of ten; nor a
    client id that is no default of a library, of which only the product counts."""
    protocols = F.array_distinct(F.transform("listeners", lambda listener: listener.security_protocol))
    listeners = F.array_distinct(F.transform("listeners", lambda listener: listener.listener_name))
    own = F.struct("client_software_name", "client_software_version")
    others = F.filter(F.coalesce("declared", F.array()), lambda software: software != own)
    return F.struct(
        "client_software_name",
        "client_software_version",
        _arrow_udf(_default_client_ids(), STRING)("client_id").alias("client_id"),
        _arrow_udf(_products(), STRING)("client_id").alias("product"),
        F.transform(
            F.coalesce("uses", F.array()),
            lambda use: F.array(
                use.api_key, use.version, _power_of_ten(use.requests), _power_of_ten(use.rejected)
            ),
        ).alias("api_uses"),
        _only(F.coalesce("sasl_mechanisms", F.array())).alias("sasl_mechanism"),
        F.when(
            F.exists(protocols, lambda protocol: protocol.startswith("SASL")),
            _offered(listeners, mechanisms),
        ).alias("offered_sasl_mechanisms"),
        _has_scram(scram_users).alias("principal_has_scram"),
        # Several protocols under one client: which of them a connection used decides nothing here.
        _only(protocols).alias("security_protocol"),
        F.array_sort(
            F.transform(others, lambda s: F.array(s.client_software_name, s.client_software_version))
        ).alias("also_declared"),
        "uses_elsewhere",
    )


def _power_of_ten(count: Column) -> Column:
    """The largest power of ten up to a count; 0 for 0."""
    return F.when(count > 0, F.pow(F.lit(10), F.floor(F.log10(count)))).otherwise(0).cast("long")


def _offered(listeners: Column, mechanisms: Mapping[str, tuple[str, ...]]) -> Column:
    """The mechanisms that the listeners offer, sorted; null where those of one are not known."""
    known = [
        column
        for name, offered in sorted(mechanisms.items())
        if offered
        for column in (F.lit(name), F.array(*map(F.lit, offered)))
    ]
    if not known:
        return F.lit(None).cast("array<string>")
    by_listener = F.create_map(*known)
    each = F.transform(listeners, lambda name: F.try_element_at(by_listener, name))
    return F.when(
        ~F.exists(each, lambda offered: offered.isNull()), F.array_sort(F.array_distinct(F.flatten(each)))
    )


def _has_scram(scram_users: frozenset[str] | None) -> Column:
    if scram_users is None:
        return F.lit(None).cast("boolean")
    return F.col("principal").isin(*sorted(scram_users)) if scram_users else F.lit(False)


def _only(values: Column) -> Column:
    """The value of an array of one."""
    return F.when(F.size(values) == 1, F.get(values, 0))


def _default_client_ids() -> Callable[[pa.Array], pa.Array]:
    """The client ids that are defaults of a library; null for all others."""
    own = knowledge.in_use()

    def defaults(client_ids: pa.Array) -> pa.Array:
        knowledge.use(own)
        named = [text if fingerprints.by_client_id(text)[0] else None for text in client_ids.to_pylist()]
        return pa.array(named, pa.string())

    return defaults


def _products() -> Callable[[pa.Array], pa.Array]:
    """The products whose own client ids these are; null for all others."""
    own = knowledge.in_use()

    def names(client_ids: pa.Array) -> pa.Array:
        knowledge.use(own)
        found = [products.by_client_id(text) for text in client_ids.to_pylist()]
        return pa.array([each and each.name for each in found], pa.string())

    return names


@lru_cache(maxsize=50_000)
def _judged(text: str, from_release: str, to_release: str) -> dict[str, Any]:
    """A row of _JUDGED for the JSON of `_what_decides`."""
    values = json.loads(text)
    known = ClientEvidence(
        client_software_name=values["client_software_name"],
        client_software_version=values["client_software_version"],
        client_id=values["client_id"],
        product=values["product"],
        api_uses=tuple(ApiUse(*use) for use in values["api_uses"]),
        sasl_mechanism=values["sasl_mechanism"] or _only_one(values["offered_sasl_mechanisms"]),
        offered_sasl_mechanisms=_tuple(values["offered_sasl_mechanisms"]),
        principal_has_scram=values["principal_has_scram"],
        security_protocol=values["security_protocol"],
        also_declared=tuple(tuple(each) for each in values["also_declared"]),
        uses_elsewhere=tuple(
            (use["release"], ApiUse(use["api_key"], use["version"]))
            for use in values.get("uses_elsewhere") or ()
        ),
    )
    releases = (from_release, to_release)
    verdict = on_the_way(known, *releases)
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
        "condition": verdict.condition or None,
        "already_failing": verdict.already_failing,
        "works_again": verdict.works_again,
        "as_before": verdict.as_before,
        "steps": [
            {"step": step, "verdict": then.verdict, "when": then.when, "explanation": then.explanation}
            for step, then in verdict.steps.items()
        ],
        "rollback_verdict": back.verdict if back else None,
        "rollback_explanation": back.explanation if back else None,
        "mixed_verdict": mixed.verdict,
        "mixed_explanation": mixed.explanation,
        "other_targets": differing(there, to_release),
        "targets": [
            {"to_release": release, "counted_as": each.counted_as, "works_again": each.works_again}
            for release, each in there.items()
        ],
        "findings": [_finding(finding) for finding in verdict.findings],
    }


def _tuple(values: list[str] | None) -> tuple[str, ...] | None:
    return None if values is None else tuple(values)


def _only_one(values: list[str] | None) -> str | None:
    return values[0] if values and len(values) == 1 else None


def _finding(finding: Finding) -> dict[str, Any]:
    return {
        "rule_id": finding.rule_id,
        "verdict": finding.verdict,
        "confidence": finding.confidence,
        "when": finding.when,
        "trigger": finding.trigger or None,
        "condition": finding.condition or None,
        "condition_met": finding.condition_met,
        "settled_by": finding.settled_by or None,
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
