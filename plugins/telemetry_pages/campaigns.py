"""Planned upgrades: the list, and each one's page. A campaign is for who sees each of its clusters."""

from datetime import UTC, datetime
from pathlib import PurePosixPath
from typing import Any

from fastapi import APIRouter, Request, Response
from include.campaigns import CampaignsFileError, open_campaigns

from telemetry_pages.access import CAMPAIGN, Reader, ReaderDep, reader_of
from telemetry_pages.answering import Files, framed, html
from telemetry_pages.published import CAMPAIGNS, NotPublished, Published

DOWNLOADS = ("campaign.md", "states.csv", "campaign.json", "gate.json")
MESSAGE = "message.md"

router = APIRouter()


@router.get("/campaigns", dependencies=[reader_of(CAMPAIGN)])
def campaigns(request: Request, files: Files, reader: ReaderDep) -> Response:
    """All planned upgrades: those to come first, by their day."""
    coming, passed = shown_to(files, reader)
    try:
        waiting, mistake = _not_asked(reader, {each["campaign"] for each in (*coming, *passed)}), ""
    except CampaignsFileError as error:
        waiting, mistake = [], str(error)
    found = {"coming": coming, "passed": passed, "waiting": waiting, "mistake": mistake}
    return html(request, "campaigns.html", title="Campaigns", dag=CAMPAIGN, **found)


@router.get("/campaigns/{campaign}", dependencies=[reader_of(CAMPAIGN)])
def campaign_page(request: Request, files: Files, reader: ReaderDep, campaign: str) -> Response:
    check(files, reader, campaign)
    return framed(request, files, f"Campaign {campaign}", (CAMPAIGNS, campaign), DOWNLOADS, MESSAGE)


def shown_to(files: Published, reader: Reader) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Campaigns that a reader of the DAG sees: those whose day has not passed, the next one first, and the others, the last one
    first."""
    found = [each for each in files.campaigns() if reader.sees_all(each["clusters"])]
    found.sort(key=lambda each: (each["planned_for"], each["campaign"]))
    today = datetime.now(UTC).date().isoformat()
    passed = [each for each in found if each["planned_for"] < today]
    return found[len(passed) :], passed[::-1]


def _not_asked(reader: Reader, published: set[str]) -> list[dict[str, Any]]:
    """Open ones of the campaigns file without a page. Raises CampaignsFileError."""
    return [
        {
            "campaign": each.name,
            "clusters": each.clusters,
            "to_release": PurePosixPath(each.to).name,
            "planned_for": f"{each.date}",
        }
        for each in open_campaigns(())
        if each.name not in published and reader.sees_all(each.clusters)
    ]


def check(files: Published, reader: Reader, campaign: str) -> None:
    """Raises NotPublished, or HTTPException for who does not see each of its clusters."""
    for cluster in _clusters(files, campaign):
        reader.check(CAMPAIGN, cluster)


def sees(files: Published, reader: Reader, campaign: str) -> bool:
    try:
        return reader.sees_all(_clusters(files, campaign))
    except NotPublished:
        return False


def _clusters(files: Published, campaign: str) -> list[str]:
    """Raises NotPublished."""
    found: list[str] = files.document(CAMPAIGNS, campaign, "gate.json")["clusters"]
    return found
