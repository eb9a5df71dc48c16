"""Read-only REST over what is published: the questions of `client-telemetry mcp` (docs/rest.md), with the rights of the pages. Of the jobs'
package it imports these questions alone, which need nothing but the standard library."""

import json
from collections.abc import Callable
from functools import lru_cache
from typing import Annotated, Any, Final

from fastapi import APIRouter, HTTPException, Query, Response

from telemetry_pages import campaigns
from telemetry_pages.access import CAMPAIGN, IMPACT, ReaderDep, reader_of
from telemetry_pages.answering import HEADERS, Files
from telemetry_pages.light import package_module
from telemetry_pages.published import CAMPAIGNS, REPORTS, File, NotPublished, Published

_questions_module = package_module("answers.questions")
_published_module = package_module("answers.published")
NotThere: type[Exception] = _questions_module.NotThere
MOST: Final = int(_questions_module.MOST)

LARGEST_ANSWER: Final = 2**20
"""Bytes."""
LARGEST_READ: Final = 256 * 2**20
"""Bytes of a published file that is read for an answer."""
LONGEST_LIST: Final = 200
LONGEST_TEXT: Final = 2000

router = APIRouter(prefix="/api/v1")
Text = Annotated[str, Query(max_length=1024)]


class _Readable:
    """What is published, as the questions read it."""

    def __init__(self, files: Published) -> None:
        self._files = files

    def clusters(self) -> list[str]:
        return self._files.clusters()

    def reports(self, cluster: str) -> list[dict[str, Any]]:
        found = [each for each in self._files.reports(cluster) if "to_release" in each]
        return [{**each, "report": each["folder"]} for each in found]

    def report(self, cluster: str, report: str = "") -> dict[str, Any]:
        name = _published_module.report_name(cluster, self.reports(cluster), report)
        return self._document(REPORTS, cluster, name, "report.json")

    def campaigns(self) -> list[str]:
        return [each["folder"] for each in self._files.campaigns()]

    def campaign(self, name: str) -> dict[str, Any]:
        return self._document(CAMPAIGNS, name, "campaign.json")

    def _document(self, *names: str) -> dict[str, Any]:
        try:
            file = self._files.file(*names)
            if file.size() > LARGEST_READ:
                raise NotThere(
                    f"{'/'.join(names)} is too large to be asked here: read the file, or its CSV files"
                )
            found = _parsed(file, file.version())
        except NotPublished as error:
            raise NotThere(str(error)) from None
        except ValueError:
            found = None
        if not isinstance(found, dict):
            raise NotThere(f"{'/'.join(names)} is damaged: publish it again")
        return found


@lru_cache(maxsize=2)
def _parsed(file: File, _version: str) -> Any:
    return json.loads(file.read_bytes())


def _answer(question: Callable[..., dict[str, Any]], *arguments: object) -> Response:
    try:
        found = question(*arguments)
    except NotThere as error:
        raise HTTPException(404, str(error)) from None
    body = json.dumps(bounded(found), allow_nan=False, separators=(",", ":")).encode()
    if len(body) > LARGEST_ANSWER:
        raise HTTPException(413, "The answer is longer than 1 MiB: ask for fewer rows by limit.")
    return Response(body, media_type="application/json", headers=HEADERS)


def bounded(value: Any) -> Any:
    """Lists of at most LONGEST_LIST items, texts of at most LONGEST_TEXT characters.

    >>> bounded({"a": ["x" * 2001]})["a"][0][-3:]
    'xx…'
    """
    if isinstance(value, dict):
        return {name: bounded(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [bounded(each) for each in value[:LONGEST_LIST]]
    if isinstance(value, str) and len(value) > LONGEST_TEXT:
        return f"{value[: LONGEST_TEXT - 1]}…"
    return value


def _questions(files: Published) -> Any:
    return _questions_module.Questions(_Readable(files))


@router.get("/clusters", dependencies=[reader_of(IMPACT)])
def clusters(files: Files, reader: ReaderDep) -> Response:
    """Clusters that the user sees, with their upgrade reports, the newest first."""

    def seen() -> dict[str, Any]:
        found = _questions(files).what_is_published()["clusters"]
        return {"clusters": {name: reports for name, reports in found.items() if reader.sees(name)}}

    return _answer(seen)


@router.get("/clusters/{cluster}/upgrade", dependencies=[reader_of(IMPACT)])
def upgrade(files: Files, cluster: str, report: Text = "") -> Response:
    """The answer of a report; without `report`, of the newest."""
    return _answer(_questions(files).upgrade, cluster, report)


@router.get("/clusters/{cluster}/applications", dependencies=[reader_of(IMPACT)])
def applications(
    files: Files,
    cluster: str,
    report: Text = "",
    outcome: Text = "",
    owner: Text = "",
    contains: Text = "",
    limit: Annotated[int, Query(ge=1, le=MOST)] = 50,
    offset: Annotated[int, Query(ge=0)] = 0,
) -> Response:
    """Applications, worst first."""
    asked = (cluster, report, outcome, owner, contains, limit, offset)
    return _answer(_questions(files).applications, *asked)


@router.get("/clusters/{cluster}/applications/{id}", dependencies=[reader_of(IMPACT)])
def application(files: Files, cluster: str, id: str, report: Text = "") -> Response:
    """One application with its clients."""
    return _answer(_questions(files).application, cluster, id, report)


@router.get("/clusters/{cluster}/clients/{id}", dependencies=[reader_of(IMPACT)])
def client(files: Files, cluster: str, id: str, report: Text = "") -> Response:
    """A client's verdict and its evidence."""
    return _answer(_questions(files).evidence, cluster, id, report)


@router.get("/clusters/{cluster}/open_questions", dependencies=[reader_of(IMPACT)])
def open_questions(files: Files, cluster: str, report: Text = "") -> Response:
    """What is not known, and what settles it."""
    return _answer(_questions(files).what_settles_it, cluster, report)


@router.get("/clusters/{cluster}/owners", dependencies=[reader_of(IMPACT)])
def owners(files: Files, cluster: str, report: Text = "") -> Response:
    return _answer(_questions(files).owners, cluster, report)


@router.get("/clusters/{cluster}/releases", dependencies=[reader_of(IMPACT)])
def releases(files: Files, cluster: str, report: Text = "") -> Response:
    """How applications fare on other releases."""
    return _answer(_questions(files).compare_releases, cluster, report)


@router.get("/campaigns", dependencies=[reader_of(CAMPAIGN)])
def planned(files: Files, reader: ReaderDep) -> Response:
    """Campaigns that the user sees: those to come, then those whose day has passed."""
    keys = ("campaign", "folder", "clusters", "to_release", "planned_for", "sentence", "decision", "code")
    more = ("left", "counts", "asked_at", "day")

    def listed() -> dict[str, Any]:
        coming, passed = campaigns.shown_to(files, reader)
        rows = [{key: each.get(key) for key in (*keys, *more)} for each in (*coming, *passed)]
        return {"total": len(rows), "campaigns": rows}

    return _answer(listed)


@router.get("/campaigns/{campaign}", dependencies=[reader_of(CAMPAIGN)])
def campaign(files: Files, reader: ReaderDep, campaign: str) -> Response:
    """What is left of a planned upgrade; `campaign`: its folder."""
    _check(files, reader, campaign)
    return _answer(_questions(files).campaign, campaign)


@router.get("/campaigns/{campaign}/gate", dependencies=[reader_of(CAMPAIGN)])
def gate(files: Files, reader: ReaderDep, campaign: str) -> Response:
    """The decision of the last run, as `client-telemetry gate --format=json` prints it."""
    _check(files, reader, campaign)
    return _answer(lambda: dict(files.document(CAMPAIGNS, campaign, "gate.json")))


def _check(files: Published, reader: ReaderDep, campaign: str) -> None:
    try:
        campaigns.check(files, reader, campaign)
    except NotPublished as error:
        raise HTTPException(404, str(error)) from None
