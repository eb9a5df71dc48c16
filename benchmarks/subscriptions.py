"""`client-telemetry subscription-check` on many instances and subscriptions: the fixed interface, as a process of its own."""

import base64
import csv
import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks.bench import Section

INSTANCES, SUBSCRIPTIONS = 100_000, 50
LIMIT_SECONDS = 30
_COLUMNS = (
    "client_instance_id",
    "client_id",
    "software_name",
    "software_version",
    "source_address",
    "source_port",
)
_SOFTWARE = ("apache-kafka-java", "librdkafka", "confluent-kafka-python", "kgo", "")
_VERSIONS = ("3.9.1", "4.0.1", "2.3.0", "2.11.0")


def run() -> Iterator[Section]:
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for instances in (INSTANCES // 10, INSTANCES):
            write_clients(Path(folder) / "clients.csv", instances)
            write_subscriptions(Path(folder) / "configured.json")
            wall, cpu = measured(Path(folder))
            rows.append(
                {
                    "instances": instances,
                    "subscriptions": SUBSCRIPTIONS,
                    "CPU, s": cpu,
                    "wall, s": wall,
                    "times the limit of 30 s": cpu / LIMIT_SECONDS,
                }
            )
    yield Section(
        "The command subscription-check",
        "One process of the command: reading the CSV, matching with java.util.regex in a separate Java process, whose "
        "start is included, and writing the answers. All client ids, addresses and ids differ; half of the subscriptions "
        "select by client id, a third by software, a fifth by address, a seventh by port. CPU time is that of both "
        "processes.",
        rows,
    )


def write_clients(file: Path, instances: int) -> None:
    chance = random.Random(714)
    with file.open("w", encoding="utf-8", newline="") as out:
        writer = csv.writer(out)
        writer.writerow(_COLUMNS)
        for number in range(instances):
            writer.writerow(
                (
                    base64.urlsafe_b64encode(chance.randbytes(16)).decode().rstrip("="),
                    f"app-{number % 5000}-{number}",
                    chance.choice(_SOFTWARE),
                    chance.choice(_VERSIONS),
                    f"10.{number % 256}.{number // 256 % 256}.{number // 65536}",
                    1024 + number % 60_000,
                )
            )


def write_subscriptions(file: Path) -> None:
    found = []
    for number in range(SUBSCRIPTIONS):
        match = {}
        if number % 2:
            match["client_id"] = f"app-{number}[0-9]*-.*"
        if number % 3 == 0:
            match["client_software_name"] = "apache-.*|librdkafka"
        if number % 5 == 0:
            match["client_source_address"] = rf"10\.{number}\..*"
        if number % 7 == 0:
            match["client_source_port"] = "5.*"
        metrics = [f"org.apache.kafka.{kind}.m{number}." for kind in ("producer", "consumer")]
        found.append(
            {"name": f"s{number}", "metrics": metrics, "interval_ms": 1000 * (number + 1), "match": match}
        )
    file.write_text(json.dumps(found), encoding="utf-8")


def measured(folder: Path) -> tuple[float, float]:
    """Wall and CPU seconds of one run."""
    command = [
        str(Path(sys.executable).with_name("client-telemetry")),
        "subscription-check",
        "--broker",
        "4.3.1",
    ]
    for option, name in (
        ("configured", "configured.json"),
        ("clients", "clients.csv"),
        ("output", "answers.csv"),
    ):
        command += [f"--{option}", str(folder / name)]
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    subprocess.run(command, check=True)
    wall, after = time.monotonic() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
