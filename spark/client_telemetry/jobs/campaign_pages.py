"""The published files of a campaign: the reports that it is about, and its page."""

import datetime as dt
from collections.abc import Iterator, Sequence
from pathlib import Path

from client_telemetry.campaign.answers import Answer
from client_telemetry.campaign.corrections import NotAHistory
from client_telemetry.campaign.gate import Decision
from client_telemetry.campaign.plan import Campaign
from client_telemetry.campaign.report_files import ANSWER, reports
from client_telemetry.campaign.states import StateChange
from client_telemetry.formats.report_file import NotAReport
from client_telemetry.pipeline.fetched_folder import NoFolder, fetched
from client_telemetry.pipeline.place import published_place
from client_telemetry.pipeline.stage import BadArguments
from client_telemetry.reports.campaign.publish import FOLDER, PAGE, before, publish
from client_telemetry.reports.campaign.view import view
from client_telemetry.reports.names import folder_name

_LARGEST_REPORT_BYTES = 2**30


def answers_of(publish: str, cluster: str, campaign: Campaign) -> Iterator[Answer]:
    """Of the published reports of one cluster about the campaign's target; none if none is published."""
    location = f"{publish.rstrip('/')}/upgrade_impact/{folder_name(cluster)}"
    try:
        with fetched(location, "reports", _is_read, _LARGEST_REPORT_BYTES) as (root, _):
            yield from reports(root, campaign)
    except NoFolder:
        return
    except NotAReport as error:
        raise BadArguments(str(error)) from None


def _is_read(name: str) -> bool:
    return Path(name).name in ("report.json", "summary.json", ANSWER) and not name.startswith(".")


def publish_page(
    location: str,
    campaign: Campaign,
    changes: Sequence[StateChange],
    answers: Sequence[Answer],
    decision: Decision,
    until: dt.date,
) -> tuple[str, str]:
    """Where the page is, and its first sentence."""
    folder = f"{FOLDER}/{folder_name(campaign.name)}"
    with published_place(location, folder, folder) as place:
        try:
            published = before(campaign.name, place.root)
        except NotAHistory as error:
            raise BadArguments(str(error)) from None
        shown = view(campaign, changes, answers, decision, until, published)
        return place.shown(publish(shown, place.root) / PAGE), shown.sentence
