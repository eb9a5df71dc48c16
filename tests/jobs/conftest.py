"""Jobs as Airflow runs them, but in this process: the real `main` with the real arguments."""

import datetime as dt
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from client_telemetry.formats.raw.raw_dump_v1_pb2 import ClientConnection, ClientPush, ConnectionEvent
from client_telemetry.formats.raw.writer import DumpWriter
from client_telemetry.jobs import main_of
from client_telemetry.lake.lake import Lake
from client_telemetry.tables.table import Table
from opentelemetry.proto.metrics.v1.metrics_pb2 import MetricsData

CLUSTER = "test-cluster"
DAY = dt.date(2026, 11, 21)
NOON = dt.datetime(2026, 11, 21, 12, tzinfo=dt.UTC)
INCARNATION = bytes(range(16))
INSTANCE = bytes(range(16, 32))


@dataclass
class Pipeline:
    """A raw location and a lake in a folder of their own, and the jobs between them."""

    folder: Path
    session: object

    @property
    def raw(self) -> Path:
        return self.folder / "raw"

    @property
    def lake(self) -> Lake:
        return Lake(None, str(self.folder / "lake"))

    def run(self, stage: str, cluster: str = CLUSTER, **arguments: object) -> tuple[int, dict]:
        """Exit code and result file of one job."""
        result = self.folder / "results" / f"{stage}.json"
        options = {"cluster": cluster, "lake": self.folder / "lake", "result": result, **arguments}
        if stage in ("collect", "decode"):
            options.setdefault("raw", self.raw)
        argv = [f"--{name.replace('_', '-')}={value}" for name, value in options.items()]
        code = main_of(stage)(argv)
        return code, json.loads(result.read_text())

    def done(self, stage: str, cluster: str = CLUSTER, **arguments: object) -> dict:
        """Result of a job that must succeed."""
        code, result = self.run(stage, cluster, **arguments)
        assert code == 0, result["message"]
        return result

    def run_day(self, day: dt.date = DAY, cluster: str = CLUSTER, **profile: object) -> None:
        """collect to profile for one day, as the DAG does it."""
        collected = self.done("collect", cluster, day=day)
        decode, derive = (",".join(collected[name]) for name in ("decode_days", "derive_days"))
        for stage, days, more in (
            ("decode", decode, {}),
            ("sessionize", derive, {}),
            ("profile", derive, profile),
        ):
            self.done(stage, cluster, days=days, **more)

    def rows(self, table: Table, **equal: object) -> list[dict]:
        """Rows as analysts see them, without processing times, in an order of their own."""
        kept = [{name: row[name] for name in table.data_columns} for row in self.lake.rows(table, **equal)]
        return sorted(kept, key=repr)


@pytest.fixture
def pipeline(spark, tmp_path) -> Pipeline:
    return Pipeline(tmp_path, spark)


def payload(*values: float, metric: str = "org.apache.kafka.producer.record.send.rate") -> bytes:
    """A payload with one gauge point per value."""
    data = MetricsData()
    gauge = data.resource_metrics.add().scope_metrics.add().metrics.add(name=metric).gauge
    for value in values:
        gauge.data_points.add(as_double=value, time_unix_nano=int(NOON.timestamp()) * 10**9)
    return data.SerializeToString()


def nanos(at: dt.datetime) -> int:
    return int(at.timestamp() * 1000) * 1_000_000


def connection(**fields: object) -> ClientConnection:
    return ClientConnection(
        **{
            "client_id": "orders",
            "principal": "User:orders",
            "client_address": "10.0.0.1",
            "client_port": 40001,
            "listener_name": "CLIENTS",
            "security_protocol": "PLAINTEXT",
            "connection_id": "10.0.0.9:9092-10.0.0.1:40001-0-1",
            "client_software_name": "apache-kafka-java",
            "client_software_version": "3.9.1",
            **fields,
        }
    )


def push(at: dt.datetime = NOON, **fields: object) -> ClientPush:
    return ClientPush(
        **{
            "received_at_nanos": nanos(at),
            "client": connection(),
            "client_instance_id": INSTANCE,
            "content_type": "OTLP",
            "payload": payload(1.0, 2.0),
            **fields,
        }
    )


def event(kind: int, at: dt.datetime = NOON, uses: tuple = (), **fields: object) -> ConnectionEvent:
    """`uses`: (api key, version, requests) each."""
    made = ConnectionEvent(
        **{
            "observed_at_nanos": nanos(at),
            "client": connection(),
            "kind": kind,
            "opened_at_nanos": nanos(NOON),
            "last_request_at_nanos": nanos(at),
            **fields,
        }
    )
    for key, version, requests in uses:
        made.api_uses.add(
            api_key=key,
            version=version,
            requests=requests,
            first_request_at_nanos=nanos(NOON),
            last_request_at_nanos=nanos(at),
        )
    return made


@pytest.fixture
def dump() -> Callable[..., DumpWriter]:
    """Writes a dump: `with dump(pipeline) as out: out.append_push(...)`."""

    def open_(pipeline: Pipeline, **options: object) -> DumpWriter:
        settings = {
            "broker_started_at": NOON - dt.timedelta(hours=1),
            "broker_software_version": "3.9.1",
            "manifest_fields": {"registry": {"mode": "continuous"}},
            **options,
        }
        broker_id = settings.pop("broker_id", 1)
        incarnation = settings.pop("incarnation", INCARNATION)
        return DumpWriter(pipeline.raw, CLUSTER, broker_id, incarnation, **settings)

    return open_
