"""What an owner gets of a review: a message with the outcome of each of their clients, what was predicted, and what to do."""

from collections.abc import Sequence

from client_telemetry.console.counted import counted
from client_telemetry.console.grouped import grouped
from client_telemetry.reports.client_strings import client_label
from client_telemetry.reports.markdown import code, prose, table
from client_telemetry.reports.review.report import ReviewReport, has_news, message_path, moment
from client_telemetry.reports.review.wording import happened, predicted, well_again
from client_telemetry.reports.wording import minute
from client_telemetry.review import applications
from client_telemetry.review.model import ReviewedClient
from client_telemetry.review.outcome import Happened

ROWS = 200
_COLUMNS = ("Application", "Outcome", "Since (UTC)", "What the brokers recorded", "Predicted", "Fix")


def owner_packs(report: ReviewReport) -> dict[str, str]:
    """Path within the review's folder to content, for each owner with an application that is not simply unaffected."""
    concerned = (each for each in report.review.clients if each.owner is not None and has_news(each))
    by_owner = grouped(concerned, lambda client: client.owner or "")
    return {message_path(owner): _pack(report, owner, clients) for owner, clients in sorted(by_owner.items())}


def _pack(report: ReviewReport, owner: str, clients: Sequence[ReviewedClient]) -> str:
    upgrade = report.review.upgrade
    urgent = [client for client in clients if client.is_down or client.last_outcome.outcome == Happened.GONE]
    ordered = [*urgent, *(client for client in clients if client not in urgent)]
    lines = [
        f"# Upgrade of {code(report.cluster_name)} from {upgrade.from_release} to {upgrade.to_release}: applications of {code(owner)}",
        "",
        _need_action(len(applications.keys(urgent)), len(applications.keys(clients)), len(clients)),
        "",
        *table(_COLUMNS, map(_cells, ordered[:ROWS])),
    ]
    if len(ordered) > ROWS:
        lines.append(f"\n{len(ordered) - ROWS} more in outcomes.csv.")
    return "\n".join(lines) + "\n"


def _cells(client: ReviewedClient) -> tuple[str, ...]:
    last = client.last_outcome
    return (
        _name(client),
        prose(well_again(client) or happened(last)),
        minute(moment(last.since)),
        "; ".join(prose(reason) for reason in last.reasons),
        prose(predicted(client)),
        prose(client.fix),
    )


def _need_action(urgent: int, all_of_them: int, clients: int) -> str:
    """In applications; how many clients they are, where those are more.

    >>> _need_action(1, 1, 1), _need_action(2, 3, 9)
    ('1 of 1 application needs action now.', '2 of 3 applications (9 clients) need action now.')
    """
    if not urgent:
        return "None of them needs action now."
    below = f" ({counted(clients, 'client')})" if clients != all_of_them else ""
    need = "needs" if urgent == 1 else "need"
    return f"{urgent:,} of {counted(all_of_them, 'application')}{below} {need} action now."


def _name(client: ReviewedClient) -> str:
    """The client, and the application if that has another name."""
    name = f"{code(client_label(client.client_id))} {code(client.principal)}"
    is_other = client.application not in ("", client.client_id)
    return f"{code(client_label(client.application))}: {name}" if is_other else name
