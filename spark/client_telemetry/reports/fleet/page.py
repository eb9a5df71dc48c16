"""index.html: the fleet of a day as one self-contained page. Markup is in fleet.html; what it shares with the report
of an upgrade (looks, filter and sorting, table parts, escaping) in the package above."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

from jinja2 import Template

from client_telemetry.console.grouped import grouped
from client_telemetry.knowledge import age
from client_telemetry.reports import charts
from client_telemetry.reports.fleet import day_curves, model
from client_telemetry.reports.fleet.build import COUNTS
from client_telemetry.reports.fleet.model import FleetClient, FleetDay, MetricOfLibrary
from client_telemetry.reports.markup import page_parts, template, text_file
from client_telemetry.reports.wording import period
from client_telemetry.review.metric_curves import MOST_GROUPS

CLIENTS_SHOWN = 1000
"""Clients that have a row on the page; all are in clients.csv."""
SOFTWARE_SHOWN = 60
VERSIONS_SHOWN = 60
OWNERS_SHOWN = 6
RELATED_SHOWN = 3
CHANGES_SHOWN = 12

FILES = (
    *(
        "fleet.json",
        "software.csv",
        "clients.csv",
        "deprecated.csv",
        "metrics.csv",
        "application_metrics.csv",
    ),
    *("streams.csv", "never_pushed.csv", "refused.csv", "requests.csv", "quality.csv"),
)
"""Beside the page, as it links to them."""

RELATIONS = {
    "one_application": "same application as",
    "two_applications": "not the same application as",
    "doubtful": "possibly the same application as",
    "same_principal_and_address": "possibly the same application as",
}
"""Relations of `clients.related` in words."""

FIGURES = {
    "applications": "applications",
    "clients": "clients",
    "instances": "instances with metrics",
    "connections": "connections",
    "requests": "requests",
    "applications_without_software": "applications without a software name",
    "applications_without_owner": "applications without an owner",
}
"""Counts on the first screen, and their words there."""


def fleet_page(fleet: FleetDay) -> str:
    return page_template().render(
        fleet=fleet,
        knowledge=age.paragraph(fleet.knowledge_version, fleet.knowledge_built_at, fleet.created_at),
        listed=_listed(fleet.clients),
        owners=sorted({client.owner for client in fleet.clients}, key=lambda owner: (owner is None, owner)),
        widest=max((v.applications for software in fleet.software for v in software.versions), default=1),
        metric_groups=_metric_groups(fleet.metrics),
        curves=[
            (words, day_curves.drawn(fleet.curves, groups))
            for words, groups in (
                ("software version", fleet.curves.versions),
                ("owner", fleet.curves.owners),
            )
            if groups
        ]
        if fleet.curves
        else [],
        **page_parts(text_file("fleet.css", __package__)),
    )


def _listed(clients: tuple[FleetClient, ...]) -> list[FleetClient]:
    if len(clients) <= CLIENTS_SHOWN:
        return list(clients)
    return sorted(clients, key=lambda client: not client.deprecated)[:CLIENTS_SHOWN]


@dataclass(frozen=True)
class _MetricGroup:
    """The standard metrics of one kind of one software version, by state."""

    client_type: str
    name: str | None
    version: str | None
    instances: int
    all: list[MetricOfLibrary]
    required: list[MetricOfLibrary]
    of: dict[str, list[MetricOfLibrary]]


def _metric_groups(metrics: Iterable[MetricOfLibrary]) -> list[_MetricGroup]:
    groups = grouped(
        metrics,
        lambda each: (
            each.client_type,
            each.client_software_name,
            each.client_software_version,
            each.instances,
        ),
    )
    return [
        _MetricGroup(
            *key,
            all=group,
            required=[each for each in group if each.required],
            of={state: [each for each in group if each.state == state] for state in model.METRIC_STATES},
        )
        for key, group in groups.items()
    ]


def short_metric(metric: str) -> str:
    """
    >>> short_metric("org.apache.kafka.consumer.poll.idle.ratio.avg")
    'poll.idle.ratio.avg'
    """
    return metric.removeprefix("org.apache.kafka.").partition(".")[2]


@cache
def page_template() -> Template:
    filters: dict[str, object] = {"short_metric": short_metric, "period": lambda pair: period(*pair)}
    values = {
        "COUNTS": COUNTS,
        "FIGURES": FIGURES,
        "CLIENTS_SHOWN": CLIENTS_SHOWN,
        "MOST_GROUPS": MOST_GROUPS,
        "SOFTWARE_SHOWN": SOFTWARE_SHOWN,
        "VERSIONS_SHOWN": VERSIONS_SHOWN,
        "OWNERS_SHOWN": OWNERS_SHOWN,
        "RELATED_SHOWN": RELATED_SHOWN,
        "CHANGES_SHOWN": CHANGES_SHOWN,
        "FILES": FILES,
        "RELATIONS": RELATIONS,
        "count_bar": charts.count_bar,
    }
    return template("fleet.html", __package__, filters, values)
