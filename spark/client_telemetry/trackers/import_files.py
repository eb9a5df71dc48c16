"""CSV files that trackers import, for those that no token reaches."""

import csv
import io
from collections.abc import Iterable
from typing import Final

from client_telemetry.trackers.jira import LABEL
from client_telemetry.trackers.ticket import Ticket

GITHUB_COLUMNS: Final = ("title", "body", "labels", "state")
"""As the usual import scripts of GitHub and the CSV import of Gitea's and GitLab's tools read them; GitLab's own import takes `title`
and `description` (docs.gitlab.com, Importing issues from CSV)."""
GITLAB_COLUMNS: Final = ("title", "description", "due_date")
JIRA_COLUMNS: Final = ("Summary", "Description", "Issue Type", "Labels", "Due Date")
FORMS: Final = ("github", "gitlab", "jira")


def import_csv(tickets: Iterable[Ticket], form: str) -> str:
    """Tickets with something left. RFC 4180; texts begin with words of this program, so no cell begins a formula."""
    open_tickets = [ticket for ticket in tickets if ticket.has_work]
    text = io.StringIO()
    writer = csv.writer(text, quoting=csv.QUOTE_ALL, lineterminator="\r\n")
    if form == "jira":
        writer.writerow(JIRA_COLUMNS)
        writer.writerows((each.title, each.wiki, "Task", LABEL, each.due) for each in open_tickets)
    elif form == "gitlab":
        writer.writerow(GITLAB_COLUMNS)
        writer.writerows((each.title, each.markdown, each.due) for each in open_tickets)
    else:
        writer.writerow(GITHUB_COLUMNS)
        writer.writerows((each.title, each.markdown, LABEL, "open") for each in open_tickets)
    return text.getvalue()
