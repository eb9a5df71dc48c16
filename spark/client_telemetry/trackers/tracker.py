"""What every tracker can do, and the three that speak much the same language."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol
from urllib.parse import quote, urlencode, urlsplit

from client_telemetry.trackers.http import Api, TrackerError
from client_telemetry.trackers.ticket import Issue, Ticket

_NEXT = re.compile(r'<([^>]+)>\s*;[^,]*\brel="?next"?')


class _Names(NamedTuple):
    """What an API calls the parts of an issue, and the state of an open one."""

    number: str
    url: str
    body: str
    opened: str


_GITHUB = _Names("number", "html_url", "body", "open")
_GITLAB = _Names("iid", "web_url", "description", "opened")


class Tracker(Protocol):
    """Issues of one project. Every method raises TrackerError."""

    def issues(self) -> Iterator[Issue]:
        """Those whose bodies have a key, open and closed."""
        ...

    def body(self, ticket: Ticket) -> str: ...

    def create(self, ticket: Ticket) -> Issue: ...

    def update(self, issue: Issue, ticket: Ticket, body: str) -> None: ...

    def set_open(self, issue: Issue, *, is_open: bool) -> None: ...


@dataclass(frozen=True)
class GitHub:
    """GitHub's REST API, version 2022-11-28, and Gitea's, which has the same paths and fields for issues. All issues are read, since labels
    are dropped silently without push access and search finds new issues late. `page`: parameters of the list.
    """

    api: Api
    repository: str
    page: str = "per_page=100"

    def issues(self) -> Iterator[Issue]:
        return _issues(self.api, self._path, f"state=all&{self.page}", _GITHUB)

    def body(self, ticket: Ticket) -> str:
        return ticket.markdown

    def create(self, ticket: Ticket) -> Issue:
        made = self.api.send("POST", self._path, {"title": ticket.title, "body": ticket.markdown})
        return _issue(self.api, made, _GITHUB)

    def update(self, issue: Issue, ticket: Ticket, body: str) -> None:
        self.api.send("PATCH", f"{self._path}/{issue.number}", {"title": ticket.title, "body": body})

    def set_open(self, issue: Issue, *, is_open: bool) -> None:
        self.api.send("PATCH", f"{self._path}/{issue.number}", {"state": "open" if is_open else "closed"})

    @property
    def _path(self) -> str:
        owner, _, name = self.repository.partition("/")
        return f"/repos/{quote(owner, safe='')}/{quote(name, safe='')}/issues"


@dataclass(frozen=True)
class GitLab:
    """GitLab's REST API, version 4. `project`: its path, with all groups, or its number."""

    api: Api
    project: str

    def issues(self) -> Iterator[Issue]:
        query = urlencode(
            {"scope": "all", "in": "description", "search": "client-telemetry", "per_page": 100}
        )
        return _issues(self.api, self._path, query, _GITLAB)

    def body(self, ticket: Ticket) -> str:
        return ticket.markdown

    def create(self, ticket: Ticket) -> Issue:
        made = self.api.send("POST", self._path, _fields(ticket, ticket.markdown))
        return _issue(self.api, made, _GITLAB)

    def update(self, issue: Issue, ticket: Ticket, body: str) -> None:
        self.api.send("PUT", f"{self._path}/{issue.number}", _fields(ticket, body))

    def set_open(self, issue: Issue, *, is_open: bool) -> None:
        event = "reopen" if is_open else "close"
        self.api.send("PUT", f"{self._path}/{issue.number}", {"state_event": event})

    @property
    def _path(self) -> str:
        return f"/api/v4/projects/{quote(self.project, safe='')}/issues"


def _fields(ticket: Ticket, body: str) -> dict[str, str]:
    due = {"due_date": ticket.due} if ticket.due else {}
    return {"title": ticket.title, "description": body, **due}


def _issues(api: Api, path: str, query: str, names: _Names) -> Iterator[Issue]:
    for document in _pages(api, path, query):
        issue = _issue(api, document, names)
        if issue.key and not document.get("pull_request"):
            yield issue


def _issue(api: Api, document: Any, names: _Names) -> Issue:
    try:
        return Issue(
            str(int(document[names.number])),
            str(document.get(names.url) or ""),
            str(document["title"]),
            str(document.get(names.body) or ""),
            document["state"] == names.opened,
        )
    except (TypeError, KeyError, ValueError, AttributeError):
        raise _not_understood(api) from None


def _pages(api: Api, path: str, query: str) -> Iterator[Any]:
    """The elements of all pages of a list: the next one is named by the header Link (RFC 8288). Only its query is used: servers name
    themselves there by the address that they were configured with (Gitea: ROOT_URL), which may be another than that of --url."""
    while query:
        answer = api.get(f"{path}?{query}")
        if not isinstance(answer.document, list):
            raise _not_understood(api)
        yield from answer.document
        found = _NEXT.search(answer.headers.get("link", ""))
        query = urlsplit(found[1]).query if found else ""


def _not_understood(api: Api) -> TrackerError:
    return TrackerError(f"{api.name}: the answer is not that of its API: is --url the address of the server?")
