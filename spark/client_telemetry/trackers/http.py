"""Requests of a tracker's API: JSON in and out, the token in a header, errors as one line."""

import json
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from email.message import Message as Headers
from http.client import HTTPException
from typing import Any, Final, NamedTuple
from urllib.parse import urljoin, urlsplit

TIMEOUT_S: Final = 30
LONGEST_WAIT_S: Final = 120
"""A rate limit that lasts longer ends the command: it is run again later and goes on where it was."""
_TRIES: Final = 4
_LARGEST: Final = 50_000_000
_REASONS: Final = ("message", "errorMessages", "errors", "error_description", "error")
"""Where GitHub, Gitea, Jira and GitLab say why; the last two of a GitLab that knows neither token nor path."""
_REDIRECTS: Final = (301, 302, 307, 308)


class TrackerError(Exception):
    """What the tracker answered, or that it did not, and what to do; one line. `status`: of HTTP, 0 without an answer."""

    def __init__(self, message: str, status: int = 0) -> None:
        super().__init__(message)
        self.status = status


class Answer(NamedTuple):
    document: Any
    headers: Mapping[str, str]


@dataclass(frozen=True)
class Api:
    """`base`: URL without a slash at its end. `headers`: with the token. `pause_s`: between requests that change something
    (GitHub asks for one second). `wait`: replaceable, for tests."""

    name: str
    base: str
    headers: Mapping[str, str]
    token_variable: str
    pause_s: float = 0
    wait: Callable[[float], None] = field(default=time.sleep)

    def get(self, url: str) -> Answer:
        """`url`: below the base, or whole if it is at the same server."""
        return self._request("GET", url, None)

    def send(self, method: str, url: str, document: Mapping[str, Any]) -> Any:
        answer = self._request(method, url, document)
        self.wait(self.pause_s)
        return answer.document

    def _request(self, method: str, url: str, document: Mapping[str, object] | None) -> Answer:
        url = self._same_server(url if url.startswith(("http:", "https:")) else f"{self.base}{url}")
        for attempt in range(_TRIES):
            try:
                return self._once(method, url, document)
            except urllib.error.HTTPError as error:
                with error:
                    if error.code in _REDIRECTS and error.headers.get("Location"):
                        url = self._same_server(urljoin(url, error.headers["Location"]))
                        continue
                    said = _said(error)
                    seconds = _retry_after(error, attempt, method, said)
                    if seconds is None or attempt == _TRIES - 1:
                        raise TrackerError(self._words(error, method, url, said), error.code) from None
                    if seconds > LONGEST_WAIT_S:
                        raise TrackerError(
                            f"{self.name}: the rate limit is used up for {seconds:.0f} more seconds: run the command again then; "
                            "what has been written is not written twice"
                        ) from None
                self.wait(seconds)
            except (OSError, HTTPException) as error:
                reason = error.reason if isinstance(error, urllib.error.URLError) else error
                raise TrackerError(f"{self.name}: no answer from {_host(url)}: {reason}") from None
        raise TrackerError(f"{self.name}: {_host(url)} redirects without end")

    def _once(self, method: str, url: str, document: Mapping[str, object] | None) -> Answer:
        data = None if document is None else json.dumps(document).encode()
        headers = {"User-Agent": "client-telemetry", "Accept": "application/json", **self.headers}
        if data is not None:
            headers["Content-Type"] = "application/json"
        request = urllib.request.Request(url, data, headers, method=method)
        with without_redirects().open(request, timeout=TIMEOUT_S) as opened:
            text = opened.read(_LARGEST)
            answered = {name.lower(): value for name, value in opened.headers.items()}
        if not text.strip():
            return Answer(None, answered)
        try:
            return Answer(json.loads(text), answered)
        except ValueError:
            raise TrackerError(
                f"{self.name}: {_host(url)} answers with something else than JSON: is it the address of the API? (--url)"
            ) from None

    def _same_server(self, url: str) -> str:
        """The token goes to the named server only."""
        if urlsplit(url)[:2] != urlsplit(self.base)[:2]:
            raise TrackerError(
                f"{self.name}: the server refers to {_host(url)}, which is not followed: name it by --url"
            )
        return url

    def _words(self, error: urllib.error.HTTPError, method: str, url: str, said: str) -> str:
        what = {
            401: f"the token in {self.token_variable} is not accepted",
            403: f"the token in {self.token_variable} may not do this ({method} {urlsplit(url).path})",
            404: f"not found, or hidden from the token in {self.token_variable}: {urlsplit(url).path}",
            410: f"no longer there: {urlsplit(url).path}",
            422: "refused as invalid",
            400: "refused as invalid",
            429: "too many requests: run the command again later",
        }.get(error.code, f"answered {error.code}")
        if error.code == 404 and not said:  # every API of a tracker says something
            what = f"{_host(url)} has no {urlsplit(url).path}: is it the address of the API? (--url)"
        return f"{self.name}: {what}{said}"


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    def redirect_request(
        self, req: urllib.request.Request, fp: object, code: int, msg: str, headers: Headers, newurl: str
    ) -> None:
        return None


def without_redirects() -> urllib.request.OpenerDirector:
    """urllib would send a secret along, wherever it is led. Answers that redirect are errors."""
    return urllib.request.build_opener(_NoRedirects)


def _retry_after(error: urllib.error.HTTPError, attempt: int, method: str, said: str) -> float | None:
    """Seconds to wait before another try; None = another try makes no sense. What a server that fails did with a change is not
    known, so only reading is repeated then."""
    if error.code in (502, 503, 504) and method == "GET":
        return _seconds(error.headers.get("Retry-After"), 2.0**attempt)
    if error.code not in (403, 429):
        return None
    if error.headers.get("Retry-After"):
        return _seconds(error.headers["Retry-After"], 60)
    if error.headers.get("X-RateLimit-Remaining") == "0":
        return max(1.0, _seconds(error.headers.get("X-RateLimit-Reset"), 0) - time.time())
    # GitHub's secondary limits: "Otherwise, wait for at least one minute" (docs.github.com, Best practices).
    return 60.0 if error.code == 429 or "rate limit" in said.lower() else None


def _seconds(text: str | None, default: float) -> float:
    try:
        return max(0.0, float(text or ""))
    except ValueError:
        return default


def _said(error: urllib.error.HTTPError) -> str:
    """What the server says of it, shortened to one line."""
    try:
        document = json.loads(error.read(10_000))
    except (ValueError, OSError, HTTPException):
        return ""
    said = next(filter(None, map(document.get, _REASONS)), "") if isinstance(document, dict) else ""
    details = document.get("errors") if isinstance(document, dict) else None
    text = said if isinstance(said, str) else json.dumps(said)
    if details and details is not said:
        text += f" {json.dumps(details)}"
    text = "".join(character if character.isprintable() else " " for character in text)
    return f": {text[:300]}" if text else ""


def _host(url: str) -> str:
    return urlsplit(url).netloc.rpartition("@")[2]
