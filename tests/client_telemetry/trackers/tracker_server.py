"""Issue trackers on this machine that behave as their documentation says: pages, statuses, fields, and errors on demand.

GitHub and Gitea: docs.github.com/rest/issues, Gitea's swagger (`/repos/{owner}/{repo}/issues`, header Link, 404 for what the token may not
see). GitLab: docs.gitlab.com/api/issues (`search` in `description`, `state_event`). Jira: `search/jql` with `nextPageToken` in Jira Cloud,
`search` with `startAt` in Data Center, transitions of a workflow.
"""

import json
import re
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, unquote, urlsplit

TOKEN = "s3cret"
PAGE = 2
"""Issues of a page, whatever is asked for: servers may give less."""


class TrackerServer:
    """`issues`: by number; `failures`: answers that come instead of the next ones, as (status, headers, document)."""

    def __init__(self, kind: str) -> None:
        self.kind, self.issues, self.failures, self.requests = kind, {}, [], []
        self.base = ""

    def add(self, title: str, body: str, **fields) -> dict:
        number = len(self.issues) + 1
        self.issues[number] = {"number": number, "title": title, "body": body, "is_open": True, **fields}
        return self.issues[number]

    def written(self) -> list[str]:
        return [f"{method} {path}" for method, path, _ in self.requests if method != "GET"]


@contextmanager
def running(kind: str):
    server = TrackerServer(kind)

    class Handler(BaseHTTPRequestHandler):
        def do(self) -> None:
            size = int(self.headers.get("Content-Length") or 0)
            document = json.loads(self.rfile.read(size)) if size else None
            parts = urlsplit(self.path)
            server.requests.append((self.command, parts.path, document))
            query = {name: values[0] for name, values in parse_qs(parts.query).items()}
            if server.failures:
                status, headers, answer = server.failures.pop(0)
            elif not _is_allowed(server.kind, self.headers):
                status, headers, answer = 401, {}, {"message": "Bad credentials"}
            else:
                status, headers, answer = _ROUTES[kind](server, self.command, parts.path, query, document)
            text = answer if isinstance(answer, str) else json.dumps(answer) if answer is not None else ""
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(text.encode())))
            self.end_headers()
            self.wfile.write(text.encode())

        do_GET = do_POST = do_PATCH = do_PUT = do  # noqa: N815

        def log_message(self, *_) -> None:
            pass

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.base = f"http://127.0.0.1:{http.server_port}"
    thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield server
    finally:
        http.shutdown()
        thread.join()
        http.server_close()


def _is_allowed(kind: str, headers) -> bool:
    if kind == "gitlab":
        return headers.get("PRIVATE-TOKEN") == TOKEN
    return headers.get("Authorization") in (f"Bearer {TOKEN}", f"token {TOKEN}", "Basic YW5uOnMzY3JldA==")


def _github(server, method, path, query, document):
    prefix = "/api/v1" if server.kind == "gitea" else ""
    found = re.fullmatch(rf"{prefix}/repos/team/upgrades/issues(?:/(\d+))?", path)
    if not found:
        return 404, {}, {"message": "Not Found"}
    if method == "GET":
        return _page(server, path, query, [_github_issue(each) for each in server.issues.values()])
    if method == "POST":
        if not document.get("title"):
            return (
                422,
                {},
                {"message": "Validation Failed", "errors": [{"field": "title", "code": "missing_field"}]},
            )
        return 201, {}, _github_issue(server.add(document["title"], document["body"]))
    issue = server.issues[int(found[1])]
    issue |= {key: document[key] for key in ("title", "body") if key in document}
    if "state" in document:
        issue["is_open"] = document["state"] == "open"
    return (201 if server.kind == "gitea" else 200), {}, _github_issue(issue)


def _github_issue(issue):
    state = "open" if issue["is_open"] else "closed"
    fields = {"number": issue["number"], "title": issue["title"], "body": issue["body"], "state": state}
    pull = {"pull_request": {"url": "x"}} if issue.get("is_pull") else {}
    return {**fields, "html_url": f"https://x/{issue['number']}", **pull}


def _page(server, path, query, issues):
    page = int(query.get("page", 1))
    shown = issues[(page - 1) * PAGE : page * PAGE]
    others = "&".join(f"{name}={value}" for name, value in query.items() if name != "page")
    link = f'<{server.base}{path}?{others}&page={page + 1}>; rel="next", <{server.base}{path}?page=9>; rel="last"'
    return 200, {"Link": link} if page * PAGE < len(issues) else {}, shown


def _gitlab(server, method, path, query, document):
    # The project's path is one part of the URL, its slashes encoded.
    found = re.fullmatch(r"/api/v4/projects/team%2Fsub%2Fupgrades/issues(?:/(\d+))?", path)
    if not found:
        return 404, {}, {"message": "404 Project Not Found"}
    if method == "GET":
        assert query["in"] == "description" and query["scope"] == "all"
        words = unquote(query["search"]).split()
        issues = [each for each in server.issues.values() if all(word in each["body"] for word in words)]
        return _page(server, path, query, [_gitlab_issue(each) for each in issues])
    if method == "POST":
        return (
            201,
            {},
            _gitlab_issue(
                server.add(document["title"], document["description"], due=document.get("due_date"))
            ),
        )
    issue = server.issues[int(found[1])]
    issue |= {
        "title": document.get("title", issue["title"]),
        "body": document.get("description", issue["body"]),
        "due": document.get("due_date", issue.get("due")),
    }
    if "state_event" in document:
        issue["is_open"] = document["state_event"] == "reopen"
    return 200, {}, _gitlab_issue(issue)


def _gitlab_issue(issue):
    state = "opened" if issue["is_open"] else "closed"
    fields = {"iid": issue["number"], "id": 1000 + issue["number"], "title": issue["title"], "state": state}
    return {**fields, "description": issue["body"], "web_url": f"https://x/{issue['number']}"}


_STATUSES = {"11": ("To Do", "new"), "21": ("In Progress", "indeterminate"), "31": ("Done", "done")}


def _jira(server, method, path, query, document):
    if path == "/rest/api/2/search/jql":
        if server.kind == "jira_data_center":
            return 404, {}, {"errorMessages": ["null for uri"]}
        start = int(query.get("nextPageToken", 0))
        shown = list(server.issues.values())[start : start + PAGE]
        more = {"nextPageToken": str(start + PAGE)} if start + PAGE < len(server.issues) else {"isLast": True}
        return 200, {}, {"issues": [_jira_issue(each) for each in shown], **more}
    if path == "/rest/api/2/search":
        if server.kind == "jira":
            return 410, {}, {"errorMessages": ["The requested API has been removed."]}
        start = int(query.get("startAt", 0))
        shown = list(server.issues.values())[start : start + PAGE]
        return (
            200,
            {},
            {"total": len(server.issues), "startAt": start, "issues": [_jira_issue(each) for each in shown]},
        )
    if path == "/rest/api/2/issue" and method == "POST":
        fields = document["fields"]
        if fields["issuetype"]["name"] != "Task":
            return (
                400,
                {},
                {"errorMessages": [], "errors": {"issuetype": "The issue type selected is invalid."}},
            )
        # Jira ends lines with CR LF.
        made = server.add(
            fields["summary"], fields["description"].replace("\n", "\r\n"), labels=fields["labels"]
        )
        return 201, {}, {"id": "1", "key": f"UP-{made['number']}"}
    number = int(path.split("/issue/UP-")[1].split("/")[0])
    issue = server.issues[number]
    if path.endswith("/transitions"):
        if method == "GET":
            to = [
                {"id": key, "name": name, "to": {"statusCategory": {"key": category}}}
                for key, (name, category) in _STATUSES.items()
            ]
            return 200, {}, {"transitions": to}
        issue["is_open"] = _STATUSES[document["transition"]["id"]][1] != "done"
        return 204, {}, None
    issue |= {"title": document["fields"]["summary"], "body": document["fields"]["description"]}
    return 204, {}, None


def _jira_issue(issue):
    category = "new" if issue["is_open"] else "done"
    fields = {
        "summary": issue["title"],
        "description": issue["body"],
        "status": {"statusCategory": {"key": category}},
    }
    return {"key": f"UP-{issue['number']}", "fields": fields}


_ROUTES = {"github": _github, "gitea": _github, "gitlab": _gitlab, "jira": _jira, "jira_data_center": _jira}
