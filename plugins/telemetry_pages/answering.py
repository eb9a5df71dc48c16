"""What every route answers with: the published files, and pages with their headers."""

import os
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Annotated, Any

from fastapi import Depends, HTTPException, Request, Response
from fastapi.responses import HTMLResponse
from include import credentials
from include.clusters import ClustersFileError, read_clusters

from telemetry_pages import PREFIX
from telemetry_pages.pages import page, policy
from telemetry_pages.published import NotPublished, Published

HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cache-Control": "no-store",
}
SANDBOX = "allow-scripts allow-downloads allow-modals allow-popups allow-popups-to-escape-sandbox"
"""What a published page may do: run its script, hand out files, open the print dialog, open release notes and mail."""


@cache
def _take_credentials() -> None:
    """Those of Airflow connections, once: what reads the store keeps its client."""
    os.environ.update(credentials.from_connections())


def published() -> Published:
    """Read at each request, so that an edit of the clusters file counts at once."""
    try:
        _take_credentials()
        return Published(read_clusters().publish)
    except (ClustersFileError, credentials.UnusableConnection, NotPublished) as error:
        raise HTTPException(500, str(error)) from None


Files = Annotated[Published, Depends(published)]


def framed(
    request: Request,
    files: Published,
    title: str,
    place: Sequence[str],
    downloads: Iterable[str],
    message: str,
    **values: Any,
) -> Response:
    """The published page in the folder `place`, in a frame, with the way back, those of the `downloads` that there are, and the
    messages to owners above it. Raises NotPublished."""
    names, owners = files.entry(message, *place)
    found = [name for name in downloads if name in names]
    parts = {"place": place, "downloads": found, "owners": owners, "message": message, "sandbox": SANDBOX}
    return html(request, "shown.html", title=title, **parts, **values)


def html(request: Request, template: str, status: int = 200, **values: Any) -> Response:
    root = request.scope.get("root_path", "")
    text = page(template, base=root, airflow=root.removesuffix(PREFIX), **values)
    return HTMLResponse(text, status, {**HEADERS, "Content-Security-Policy": policy()})
