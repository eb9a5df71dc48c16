"""The web application: routes, who may see them, and the headers that every answer carries."""

import json
import re
import shlex
from http import HTTPStatus
from typing import Annotated, Any
from urllib.parse import quote, urlencode

from fastapi import FastAPI, HTTPException, Query, Request, Response
from fastapi.exception_handlers import http_exception_handler
from fastapi.responses import JSONResponse, RedirectResponse
from include.clusters import ClustersFileError, read_clusters
from include.releases import RELEASES
from starlette.exceptions import HTTPException as StarletteHTTPException

from telemetry_pages import PREFIX, campaigns, rest
from telemetry_pages.access import CAMPAIGN, DAILY, IMPACT, REVIEW, SUBSCRIPTIONS, ReaderDep, reader_of
from telemetry_pages.answering import HEADERS, SANDBOX, Files, framed, html
from telemetry_pages.client_day import client_day, days_with
from telemetry_pages.client_facts import NAMED, of_day, verdicts
from telemetry_pages.measured_targets import measured_targets
from telemetry_pages.numbers import MEDIA_TYPE, merged
from telemetry_pages.pages import brokers, client_query
from telemetry_pages.published import (
    CAMPAIGNS,
    CHECKS,
    FLEET,
    MEDIA_TYPES,
    PAGE,
    REPORTS,
    REVIEWS,
    NotPublished,
    Published,
)
from telemetry_pages.run_pages import Place, pages_of_run
from telemetry_pages.search import SHOWN, forms, instance_id, search

PUBLISHED_PAGE = (
    f"sandbox {SANDBOX}; default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; "
)
PUBLISHED_PAGE += "base-uri 'none'; form-action 'none'; frame-ancestors 'self'"
"""Policy of a published page, beside its own, which admits one style and one script by their digests. In the sandbox
it has an origin of its own: it cannot act as the user who looks at it."""

MISSING = "Page not found"
_TITLES = {403: "Access denied", 404: MISSING, 500: "This page cannot be shown"}
LISTED_DAYS, LISTED_REPORTS, CALENDAR_DAYS = 14, 10, 31
ROUTES = {FLEET: "fleet", REPORTS: "reports", REVIEWS: "reviews", CHECKS: "checks", CAMPAIGNS: "campaigns"}
"""First part of the address of a published page in its frame, by kind."""
DOWNLOADS = {
    FLEET: (
        *(
            "software.csv",
            "clients.csv",
            "deprecated.csv",
            "metrics.csv",
            "application_metrics.csv",
            "streams.csv",
        ),
        *("never_pushed.csv", "refused.csv", "requests.csv", "quality.csv", "fleet.json"),
    ),
    REPORTS: ("clients.csv", "findings.csv", "report.md", "report.json"),
    REVIEWS: ("outcomes.csv", "metric_changes.csv", "review.json"),
    CHECKS: ("clients.csv", "instances.csv", "report.md", "report.json"),
}
SEARCH_DAYS = {1: "the latest day", 7: "the last 7 days", 31: "the last 31 days", 92: "the last 92 days"}


app = FastAPI(title="Client telemetry", docs_url=None, redoc_url=None, openapi_url=None)
app.include_router(campaigns.router)
app.include_router(rest.router)


@app.exception_handler(NotPublished)
async def _not_published(request: Request, error: NotPublished) -> Response:
    return html(request, "missing.html", 404, title=MISSING, message=str(error))


@app.exception_handler(StarletteHTTPException)
async def _refused(request: Request, error: StarletteHTTPException) -> Response:
    """A person who is not logged in is led to the login and back, and gets any other refusal as a page. Programs get Airflow's
    own answers."""
    root = request.scope.get("root_path", "")
    if "text/html" in request.headers.get("accept", "") and request.method == "GET":
        if error.status_code == 401:
            here = f"{request.url.path}?{request.url.query}" if request.url.query else request.url.path
            login = f"{root.removesuffix(PREFIX)}/api/v2/auth/login?{urlencode({'next': here})}"
            return RedirectResponse(login, 303, HEADERS)
        message = error.detail if error.detail != HTTPStatus(error.status_code).phrase else ""
        title = _TITLES.get(error.status_code, HTTPStatus(error.status_code).phrase)
        return html(request, "missing.html", error.status_code, title=title, message=message)
    return await http_exception_handler(request, error)


@app.exception_handler(Exception)
async def _broken(request: Request, error: Exception) -> Response:
    """Airflow's log has the traceback."""
    if "text/html" not in request.headers.get("accept", ""):
        return JSONResponse({"detail": "Internal Server Error"}, 500)
    message = "The log of Airflow's API server says why."
    return html(request, "missing.html", 500, title=_TITLES[500], message=message)


@app.get("/", dependencies=[reader_of(DAILY)])
def overview(request: Request, files: Files, reader: ReaderDep) -> Response:
    clusters = []
    for name in filter(reader.sees, files.clusters()):
        days = files.days(name)
        summaries = files.summaries(name, days[:LISTED_DAYS])
        listed = {"days": summaries, "more_days": len(days) - len(summaries)}
        clusters.append({"name": name, **listed, **_answers(files, reader, name)})
    plans = campaigns.shown_to(files, reader)[0] if reader.may_read(CAMPAIGN) else []
    limits = {"listed_days": LISTED_DAYS, "listed_reports": LISTED_REPORTS}
    return html(request, "overview.html", title="Client telemetry", clusters=clusters, plans=plans, **limits)


@app.get("/clusters/{cluster}", dependencies=[reader_of(DAILY)])
def days(request: Request, files: Files, reader: ReaderDep, cluster: str) -> Response:
    """All pages and reports of a cluster."""
    _known(files, cluster)
    summaries = files.summaries(cluster, files.days(cluster))
    answers = _answers(files, reader, cluster)
    return html(request, "cluster.html", title=cluster, cluster=cluster, days=summaries, **answers)


def _answers(files: Published, reader: ReaderDep, cluster: str) -> dict[str, list[dict[str, Any]] | None]:
    """Upgrade reports and reviews of a cluster; None: the user may not read them."""
    return {
        "reports": files.reports(cluster) if reader.may_read(IMPACT) else None,
        "reviews": files.reports(cluster, REVIEWS) if reader.may_read(REVIEW) else None,
    }


@app.get("/fleet/{cluster}/{day}", dependencies=[reader_of(DAILY)])
def fleet_page(request: Request, files: Files, cluster: str, day: str) -> Response:
    return _shown(request, files, f"Fleet page of {cluster}, {day}", FLEET, cluster, day)


@app.get("/client/{cluster}/{day}", dependencies=[reader_of(DAILY)])
def client_page(
    request: Request,
    files: Files,
    reader: ReaderDep,
    cluster: str,
    day: str,
    id: Annotated[str | None, Query(max_length=1024)] = None,
    principal: Annotated[str, Query(max_length=1024)] = "",
    file: bool = False,
) -> Response:
    """A client's day in curves, and what is known of it; as a file, with `file`. Without `id`: the client that sent no client id."""
    try:
        found = client_day(files, cluster, day, id, principal)
    except NotPublished as error:
        ways = [(f"All clients of {day}", f"fleet/{quote(cluster, safe='')}/{quote(day, safe='')}")]
        if name := id or principal:
            ways.append(
                (
                    f"Search for {name} on other days",
                    f"search?{urlencode({'q': name, 'days': max(SEARCH_DAYS)})}",
                )
            )
        return html(request, "missing.html", 404, title=MISSING, message=str(error), ways=ways)
    query = client_query({"client_id": id, "principal": principal})
    shown = {"cluster": cluster, "day": day, "principal": principal, "query": query, **found}
    key = id, principal
    facts = {
        "days": days_with(files, cluster, files.days(cluster)[:LISTED_DAYS], *key),
        "of_day": of_day(files, cluster, day, key),
        "verdicts": verdicts(files, cluster, key) if reader.may_read(IMPACT) else None,
        "may_ask": reader.may_read(IMPACT),
        "named": NAMED,
        "listed_days": LISTED_DAYS,
    }
    answer = html(request, "client.html", title=f"{found['client']['shown']}, {day}", **facts, **shown)
    if file:
        answer.headers["Content-Disposition"] = f'attachment; filename="client-{day}.html"'
    return answer


@app.get("/reports/{cluster}/{report}", dependencies=[reader_of(IMPACT)])
def report_page(request: Request, files: Files, cluster: str, report: str) -> Response:
    return _shown(request, files, f"Upgrade report of {cluster}", REPORTS, cluster, report)


@app.get("/reviews/{cluster}/{review}", dependencies=[reader_of(REVIEW)])
def review_page(request: Request, files: Files, cluster: str, review: str) -> Response:
    return _shown(request, files, f"Review of an upgrade of {cluster}", REVIEWS, cluster, review)


@app.get("/checks", dependencies=[reader_of(SUBSCRIPTIONS)])
def checks(request: Request, files: Files, reader: ReaderDep) -> Response:
    """All subscription checks, and where to ask for one: Airflow's own form."""
    found = {name: files.reports(name, CHECKS) for name in filter(reader.sees, files.clusters())}
    return html(request, "checks.html", title="Subscription checks", found=found, dag=SUBSCRIPTIONS)


@app.get("/checks/{cluster}/{report}", dependencies=[reader_of(SUBSCRIPTIONS)])
def check_page(request: Request, files: Files, cluster: str, report: str) -> Response:
    return _shown(request, files, f"Subscription check of {cluster}", CHECKS, cluster, report)


@app.get("/quality/{cluster}/{day}", dependencies=[reader_of(DAILY)])
def quality(request: Request, files: Files, cluster: str, day: str) -> Response:
    document = files.document(FLEET, cluster, day, "quality.json")
    conf = json.dumps({"day": day, "clusters": [cluster]})
    return html(
        request,
        "quality.html",
        title=f"Quality of {cluster}, {day}",
        cluster=cluster,
        day=day,
        checks=document["checks"],
        lost=document.get("lost", {"sentence": "", "damaged": []}),  # older pages did not say
        command=f"airflow dags trigger {DAILY} --conf {shlex.quote(conf)}",
    )


@app.get("/coverage/{cluster}", dependencies=[reader_of(DAILY)])
def coverage(request: Request, files: Files, cluster: str, until: str | None = None) -> Response:
    """A calendar: a row for each day and broker, a cell for each hour."""
    _known(files, cluster)
    listed = [day for day in files.days(cluster) if until is None or day <= until]
    summaries = files.summaries(cluster, listed[:CALENDAR_DAYS])
    earlier = listed[CALENDAR_DAYS] if len(listed) > CALENDAR_DAYS else None
    title = f"Coverage of {cluster}"
    return html(request, "coverage.html", title=title, cluster=cluster, days=summaries, earlier=earlier)


@app.get("/search", dependencies=[reader_of(DAILY)])
def find(
    request: Request,
    files: Files,
    reader: ReaderDep,
    q: Annotated[str, Query(max_length=1024)] = "",
    cluster: str = "",
    days: int = 7,
) -> Response:
    clusters = list(filter(reader.sees, files.clusters()))
    days = days if days in SEARCH_DAYS else 7
    asked = [name for name in clusters if cluster in ("", name)]
    hits = search(files, q, asked, days) if q.strip() else []
    id_ = instance_id(q)
    return html(
        request,
        "search.html",
        title="Search",
        q=q,
        hits=hits,
        days=days,
        chosen=cluster,
        clusters=clusters,
        search_days=SEARCH_DAYS,
        forms=forms(id_) if id_ else {},
        id_forms=forms,
        limit=SHOWN,
    )


@app.get("/ask", dependencies=[reader_of(IMPACT)])
def ask(request: Request, files: Files, reader: ReaderDep, cluster: str = "") -> Response:
    """A form for a run of broker_upgrade_impact. Its script asks Airflow's own REST interface, which knows whether the
    user may and whether the values can be meant."""
    try:
        clusters = read_clusters().by_name
    except ClustersFileError as error:
        raise HTTPException(500, str(error)) from None
    published_names = files.clusters()
    known = []
    for name in filter(reader.sees, clusters):
        days = files.days(name) if name in published_names else []
        latest = files.summaries(name, days[:1])[0] if days else {}
        known.append(
            {
                "name": name,
                "days": days,
                "brokers": brokers(latest),
                "targets": measured_targets(clusters[name].targets),
                "next": next_release(oldest_running(latest)),
            }
        )
    return html(
        request,
        "ask.html",
        title="Ask an upgrade question",
        clusters=known,
        chosen=cluster,
        releases=RELEASES,
    )


def oldest_running(day: dict[str, Any]) -> str | None:
    """The oldest release that brokers run at the end of a day, from its summary; of days of an older version the oldest of the
    whole day.

    >>> oldest_running({"oldest_release": "3.9.1", "releases": [{"release": "4.3.1", "broker_ids": [1, 2, 3]}]})
    '4.3.1'
    """
    running = [each["release"] for each in day.get("releases", ()) if _numbers(each["release"])]
    return min(running, key=_numbers, default=day.get("oldest_release"))


def next_release(release: str | None) -> str:
    """The newest patch of the next minor release that RELEASES has; after the newest one, and where nothing is known, the newest
    release; empty if brokers run one that is newer still.

    >>> next_release("3.8.1"), next_release(None) == RELEASES[0]
    ('3.9.2', True)
    """
    minor = (_numbers(release) or _numbers(RELEASES[0]))[:2]
    newer = [each for each in RELEASES if _numbers(each)[:2] > minor]
    if not newer:
        return RELEASES[0] if _numbers(RELEASES[0])[:2] == minor else ""
    next_minor = _numbers(newer[-1])[:2]
    return next(each for each in newer if _numbers(each)[:2] == next_minor)


def _numbers(release: str | None) -> tuple[int, ...]:
    """None of what is no release of Apache Kafka."""
    return tuple(map(int, release.split("."))) if release and re.fullmatch(r"\d+(\.\d+)+", release) else ()


@app.get("/answered/{run_id:path}", dependencies=[reader_of(IMPACT)])
def answered(files: Files, reader: ReaderDep, run_id: str) -> Response:
    """From a run to the report that it published."""
    return _to_report(files, reader, run_id, REPORTS, "reports", "upgrade report")


@app.get("/checked/{run_id:path}", dependencies=[reader_of(SUBSCRIPTIONS)])
def checked(files: Files, reader: ReaderDep, run_id: str) -> Response:
    """From a run to the subscription check that it published."""
    return _to_report(files, reader, run_id, CHECKS, "checks", "subscription check")


def _to_report(
    files: Published, reader: ReaderDep, run_id: str, kind: str, page_: str, words: str
) -> Response:
    report = files.report_of_run(run_id, kind)
    if report is None or not reader.sees(report["cluster"]):
        raise NotPublished(f"No {words} for this run yet")
    place = "/".join(quote(report[name], safe="") for name in ("cluster", "folder"))
    return RedirectResponse(f"{reader.request.scope.get('root_path', '')}/{page_}/{place}", 303, HEADERS)


_PAGE_WORDS = {
    DAILY: "fleet page",
    IMPACT: "upgrade report",
    REVIEW: "review",
    SUBSCRIPTIONS: "subscription check",
    CAMPAIGN: "campaign",
}


def _page_of(place: Place) -> dict[str, str]:
    """A published page as the list of a run shows it."""
    kind, about, *rest = place
    words = {FLEET: "Fleet page", REVIEWS: "Review", CAMPAIGNS: "Campaign"}[kind]
    entry = "".join(rest).replace("_", " ") or about
    address = "/".join(quote(each, safe="") for each in place[1:])
    cluster = f"Cluster {about}: " if rest else ""
    return {"place": f"{ROUTES[kind]}/{address}", "cluster": cluster, "words": f"{words} {entry}"}


@app.get("/runs/{dag_id}/{run_id:path}")
def pages_of_a_run(
    request: Request,
    files: Files,
    reader: ReaderDep,
    dag_id: str,
    run_id: str,
    task: str | None = None,
    map_index: int | None = None,
) -> Response:
    """What a DAG run published, for the tab of the run; of one of its tasks, for the link of the task. One page is shown, several
    are listed."""
    if dag_id not in _PAGE_WORDS:
        raise NotPublished(f"Runs of {dag_id} publish no pages")
    reader.check(dag_id)
    if dag_id == IMPACT:
        return _to_report(files, reader, run_id, REPORTS, "reports", "upgrade report")
    if dag_id == SUBSCRIPTIONS:
        return _to_report(files, reader, run_id, CHECKS, "checks", "subscription check")
    found = [
        _page_of(place)
        for place in pages_of_run(dag_id, run_id, task, map_index)
        if files.file(*place, PAGE) and _sees(files, reader, *place[:2])
    ]
    if not found:
        raise NotPublished(f"No {_PAGE_WORDS[dag_id]} for this run yet")
    if len(found) == 1:
        return RedirectResponse(f"{request.scope.get('root_path', '')}/{found[0]['place']}", 303, HEADERS)
    return html(request, "run.html", title="Published by this run", found=found)


@app.get(f"/files/{CHECKS}/{{path:path}}", dependencies=[reader_of(SUBSCRIPTIONS)])
def check_file(files: Files, path: str) -> Response:
    return file(files, CHECKS, path)


@app.get(f"/files/{FLEET}/{{path:path}}", dependencies=[reader_of(DAILY)])
def fleet_file(files: Files, path: str) -> Response:
    return file(files, FLEET, path)


@app.get("/metrics", dependencies=[reader_of(DAILY)])
def metrics(files: Files, reader: ReaderDep) -> Response:
    """Numbers of every cluster and campaign that the user may see, as OpenMetrics."""
    dags = {"fleet": DAILY, "upgrade": IMPACT, "campaign": CAMPAIGN}
    texts = []
    for name, text in files.numbers().items():
        kind, _, about = name.partition("-")
        folder = CAMPAIGNS if kind == "campaign" else kind
        if kind in dags and reader.may_read(dags[kind]) and _sees(files, reader, folder, about):
            texts.append(text)
    return Response(merged(texts), media_type=MEDIA_TYPE, headers=HEADERS)


def _sees(files: Published, reader: ReaderDep, kind: str, about: str) -> bool:
    """`about`: the folder of a cluster, or of a campaign."""
    return campaigns.sees(files, reader, about) if kind == CAMPAIGNS else reader.sees(about)


@app.get(f"/files/{REPORTS}/{{path:path}}", dependencies=[reader_of(IMPACT)])
def report_file(files: Files, path: str) -> Response:
    return file(files, REPORTS, path)


@app.get(f"/files/{REVIEWS}/{{path:path}}", dependencies=[reader_of(REVIEW)])
def review_file(files: Files, path: str) -> Response:
    return file(files, REVIEWS, path)


@app.get(f"/files/{CAMPAIGNS}/{{campaign}}/{{name:path}}", dependencies=[reader_of(CAMPAIGN)])
def campaign_file(files: Files, reader: ReaderDep, campaign: str, name: str) -> Response:
    """The page of a planned upgrade, its gate (gate.json) and all else, for who sees each of its clusters."""
    campaigns.check(files, reader, campaign)
    return file(files, CAMPAIGNS, f"{campaign}/{name}")


def file(files: Published, kind: str, path: str) -> Response:
    """A published file: a page in its sandbox, anything else as a download."""
    found = files.file(kind, *path.split("/"))
    headers = {**HEADERS, "Content-Security-Policy": PUBLISHED_PAGE}
    if found.suffix != ".html":
        headers["Content-Disposition"] = f'attachment; filename="{found.name}"'
    media_type = f"{MEDIA_TYPES[found.suffix]}; charset=utf-8"
    return Response(found.read_bytes(), media_type=media_type, headers=headers)


def _known(files: Published, cluster: str) -> None:
    if cluster not in files.clusters():
        raise NotPublished(f"No pages for cluster {cluster!r}")


def _shown(request: Request, files: Published, title: str, kind: str, cluster: str, entry: str) -> Response:
    """A published page in a frame, with the way back, the downloads and the messages to owners above it."""
    message = "review.md" if kind == REVIEWS else "report.md"
    about = {"cluster": cluster, "entry": entry}
    return framed(request, files, title, (kind, cluster, entry), DOWNLOADS[kind], message, **about)
