"""The result of a scan as GitHub Flavored Markdown: for a comment on a merge request or a job's summary."""

from collections.abc import Iterator

from client_telemetry.artefacts.found import Result
from client_telemetry.reports.artefacts.text import MOST_FOR_DEVELOPMENT, MOST_IMAGES, summary
from client_telemetry.reports.markdown import code, prose, table

_MOST_ROWS = 200


def lines(result: Result, target: str) -> Iterator[str]:
    yield prose(summary(result, target))
    yield ""
    cells = [
        (
            found.judged.verdict,
            code(found.client.text),
            code(str(found.place), 120),
            prose(found.judged.explanation),
            prose(found.judged.fix),
            code(found.owner) if found.owner else "",
        )
        for found in result.found[:_MOST_ROWS]
    ]
    if cells:
        yield from table(("Verdict", "Client", "Where", "Why", "Fix", "Owner"), cells)
    if len(result.found) > _MOST_ROWS:
        yield ""
        yield f"{len(result.found) - _MOST_ROWS} more are not shown."
    for each in result.development[:MOST_FOR_DEVELOPMENT]:
        yield ""
        yield f"Only for tests or development: {code(each.client.text)} in {code(str(each.place), 120)} ({prose(each.said_by)})"
    for unread in result.unread:
        yield ""
        yield f"Not read: {code(unread.file, 120)}: {prose(unread.reason)}"
    for image in result.images[:MOST_IMAGES]:
        yield ""
        yield f"Image, not read: {code(image.reference)} in {code(f'{image.file}:{image.line}', 120)}"
