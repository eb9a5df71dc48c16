"""Notices about planned upgrades: digests to owners, regressions to operators at once."""

import datetime as dt
import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import replace

from client_telemetry.campaign.vocabulary import REGRESSED
from client_telemetry.console.counted import counted
from client_telemetry.console.grouped import grouped
from client_telemetry.notices.senders import Notice
from client_telemetry.notices.settings import Settings
from client_telemetry.reports.campaign.messages import already_down, owner_message
from client_telemetry.reports.campaign.view import ApplicationRow, CampaignView
from client_telemetry.reports.markdown import code
from client_telemetry.reports.markup import is_address
from client_telemetry.reports.owners import forms

_NAMED = 20


def notices(view: CampaignView, settings: Settings) -> Iterator[tuple[str, Notice]]:
    """What each notice is about, and the notice."""
    if settings.owners:
        yield from _to_owners(view, settings)
    yield from _regressions(view, settings)


def without_address(view: CampaignView) -> list[str]:
    """Owners with something left whose contact is no e-mail address: nobody can tell them."""
    left = {row.owner: row.contact for row in view.left if row.owner}
    return sorted(owner for owner, contact in left.items() if not (contact and is_address(contact)))


def to_operators(about: str, notice: Notice, settings: Settings) -> Iterator[tuple[str, Notice]]:
    """The same to every operator and to the chat."""
    for address in settings.operators:
        yield f"{about}:{address}", replace(notice, to=address)
    if settings.webhook:
        yield f"{about}:chat", replace(notice, to="")


def _to_owners(view: CampaignView, settings: Settings) -> Iterator[tuple[str, Notice]]:
    reachable = (row for row in view.left if row.owner and row.contact and is_address(row.contact))
    by_owner = grouped(reachable, lambda row: row.owner or "")
    down = already_down(view)
    for owner, rows in sorted(by_owner.items()):
        days = (view.campaign.deadline(owner) - view.day).days
        short = forms.fitted(owner_message(view.campaign, owner, rows, down))
        regressed = sum(row.state == REGRESSED for row in rows)
        subject = f"{_in_days(days)}{f'{regressed:,} regressed: ' if regressed else ''}{short.subject}"
        yield (
            f"owner:{view.campaign.name}:{owner}",
            Notice(
                _digest(rows, _reminder(days, settings)),
                rows[0].contact or "",
                subject,
                forms.plain_text(short).partition("\n\n")[2],
                forms.html_mail(short),
            ),
        )


def _in_days(days: int) -> str:
    """How a subject says that a deadline is near or has passed."""
    if days < 0:
        return f"{counted(-days, 'day')} late: "
    return f"{counted(days, 'day')} left: " if days <= 14 else ""


def _reminder(days: int, settings: Settings) -> str:
    """Which of the reminders is due: the last one whose day has come."""
    due = [limit for limit in settings.deadline_days if days <= limit]
    return str(min(due)) if due else ""


def _digest(rows: Sequence[ApplicationRow], reminder: str) -> str:
    """Of what concerns an owner: another one is news. Wordings and counts of days are none."""
    parts = sorted(
        f"{row.principal}\0{row.name}\0{row.state}\0{row.deciding.fix}\0{row.deadline}" for row in rows
    )
    return hashlib.sha256("\n".join([reminder, *parts]).encode(errors="surrogatepass")).hexdigest()[:16]


def _regressions(view: CampaignView, settings: Settings) -> Iterator[tuple[str, Notice]]:
    rows = [row for row in view.applications if row.state == REGRESSED]
    if not rows:
        return
    lines = [f"- {code(row.name)} of {row.owner or 'no owner'}: {row.deciding.why}" for row in rows[:_NAMED]]
    if len(rows) > _NAMED:
        lines.append(f"- {len(rows) - _NAMED:,} more")
    notice = Notice(
        _digest(rows, ""),
        "",
        f"{counted(len(rows), 'application')} regressed: {view.campaign.name}",
        f"{view.sentence}\n\n" + "\n".join(lines) + "\n",
    )
    yield from to_operators(f"regressed:{view.campaign.name}", notice, settings)


def late_days(
    published: Sequence[tuple[str, dt.date]], now: dt.datetime, settings: Settings
) -> Iterator[tuple[str, Notice]]:
    """`published`: each cluster with the newest day that is. `now`: UTC."""
    if settings.published_by is None:
        return
    expected = now.date() - dt.timedelta(days=1 if now.time() >= settings.published_by else 2)
    for cluster, newest in published:
        if newest < expected:
            notice = Notice(
                str(expected),
                "",
                f"{cluster}: {expected} is not published",
                f"The newest published day of cluster {cluster} is {newest}; {expected} was to be there by "
                f"{settings.published_by:%H:%M} UTC. Look at the newest run of client_telemetry_daily.\n",
            )
            yield from to_operators(f"late:{cluster}", notice, settings)


def failed(run: str, reason: str, settings: Settings) -> Iterator[tuple[str, Notice]]:
    """`run`: by which it is told apart from other runs that fail."""
    notice = Notice(run, "", f"{run} failed", f"{reason}\n")
    yield from to_operators("failed", notice, settings)
