"""What each mode of the broker plugin costs a real broker: CPU time a request, the broker's own logging included.

    make bench-plugin

One broker of the newest release for each case, producers that wait for each answer; the CPU time of the broker's
process over so many requests, for each case in turn and several times, so that what else the machine does falls on all.
"""

import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.end_to_end.real_kafka.kafka_broker import CHECKOUT, JARS, KafkaBroker, free_ports

REQUESTS = 5_000
WARM_UP = 8_000
ROUNDS = 3
CASES = {
    "no plugin": ({"metric.reporters": ""}, "WARN"),
    "`off`": ({"client.telemetry.dump.connections": "off"}, "WARN"),
    "`deprecated_only`": ({"client.telemetry.dump.connections": "deprecated_only"}, "WARN"),
    "`continuous`, and `sampled` in its minutes": (
        {"client.telemetry.dump.connections": "continuous"},
        "WARN",
    ),
    "no plugin, request log at DEBUG into a file": ({"metric.reporters": ""}, "DEBUG"),
}


def cpu_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def load(broker: KafkaBroker, requests: int) -> float:
    """Microseconds of the broker's CPU time for each request."""
    client = CHECKOUT / "tests" / "end_to_end" / "real_kafka" / "clients" / "JavaClient.java"
    before = cpu_seconds(broker.process.pid)
    command = [
        "java",
        "-Xmx256m",
        "-cp",
        f"{JARS / 'broker-4'}/*",
        client,
        "load",
        broker.bootstrap,
        str(requests),
    ]
    subprocess.run(command, check=True, capture_output=True)
    return (cpu_seconds(broker.process.pid) - before) * 1e6 / requests


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        brokers = {}
        try:
            for number, (case, (settings, level)) in enumerate(CASES.items()):
                location = {"client.telemetry.dump.location": f"file://{folder}/raw"}
                broker = KafkaBroker(
                    Path(folder) / str(number),
                    "broker-4",
                    1,
                    1,
                    *free_ports(1),
                    settings={**location, **settings},
                    request_log_level=level,
                    java_options=(),
                )
                broker.start()
                load(broker, WARM_UP)
                brokers[case] = broker
            found = {case: [] for case in CASES}
            for _ in range(ROUNDS):
                for case, broker in brokers.items():
                    found[case].append(load(broker, REQUESTS))
        finally:
            for broker in brokers.values():
                broker.end()
    plain = statistics.median(found["no plugin"])
    print(
        "| case | broker's CPU time a request, µs (median, least and most of the rounds) | more than without, µs |\n|---|---|---|"
    )
    for case, values in found.items():
        middle = statistics.median(values)
        print(f"| {case} | {middle:.0f} ({min(values):.0f} to {max(values):.0f}) | {middle - plain:+.0f} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
