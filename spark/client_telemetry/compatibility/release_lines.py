"""A client whose version names a line of releases only, as people write it ('2.6', '2.6.x').

Clients declare whole versions; a list of clients is typed. Releases of one line may differ in what decides a verdict
(librdkafka 2.6.0 and 2.6.1), and the first of a line is not always the worst (franz-go 1.15.1).
"""

import re
from collections.abc import Callable
from dataclasses import replace

from client_telemetry.compatibility.evidence import ClientEvidence, declared_library
from client_telemetry.compatibility.verdict import ClientVerdict
from client_telemetry.knowledge import client_ranges, client_versions, known_issues
from client_telemetry.knowledge.vocabulary import PRECEDENCE, Verdict

_LINE = re.compile(r"v?(\d+\.\d+)(?:\.[xX])?")


def judged(evidence: ClientEvidence, judge: Callable[[ClientEvidence], ClientVerdict]) -> ClientVerdict:
    """The verdict of a client; of one that names a line only, that of all releases that it can be."""
    verdicts = [judge(release) for release in _releases(evidence)]
    if len({verdict.verdict for verdict in verdicts}) < 2:
        # Conditions tell more than none.
        return max((judge(evidence), *verdicts), key=lambda verdict: len(verdict.condition))
    worst = min(verdicts, key=lambda verdict: PRECEDENCE.index(verdict.verdict))
    unknown = judge(replace(evidence, client_software_version=None))
    shown = unknown if unknown.verdict in (Verdict.BREAKS, Verdict.INSUFFICIENT_EVIDENCE) else worst
    why = f"Releases of {evidence.client_software_version} differ: its whole version would settle it."
    return replace(shown, explanation=f"{shown.explanation} {why}", missing=(*shown.missing, why))


def _releases(evidence: ClientEvidence) -> list[ClientEvidence]:
    """The client as each release of its line at which something changes; none if its version is whole."""
    line = _LINE.fullmatch(evidence.client_software_version or "")
    identity = declared_library(evidence) if line and evidence.written is None else None
    if line is None or identity is None or identity.version is None or not identity.version_decides:
        return []
    whole = releases_of(identity.library, evidence.client_software_version or "")
    return [replace(evidence, client_software_version=version) for version in whole]


def releases_of(library: str, text: str) -> list[str]:
    """The releases of a line at which something changes; none if the text names no line.

    >>> releases_of("librdkafka", "2.6.x"), releases_of("librdkafka", "2.6.1")
    (['2.6.0', '2.6.1'], [])
    """
    line = _LINE.fullmatch(text)
    if line is None:
        return []
    numbers = client_versions.parse(line[1])[:2]
    patches = {0} | {version[2] for version in _boundaries(library) if version[:2] == numbers}
    return [f"{line[1]}.{patch}" for patch in sorted(patches)]


def _boundaries(library: str) -> set[tuple[int, ...]]:
    """The versions of a library that the knowledge base names, because something begins, ends or is fixed there."""
    rows = [row for row in client_ranges.read(client_ranges.FILE) if row.library == library]
    issues = [issue for issue in known_issues.known() if issue.library == library]
    fixed = {client_versions.parse(issue.fixed_in.partition(" ")[2]) for issue in issues if issue.fixed_in}
    begin = {row.version_from for row in rows} | {issue.version_from for issue in issues}
    end = {row.version_to for row in rows} | {issue.version_to for issue in issues}
    return begin | end | fixed
