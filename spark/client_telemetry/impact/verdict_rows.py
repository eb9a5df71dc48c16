"""Verdicts on the clients of an upgrade question. Spark brings clients whose evidence is alike to one worker, which judges each
distinct evidence once and writes the rows (verdict_files.py). A hundred thousand clients have some thousand distinct evidences.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from client_telemetry.compatibility import knowledge, targets
from client_telemetry.compatibility.releases import parse
from client_telemetry.compatibility.verdict import BREAKS
from client_telemetry.identity import kip511
from client_telemetry.identity.applications import NO_CLIENT_ID
from client_telemetry.impact.client_evidence import keyed_by_client
from client_telemetry.impact.nearby_releases import COUNTED_AS
from client_telemetry.impact.question import Question
from client_telemetry.impact.verdict_files import OF_THE_PROFILE, READ, Report, Written, use_knowledge, write
from client_telemetry.pipeline.pieces import PIECES, batches_of, unpacked
from client_telemetry.tables.clients import APPLICATION
from client_telemetry.tables.upgrade_verdicts import VERDICTS


def to_be_judged(
    clients: DataFrame,
    profiled: DataFrame,
    mechanisms: Mapping[str, tuple[str, ...]],
    scram_users: frozenset[str] | None = None,
    of_programs: DataFrame | None = None,
) -> DataFrame:
    """`clients` (rows of `evidence`) with owner and application, and `alike`: a text that clients share whose evidence differs
    in nothing that decides but the client id.

    `profiled`: rows of `clients` of the days, whose latest has the owner and the application. `mechanisms`: listener to the SASL
    mechanisms that it offers. `scram_users`: principals with SCRAM credentials; None = not known. `of_programs`: the applications
    of some clients and programs, as `applications_of_programs` gives them.
    """
    profiles = (
        keyed_by_client(profiled)
        .groupBy("client_hash", "client")
        .agg(F.max_by(F.struct(*OF_THE_PROFILE), "dt").alias("profile"))
    )
    with_others = clients.join(F.broadcast(_declared(clients)), ["principal", "client_id"], "left")
    alike = F.to_json(_what_decides(mechanisms, scram_users), {"ignoreNullFields": "false"})
    known = keyed_by_client(with_others.withColumn("alike", alike))
    owned = known.join(profiles, ["client_hash", "client"], "left")
    if of_programs is not None:
        owned = _regrouped(owned, of_programs)
    client_id = F.coalesce("client_id", F.lit(NO_CLIENT_ID))
    return (
        owned.select("*", *(f"profile.{name}" for name in OF_THE_PROFILE))
        .withColumns(
            {
                # A client that no profile has, as by a run that was stopped in between, is an application of its own.
                "application": F.coalesce("application", client_id),
                "application_kind": F.coalesce("application_kind", F.lit("application")),
                "application_notes": F.coalesce("application_notes", F.array().cast("array<string>")),
            }
        )
        .select(*READ)
    )


def write_verdicts(clients: DataFrame, report: Report) -> Written:
    """Judge the clients, as `to_be_judged` gives them, and write their rows."""
    own = knowledge.in_use()

    def work(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        use_knowledge(own)
        return batches_of(iter([(0, write(batches, report))]))

    # A part for each worker and none more: each starts with an empty memory of what it knows of libraries and releases.
    parts = clients.repartition(_workers(clients.sparkSession), "alike").mapInArrow(work, PIECES)
    found: list[Any] = list(unpacked(parts.select("piece").toArrow().to_batches()))
    return Written.of_all(found)


def _workers(session: SparkSession) -> int:
    """Spark's default parallelism; a Connect session has no SparkContext to ask."""
    parts = session.range(10_000).select(F.spark_partition_id().alias("part"))
    return parts.distinct().count()


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


def compared_targets(written: Written, asked: Question) -> list[dict[str, Any]]:
    """upgrade_reports.targets: clients per release and how they are counted there, oldest release first."""
    compared = (asked.to_release, *targets.nearby(asked.from_release, asked.to_release))
    return [
        {
            "to_release": release,
            **{name: written.counted_as[release, name] for name in COUNTED_AS},
            "works_again": written.works_again[release],
        }
        for release in sorted(compared, key=parse)
    ]


def verdict_counts(targets_: Sequence[Mapping[str, Any]], release: str) -> dict[str, int]:
    """Clients per verdict on one of the compared releases."""
    counts = next(row for row in targets_ if row["to_release"] == release)
    breaks = counts["breaks_at_once"] + counts["breaks_latent"]
    return {verdict: breaks if verdict == BREAKS else counts[verdict] for verdict in VERDICTS}


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
    """The part of a client's evidence that a verdict depends on, but for its client id. Not when; how often only by its power
    of ten."""
    protocols = F.array_distinct(F.transform("listeners", lambda listener: listener.security_protocol))
    listeners = F.array_distinct(F.transform("listeners", lambda listener: listener.listener_name))
    own = F.struct("client_software_name", "client_software_version")
    others = F.filter(F.coalesce("declared", F.array()), lambda software: software != own)
    return F.struct(
        "client_software_name",
        "client_software_version",
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
