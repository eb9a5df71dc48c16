"""What `client-telemetry join` costs for many artefacts and many clients, without reading either: CPU time and memory.

    python -m benchmarks.artefact_join ARTEFACTS CLIENTS text|json

prints one case as JSON; `python -m benchmarks.bench artefact_join` runs all of them, each in a process of its own. Half of
the artefacts are images that a pod runs, and half are the repositories that these were built from; each has a client id of
its own, and each client is an application.
"""

import datetime as dt
import gc
import json
import resource
import subprocess
import sys
import time
from collections.abc import Iterator

from client_telemetry.artefacts import libraries
from client_telemetry.artefacts.found import Found, Judged
from client_telemetry.artefacts.packages import Package, Place
from client_telemetry.artefacts.subjects import Subject
from client_telemetry.inventory.artefact import CLIENT_ID, IMAGE, REPOSITORY, Artefact, Name, Written
from client_telemetry.inventory.joined import join
from client_telemetry.inventory.seen import Client, Seen
from client_telemetry.inventory.workloads import Container, Workload, Workloads
from client_telemetry.knowledge.vocabulary import Verdict
from client_telemetry.reports.inventory import document, text

from benchmarks.bench import Section

SIZES = ((100_000, 1_000), (100_000, 10_000), (100_000, 100_000))
TEXT_FORMAT, JSON_FORMAT = "text", "json"
SEEN_AT = dt.datetime(2026, 11, 20, tzinfo=dt.UTC)
TEXT = (
    "One process for each case, one run: `python -m benchmarks.bench artefact_join`. Half of the artefacts are images that a pod "
    "runs, half the repositories they were built from; each has a client id of its own, each client is an application, and all "
    "clients get a finding. *inputs*: the resident size with artefacts, workloads and clients in memory. *join*: what joining and "
    "writing the text, or with `--format json` the JSON, added to it at its peak: it does not grow with the clients, whose rows are "
    "worked out one after the other."
)


def _artefact(number: int) -> Artefact:
    is_image = number % 2 == 0
    package = Package("pypi", "kafka-python", "2.2.0" if is_image else "1.4.7", number % 50 + 1)
    client = libraries.of(package)
    assert client
    folder = f"apps/app-{number}"
    judged = Judged(Verdict.SAFE if is_image else Verdict.BREAKS, "It works.")
    return Artefact(
        folder,
        IMAGE if is_image else REPOSITORY,
        Subject(frozenset([_digest(number)]) if is_image else frozenset()),
        f"github.com/acme/app-{number // 2}",
        (Found(Place(f"{folder}/requirements.txt", package.line), client, judged),),
        (Name(CLIENT_ID, f"app-{number}", f"{folder}/application.yaml:3"),),
    )


def _digest(number: int) -> str:
    return f"sha256:{number:064x}"


def _address(number: int) -> str:
    return f"10.{number >> 16 & 255}.{number >> 8 & 255}.{number & 255}"


def _workload(number: int) -> Workload:
    container = Container("app", f"app:{number}", frozenset([_digest(number)]))
    name = f"shop/Deployment/app-{number}"
    return Workload(
        name,
        f"pod {number} (shop/app-{number})",
        f"app-{number}-x",
        (_address(number),),
        containers=(container,),
    )


def _client(number: int) -> Client:
    return Client(
        client_id=f"app-{number}",
        principal=f"User:app-{number % 5000}",
        application=f"app-{number}",
        owner="team",
        verdict=Verdict.SAFE,
        explanation="It works.",
        identified_as="",
        is_unidentified=True,
        library="",
        version="",
        candidates=("kafka-python",),
        addresses=1,
        listed_addresses=(_address(number),),
        hosts=(),
        groups=(f"group-{number}",),
        first_seen_at=SEEN_AT,
        last_seen_at=SEEN_AT,
        anchor=f"client-{number}",
    )


def measure(artefacts: int, clients: int, format_: str) -> dict[str, str | float | int]:
    written = Written(tuple(map(_artefact, range(artefacts))), (), artefacts)
    workloads = Workloads()
    workloads.add(map(_workload, range(0, artefacts, 2)))
    seen = Seen("c", "r", "3.9.1", "4.3.1", SEEN_AT.date(), tuple(map(_client, range(clients))))
    gc.collect()
    before, began = _peak_mb(), time.process_time()
    joined = join(written, seen, workloads)
    pieces = document.as_text(joined, ()) if format_ == JSON_FORMAT else text.lines(joined, ())
    written_size = sum(map(len, pieces))
    cpu = time.process_time() - began
    assert written_size > 1
    return {
        "artefacts": artefacts,
        "clients": clients,
        "format": format_,
        "CPU s": round(cpu, 2),
        "inputs, MB": before,
        "join, MB": _peak_mb() - before,
        "written, MB": round(written_size / 1e6, 1),
    }


def _peak_mb() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


def run() -> Iterator[Section]:
    rows = [
        json.loads(
            subprocess.run(
                [sys.executable, "-m", "benchmarks.artefact_join", str(artefacts), str(clients), format_],
                check=True,
                capture_output=True,
            ).stdout
        )
        for artefacts, clients in SIZES
        for format_ in (TEXT_FORMAT, JSON_FORMAT)
    ]
    yield Section("Joining artefacts with clients that brokers saw", TEXT, rows)


if __name__ == "__main__":
    print(json.dumps(measure(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3])))
