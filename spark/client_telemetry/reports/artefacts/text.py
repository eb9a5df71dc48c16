"""The result of a scan for a terminal: the worst first, each with what to do."""

from collections.abc import Iterator
from textwrap import wrap

from client_telemetry.artefacts.found import Found, Result
from client_telemetry.artefacts.named_images import NamedImage
from client_telemetry.console.counted import counted
from client_telemetry.knowledge.vocabulary import Verdict
from client_telemetry.reports.client_strings import without_invisible

WIDTH = 110
MOST_IMAGES = 20
MOST_FOR_DEVELOPMENT = 20


def lines(result: Result, target: str) -> Iterator[str]:
    for found in result.found:
        yield from _lines(found)
        yield ""
    for each in result.development[:MOST_FOR_DEVELOPMENT]:
        where = f"{each.client.text}  {each.place} ({each.said_by})"
        yield f"only for tests or development: {without_invisible(where)}"
    if (more := len(result.development) - MOST_FOR_DEVELOPMENT) > 0:
        yield f"{more} more only for tests or development: --format json lists all"
    for unread in result.unread:
        yield f"not read: {without_invisible(unread.file)}: {without_invisible(unread.reason)}"
    for image in result.images[:MOST_IMAGES]:
        yield f"image, not read: {without_invisible(image_text(image))}"
    if (more := len(result.images) - MOST_IMAGES) > 0:
        yield f"{counted(more, 'more image')}, not read: --format json lists all"
    if result.images:
        yield "to read an image: scan its SBOM, or what `docker save` or `skopeo copy` writes of it"
    yield summary(result, target)


def image_text(image: NamedImage) -> str:
    why = f": {image.why_unknown}" if image.why_unknown else ""
    return f"{image.reference}  {image.file}:{image.line}{why}"


def summary(result: Result, target: str) -> str:
    """`4 Kafka clients in 12 files against 4.3.1: 2 breaks, 1 insufficient_evidence, 1 safe; 1 file not read`."""
    counts: dict[str, int] = {}
    for found in result.found:
        counts[found.judged.verdict] = counts.get(found.judged.verdict, 0) + 1
    verdicts = ", ".join(f"{number} {verdict}" for verdict, number in counts.items())
    apart = f"; {len(result.development)} only for tests or development" if result.development else ""
    unread = f"; {counted(len(result.unread), 'file')} not read" if result.unread else ""
    if result.images:
        unread += f"; {counted(len(result.images), 'image')} named and not read"
    clients = counted(len(result.found), "Kafka client")
    return f"{clients} in {counted(result.read, 'file')} against {target}{': ' if verdicts else ''}{verdicts}{apart}{unread}"


def _lines(found: Found) -> Iterator[str]:
    judged = found.judged
    yield f"{judged.verdict:<22}{without_invisible(found.client.text)}  {without_invisible(str(found.place))}"
    if judged.verdict != Verdict.SAFE:
        yield from paragraph(judged.explanation)
        if judged.fix:
            yield from paragraph(f"fix: {judged.fix}")
        for line in found.diff.splitlines():
            yield f"    {without_invisible(line)}"
    for known in found.vulnerabilities:
        yield from paragraph(f"{known.id}: {known.what}")
    if found.owner:
        yield from paragraph(f"owner: {found.owner} ({found.owner_source})")


def paragraph(text: str, indent: str = "    ") -> Iterator[str]:
    safe = without_invisible(text)
    return (f"{indent}{line}" for line in wrap(safe, WIDTH, break_on_hyphens=False, break_long_words=False))
