"""One ticket for each owner and fix of a planned upgrade: updated while work is left, fixed by evidence."""

from client_telemetry.campaign.vocabulary import FIXED, LEFT
from client_telemetry.reports.campaign.messages import already_down, task_of
from client_telemetry.reports.campaign.view import ApplicationRow, CampaignView
from client_telemetry.reports.owners import tickets as owner_tickets
from client_telemetry.reports.owners.message import Named, Upgrade
from client_telemetry.reports.owners.tickets import Item, change_named
from client_telemetry.trackers.ticket import Ticket


def tickets(view: CampaignView) -> list[Ticket]:
    """Of every application that was ever affected; a ticket is fixed when all its applications are."""
    campaign = view.campaign
    clusters = ", ".join(campaign.clusters)
    upgrade = Upgrade(
        scope=campaign.name,
        words=f"Kafka {campaign.target} ({campaign.name})",
        beginning=f"The brokers of {clusters} will be upgraded to Kafka {campaign.target} on {campaign.date}.",
        command=f"client-telemetry scan . --to {campaign.to_argument}",
        contact=campaign.contact,
    )
    down = already_down(view)
    items = []
    for row in view.applications:
        deciding = row.deciding
        named = Named(row.name, row.principal)
        change = change_named(deciding.verdict, deciding.fix)
        task = task_of(row, campaign, down) if row.state in LEFT else None
        items.append(Item(row.owner, change, named, task, _done(row), row.state == FIXED))
    return owner_tickets.tickets(upgrade, items)


def _done(row: ApplicationRow) -> str:
    deciding = row.deciding
    if row.state == FIXED:
        return f"fixed, by the evidence of {deciding.day}"
    until = f" until {deciding.until}" if deciding.until else ""
    return f"{row.state}{until}{f', by {deciding.by}' if deciding.by else ''}"
