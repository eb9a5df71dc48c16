"""What subscription_check expects of the telemetry cluster's own subscriptions, beside what its capture shows.

    python -m benchmarks.subscription_forecast [--lake FOLDER]

Without a lake, include/sample/telemetry_cluster is processed first. Each subscription is asked about in three ways: taken
away and added again; added where it is not configured, with evidence of when it was; and added with no push of its
clients in the evidence, only their connections (then sizes per push are compared). The first two have the evidence, and
the capture, since the subscriptions were changed last. Two more rows ask about changes that were made while the clients were pushing, with the evidence from
before them, and compare rates with what came after. Exit code 1 when pushes, points or bytes of any but the third way are
off by more than 10 %.
"""

import argparse
import datetime as dt
import json
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from client_telemetry.activity import subscription_brokers
from client_telemetry.activity import subscription_evidence as lake_evidence
from client_telemetry.formats.locations import absolute_url
from client_telemetry.jobs import main_of
from client_telemetry.knowledge import releases
from client_telemetry.lake.lake import Lake
from client_telemetry.pipeline.stage import spark_session
from client_telemetry.subscriptions.check import CheckResult, InstanceResult, Situation, check
from client_telemetry.subscriptions.configured_file import Resource
from client_telemetry.subscriptions.java_runtime import JavaRuntime
from client_telemetry.subscriptions.observed import ObservedInstance
from client_telemetry.subscriptions.proposal import Operation
from client_telemetry.tables.brokers import BROKERS
from client_telemetry.tables.client_connections import CLIENT_CONNECTIONS
from client_telemetry.tables.client_metrics import CLIENT_METRICS
from client_telemetry.tables.client_pushes import CLIENT_PUSHES
from client_telemetry.tables.client_sessions import CLIENT_SESSIONS
from client_telemetry.tables.clients import CLIENTS
from client_telemetry.tables.table import Table
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from benchmarks.bench import table

SAMPLE = Path(__file__).parents[1] / "include" / "sample" / "telemetry_cluster"
CLUSTER, DAY = "kQ7x0RvXTs-Y2r0m3Jw0zA", dt.date(2026, 11, 21)
RELEASE = "4.3.1"
LIMIT = 0.1
AGAIN, NOT_CONFIGURED, NEVER_PUSHED, INTERVAL = (
    "taken away and added again",
    "added, clients pushed",
    "added, clients never pushed",
    "interval within the day",
)
MEASURES = ("pushes", "points", "bytes")


@dataclass(frozen=True)
class Row:
    """Sums over the instances that a subscription matches; of INTERVAL per second, of NEVER_PUSHED per push."""

    subscription: str
    way: str
    instances: int
    expected: dict[str, float]
    captured: dict[str, float]

    def ratio(self, measure: str) -> float:
        return self.expected[measure] / self.captured[measure] if self.captured[measure] else 0.0

    @property
    def within_limit(self) -> bool:
        return all(abs(self.ratio(measure) - 1) <= LIMIT for measure in MEASURES)

    def cells(self) -> dict[str, str | float | int]:
        found: dict[str, str | float | int] = {
            "subscription": self.subscription,
            "asked": self.way,
            "instances": self.instances,
        }
        for measure in MEASURES:
            found[f"{measure} expected"] = float(self.expected[measure])
            found[f"{measure} captured"] = float(self.captured[measure])
            found[f"ratio of {measure}"] = self.ratio(measure)
        return found


def sample_lake(folder: Path) -> str:
    """Process the sample; returns the lake's location."""
    location = folder / "lake"

    def done(stage: str, **arguments: object) -> dict:
        result = folder / f"{stage}.json"
        options = {"cluster": CLUSTER, "lake": location, "result": result, **arguments}
        argv = [f"--{name}={value}" for name, value in options.items()]
        if main_of(stage)(argv):
            raise SystemExit(json.loads(result.read_text(encoding="utf-8"))["message"])
        return json.loads(result.read_text(encoding="utf-8"))

    collected = done("collect", day=DAY, raw=SAMPLE / "raw")
    decode, derive = (",".join(collected[name]) for name in ("decode_days", "derive_days"))
    done("decode", days=decode, raw=SAMPLE / "raw")
    done("sessionize", days=derive)
    done("profile", days=derive)
    return str(location)


class Evidence:
    """The day of the sample, as the stage subscription_check reads it."""

    def __init__(self, lake: Lake) -> None:
        def frame(table: Table) -> DataFrame:
            return lake.read(table).where((F.col("cluster_id") == CLUSTER) & (F.col("dt") == DAY))

        self.pushes = frame(CLIENT_PUSHES).where(F.col("client_instance_id").isNotNull()).cache()
        self._sessions, self._points = frame(CLIENT_SESSIONS), frame(CLIENT_METRICS)
        self._connected = _rows(lake_evidence.connected(frame(CLIENT_CONNECTIONS)))
        self._clients = lake.rows(CLIENTS, cluster_id=CLUSTER, dt=DAY)
        brokers = lake.rows(BROKERS, cluster_id=CLUSTER, dt=DAY)
        resources, _ = subscription_brokers.configured_resources(brokers)
        assert resources is not None, "no broker of the sample reported its subscriptions"
        self.configured = resources

    def observed(
        self, since: dt.datetime | None = None, until: dt.datetime | None = None
    ) -> list[ObservedInstance]:
        pushes, points = self.pushes, self._points
        if since is not None:
            pushes, points = (each.where(F.col("received_at") > since) for each in (pushes, points))
        if until is not None:
            pushes, points = (each.where(F.col("received_at") < until) for each in (pushes, points))
        return lake_evidence.observed_instances(
            _rows(lake_evidence.pushing(pushes, self._sessions)),
            _rows(lake_evidence.metric_shares(points, pushes, True)),
            self._connected,
            self._clients,
        )

    def sums(self, since: dt.datetime | None) -> dict[bytes, dict[str, float]]:
        """Instance id -> pushes, points and payload bytes."""
        pushes = self.pushes if since is None else self.pushes.where(F.col("received_at") > since)
        grouped = pushes.groupBy("client_instance_id")
        sums = grouped.agg(
            F.count("*").alias("pushes"),
            F.sum("points").alias("points"),
            F.sum("payload_bytes").alias("bytes"),
        )
        return {bytes(row["client_instance_id"]): row for row in _rows(sums)}

    def rates(self, since: dt.datetime, until: dt.datetime | None) -> dict[bytes, dict[str, float]]:
        """Instance id -> pushes, points and bytes per second, of those with more than three ordinary pushes."""
        later = self.pushes.where((F.col("received_at") > since) & ~F.col("terminating"))
        if until is not None:
            later = later.where(F.col("received_at") < until)
        sums = later.groupBy("client_instance_id").agg(
            F.count("*").alias("count"),
            F.sum("points").alias("points"),
            F.sum("payload_bytes").alias("bytes"),
            (F.max("received_at").cast("double") - F.min("received_at").cast("double")).alias("seconds"),
        )
        found = {}
        for row in _rows(sums.where("count > 3")):
            per_second = (row["count"] - 1) / row["seconds"]
            found[bytes(row["client_instance_id"])] = {
                "pushes": per_second,
                "points": per_second * row["points"] / row["count"],
                "bytes": per_second * row["bytes"] / row["count"],
            }
        return found

    def never_pushed(self) -> list[ObservedInstance]:
        """All clients as if none had pushed."""
        connected = [{**row, "linked": 0} for row in self._connected]
        return lake_evidence.observed_instances([], [], connected, self._clients)


def _rows(frame: DataFrame) -> list[dict]:
    return [row.asDict(recursive=True) for row in frame.collect()]


def forecasts(lake: Lake, java: JavaRuntime) -> Iterator[Row]:
    evidence = Evidence(lake)
    last = max((change.at for change in _changes()), default=None)
    observed, silent = evidence.observed(since=last), evidence.never_pushed()
    captured = evidence.sums(since=last)
    situation = Situation(releases.parse(RELEASE), True)
    for resource in evidence.configured:
        others = [each for each in evidence.configured if each.name != resource.name]
        add, delete = (
            Operation("add", resource.name, resource.properties),
            Operation("delete", resource.name, {}),
        )

        again = _matched(check(evidence.configured, [delete, add], observed, situation, java), resource.name)
        again = [each for each in again if each.observed.pushed]
        if not again:
            continue  # its clients were gone by then
        new = _matched(check(others, [add], observed, situation, java), resource.name)
        new = [each for each in new if each.observed.pushed]
        ids = {each.observed.instance.instance_id for each in again}
        shown = {m: float(sum(row[m] for id_, row in captured.items() if id_ in ids)) for m in MEASURES}
        yield Row(resource.name, AGAIN, len(again), _expected(again), shown)
        yield Row(resource.name, NOT_CONFIGURED, len(new), _expected(new), shown)
        clients = {_client(each.observed) for each in again}
        others_pushed = [each for each in observed if each.instance.instance_id not in ids]
        without = [*others_pushed, *(each for each in silent if _client(each) in clients)]
        never = _matched(check(others, [add], without, situation, java), resource.name)
        never = [each for each in never if not each.observed.pushed]
        yield Row(resource.name, NEVER_PUSHED, len(never), _per_push(_expected(never)), _per_push(shown))


def _matched(result: CheckResult, name: str) -> list[InstanceResult]:
    return [each for each in result.instances if name not in each.let_out]


def _per_push(sums: dict[str, float]) -> dict[str, float]:
    return {measure: value / sums["pushes"] if sums["pushes"] else 0.0 for measure, value in sums.items()}


def interval_changes(lake: Lake, java: JavaRuntime) -> Iterator[Row]:
    """Of each change of a subscription while clients were pushing: with the evidence from before it, the rates after it.
    Of the instances that pushed on both sides and have another interval then; pushes, points and bytes per second."""
    evidence = Evidence(lake)
    changes = list(_changes())
    for number, change in enumerate(changes):
        until = changes[number + 1].at if number + 1 < len(changes) else None
        # What a change itself costs (a refused push, and a hole) is not the rate after it.
        since = change.at + dt.timedelta(seconds=30)
        observed = [replace(each, push_interval_ms=None) for each in evidence.observed(until=change.at)]
        result = check(
            change.configured, [change.operation], observed, Situation(releases.parse(RELEASE), True), java
        )
        after = evidence.rates(since, until)
        expected, shown = dict.fromkeys(MEASURES, 0.0), dict.fromkeys(MEASURES, 0.0)
        instances = 0
        for each in result.instances:
            rates = after.get(each.observed.instance.instance_id)
            if rates is None or not each.observed.pushed:
                continue
            if each.before.push_interval_ms == each.after.push_interval_ms:
                continue
            instances += 1
            there = each.observed.seconds + 1.5 * each.before.push_interval_ms / 1000
            for measure, value in _expected([each]).items():
                expected[measure] += value / there
                shown[measure] += rates[measure]
        name = change.operation.name or ""
        yield Row(name, INTERVAL, instances, expected, shown)


@dataclass(frozen=True)
class Change:
    """`configured`: before it."""

    configured: list[Resource]
    operation: Operation
    at: dt.datetime


def _changes() -> Iterator[Change]:
    """What the capture's truth has after the subscriptions were made."""
    with (SAMPLE / "truth.jsonl").open(encoding="utf-8") as file:
        actions = [entry for entry in map(json.loads, file) if entry["event"] == "admin-done"]
    configured: dict[str, dict[str, str]] = {}
    for action in actions:
        _, name, *keys = action["args"]
        properties = dict(each.split("=", 1) for each in keys)
        if name in configured:
            before = [Resource(known, of) for known, of in configured.items()]
            at = dt.datetime.fromtimestamp(action["at_ms"] / 1000, dt.UTC)
            yield Change(before, Operation("alter", name, properties), at)
        merged = {**configured.get(name, {}), **properties}
        configured[name] = {key: value for key, value in merged.items() if value}
        if not configured[name]:
            del configured[name]


def _client(observed: ObservedInstance) -> tuple[str | None, ...]:
    client = observed.instance
    return observed.principal, client.client_id, client.software_name, client.software_version


def _expected(instances: Iterable[InstanceResult]) -> dict[str, float]:
    each = [one.expected_after for one in instances]
    return {
        "pushes": sum(one.pushes_per_day for one in each),
        "points": sum(one.points_per_day for one in each),
        "bytes": sum(one.bytes_per_day for one in each),
    }


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.subscription_forecast")
    parser.add_argument("--lake", help="one that has the sample; default: it is processed first")
    args = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        location = absolute_url(args.lake or sample_lake(Path(folder)))
        with JavaRuntime() as java:
            lake = Lake(spark_session("subscription_forecast", location), location)
            rows = [*forecasts(lake, java), *interval_changes(lake, java)]
    print(table([row.cells() for row in rows]))
    return 0 if all(row.within_limit for row in rows if row.way != NEVER_PUSHED) else 1


if __name__ == "__main__":
    sys.exit(main())
