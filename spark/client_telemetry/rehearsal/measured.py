"""What a library sends, measured: its program is run against a broker of the newest release, and the broker's request log is read."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypedDict
from uuid import uuid4

from client_telemetry.knowledge import releases
from client_telemetry.knowledge.apis import SET_UP
from client_telemetry.rehearsal import client_runs
from client_telemetry.rehearsal.client_runs import NOT_AVAILABLE, OK
from client_telemetry.rehearsal.library_programs import BY_NAME
from client_telemetry.rehearsal.sandbox_broker import Broker
from client_telemetry.rehearsal.subjects import Subject

_COMPLETED = "Completed request:"
WIDEST = {"sarama": "config.Version=newest"}
"""Library -> the setting with which it sends the newest versions that it can."""


@dataclass(frozen=True)
class Measured:
    subject: Subject
    broker: str
    """The release that it talked to."""
    steps: Mapping[str, str]
    sent: Mapping[int, int]
    """API key -> the highest version that was answered. Of what sets a connection up, the highest that was sent."""
    software: tuple[tuple[str, str], ...]
    """Names and versions that it declared."""
    client_ids: tuple[str, ...]

    @property
    def failed(self) -> str:
        """The first step that failed, with the client's words; empty if none did."""
        return next(
            (f"{step}: {words}" for step, words in self.steps.items() if words not in (OK, NOT_AVAILABLE)), ""
        )


def measuring_release() -> str:
    """The newest known release: it accepts the newest request of every library."""
    return releases.known()[-1]


def measure(subject: Subject, broker: Broker, cache: Path) -> Measured:
    """One program at a time: the lines of the request log that are written meanwhile are its own. Raises NotInstalled."""
    program = BY_NAME[subject.program]
    folder = client_runs.install(subject.program, program, subject.version, cache)
    topic = f"topic-{uuid4().hex[:8]}"
    broker.seed([topic])
    begin = broker.request_log.stat().st_size
    settings = broker.settings() | client_runs.settings(topic, WIDEST.get(subject.program, ""))
    steps = client_runs.steps(program, folder, settings)
    with broker.request_log.open(encoding="utf-8", errors="replace") as log:
        log.seek(begin)
        entries = list(entries_of_clients(log))
    return Measured(
        subject,
        measuring_release(),
        steps,
        highest_versions(entries),
        tuple(sorted({each for entry in entries if (each := _software(entry)) != ("", "")})),
        tuple(sorted({str(entry["requestHeader"].get("clientId") or "") for entry in entries})),
    )


class Header(TypedDict):
    requestApiKey: int
    requestApiVersion: int
    clientId: str | None


class Entry(TypedDict):
    """A request in a request log, as Kafka names its fields."""

    requestHeader: Header
    request: dict[str, object]
    listener: str


def entries_of_clients(lines: Iterable[str]) -> Iterable[Entry]:
    """The requests of clients in a request log: those of the broker to itself are left out, such as the AddPartitionsToTxn by
    which it verifies a transaction (KIP-890)."""
    for line in lines:
        _, found, text = line.partition(_COMPLETED)
        if not found:
            continue
        try:
            entry = json.loads(text)
            int(entry["requestHeader"]["requestApiKey"])
            listener = entry["listener"]
        except (ValueError, LookupError, TypeError):
            continue
        if listener == "PLAINTEXT":
            yield entry


def highest_versions(entries: Iterable[Entry]) -> dict[int, int]:
    """
    >>> highest_versions([{"requestHeader": {"requestApiKey": 0, "requestApiVersion": version}} for version in (8, 11, 9)])
    {0: 11}
    """
    found: dict[int, int] = {}
    for entry in entries:
        header = entry["requestHeader"]
        key, version = int(header["requestApiKey"]), int(header["requestApiVersion"])
        found[key] = max(version, found.get(key, -1))
    return dict(sorted(found.items()))


def _software(entry: Entry) -> tuple[str, str]:
    """As ApiVersions declares it; what a broker makes of a client that declares nothing is no name."""
    if entry["requestHeader"]["requestApiKey"] not in SET_UP or not isinstance(entry.get("request"), dict):
        return "", ""
    request = entry["request"]
    return str(request.get("clientSoftwareName") or ""), str(request.get("clientSoftwareVersion") or "")
