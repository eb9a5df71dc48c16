"""Which connections are evidence for an upgrade question, and what they tell of each client.

Only connections to brokers that ran the from-release count, and only what happened before the first broker left it:
while brokers differ, clients meet both releases, and what they do then is no evidence of how they were.
"""

import datetime as dt
from typing import Any

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from client_telemetry.compatibility import releases
from client_telemetry.compatibility.well_observed import CELLS
from client_telemetry.identity import kip511
from client_telemetry.impact.question import Question
from client_telemetry.tables.clients import CLIENT_KEY

CONNECTION = ("broker_incarnation", "connection_id", "client_address", "opened_at")
_CLIENT = ("client_hash", "client")
_PROGRAM = (*_CLIENT, "program")
_SEQUENCE_BITS = 43
"""A broker that writes a million events a second needs 100 days to number more."""
_BITS_OF_A_WORD = 63


def connection_counts(connections: DataFrame, asked: Question) -> tuple[int, int, int]:
    """Connections that are evidence of a client, those that would be but for whose they are, and all others."""
    each = connections.groupBy(*CONNECTION).agg(
        F.max(_counts(asked) & ~_unidentified()).alias("counted"),
        F.max(_counts(asked) & _unidentified()).alias("unidentified"),
        _stands_for(),
    )
    (row,) = each.agg(
        *(
            F.coalesce(F.sum(F.when(which, F.col("stands_for"))), F.lit(0))
            for which in (F.col("counted"), F.col("unidentified") & ~F.col("counted"), F.lit(True))
        )
    ).collect()
    counted, unidentified, every = row
    return counted, unidentified, every - counted - unidentified


def connections_by_software(connections: DataFrame, asked: Question) -> dict[tuple[str, str], int]:
    """Name and version, `unknown` where none was told -> connections that are evidence."""
    name, version = (
        F.when(F.expr(kip511.is_declared(column)), F.col(column)).otherwise(kip511.UNKNOWN).alias(column)
        for column in ("client_software_name", "client_software_version")
    )
    each = connections.where(_counts(asked)).groupBy(*CONNECTION, name, version).agg(_stands_for())
    rows = each.groupBy("client_software_name", "client_software_version").agg(F.sum("stands_for")).collect()
    return {(row[0], row[1]): row[2] for row in rows}


def counting(connections: DataFrame, asked: Question) -> DataFrame:
    """Those of the connections that are evidence of a client."""
    return connections.where(_counts(asked) & ~_unidentified())


def evidence(connections: DataFrame, asked: Question, apart: DataFrame | None = None) -> DataFrame:
    """One row per client, or program where one client id is several: CLIENT_KEY, `program` (empty where it is one),
    `connections`, `first_seen_at`, `last_seen_at`, `broker_ids`, `listeners`
    (listener and security protocol), `sasl_mechanisms` (as seen, sorted), and `uses`, one per API and version, sorted: requests, rejected, first and last
    request, brokers, the latest raw record that shows answered requests, and the cells of the evidence's time (compatibility/well_observed.py) in which some
    were answered. `cell_s`: seconds of a cell. `uses_elsewhere`: what brokers of releases
    before the from-release answered, as release, api_key and version, sorted; it tells what a client sends that fails now.

    `connections`: rows of client_connections of the cluster and days. `apart`: as `programs_of_connections` gives it.
    """
    counted = with_programs(keyed_by_client(counting(connections, asked)), apart)
    each = counted.groupBy(*_PROGRAM, *CONNECTION, "broker_id", "listener_name", "security_protocol").agg(
        F.min("first_seen_at").alias("first_seen_at"),
        F.max("last_seen_at").alias("last_seen_at"),
        F.collect_set("sasl_mechanism").alias("sasl_mechanisms"),
        _stands_for(),
    )
    clients = each.groupBy(*_PROGRAM).agg(
        F.sum("stands_for").alias("connections"),
        F.min("first_seen_at").alias("first_seen_at"),
        F.max("last_seen_at").alias("last_seen_at"),
        F.sort_array(F.collect_set("broker_id")).alias("broker_ids"),
        F.collect_set(F.struct("listener_name", "security_protocol")).alias("listeners"),
        F.array_sort(F.array_distinct(F.flatten(F.collect_list("sasl_mechanisms")))).alias("sasl_mechanisms"),
    )
    use = F.struct(
        *("api_key", "version", "requests", "rejected", "first_request_at", "last_request_at"),
        *("broker_ids", "source_object", "source_sequence", "cells"),
    )
    found, cell_us = _uses(counted, asked)
    uses = found.groupBy(*_PROGRAM).agg(F.sort_array(F.collect_list(use)).alias("uses"))
    joined = clients.join(uses, [*_PROGRAM], "left").join(
        _uses_elsewhere(connections, asked), [*_CLIENT], "left"
    )
    return joined.select(
        *(F.col("client")[name].alias(name) for name in CLIENT_KEY),
        *clients.columns[2:],
        "uses",
        "uses_elsewhere",
        F.lit(cell_us / 1e6).alias("cell_s"),
    )


def with_programs(connections: DataFrame, apart: DataFrame | None) -> DataFrame:
    """`connections`, keyed by client, with `program`, empty where a client id is one program. A connection that can be of
    several stands there once for each: what it shows may be anyone's."""
    if apart is None:
        return connections.withColumn("program", F.lit(""))
    return (
        connections.withColumn("connection_hash", connection_hash())
        .join(apart, "connection_hash", "left")
        .withColumn("program", F.coalesce("program", F.lit("")))
        .drop("connection_hash")
    )


def connection_hash() -> Column:
    """Of rows that are keyed by client."""
    return F.xxhash64("client_hash", *CONNECTION)


def _uses_elsewhere(connections: DataFrame, asked: Question) -> DataFrame:
    """One row per client that brokers of older releases answered."""
    older = [each for each in releases.known() if releases.is_rollback(asked.from_release, each)]
    there = F.coalesce(F.col("broker_software_version").isin(*older), F.lit(False))
    each = keyed_by_client(connections.where(there & ~_unidentified())).select(
        *_CLIENT, F.col("broker_software_version").alias("release"), F.explode("api_uses").alias("use")
    )
    use = F.struct("release", "use.api_key", "use.version")
    return (
        each.where("use.requests > 0")
        .groupBy(*_CLIENT)
        .agg(F.array_sort(F.collect_set(use)).alias("uses_elsewhere"))
    )


def by_pushes_only(profiled: DataFrame, asked: Question) -> DataFrame:
    """Clients that pushed metrics (KIP-714) before the cut and of which no connection was seen, as rows of `evidence`
    without requests and brokers. `profiled`: rows of `clients` of the days."""
    clients = (
        keyed_by_client(profiled.where(~_unidentified()))
        .groupBy(*_CLIENT)
        .agg(
            F.sum(F.col("connections") + F.col("refusals")).alias("connections"),
            F.min("first_seen_at").alias("first_seen_at"),
            F.max("last_seen_at").alias("last_seen_at"),
            F.array().cast("array<int>").alias("broker_ids"),
        )
    )
    pushed = clients.where("connections = 0")
    if asked.until is not None:
        pushed = pushed.where(F.col("first_seen_at") < F.lit(asked.until))
    return pushed.select(
        *(F.col("client")[name].alias(name) for name in CLIENT_KEY),
        F.lit("").alias("program"),
        *pushed.columns[2:],
    )


def _stands_for() -> Column:
    """How many connections a row stands for (over the days of one)."""
    return F.max(F.coalesce("connections", F.lit(1))).alias("stands_for")


def first_evidence(clients: DataFrame) -> dt.datetime | None:
    """When the evidence of these clients begins."""
    return clients.agg(F.min("first_seen_at").alias("at")).toArrow().to_pylist()[0]["at"]


def keyed_by_client(rows: DataFrame) -> DataFrame:
    """With the client as one column, whose equality counts nulls as equal, and before it a hash: grouping and joining
    by four texts sorts them, which takes several times as long as sorting by a number that tells nearly all apart."""
    return rows.withColumns({"client_hash": F.xxhash64(*CLIENT_KEY), "client": F.struct(*CLIENT_KEY)})


def _counts(asked: Question) -> Column:
    """Whether a connection is to a broker of the from-release and was opened before the cut."""
    declared = asked.brokers_declare or (asked.from_release,)
    counts = F.coalesce(F.col("broker_software_version").isin(*declared), F.lit(False))
    return counts if asked.until is None else counts & (F.col("opened_at") < F.lit(asked.until))


def _unidentified() -> Column:
    """Whose connection it is, is not known: the flag `unidentified` of the table `clients`. It may be any client's,
    also one that is judged by its other connections, so it is judged as none."""
    undeclared = ~F.expr(kip511.is_declared("client_software_name"))
    return F.col("client_id").isNull() & (F.coalesce("principal", F.lit("")) == "") & undeclared


def _uses(counted: DataFrame, asked: Question) -> tuple[DataFrame, int]:
    """One row per client, API and version, and the microseconds of a cell of time.

    Spark aggregates numbers by hash and all else by sorting, which takes several times as long for the millions of
    rows here: so brokers are gathered as bits, and a raw record is one number, of its object and its sequence.
    """
    places = (
        counted.groupBy("broker_id", "uses_object")
        .agg(
            F.unix_micros(F.min("first_seen_at")).alias("first"),
            F.unix_micros(F.max("last_seen_at")).alias("last"),
        )
        .collect()
    )
    brokers = sorted({place.broker_id for place in places})
    objects = sorted({place.uses_object for place in places} - {None})
    begin, cell_us = _time_cells(
        [place.first for place in places], [place.last for place in places], asked.until
    )
    numbered = counted.join(
        F.broadcast(_numbers(counted.sparkSession, brokers, "broker_id", "broker")), "broker_id"
    )
    numbered = numbered.join(
        F.broadcast(_numbers(counted.sparkSession, objects, "uses_object", "object")), "uses_object", "left"
    )
    record = F.shiftleft("object", _SEQUENCE_BITS) + F.col("uses_sequence")
    uses = numbered.select(
        *_PROGRAM, "broker", "first_seen_at", record.alias("record"), F.explode("api_uses").alias("use")
    )
    if asked.until is not None:
        # A connection that outlived the cut keeps its counts of the day; versions first used later do not count.
        uses = uses.where(F.coalesce(F.col("use.first_request_at") < F.lit(asked.until), F.lit(True)))
    uses = _with_cells(uses, begin, cell_us)
    words = range(0, len(brokers), _BITS_OF_A_WORD)
    bit = F.expr(f"shiftleft(1L, cast(broker % {_BITS_OF_A_WORD} as int))")
    summed = uses.groupBy(*_PROGRAM, "use.api_key", "use.version").agg(
        F.sum("use.requests").alias("requests"),
        F.sum("use.rejected").alias("rejected"),
        F.min("use.first_request_at").alias("first_request_at"),
        F.max("use.last_request_at").alias("last_request_at"),
        F.max(F.when(F.col("use.requests") > 0, F.col("record"))).alias("record"),
        F.bit_or("cells").alias("cells"),
        *(
            F.bit_or(F.when(F.col("broker").between(first, first + _BITS_OF_A_WORD - 1), bit)).alias(
                f"word_{first}"
            )
            for first in words
        ),
    )
    seen_by = [
        _with_their_bit(brokers[first : first + _BITS_OF_A_WORD], F.col(f"word_{first}")) for first in words
    ]
    found = summed.withColumns(
        {
            "object": F.shiftright("record", _SEQUENCE_BITS),
            "source_sequence": F.col("record").bitwiseAND(F.lit(2**_SEQUENCE_BITS - 1)),
            "broker_ids": F.concat(F.array().cast("array<int>"), *seen_by),
        }
    ).join(F.broadcast(_numbers(counted.sparkSession, objects, "source_object", "object")), "object", "left")
    return found, cell_us


def _time_cells(first_us: list[int], last_us: list[int], until: dt.datetime | None) -> tuple[int, int]:
    """Where the time of the evidence begins, in microseconds since 1970, and how long one of its CELLS cells is."""
    if not first_us:
        return 0, 1
    begin, end = min(first_us), max(last_us)
    if until is not None:
        end = min(end, (until - dt.datetime.fromtimestamp(0, dt.UTC)) // dt.timedelta(microseconds=1))
    return begin, max(end - begin, 0) // CELLS + 1


def _with_cells(uses: DataFrame, begin_us: int, cell_us: int) -> DataFrame:
    """With `cells`, a bit for each cell in which a connection was answered: from its first request to its last where these
    are a cell apart on average or less, otherwise the two, as the others may be anywhere between."""
    first = F.unix_micros(F.coalesce("use.first_request_at", "first_seen_at"))
    last = F.unix_micros("use.last_request_at")
    dense = last - first <= (F.col("use.requests") - 1) * cell_us
    cells = F.expr(
        "if(dense, shiftleft(shiftleft(1L, last - first + 1) - 1L, first), shiftleft(1L, first) | shiftleft(1L, last))"
    )
    return (
        uses.withColumns(
            {
                "dense": dense,
                "first": _cell(F.least(first, last), begin_us, cell_us),
                "last": _cell(last, begin_us, cell_us),
            }
        )
        .withColumn("cells", F.when(F.col("use.requests") > 0, F.coalesce(cells, F.lit(0).cast("long"))))
        .drop("dense", "first", "last")
    )


def _cell(at_us: Column, begin_us: int, cell_us: int) -> Column:
    cell = F.floor((at_us - begin_us) / cell_us)
    return F.greatest(F.least(cell, F.lit(CELLS - 1)), F.lit(0)).cast("int")


def _numbers(spark: SparkSession, values: list[Any], name: str, number: str) -> DataFrame:
    """The values in order, each with its place."""
    kind = "int" if name == "broker_id" else "string"
    return spark.createDataFrame(
        [(value, place) for place, value in enumerate(values)], f"{name} {kind}, {number} long"
    )


def _with_their_bit(brokers: list[int], word: Column) -> Column:
    """Those of the brokers whose bit is set."""
    return F.filter(
        F.lit(brokers).cast("array<int>"),
        lambda _, place: F.coalesce(F.getbit(word, place) == 1, F.lit(False)),
    )
