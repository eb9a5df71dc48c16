"""Planned upgrades as Airflow sees them: which are open, what to ask for them, and the news that wakes them.

The campaigns file is checked by the stage upgrade_campaign, which says what is wrong in which line; here only names, clusters,
target and date are looked at.
"""

import os
from collections.abc import Iterable, Sequence
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import yaml
from airflow.sdk import Asset, AssetAlias
from airflow.sdk.exceptions import AirflowFailException

from include.clusters import CHECKOUT, read_clusters

DAYS_PUBLISHED = AssetAlias("client_telemetry_days")
"""Every cluster's days: an event of it has `cluster` and `days` as extra."""
STATES_COMPUTED = Asset(name="client_telemetry_campaigns", uri="client-telemetry://campaigns/states")
"""States of a campaign, computed again."""
FILE_VARIABLE = "CLIENT_TELEMETRY_CAMPAIGNS"


class CampaignsFileError(AirflowFailException):
    """The campaigns file cannot be used."""


class Campaign(NamedTuple):
    """`clusters`: names in the clusters file. `to`: exact release, name of a measured target or profile, or the path of a target's file."""

    name: str
    clusters: list[str]
    to: str
    date: date
    contact: str


class Event(Protocol):
    """What an asset's event tells."""

    extra: dict[str, Any]


def asset_of(cluster: str) -> Asset:
    """The asset of a cluster: others can schedule on `Asset(name="client_telemetry/NAME", …)` alone."""
    return Asset(name=f"client_telemetry/{cluster}", uri=f"client-telemetry://{cluster}/days")


def campaigns_file() -> Path:
    """CLIENT_TELEMETRY_CAMPAIGNS, or campaigns.yaml in the checkout, which may be absent."""
    return Path(os.environ.get(FILE_VARIABLE) or CHECKOUT / "campaigns.yaml")


def open_campaigns(names: Sequence[str], today: date | None = None) -> list[Campaign]:
    """Those whose day has not passed, in the file's order; all of them if no names are given, and none without a file."""
    path = campaigns_file()
    if not path.exists() and not names:
        return []
    campaigns = _read(path)
    if unknown := sorted(set(names) - {campaign.name for campaign in campaigns}):
        known = ", ".join(campaign.name for campaign in campaigns) or "none"
        raise CampaignsFileError(f"There is no campaign {unknown[0]!r} in {path}: it has {known}.")
    day = today or datetime.now(UTC).date()
    return [each for each in campaigns if each.date >= day and (not names or each.name in names)]


def _read(path: Path) -> list[Campaign]:
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8-sig"))
        entries = content["campaigns"]
        return [
            Campaign(
                name=str(entry["name"]),
                clusters=[str(name) for name in entry["clusters"]],
                to=_target(path, str(entry["to"])),
                date=_date(entry["date"]),
                contact=str(entry["contact"]),
            )
            for entry in entries
        ]
    except (OSError, UnicodeDecodeError, yaml.YAMLError, LookupError, TypeError, ValueError) as error:
        raise CampaignsFileError(
            f"{path} cannot be used ({' '.join(str(error).split())}): `client-telemetry campaign show NAME --campaigns {path}` names "
            "line and mistake (docs/campaigns.md)."
        ) from None


def _target(path: Path, to: str) -> str:
    """A file of `client-telemetry probe` by its path from the campaigns file's folder; anything else as it stands."""
    return str(path.absolute().parent / to) if to.endswith(".json") else to


def _date(value: object) -> date:
    return value if isinstance(value, date) else date.fromisoformat(str(value))


def questions(
    campaigns: Iterable[Campaign], events: Iterable[Event], day: str | None
) -> list[dict[str, str]]:
    """Each cluster, target and day once: the days that events tell or, by hand, the given one (empty: the last processed one).
    Owners are told of the first campaign that asks.
    """
    days: dict[str, set[str]] = {}
    for event in events:
        days.setdefault(str(event.extra.get("cluster")), set()).update(
            map(str, event.extra.get("days") or ())
        )
    clusters = read_clusters()
    asked: dict[tuple[str, str, str], Campaign] = {}
    for campaign in sorted(campaigns, key=lambda campaign: campaign.date):
        for cluster in campaign.clusters:
            name = clusters.named(cluster).name
            for each in days.get(name, ()) if days else [day or ""]:
                asked.setdefault((name, campaign.to, each), campaign)
    return [
        {
            "cluster": cluster,
            "report": f"campaign_{to.rpartition('/')[2]}_{each or 'latest'}",
            "to": to,
            "day": each,
            "planned_for": str(campaign.date),
            "asked_by": campaign.contact,
        }
        for (cluster, to, each), campaign in sorted(asked.items())
    ]


def standings(campaigns: Iterable[Campaign], asked: Iterable[dict[str, str]]) -> list[dict[str, str]]:
    """Each campaign on each of its clusters about which something was asked."""
    clusters = {(each["cluster"], each["to"]) for each in asked}
    return [
        {"cluster": cluster, "campaign": campaign.name, "file": str(campaigns_file())}
        for campaign in campaigns
        for cluster in campaign.clusters
        if (cluster, campaign.to) in clusters
    ]
