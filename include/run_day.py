"""Which UTC day a run of the daily DAG answers for."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, Protocol

from include.campaigns import DAYS_PUBLISHED, STATES_COMPUTED
from include.releases import RELEASES

OPTIONAL_DAY = {"type": ["null", "string"], "format": "date"}
"""JSON schema of a Param that is a UTC day or empty."""
RELEASE = {
    "type": "string",
    "examples": list(RELEASES),
    "pattern": r"^([0-9]+(\.[0-9]+){2,3}|[A-Za-z][A-Za-z0-9._-]*)$",
}
"""JSON schema of a Param that is an exact release, or the name of a measured target (the clusters file's `targets`). The stage says
whether a release is known: the clusters file may name a knowledge base that knows more of them than `RELEASES`."""
OPTIONAL_RELEASE = {**RELEASE, "type": ["null", "string"]}

RUN_DAY = "{{ day_of(dag_run, params) }}"
"""Template of the day; the DAG that uses it has day_of among its macros."""


_OF_A_BACKFILL = "{{ 0 if dag_run.run_type == 'backfill' else '' }}"
"""Days before its own that a run looks at. Each day of a backfill has a run: nobody else decodes it, in whatever order they
come. Empty: as many as the stage says."""

COLLECT = {
    "locations": ["raw", "source"],
    "arguments": {
        "day": RUN_DAY,
        "again": "{{ params.again or '' }}",
        "late-days": _OF_A_BACKFILL,
        "too-late-days": _OF_A_BACKFILL,
    },
}
"""What the stage collect of the daily run is told."""


DAYS = (("days", "decode_days"), ("days", "derive_days"), ("changed-on", "derive_days"))
"""What stages of the daily run are told of the days that collect found, as option and XCom: decode; those after it; review."""
DECODE = {"locations": ["raw"]}
PROFILE = {"locations": ["owners"]}
"""What the stages of the same names are told beside the days."""
PAGE = {
    "job": "publish_fleet",
    "locations": ["publish", "hosts"],
    "page": "runs",
    "outlets": [DAYS_PUBLISHED],
}
"""The job of the fleet page, the last one that readers of a day wait for."""
MECHANISMS = (
    "SASL mechanisms that listeners offer, such as CLIENTS=SCRAM-SHA-512,PLAIN (empty: what brokers report)"
)
"""Description of the parameter of the same name."""
REVIEW = {
    "locations": ["publish", "owners", "scram_users", "hosts", "targets"],
    "page": "runs",
}
"""What the stage review is told in every DAG."""


_OF_A_CAMPAIGN = {"map_index_template": "{{ task.cluster }}"}
ASKED = {"locations": ["scram_users", "hosts", "targets"], **_OF_A_CAMPAIGN}
SHOWN = ["publish", "owners", "hosts", "workloads"]
"""Locations that the stage publish is told."""
ANSWERED = {"locations": SHOWN, **_OF_A_CAMPAIGN}
STANDING = {
    "locations": ["publish", "targets"],
    "page": "runs",
    "outlets": [STATES_COMPUTED],
    **_OF_A_CAMPAIGN,
}
"""What impact, publish and upgrade_campaign are told in a campaign's run."""


class _Run(Protocol):
    data_interval_start: datetime | None
    run_after: datetime


def day_of(run: _Run, params: Mapping[str, Any]) -> str:
    """The day as YYYY-MM-DD: what the trigger form says, or the day on which the run's interval starts.

    A run that is triggered without a logical date (the REST interface) has no interval; it takes the day
    before it was triggered, which is the last complete one.
    """
    if params.get("day"):
        return str(params["day"])
    start = run.data_interval_start or run.run_after - timedelta(days=1)
    return start.date().isoformat()
