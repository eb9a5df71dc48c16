"""One play with real brokers, clients and an object store, and the pipeline over what arrived; the tests look at it.

`make e2e` gets the jars and the clients' Python environment. The play: a cluster of two releases, clients of three
libraries, a client killed, the store down, a broker killed while it spools, its restart, the store back, a restart in
order, the end.
"""

import base64
import datetime as dt
import importlib
import json
import re
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from client_telemetry.tables.lake import Lake
from client_telemetry.tables.table import Table

from .kafka_broker import CHECKOUT, CLUSTER, JARS, KafkaBroker, free_ports
from .object_store import ACCESS_KEY, BUCKET, SECRET_KEY, ObjectStore

CLIENTS = Path(__file__).parent / "clients"
CLIENTS_PYTHON = CHECKOUT / "var" / "end_to_end" / "venv" / "bin" / "python"
STORE_DOWN_SECONDS = 20
TARGET = "4.4.0"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.end_to_end)


@dataclass
class Client:
    """A client program and what it printed. `instance_ids`: by client id, as 16 bytes."""

    name: str
    process: subprocess.Popen
    output: Path
    errors: Path

    @property
    def instance_ids(self) -> set[bytes]:
        told = [
            event["value"] + "=="
            for line in self.output.read_text().splitlines()
            if line.startswith("{") and (event := json.loads(line))["event"] == "instance"
        ]
        changed = re.findall(r"instance id changed from \S+ to (\S+)", self.errors.read_text())
        return {base64.urlsafe_b64decode(text) for text in told} | {
            base64.b64decode(text + "==") for text in changed
        }


@dataclass
class Play:
    """What there is to look at afterwards. `killed_at`: Unix time of the broker's kill."""

    folder: Path
    store: ObjectStore
    brokers: list[KafkaBroker]
    clients: dict[str, Client] = field(default_factory=dict)
    killed_at: float = 0.0
    day: dt.date | None = None
    results: dict[str, dict] = field(default_factory=dict)

    @property
    def lake(self) -> Lake:
        return Lake(None, str(self.folder / "lake"))

    def rows(self, table: Table) -> list[dict]:
        return self.lake.rows(table, cluster_id=CLUSTER)

    def requests(self) -> list[dict]:
        """The brokers' own request logs: entries of the clients' listener, with `node` and `logged_at` (Unix time)."""
        entries = []
        for broker in self.brokers:
            for line in broker.request_log.read_text().splitlines():
                time_, _, rest = line.partition("\t")
                if not rest.startswith("Completed request:"):
                    continue
                try:
                    entry = json.loads(rest.removeprefix("Completed request:"))
                except ValueError:
                    continue  # cut by the kill
                if entry["listener"] == "CLIENTS":
                    at = dt.datetime.fromisoformat(time_).replace(tzinfo=dt.UTC).timestamp()
                    entries.append({**entry, "node": broker.node, "logged_at": at})
        return entries

    def start(self, name: str, *command: str | Path) -> None:
        output, errors = self.folder / f"{name}.out", self.folder / f"{name}.err"
        with output.open("w") as out, errors.open("w") as err:
            self.clients[name] = Client(
                name, subprocess.Popen(command, stdout=out, stderr=err), output, errors
            )

    def java(self, jars: str, *arguments: str) -> list[str | Path]:
        options = ["-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"]
        return ["java", *options, "-cp", f"{JARS / jars}/*", CLIENTS / "JavaClient.java", *arguments]


@pytest.fixture(scope="session")
def play(tmp_path_factory: pytest.TempPathFactory, spark: object) -> Iterator[Play]:
    folder = tmp_path_factory.mktemp("play")
    store = ObjectStore(folder / "store")
    keys = {"AWS_ACCESS_KEY_ID": ACCESS_KEY, "AWS_SECRET_ACCESS_KEY": SECRET_KEY}
    dump = {
        "client.telemetry.dump.location": f"s3://{BUCKET}/raw",
        "client.telemetry.dump.s3.endpoint": store.endpoint,
        "client.telemetry.dump.s3.path.style": "true",
    }
    (controller,) = free_ports(1)
    brokers = [
        KafkaBroker(folder / f"broker-{node}", kafka, node, 1, controller, keys, dump)
        for node, kafka in ((1, "broker-4"), (2, "broker-3"))
    ]
    played = Play(folder, store, brokers)
    try:
        store.start()
        for broker in brokers:
            broker.start()
        _act(played)
        _process(played)
        yield played
    finally:
        for client in played.clients.values():
            client.process.kill()
        for broker in brokers:
            broker.end()
        store.kill()


def _act(play: Play) -> None:
    newer, older = play.brokers
    everyone = f"{newer.bootstrap},{older.bootstrap}"
    subprocess.run(
        play.java("broker-4", "subscribe", everyone, "all", "1000"), check=True, capture_output=True
    )
    seconds = str(50 + STORE_DOWN_SECONDS)
    play.start("java-newer", *play.java("broker-4", "work", everyone, "java-newer", seconds))
    play.start("java-older", *play.java("broker-3", "work", everyone, "java-older", seconds))
    python = [CLIENTS_PYTHON, CLIENTS / "python_client.py"]
    play.start("librdkafka", *python, "confluent", everyone, "librdkafka", seconds)
    play.start("kafka-python", *python, "kafka-python", everyone, "kafka-python", seconds)
    play.start("victim", *python, "confluent", everyone, "victim", "600")
    play.start("short", *python, "confluent", everyone, "short", "6")
    play.clients["short"].process.wait(timeout=120)
    time.sleep(5)
    play.clients["victim"].process.kill()
    play.store.kill()
    time.sleep(STORE_DOWN_SECONDS)
    older.kill()
    play.killed_at = older.killed_at
    older.start()
    play.store.start()
    time.sleep(15)
    older.stop()
    older.start()
    play.start("steady", *python, "confluent", everyone, "steady", "600")
    for name in ("java-newer", "java-older", "librdkafka", "kafka-python"):
        play.clients[name].process.wait(timeout=240)
    time.sleep(15)  # until the brokers have looked at their gauges once more
    older.stop()
    newer.stop()


def _process(play: Play) -> None:
    """collect, decode, sessionize, profile and impact, as the DAGs run them."""
    play.day = dt.datetime.now(dt.UTC).date()
    collected = _run(play, "collect", raw=play.store.url, day=play.day)
    decode, derive = (",".join(collected[name]) for name in ("decode_days", "derive_days"))
    _run(play, "decode", raw=play.store.url, days=decode)
    _run(play, "sessionize", days=derive)
    _run(play, "profile", days=derive)
    _run(play, "impact", report_id="e2e", to=TARGET, day=play.day, **{"from": "3.9.1"})


def _run(play: Play, stage: str, **arguments: object) -> dict:
    result = play.folder / "results" / f"{stage}.json"
    options = {"cluster": CLUSTER, "lake": play.folder / "lake", "result": result, **arguments}
    argv = [f"--{name.replace('_', '-')}={value}" for name, value in options.items()]
    code = importlib.import_module(f"jobs.{stage}").main(argv)
    play.results[stage] = json.loads(result.read_text())
    assert code == 0, play.results[stage]["message"]
    return play.results[stage]
