"""Jira's REST API, version 2, in which texts are wiki markup: Jira Cloud and Jira Data Center have it."""

import base64
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlencode

from client_telemetry.trackers.http import Api, TrackerError
from client_telemetry.trackers.ticket import Issue, Ticket

LABEL: Final = "client-telemetry"
_FIELDS: Final = "summary,description,status"
_PAGE: Final = 100
_NO_SUCH_PATH: Final = (404, 405)


def authorization(token: str) -> str:
    """`user@example.com:TOKEN` for Jira Cloud (Basic), a personal access token alone for Data Center (Bearer)."""
    if ":" in token:
        return f"Basic {base64.b64encode(token.encode()).decode()}"
    return f"Bearer {token}"


@dataclass(frozen=True)
class Jira:
    """`project`: its key. Issues are found by a label; it may be changed to another issue type than `Task`."""

    api: Api
    project: str
    issue_type: str = "Task"

    def issues(self) -> Iterator[Issue]:
        """In Jira Cloud by `search/jql`, in pages by token (`search` is gone there since 2025); Data Center has `search` only."""
        query: dict[str, object] = {"jql": self._jql, "fields": _FIELDS, "maxResults": _PAGE}
        try:
            document = self.api.get(f"/rest/api/2/search/jql?{urlencode(query)}").document
        except TrackerError as error:
            if error.status not in _NO_SUCH_PATH:
                raise
            yield from self._by_number(query)
            return
        while True:
            yield from self._issues_of(document)
            token = document.get("nextPageToken")
            if not token:
                return
            document = self.api.get(
                f"/rest/api/2/search/jql?{urlencode({**query, 'nextPageToken': token})}"
            ).document

    def body(self, ticket: Ticket) -> str:
        return ticket.wiki

    def create(self, ticket: Ticket) -> Issue:
        fields: dict[str, object] = {
            "project": {"key": self.project},
            "issuetype": {"name": self.issue_type},
            "summary": ticket.title,
            "description": ticket.wiki,
            "labels": [LABEL],
        }
        made = self.api.send("POST", "/rest/api/2/issue", {"fields": fields})
        try:
            key = str(made["key"])
        except (TypeError, KeyError):
            raise _not_understood(self.api) from None
        return Issue(key, self._url(key), ticket.title, ticket.wiki, is_open=True)

    def update(self, issue: Issue, ticket: Ticket, body: str) -> None:
        self.api.send(
            "PUT",
            f"/rest/api/2/issue/{issue.number}",
            {"fields": {"summary": ticket.title, "description": body}},
        )

    def set_open(self, issue: Issue, *, is_open: bool) -> None:
        """By the first transition of the workflow that leads to a status of the category Done, or out of it."""
        path = f"/rest/api/2/issue/{issue.number}/transitions"
        document = self.api.get(path).document
        transitions = document.get("transitions", []) if isinstance(document, dict) else []
        for transition in transitions:
            if (_category(transition.get("to")) != "done") == is_open:
                self.api.send("POST", path, {"transition": {"id": str(transition["id"])}})
                return
        where = "out of Done" if is_open else "to Done"
        raise TrackerError(
            f"{self.api.name}: the workflow of {issue.number} has no transition {where} for this token"
        )

    def _by_number(self, query: dict[str, object]) -> Iterator[Issue]:
        start, total = 0, 1
        while start < total:
            document = self.api.get(f"/rest/api/2/search?{urlencode({**query, 'startAt': start})}").document
            yield from self._issues_of(document)
            if not document["issues"]:
                return
            start, total = start + len(document["issues"]), int(document.get("total", 0))

    @property
    def _jql(self) -> str:
        return f'project = "{self.project}" AND labels = "{LABEL}" ORDER BY created ASC'

    def _issues_of(self, document: Any) -> Iterator[Issue]:
        try:
            for each in document["issues"]:
                fields = each["fields"]
                issue = Issue(
                    str(each["key"]),
                    self._url(str(each["key"])),
                    str(fields["summary"]),
                    str(fields.get("description") or ""),
                    _category(fields.get("status")) != "done",
                )
                if issue.key:
                    yield issue
        except (TypeError, KeyError, AttributeError):
            raise _not_understood(self.api) from None

    def _url(self, key: str) -> str:
        return f"{self.api.base}/browse/{key}"


def _category(status: object) -> str:
    """`new`, `indeterminate` or `done`; empty if Jira does not say."""
    category = status.get("statusCategory") if isinstance(status, dict) else None
    return str(category.get("key") or "") if isinstance(category, dict) else ""


def _not_understood(api: Api) -> TrackerError:
    return TrackerError(f"{api.name}: the answer is not that of its API: is --url the address of Jira?")
