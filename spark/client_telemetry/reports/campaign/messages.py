"""A message to each owner with something left to do: it contains the work, and fits a chat or a ticket."""

from collections.abc import Collection, Sequence
from typing import Final

from client_telemetry.campaign.plan import Campaign
from client_telemetry.campaign.vocabulary import QUIET
from client_telemetry.console.counted import counted
from client_telemetry.console.grouped import grouped
from client_telemetry.reports.campaign.document import clusters_left
from client_telemetry.reports.campaign.view import ApplicationRow, CampaignView
from client_telemetry.reports.names import folder_name
from client_telemetry.reports.owners import forms
from client_telemetry.reports.owners.message import Message, Named, Task, Upgrade, message, task_for

RETIRED: Final = "It was affected, and is not seen any more: is it retired?"


def messages(view: CampaignView) -> dict[str, str]:
    """Path within the campaign's folder to text; the first line of Markdown and plain text is the subject."""
    by_owner = grouped((row for row in view.left if row.owner), lambda row: row.owner or "")
    down = already_down(view)
    return {
        f"{folder_of(owner)}/{name}": text
        for owner, rows in by_owner.items()
        for name, text in forms.files(owner_message(view.campaign, owner, rows, down)).items()
    }


def folder_of(owner: str) -> str:
    return f"owners/{folder_name(owner)}"


def already_down(view: CampaignView) -> frozenset[Named]:
    """Applications with a client that fails on today's brokers, by the newest report of each cluster."""
    return frozenset(Named(name, principal) for report in view.reports for principal, name in report.failing)


def owner_message(
    campaign: Campaign, owner: str | None, rows: Sequence[ApplicationRow], down: Collection[Named] = ()
) -> Message:
    """`rows`: at least one, most urgent first."""
    clusters = ", ".join(campaign.clusters)
    upgrade = Upgrade(
        words=f"Kafka {campaign.target} (cluster{'s' if len(campaign.clusters) > 1 else ''} {clusters})",
        beginning=(
            f"The brokers of {clusters} will be upgraded to Kafka {campaign.target} on {campaign.date}. "
            f"{counted(len(rows), 'application')} of yours {'is' if len(rows) == 1 else 'are'} left to change, or to answer for."
        ),
        command=f"client-telemetry scan . --to {campaign.to_argument}",
        contact=campaign.contact,
    )
    return message(owner, [task_of(row, campaign, down) for row in rows], upgrade)


def task_of(row: ApplicationRow, campaign: Campaign, down: Collection[Named] = ()) -> Task:
    """What is left to do in an application."""
    named = Named(row.name, row.principal)
    deciding, clusters = row.deciding, clusters_left(row)
    if deciding.state == QUIET:
        return Task((named,), clusters, RETIRED, False, False, row.deadline)
    is_down = frozenset([named]) & frozenset(down)
    return task_for(
        named, clusters, deciding.verdict, deciding.fix, deciding.why, row.deadline, campaign.contact, is_down
    )
