"""What pushes tell of applications: metrics of their own (KIP-1076), and which clients are one application of Kafka Streams
(KIP-1091)."""

from collections import Counter, defaultdict
from collections.abc import Iterable
from typing import TypedDict

from client_telemetry.identity.client_key import ClientKey, HasClientKey, client_key
from client_telemetry.reports.fleet.model import ApplicationMetrics, StreamsApplication


class Pushed(HasClientKey):
    """Columns of `client_sessions`."""

    application_metrics: list[str]


class StreamsInstance(TypedDict):
    client_id: str | None
    application_ids: list[str]
    process_ids: list[str]


def application_metrics(instances: Iterable[Pushed]) -> tuple[ApplicationMetrics, ...]:
    """One entry per client. `instances`: columns of `client_sessions` and `application_metrics`, names, of those that have any;
    gone through once."""
    numbers: Counter[ClientKey] = Counter()
    metrics: dict[ClientKey, set[str]] = defaultdict(set)
    for each in instances:
        client = client_key(each)
        numbers[client] += 1
        metrics[client].update(each["application_metrics"])
    found = [
        ApplicationMetrics(
            client_id,
            principal,
            name,
            version,
            number,
            tuple(sorted(metrics[principal, client_id, name, version])),
        )
        for (principal, client_id, name, version), number in numbers.items()
    ]
    return tuple(sorted(found, key=lambda each: (each.client_id or "", each.principal or "")))


def streams_applications(instances: Iterable[StreamsInstance]) -> tuple[StreamsApplication, ...]:
    """`instances`: `client_id`, `application_ids` and `process_ids` of those that pushed metrics of Streams. The admin client of
    a process tells its application, the consumer of each of its threads the process only."""
    members = [each for each in instances if each["process_ids"] or each["application_ids"]]
    application_of = {
        process: application
        for each in members
        for application in each["application_ids"]
        for process in each["process_ids"]
    }
    applications: dict[str | None, list[StreamsInstance]] = defaultdict(list)
    for each in members:
        named: set[str | None] = {*each["application_ids"]} or {
            application_of.get(p) for p in each["process_ids"]
        }
        for application in named:
            applications[application].append(each)
    found = [
        StreamsApplication(
            application,
            len({process for each in of_it for process in each["process_ids"]}),
            len(of_it),
            tuple(sorted({each["client_id"] or "" for each in of_it})),
        )
        for application, of_it in applications.items()
    ]
    return tuple(sorted(found, key=lambda each: each.application_id or ""))
