"""A message to each owner with something left to do: it contains the work, and fits a chat or a ticket."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Final

from client_telemetry.campaign.plan import Campaign
from client_telemetry.campaign.vocabulary import LEFT, QUIET
from client_telemetry.console.counted import counted
from client_telemetry.knowledge.vocabulary import Verdict
from client_telemetry.reports.campaign.document import clusters_left
from client_telemetry.reports.campaign.view import ApplicationRow, CampaignView
from client_telemetry.reports.client_strings import shortened
from client_telemetry.reports.markdown import code, prose
from client_telemetry.reports.names import folder_name

LONGEST: Final = 1800
"""Characters of a message, whatever the owner has: what does not fit is counted."""
_CHANGE: Final = 260
_NAME: Final = 48


def messages(view: CampaignView) -> dict[str, str]:
    """Path within the campaign's folder to text (Markdown); the first line is the subject."""
    by_owner: dict[str, list[ApplicationRow]] = defaultdict(list)
    for row in view.applications:
        if row.owner and row.state in LEFT:
            by_owner[row.owner].append(row)
    return {path_of(owner): message(view.campaign, owner, rows) for owner, rows in by_owner.items()}


def path_of(owner: str) -> str:
    return f"owners/{folder_name(owner)}/message.md"


def message(campaign: Campaign, owner: str, rows: Sequence[ApplicationRow]) -> str:
    """`rows`: at least one, most urgent first."""
    deadline = campaign.deadline(owner)
    clusters = ", ".join(campaign.clusters)
    begin = [
        f"{counted(len(rows), 'application')} of {prose(owner)} to change by {deadline}: Kafka {campaign.to_release}",
        "",
        f"The brokers of {prose(clusters)} are upgraded to Kafka {campaign.to_release} on {campaign.date}.",
        "",
    ]
    end = [
        "",
        "**How to see that it worked:** deploy the change. The next daily report that sees the new client, and the old one no "
        "longer, counts the application as fixed; you need not report it.",
        "",
        f"**Reply to {prose(campaign.contact)}** with one line: the day by which it is done, or what is retired and when.",
    ]
    room = (
        LONGEST - len("\n".join([*begin, *end])) - len("\n- … and 99,999 more; the planner has the list.\n")
    )
    lines: list[str] = []
    listed = 0
    for number, line in _blocks(rows):
        if len("\n".join([*lines, line])) > room:
            break
        lines.append(line)
        listed += number
    if listed < len(rows):
        lines.append(_more(len(rows) - listed, campaign))
    return "\n".join([*begin, *lines, *end]) + "\n"


def _more(number: int, campaign: Campaign) -> str:
    return f"- … and {number:,} more; {prose(campaign.contact)} has the list."


def _blocks(rows: Sequence[ApplicationRow]) -> Iterator[tuple[int, str]]:
    """Number of applications, and a line that says what to change in them; equal changes once."""
    by_change: dict[str, list[ApplicationRow]] = defaultdict(list)
    for row in rows:
        by_change[_change(row)].append(row)
    for change, same in by_change.items():
        for start in range(0, len(same), 5):
            some = same[start : start + 5]
            names = ", ".join(f"{code(row.name, _NAME)} ({prose(clusters_left(row))})" for row in some)
            yield len(some), f"- {names}: {prose(change)}"


def _change(row: ApplicationRow) -> str:
    deciding = row.deciding
    if deciding.state == QUIET:
        return "was affected, and is not seen any more: is it retired?"
    text = shortened(deciding.fix or deciding.why, _CHANGE)
    return (
        f"not known whether it breaks: {text}" if deciding.verdict == Verdict.INSUFFICIENT_EVIDENCE else text
    )
