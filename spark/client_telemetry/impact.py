"""An upgrade question, and which evidence counts for it. The verdicts: verdict_rows.py.

Only connections to brokers that ran the from-release count, and only what happened before the first broker left it:
while brokers differ, clients meet both releases, and what they do then is no evidence of how they were.
"""

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812

from client_telemetry.compatibility import UnusableRelease
from client_telemetry.compatibility.evidence import UNKNOWN
from client_telemetry.compatibility.releases import upgrade
from client_telemetry.tables.clients import CLIENT_KEY

MAX_SOURCE_OBJECTS = 16
_CONNECTION = ("broker_incarnation", "connection_id", "client_address", "opened_at")


class NoSuchQuestion(Exception):
    """The question cannot be answered as asked; the message says what to ask instead."""


@dataclass(frozen=True)
class Question:
    """An upgrade question with everything that was left open filled in.

    `until`: evidence from this time on does not count, null = all counts."""

    cluster_id: str
    from_release: str
    to_release: str
    days: tuple[dt.date, ...]
    until: dt.datetime | None
    until_reason: str | None


def question(
    cluster_id: str,
    from_release: str | None,
    to_release: str,
    days: Sequence[dt.date],
    brokers: Sequence[dict],
) -> Question:
    """Fill in what the table `brokers` knows. `brokers`: its rows of the days. Raises NoSuchQuestion."""
    released = [row for row in brokers if row["software_version"]]
    if not released:
        raise NoSuchQuestion(
            f"no broker of cluster {cluster_id} declares its release on {_days(days)}: "
            "run client_telemetry_daily for days with manifests"
        )
    source = from_release or _current_release(released)
    try:
        source, target = upgrade(source, to_release)
    except UnusableRelease as error:
        raise NoSuchQuestion(str(error)) from error
    if not any(row["software_version"] == source for row in released):
        seen = ", ".join(sorted({row["software_version"] for row in released}))
        raise NoSuchQuestion(f"no broker ran {source} on {_days(days)}; brokers ran {seen}")
    until, reason = _until(source, released)
    return Question(cluster_id, source, target, tuple(days), until, reason)


def _days(days: Sequence[dt.date]) -> str:
    return str(days[0]) if len(days) == 1 else f"{min(days)} to {max(days)}"


def _current_release(brokers: Sequence[dict]) -> str:
    latest: dict[int, dict] = {}
    for row in sorted(brokers, key=lambda row: (row["started_at"], row["broker_incarnation"])):
        latest[row["broker_id"]] = row
    releases = {broker_id: row["software_version"] for broker_id, row in sorted(latest.items())}
    if len(set(releases.values())) > 1:
        each = ", ".join(f"broker {broker_id}: {release}" for broker_id, release in releases.items())
        raise NoSuchQuestion(
            f"the brokers run different releases ({each}): say which one to upgrade from (--from)"
        )
    return next(iter(releases.values()))


def _until(source: str, brokers: Sequence[dict]) -> tuple[dt.datetime | None, str | None]:
    """When the first broker left the from-release: the start of its next incarnation on another release."""
    moves = []
    for broker_id in {row["broker_id"] for row in brokers}:
        lives = sorted(
            (row for row in brokers if row["broker_id"] == broker_id),
            key=lambda row: (row["started_at"], row["broker_incarnation"]),
        )
        for before, after in pairwise(lives):
            if before["software_version"] == source != after["software_version"]:
                moves.append((after["started_at"], broker_id, after["software_version"]))
    if not moves:
        return None, None
    at, broker_id, release = min(moves)
    return at, f"broker {broker_id} was the first to leave {source}: it started on {release}"


def _counts(asked: Question) -> Column:
    """Whether a connection is to a broker of the from-release and was opened before the cut."""
    counts = F.col("broker_software_version").eqNullSafe(asked.from_release)
    return counts if asked.until is None else counts & (F.col("opened_at") < F.lit(asked.until))


def _unidentified() -> Column:
    """Whose connection it is, is not known: the flag `unidentified` of the table `clients`. It may be any client's,
    also one that is judged by its other connections, so it is judged as none."""
    untold = F.coalesce("client_software_name", F.lit("")).isin("", UNKNOWN)
    return F.col("client_id").isNull() & (F.coalesce("principal", F.lit("")) == "") & untold


def connection_counts(connections: DataFrame, asked: Question) -> tuple[int, int, int]:
    """Connections that are evidence of a client, those that would be but for whose they are, and all others."""
    connection = F.struct(*_CONNECTION)
    counted, unidentified, all_ = connections.agg(
        F.count_distinct(F.when(_counts(asked) & ~_unidentified(), connection)),
        F.count_distinct(F.when(_counts(asked) & _unidentified(), connection)),
        F.count_distinct(connection),
    ).first()
    return counted, unidentified, all_ - counted - unidentified


def evidence(connections: DataFrame, asked: Question) -> DataFrame:
    """One row per client: CLIENT_KEY, `connections`, `first_seen_at`, `last_seen_at`, `broker_ids`, `listeners`
    (listener and security protocol), and `uses`: one per API and version, with brokers and raw objects.

    `connections`: rows of client_connections of the cluster and days.
    """
    counted = connections.where(_counts(asked) & ~_unidentified())
    clients = counted.groupBy(*CLIENT_KEY).agg(
        F.count_distinct(F.struct(*_CONNECTION)).alias("connections"),
        F.min("first_seen_at").alias("first_seen_at"),
        F.max("last_seen_at").alias("last_seen_at"),
        F.sort_array(F.collect_set("broker_id")).alias("broker_ids"),
        F.collect_set(F.struct("listener_name", "security_protocol")).alias("listeners"),
    )
    uses = counted.select(*CLIENT_KEY, "broker_id", "source_objects", F.explode("api_uses").alias("use"))
    if asked.until is not None:
        # A connection that outlived the cut keeps its counts of the day; versions first used later do not count.
        uses = uses.where(F.coalesce(F.col("use.first_request_at") < F.lit(asked.until), F.lit(True)))
    per_version = uses.groupBy(*CLIENT_KEY, "use.api_key", "use.version").agg(
        F.sum("use.requests").alias("requests"),
        F.sum("use.rejected").alias("rejected"),
        F.min("use.first_request_at").alias("first_request_at"),
        F.max("use.last_request_at").alias("last_request_at"),
        F.sort_array(F.collect_set("broker_id")).alias("broker_ids"),
        F.slice(
            F.sort_array(F.array_distinct(F.flatten(F.collect_set("source_objects")))), 1, MAX_SOURCE_OBJECTS
        ).alias("source_objects"),
    )
    fields = ("requests", "rejected", "first_request_at", "last_request_at", "broker_ids", "source_objects")
    per_client = per_version.groupBy(*CLIENT_KEY).agg(
        F.sort_array(F.collect_list(F.struct("api_key", "version", *fields))).alias("uses")
    )
    same = [clients[name].eqNullSafe(per_client[name]) for name in CLIENT_KEY]
    return clients.join(per_client, same, "left").select(*[clients[c] for c in clients.columns], "uses")


def sasl_mechanisms(brokers: Sequence[dict]) -> dict[str, str | None]:
    """Listener to the SASL mechanism that it offers, where all brokers offer one and the same."""
    offered: dict[str, set[str]] = {}
    for row in brokers:
        for listener in row["listeners"] or []:
            offered.setdefault(listener["name"], set()).update(listener["sasl_mechanisms"])
    return {name: next(iter(all_)) if len(all_) == 1 else None for name, all_ in offered.items()}
