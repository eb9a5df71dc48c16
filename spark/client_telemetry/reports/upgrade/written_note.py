"""What artefacts add to the page of a report (docs/join.md): a sentence on the first screen, lists of their own, and in each
application's panel what is written about its clients. Never counted with what brokers saw.

The lists come from `written.json` beside the report, the document of `client-telemetry join` (reports/inventory/document.py).
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from markupsafe import Markup, escape

from client_telemetry.compatibility.go_no_go import GO, decide_unseen
from client_telemetry.console.counted import counted
from client_telemetry.formats.written_file import (
    FINDINGS,
    NAME,
    PROBABLE,
    PROVED,
    Artefact,
    Client,
    Finding,
    Vulnerable,
    Written,
    file_text,
)
from client_telemetry.knowledge.vocabulary import Verdict
from client_telemetry.reports.client_strings import client_label, shown
from client_telemetry.reports.folder import PAGE, replace_file
from client_telemetry.reports.outcomes import outcome

MOST_ROWS: Final = 100
"""Of each list on the page; all are in `written.json`."""
_SLOTS: Final = {
    name: re.compile(rf"(<!--{name}-->).*?(<!--/{name}-->)", re.S)
    for name in ("written-sentence", "written-lists")
}
_PANEL: Final = re.compile(
    r'<article class="app" id="(?P<application>[^"]+)".*?</article>(?=\n)',
    re.S,
)
_IN_PANEL: Final = re.compile(r"(<!--written-->).*?(<!--/written-->)", re.S)
_ID: Final = re.compile(r' id="(client-[0-9a-f]+)"')


def with_written(page: str, document: Written) -> str | None:
    """A page that was made before, with this join instead of its own; None where it has no place for one."""
    contents = {"written-sentence": _sentence(document), "written-lists": _lists(document)}
    for name, slot in _SLOTS.items():
        if not slot.search(page):
            return None
        page = slot.sub(lambda match, name=name: f"{match[1]}{contents[name]}{match[2]}", page, count=1)  # type: ignore[misc]
    clients = {each["anchor"]: each for each in document["clients"]}

    def in_panel(panel: re.Match[str]) -> str:
        of_panel = [clients[anchor] for anchor in _ID.findall(panel[0]) if anchor in clients]
        return _IN_PANEL.sub(lambda slot: f"{slot[1]}{_of_clients(of_panel)}{slot[2]}", panel[0], count=1)

    return _PANEL.sub(in_panel, page)


def add_written(folder: Path, document: Written) -> bool:
    """Has the page of a published report say what artefacts say (docs/join.md), and keeps the document beside it. False where
    the page has no place for that."""
    page = folder / PAGE
    text = with_written(page.read_text(encoding="utf-8"), document) if page.is_file() else None
    if text is None:
        return False
    replace_file(folder / NAME, file_text(document))
    replace_file(page, text)
    return True


def _sentence(document: Written) -> Markup:
    """
    >>> _sentence({"to": "4.0.0", "clients": [], "written_not_seen": [{"verdict": "breaks"}]})
    Markup('<p class="better">In artefacts, apart from what was seen: <a href="#written-not-seen">1 artefact</a> that no broker saw, of which 1 would break with 4.0.0. The gate says of what no broker saw: no-go: 1 artefact with the verdict breaks.</p>\\n')
    """
    not_seen = document["written_not_seen"]
    verdicts = Counter(each["verdict"] for each in not_seen)
    lacking = verdicts[Verdict.INSUFFICIENT_EVIDENCE]
    words = Markup('<a href="#written-not-seen">{}</a>').format(counted(len(not_seen), "artefact"))
    parts = (
        [
            f"{words} that no broker saw, of which {verdicts[Verdict.BREAKS]:,} would break with {escape(document['to'])}"
            + (f" and {lacking:,} cannot be told" if lacking else "")
        ]
        if not_seen
        else ["nothing that no broker saw"]
    )
    found = Counter(finding["kind"] for each in document["clients"] for finding in each["findings"])
    parts += [
        f'<a href="#written-findings">{escape(kind)}</a>: {found[kind]:,}' for kind in FINDINGS if found[kind]
    ]
    day = document.get("inventory")
    code, decision = decide_unseen(verdicts, [Verdict.BREAKS])
    return Markup('<p class="better">In artefacts{}, apart from what was seen: {}.{}</p>\n').format(
        f" of {day}" if day else "",
        Markup("; ".join(parts)),
        "" if code == GO else f" The gate says of what no broker saw: {decision}.",
    )


def _lists(document: Written) -> Markup:
    findings = [
        (each, finding)
        for kind in FINDINGS
        for each in document["clients"]
        for finding in each["findings"]
        if finding["kind"] == kind
    ]
    by_anchor = {each["anchor"]: each for each in document["clients"]}
    unwritten = [by_anchor[anchor] for anchor in document["seen_not_written"] if anchor in by_anchor]
    written = ("Library", "Verdict", "Written in", "How it is known", "Owner")
    return Markup("").join(
        (
            _section(
                "written-findings",
                "Written and seen",
                "What repositories, SBOMs and images say of clients that brokers saw. It changes no verdict.",
                ("Client", "Finding", "What", "Certainty", "Written in"),
                [_finding(*each) for each in findings],
                is_open=True,
            ),
            _section(
                "written-not-seen",
                "Written, not seen",
                "No broker saw them in the time of the evidence: a monthly job, a disabled connector, the next deployment. "
                "They are in no count above.",
                written,
                [_artefact(each) for each in document["written_not_seen"]],
                is_open=True,
            ),
            _section(
                "written-not-comparable",
                "Written, cannot be compared",
                "Nothing is known by which their clients could be told: neither that they run nor that they do not.",
                written,
                [_artefact(each) for each in document["written_not_comparable"]],
            ),
            _section(
                "seen-not-written",
                "Seen, not written",
                "Clients whose library is in no artefact that was read.",
                ("Client", "Verdict", "Software", "Owner"),
                [
                    (_client(each), _badge(each["verdict"]), shown(each["identified_as"]), each["owner"] or "no owner")
                    for each in unwritten
                ],
            ),
            _section(
                "written-vulnerabilities",
                "Known vulnerabilities",
                "Of the client libraries of applications that brokers saw, where the version is declared or written. Apart from every verdict.",
                ("Application", "Vulnerability", "Library and roles", "Owner"),
                [_vulnerable(each) for each in document.get("vulnerabilities", ())],
            ),
        )
    )  # fmt: skip


def _section(
    key: str,
    heading: str,
    note: str,
    columns: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    is_open: bool = False,
) -> Markup:
    """Nothing where there are no rows."""
    if not rows:
        return Markup("")
    head = Markup("").join(Markup('<th scope="col">{}').format(each) for each in columns)
    body = Markup("\n").join(_row(columns, row) for row in rows[:MOST_ROWS])
    more = len(rows) - MOST_ROWS
    return Markup(
        '<section id="{key}" aria-labelledby="h-{key}">\n<h2 id="h-{key}">{heading} <span class="count">{count:,}</span></h2>\n'
        '<p class="note">{note}</p>\n<details class="list"{is_open}><summary>{summary}</summary>\n'
        '<table class="plain stack">\n<caption class="hidden">{heading}</caption>\n<thead><tr>{head}</tr></thead>\n'
        "<tbody>\n{body}\n</tbody>\n</table>\n{more}</details>\n</section>\n"
    ).format(
        key=key,
        heading=heading,
        count=len(rows),
        note=note,
        is_open=Markup(" open") if is_open and len(rows) <= MOST_ROWS // 5 else "",
        summary=counted(len(rows), "row"),
        head=head,
        body=body,
        more=Markup('<p class="note">{:,} more in {}.</p>\n').format(more, NAME) if more > 0 else "",
    )


def _row(columns: Sequence[str], cells: Sequence[str]) -> Markup:
    first, *others = cells
    labelled = zip(columns[1:], others, strict=True)
    return Markup("<tr><td>{}</td>{}</tr>").format(
        first,
        Markup("").join(Markup('<td data-label="{}">{}</td>').format(*each) for each in labelled),
    )


def _finding(client: Client, finding: Finding) -> tuple[str, ...]:
    return (
        _client(client),
        finding["kind"],
        shown(finding["text"]),
        finding["certainty"],
        shown(finding["evidence"]),
    )


def _artefact(row: Artefact) -> tuple[str, ...]:
    found = row["clients"][0]
    line = f":{found['line']}" if found["line"] else ""
    return (
        shown(found["client"]),
        _badge(row["verdict"]),
        shown(f"{found['file']}{line}"),
        shown(row["why"]),
        shown(row["owner"] or "no owner"),
    )


def _vulnerable(row: Vulnerable) -> tuple[str, ...]:
    link = Markup('<a href="#{}"><code>{}</code></a>').format(row["clients"][0], shown(row["application"]))
    condition = f", if {row['condition']}" if row["condition"] else ""
    return (
        link,
        f"{row['id']}: {row['summary']}{condition}; fixed in {row['fixed_in']}",
        shown(f"{row['library']} ({row['certainty']}); {', '.join(row['roles']) or 'no role was seen'}"),
        shown(row["owner"] or "no owner"),
    )


def _client(client: Client) -> Markup:
    return Markup('<a href="#{}"><code>{}</code></a>').format(
        client["anchor"], client_label(client["client_id"])
    )


def _badge(verdict: str) -> Markup:
    key = outcome(verdict, None)
    return Markup('<span class="o o-{}">{}</span>').format(key, verdict.replace("_", " "))


def _of_clients(clients: Iterable[Client]) -> Markup:
    """For a panel: findings first, then where clients without one come from."""
    parts = []
    for client in clients:
        for finding in client["findings"]:
            strong = finding["kind"] not in (PROVED, PROBABLE)
            parts.append(
                Markup("<dt>Written</dt><dd>{}: {} <small>{}; {}</small></dd>\n").format(
                    Markup("<b>{}</b>").format(finding["kind"]) if strong else finding["kind"],
                    shown(finding["text"]),
                    _because(client, finding["certainty"]),
                    shown(finding["evidence"]),
                )
            )
        if not client["findings"] and client["artefacts"]:
            link = client["artefacts"][0]
            parts.append(
                Markup("<dt>Written</dt><dd>{} <small>{}</small></dd>\n").format(
                    shown(link["artefact"]), _because(client, link["certainty"])
                )
            )
    return Markup("").join(parts)


def _because(client: Client, certainty: str) -> str:
    """Why the client may come from the artefact, by its first link of that certainty."""
    links = client["artefacts"]
    link = next((link for link in links if link["certainty"] == certainty), links[0] if links else None)
    return f"{certainty}: {shown('; '.join(link['because']))}" if link else certainty
