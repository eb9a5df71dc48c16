"""Brokers and clients that act on one another, what they leave behind, and the pipeline over it."""

import base64
import datetime as dt
import json
import re
import subprocess
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from client_telemetry.formats.otlp.codecs import decompress
from client_telemetry.formats.raw.envelopes import parse_client_push
from client_telemetry.formats.raw.manifest import Manifest, parse_manifest
from client_telemetry.formats.raw.object_key import parse_object_key
from client_telemetry.formats.raw.reader import RecordReader
from client_telemetry.jobs import main_of
from client_telemetry.lake.lake import Lake
from client_telemetry.tables.table import Table

from .kafka_broker import CHECKOUT, JARS, KafkaBroker

CLIENTS = Path(__file__).parent / "clients"
FRANZ_GO = CHECKOUT / "var" / "end_to_end" / "franz-go"
CLIENTS_PYTHON = CHECKOUT / "var" / "end_to_end" / "venv" / "bin" / "python"
PATIENCE_SECONDS = 180  # on a machine that others use too
LOOK_SECONDS = 12
"""Until the plugin has the broker's gauges and counts of now: it looks every ten seconds, and not at a broker that stops."""
PUSH_TELEMETRY = 72


def wait_until(what: str, is_so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not is_so():
        if time.monotonic() > deadline:
            raise RuntimeError(f"after {PATIENCE_SECONDS} s it is not so that {what}")
        time.sleep(0.2)


@dataclass
class Client:
    """A client program, which works until its input ends, and what it printed: one JSON object a line."""

    name: str
    process: subprocess.Popen
    output: Path
    errors: Path

    def events(self, event: str) -> list[dict]:
        *lines, _ = self.output.read_text().split("\n")  # the client may be writing the last one
        lines = [line for line in lines if line.startswith("{")]
        return [printed for printed in map(json.loads, lines) if printed["event"] == event]

    @property
    def instance_ids(self) -> set[bytes]:
        """What the client itself calls its instances; librdkafka says it in its log."""
        instances = {base64.urlsafe_b64decode(event["value"] + "==") for event in self.events("instance")}
        changed = re.findall(r"instance id changed from \S+ to (\S+)", self.errors.read_text())
        return instances | {base64.b64decode(text + "==") for text in changed}

    def kill(self) -> None:
        self.process.kill()
        self.process.stdin.close()
        self.process.wait()

    def finish(self) -> None:
        """Lets it close what it has, as a program does that ends in order."""
        self.process.stdin.close()
        code = self.process.wait(timeout=PATIENCE_SECONDS)
        if code:
            raise RuntimeError(f"client {self.name} ended with {code}: see {self.errors}")


@dataclass
class Play:
    """Everything lies in `folder`. `raw`: the objects that brokers uploaded, as files; `raw_url`: the same for jobs."""

    folder: Path
    raw: Path
    raw_url: str
    brokers: list[KafkaBroker]
    clients: dict[str, Client] = field(default_factory=dict)
    day: dt.date | None = None

    @property
    def cluster(self) -> str:
        return self.brokers[0].cluster

    @property
    def bootstrap(self) -> str:
        return ",".join(broker.bootstrap for broker in self.brokers)

    def java(self, jars: str, *arguments: str, name: str | None = None) -> Client:
        """A Java client of the release of these jars."""
        options = ["-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp", f"{JARS / jars}/*"]
        return self.start(name or arguments[0], ["java", *options, CLIENTS / "JavaClient.java", *arguments])

    def python(self, kind: str, name: str, *settings: str, bootstrap: str | None = None) -> Client:
        script = [CLIENTS_PYTHON, CLIENTS / "python_client.py", kind]
        return self.start(name, [*script, bootstrap or self.bootstrap, name, *settings])

    def franz_go(self, name: str, *settings: str, bootstrap: str | None = None) -> Client:
        return self.start(name, [FRANZ_GO, bootstrap or self.bootstrap, name, *settings])

    def start(self, name: str, command: list[str | Path]) -> Client:
        output, errors = self.folder / f"{name}.out", self.folder / f"{name}.err"
        with output.open("w") as out, errors.open("w") as err:
            process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=out, stderr=err)
        self.clients[name] = Client(name, process, output, errors)
        return self.clients[name]

    def subscribe(self, interval_ms: int) -> None:
        """Asks all clients for all metrics."""
        self.java("broker-4", "subscribe", self.bootstrap, str(interval_ms)).finish()

    def end(self) -> None:
        """Whatever is left at the end of the tests."""
        for client in self.clients.values():
            client.kill()
        for broker in self.brokers:
            broker.end()

    # What the brokers' own logs say.

    @cached_property
    def requests(self) -> list[dict]:
        """Entries of the brokers' request logs of listeners for clients, with `node` and `logged_at` (Unix time)."""
        found = []
        for broker in self.brokers:
            for line in broker.request_log.read_text().splitlines():
                time_, _, rest = line.partition("\t")
                if not rest.startswith("Completed request:"):
                    continue
                try:
                    entry = json.loads(rest.removeprefix("Completed request:"))
                except ValueError:
                    continue  # cut by a kill
                if entry["listener"] in broker.listeners:
                    at = dt.datetime.fromisoformat(time_).replace(tzinfo=dt.UTC).timestamp()
                    found.append({**entry, "node": broker.node, "logged_at": at})
        return found

    def accepted_pushes(self) -> list[tuple[dict, tuple]]:
        """Entries of the request log, each with what tells the push from others: as `dumped_pushes` counts them."""
        found = []
        for entry in self.requests:
            is_push = entry["requestHeader"]["requestApiKey"] == PUSH_TELEMETRY
            if is_push and entry["response"]["errorCode"] == 0 and entry["request"]["metrics"]:
                sent = base64.b64decode(entry["request"]["metrics"])
                payload = bytes(decompress(sent, entry["request"]["compressionType"]))
                found.append((entry, (entry["node"], entry["connection"], payload)))
        return found

    # What was uploaded.

    def manifests(self) -> list[Manifest]:
        files = sorted(self.raw.rglob("*.json"))
        return [parse_manifest(file.read_bytes(), parse_object_key(str(file))) for file in files]

    def dumped_pushes(self) -> Counter:
        """By broker, connection id and bytes."""
        found = Counter()
        for file in self.raw.glob("v1/dataset=client_pushes/**/*.zst"):
            key = parse_object_key(str(file))
            for record in records(file):
                push = parse_client_push(record, key)
                found[push.broker_id, push.client.connection_id, push.payload] += 1
        return found

    # The pipeline.

    @property
    def lake(self) -> Lake:
        return Lake(None, str(self.folder / "lake"))

    def rows(self, table: Table) -> list[dict]:
        return self.lake.rows(table, cluster_id=self.cluster)

    def process(self, from_release: str, to_release: str) -> None:
        """collect, decode, sessionize, profile, impact and publish, as the DAGs run them."""
        self.day = dt.datetime.now(dt.UTC).date()
        collected = self._run("collect", raw=self.raw_url, day=self.day)
        decode, derive = (",".join(collected[name]) for name in ("decode_days", "derive_days"))
        self._run("decode", raw=self.raw_url, days=decode)
        self._run("sessionize", days=derive)
        self._run("profile", days=derive)
        question = {"from": from_release, "to": to_release, "day": self.day}
        self._run("impact", report_id="e2e", **question)
        self._run("publish", report_id="e2e", publish=self.folder / "published")

    def _run(self, stage: str, **arguments: object) -> dict:
        result = self.folder / "results" / f"{stage}.json"
        options = {"cluster": self.cluster, "lake": self.folder / "lake", "result": result, **arguments}
        argv = [f"--{name.replace('_', '-')}={value}" for name, value in options.items()]
        code = main_of(stage)(argv)
        report = json.loads(result.read_text())
        assert code == 0, report["message"]
        return report


def records(file: Path) -> list[bytes]:
    """The whole records of an object, or of a file that a killed broker left in its spool."""
    with file.open("rb") as source:
        return [record.data for record in RecordReader(source, f"{file.name}.zst")]


def spooled(folder: Path) -> list[Path]:
    """The objects, finished or not, in the folder of a broker incarnation's spool."""
    return [file for file in sorted(folder.iterdir()) if file.suffix in (".zst", ".open")]
