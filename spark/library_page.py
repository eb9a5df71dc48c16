"""docs/libraries.md (`make generated`): what is known about each client library, and how surely."""

from collections import Counter

from client_telemetry.knowledge import (
    advice,
    apis,
    client_ranges,
    client_versions,
    known_issues,
    releases,
    roles,
    served,
    software,
    version_negotiation,
)
from client_telemetry.knowledge.client_ranges import Row
from client_telemetry.knowledge.known_issues import KnownIssue
from client_telemetry.knowledge.vocabulary import Role, Verdict

TARGET = "4.0.1"
"""The release that the page judges versions by: 4.0.0 differs from it in JoinGroup alone."""


def text() -> str:
    """The page in Markdown."""
    by_library: dict[str, list[Row]] = {}
    for row in client_ranges.every():
        by_library.setdefault(row.library, []).append(row)
    lines = [
        "# What is known about client libraries",
        "",
        "Written by `make generated` from the",
        "[knowledge base](knowledge-base.md), whose rows name their sources. *Versions*: those whose request versions are",
        f"known. *Works with {TARGET}*: versions whose producer, or group consumer, finds everything that it needs, according to",
        "ranges and known issues. *Rows*: number of known ranges, by confidence (high: read in the source at these",
        "tags; medium: read in part). *Asks for versions*: of its first broker alone, of each broker once, or on each connection",
        "([what it means](knowledge-base.md#version_negotiationcsv)).",
        "",
        f"| library | declares | versions | producer works with {TARGET} | group consumer | asks for versions | rows high / medium / low |",
        "|---|---|---|---|---|---|---:|",
    ]
    for library in sorted(by_library):
        of_library = by_library[library]
        count = Counter(row.confidence for row in of_library)
        lines.append(
            f"| {library} | {_names(library)} | {_span(of_library)} | {_works_since(library, of_library, Role.PRODUCER)} "
            f"| {_works_since(library, of_library, Role.GROUP_CONSUMER)} "
            f"| {_asks_for_versions(library)} "
            f"| {count['high']} / {count['medium']} / {count['low']} |"
        )
    lines += [
        "",
        "## Known issues",
        "",
        "| issue | library | brokers | verdict | source |",
        "|---|---|---|---|---|",
    ]
    for issue in known_issues.known():
        brokers = sorted(issue.brokers, key=releases.parse)
        until = brokers[-1] if brokers[-1] != releases.known()[-1] else "later"
        lines.append(
            f"| {issue.rule_id} | {_affected_versions(issue)} | {brokers[0]} to {until} | {issue.verdict} | {issue.source} |"
        )
    return "\n".join(lines) + "\n"


def _affected_versions(issue: KnownIssue) -> str:
    if issue.library == known_issues.ANY_LIBRARY:
        return "any" if issue.api_key is None else f"any that uses {apis.name(issue.api_key)}"
    if issue.library == known_issues.UNKNOWN_LIBRARY:
        return "any that is not known"
    return f"{issue.library} {known_issues.versions_of(issue)}"


def _names(library: str) -> str:
    names = [declared.software_name for declared in software.known().values() if declared.library == library]
    since = software.names_every_connection_since(library)
    if not names:
        return "nothing"
    return ", ".join(f"`{name}`" for name in names) + (
        f" (all connections from {client_versions.text(since)})"
        if since and any(since) and since < known_issues.NEWEST
        else ""
    )


def _asks_for_versions(library: str) -> str:
    spans = [
        f"{row.asks.replace('_', ' ')} {client_versions.text(row.version_from)} to {client_versions.text(row.version_to)}"
        for row in version_negotiation.every()
        if row.library == library
    ]
    return ", ".join(spans) or "not known"


def _span(of_library: list[Row]) -> str:
    oldest, newest = min(row.version_from for row in of_library), max(row.version_to for row in of_library)
    return f"{client_versions.text(oldest)} to {client_versions.text(newest)}"


def _works_since(library: str, of_library: list[Row], role: str) -> str:
    """First version that works; 'depends on its configuration' if the ranges belong to several configurations."""
    if len({row.configuration for row in of_library}) > 1:
        advised = advice.on(library, roles.needs()[role], TARGET)
        return (
            f"depends on configuration or class: {advised}"
            if advised
            else "depends on configuration or class"
        )
    needed = [key for key, need in roles.needs()[role].items() if need.needed]
    if (
        not any(row.api_key == apis.find("JoinGroup").key for row in of_library)
        and role == Role.GROUP_CONSUMER
    ):
        return "has no groups"
    good: tuple[int, ...] | None = None
    for step in sorted({row.version_from for row in of_library}):
        there = {
            row.api_key: row.versions for row in of_library if row.version_from <= step <= row.version_to
        }
        fine = all(served.by(TARGET)[key].works_with(there[key]) for key in needed if key in there)
        issues = [
            issue
            for issue in known_issues.known()
            if issue.library == library
            and issue.version_from <= step <= issue.version_to
            and TARGET in issue.brokers
            and issue.verdict == Verdict.BREAKS
            and not issue.condition
            and (not issue.roles or role in issue.roles)
        ]
        good = (good or step) if fine and not issues else None
    return f"from {client_versions.text(good)}" if good else "no known version"
