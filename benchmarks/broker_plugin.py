"""What the broker plugin costs: its threads alone, and each mode on a real broker with the broker's own logging.

    make bench-plugin

Writes docs/performance.md as the other benchmarks do, and the tables of docs/broker-plugin.md.
"""

import datetime as dt
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

from benchmarks import bench
from benchmarks.bench import Section
from tests.end_to_end.real_kafka.kafka_broker import CHECKOUT, JARS, KafkaBroker, free_ports

NAME = "broker_plugin"
PAGE = CHECKOUT / "docs" / "broker-plugin.md"
BEGIN, END = "<!-- Written by `make bench-plugin`. -->", "<!-- End of what it wrote. -->"
REQUESTS = 20_000
WARM_UP = 60_000
ROUNDS = 7
CASES = {
    "no plugin": ({"metric.reporters": ""}, "WARN"),
    "`off`": ({"client.telemetry.dump.connections": "off"}, "WARN"),
    "`deprecated_only`": ({"client.telemetry.dump.connections": "deprecated_only"}, "WARN"),
    "`continuous`, and `sampled` during its window": (
        {"client.telemetry.dump.connections": "continuous"},
        "WARN",
    ),
    "no plugin, request log at DEBUG to a file": ({"metric.reporters": ""}, "DEBUG"),
}


def run() -> Iterator[Section]:
    yield from _threads()
    yield _modes()


def _threads() -> Iterator[Section]:
    """Of the plugin alone, in a process that may use one core only."""
    maven = ["mvn", "--batch-mode", "--quiet", "test"]
    options = ["-Dtest=DumpBenchmark", "-Dmaven.test.redirectTestOutputToFile=false"]
    command = ["taskset", "-c", "0", *maven, *options]
    ran = subprocess.run(command, cwd=CHECKOUT / "broker-plugin", capture_output=True, text=True)
    if ran.returncode:
        raise RuntimeError(f"the benchmark of the plugin's threads failed:\n{ran.stdout[-4000:]}")
    samples = [
        json.loads(line.partition("BENCHMARK ")[2]) for line in ran.stdout.splitlines() if "BENCHMARK" in line
    ]
    yield Section(
        "On the broker's threads",
        "Wall time of the plugin's call on the broker's thread.",
        [
            {"what": each["what"], "median, µs": each["median"], "99th percentile, µs": each["p99"]}
            for each in samples
            if "median" in each
        ],
    )
    (pushes,) = (each for each in samples if "a_second" in each)
    yield Section(
        "Pushes on one core",
        "Pushes of 30 kB at a fixed rate, in a process that is bound to one core: queue, encoding, compression, checksums "
        "and files, and the work of the benchmark itself.",
        [
            {
                "pushes per second": pushes["a_second"],
                "dropped": pushes["dropped"],
                "CPU, µs per push": round(pushes["cpu"]),
                "peak queue, MB": pushes["queued_mb"],
                "times smaller in the spool": round(pushes["smaller"]),
            }
        ],
    )


def _modes() -> Section:
    with tempfile.TemporaryDirectory(prefix="client_telemetry_plugin_") as folder:
        brokers: dict[str, KafkaBroker] = {}
        try:
            for number, case in enumerate(CASES):
                brokers[case] = _broker(Path(folder) / str(number), *CASES[case])
                brokers[case].start()
                _load(brokers[case], WARM_UP)
            found: dict[str, list[float]] = {case: [] for case in CASES}
            allocated: dict[str, list[float]] = {case: [] for case in CASES}
            for _ in range(ROUNDS):
                for case, broker in brokers.items():
                    before = _allocated_bytes(broker.process.pid)
                    found[case].append(_load(broker, REQUESTS))
                    bytes_more = _allocated_bytes(broker.process.pid) - before
                    allocated[case].append(bytes_more / REQUESTS)
        finally:
            for broker in brokers.values():
                broker.end()
    plain = found["no plugin"]
    return Section(
        "Total cost for a broker, by mode",
        "CPU time of the broker's process per Produce request with one small record, from four producers that "
        f"wait for their responses: median of {ROUNDS} rounds of {REQUESTS:,} requests, in which the cases took turns "
        "after a warm-up; the difference is the median of the differences within a round. Allocated: everything that the broker "
        "allocates on its heap in that time, per request. One broker of Kafka 4.4.0 per case. `off` does nothing for such a "
        "request: its difference is the measurement error. Writing the log is Kafka's own share: it grows with the size of "
        "requests and responses, so fetches of many partitions cost more.",
        [
            {
                "case": case,
                "CPU, µs per request": round(statistics.median(values)),
                "min": round(min(values)),
                "max": round(max(values)),
                "difference to no plugin": round(
                    statistics.median(v - p for v, p in zip(values, plain, strict=True))
                ),
                "allocated, kB per request": round(statistics.median(allocated[case]) / 1000, 1),
            }
            for case, values in found.items()
        ],
    )


def _broker(folder: Path, settings: dict[str, str], level: str) -> KafkaBroker:
    location = {
        "client.telemetry.dump.location": f"file://{folder}/raw",
        "client.telemetry.dump.roll.ms": 900_000,
    }
    return KafkaBroker(
        folder,
        "broker-4",
        1,
        1,
        *free_ports(1),
        settings={**location, **settings},
        request_log_level=level,
        java_options=("-Xms512m", "-Xmn256m"),  # see _allocated_bytes
    )


def _load(broker: KafkaBroker, requests: int) -> float:
    """Microseconds of the broker's CPU time for each request."""
    client = CHECKOUT / "tests" / "end_to_end" / "real_kafka" / "clients" / "JavaClient.java"
    before = _cpu_seconds(broker.process.pid)
    classes = f"{JARS / 'broker-4'}/*"
    subprocess.run(
        ["java", "-Xmx256m", "-cp", classes, client, "load", broker.bootstrap, str(requests)],
        check=True,
        capture_output=True,
    )
    return (_cpu_seconds(broker.process.pid) - before) * 1e6 / requests


def _cpu_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _allocated_bytes(pid: int) -> float:
    """On the heap since the start, by the collections of the eden space and what is in it; its size is fixed."""
    shown = subprocess.run(["jstat", "-gc", str(pid)], check=True, capture_output=True, text=True).stdout
    figures = dict(zip(*(line.split() for line in shown.splitlines()), strict=True))
    return (float(figures["YGC"]) * float(figures["EC"]) + float(figures["EU"])) * 1024


def with_tables(page: str, tables: str) -> str:
    """The page with these tables between the two marks."""
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        raise ValueError(f"{PAGE.name} has no {BEGIN} or no {END}")
    return f"{before}{begin}\n\n{tables}\n\n{end}{after}"


def main() -> int:
    date, sections = dt.datetime.now(dt.UTC).date(), list(run())
    bench.keep(bench.RESULTS / f"{date}.json", NAME, sections)
    bench.PAGE.write_text(bench.page(bench.RESULTS), encoding="utf-8")
    tables = "\n\n".join(bench.shown(**asdict(section)) for section in sections)
    PAGE.write_text(with_tables(PAGE.read_text(encoding="utf-8"), tables), encoding="utf-8")
    print(tables)
    return 0


if __name__ == "__main__":
    sys.exit(main())
