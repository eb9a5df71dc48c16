"""One message to an owner in three forms: Markdown for a ticket, plain text for a chat or a mail program, HTML for a mail. Text
that clients chose is in code spans (or escaped): it is neither markup nor a mention.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Final

from markupsafe import Markup, escape

from client_telemetry.reports.client_strings import client_label, shortened, shown, without_invisible
from client_telemetry.reports.markdown import code, prose, table
from client_telemetry.reports.owners.message import LONGEST, Message, Task, briefly, left_out_words, shorter
from client_telemetry.reports.upgrade.model import Edit

_NAME: Final = 48
_SIZES: Final = (
    (10_000, 10_000, 50), (400, 400, 50), (150, 150, 50), (50, 100, 20), (8, 60, 12), (5, 12, 8), (5, 8, 4), (3, 6, 3), (3, 4, 2), (2, 3, 1), (1, 2, 0),
    (1, 1, 0),
)  # fmt: skip
"""Names of a row, rows, and lines to copy that are tried until the message is short enough."""
_WIKI: Final = re.compile(
    r"[{}\[\]*_+^~?!|#@<>&]|(?<![A-Za-z0-9])-|-(?![A-Za-z0-9])|[:;](?=[-()DP|])|\((?=[^ )]{1,9}\))"
)
"""Markup of Jira, with its emoticons such as `:)` and `(on)`."""
_CELL: Final = "padding:4px 8px;border:1px solid #bbb;text-align:left;vertical-align:top"
_CODE: Final = "background:#f3f3f3;padding:8px;white-space:pre-wrap;font-family:monospace"


def fitted(message: Message, longest: int = LONGEST, form: Callable[[Message], str] | None = None) -> Message:
    """The message with as many rows as `form` (Markdown by default) has room for; the last resort may be longer."""
    text_of = form or markdown
    candidates = (
        shorter(each, *size)
        for each, sizes in ((message, _SIZES[:3]), (briefly(message), _SIZES))
        for size in sizes
    )
    candidate = message
    for candidate in candidates:
        if len(text_of(candidate)) <= longest:
            break
    return candidate


def files(message: Message) -> dict[str, str]:
    """All forms by the names of their files, without the folder."""
    short = fitted(message)
    return {
        "message.md": markdown(short),
        "message.txt": plain_text(short),
        "message.html": html_mail(short),
    }


def markdown(message: Message) -> str:
    """The first line is the subject."""
    lines = [prose(message.subject), "", prose(message.beginning), ""]
    cells = [
        (_names(task, prose), prose(_change(task)), str(task.by or "the upgrade")) for task in message.tasks
    ]
    lines += table(("Application", "Change", "By"), cells)
    if more := left_out_words(message):
        lines += ["", prose(more)]
    if message.edits:
        lines += ["", "**To copy:**", "", "```diff", *diff(message.edits), "```"]
    if message.command:
        lines += ["", "**To prove it,** run in the repository:", "", "```", message.command, "```", ""]
        lines += [prose(message.proof)]
    lines += ["", f"**Reply to {prose(message.contact)}** with one line: {prose(message.reply)}."]
    return "\n".join(lines) + "\n"


def plain_text(message: Message) -> str:
    """The first line is the subject."""
    lines = [message.subject, "", message.beginning, ""]
    for task in message.tasks:
        lines += [f"- {_names(task, str)} → {_change(task)} → by {task.by or 'the upgrade'}"]
    lines += filter(None, [left_out_words(message)])
    if message.edits:
        lines += ["", "To copy:", *diff(message.edits)]
    if message.command:
        lines += ["", f"To prove it, run in the repository: {message.command}", message.proof]
    lines += ["", f"Reply to {message.contact} with one line: {message.reply}."]
    return "\n".join(map(without_invisible, lines)) + "\n"


def wiki(message: Message) -> str:
    """The body in Jira's wiki markup, without the subject."""
    lines = [wiki_text(message.beginning), "", "||Application||Change||By||"]
    for task in message.tasks:
        names = ", ".join(wiki_code(shortened(label, _NAME)) for label in _labels(task))
        cells = (
            f"{names}{wiki_text(_further(task))}",
            wiki_text(_change(task)),
            str(task.by or "the upgrade"),
        )
        lines += [f"|{'|'.join(cells)}|"]
    if more := left_out_words(message):
        lines += ["", wiki_text(more)]
    if message.edits:
        lines += ["", "*To copy:*", "{noformat}", *diff(message.edits), "{noformat}"]
    if message.command:
        lines += ["", "*To prove it,* run in the repository:", "{noformat}", message.command, "{noformat}"]
        lines += [wiki_text(message.proof)]
    lines += ["", f"*Reply to {wiki_text(message.contact)}* with one line: {wiki_text(message.reply)}."]
    return "\n".join(lines) + "\n"


def wiki_text(text: str) -> str:
    r"""With whatever could be wiki markup escaped: a link, a mention, a macro, a table, a line break (two backslashes).

    >>> print(wiki_text(r"a|b [~admin] {code} x\\y"))
    a\|b \[\~admin\] \{code\} x\(backslash)\(backslash)y
    """
    return _WIKI.sub(r"\\\g<0>", without_invisible(text).replace("\\", "(backslash)"))


def wiki_code(text: str) -> str:
    """Text that clients chose, in a fixed-width font."""
    return f"{{{{{wiki_text(text)}}}}}"


def html_mail(message: Message) -> str:
    """A whole document, styled in place as mail programs want it; it loads nothing."""
    cell, block = Markup(_CELL), Markup(_CODE)
    rows = Markup("").join(
        Markup(
            '<tr><td style="{0}">{1}</td><td style="{0}">{2}</td><td style="{0};white-space:nowrap">{3}</td></tr>\n'
        ).format(cell, _html_names(task), _visible(_change(task)), str(task.by or "the upgrade"))
        for task in message.tasks
    )
    parts = [
        Markup(
            '<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{0}</title></head>\n'
        ).format(_visible(message.subject)),
        Markup('<body style="font-family:sans-serif;max-width:46em">\n<p>{}</p>\n').format(
            _visible(message.beginning)
        ),
        Markup(
            '<table style="border-collapse:collapse"><tr><th style="{0}">Application</th><th style="{0}">Change</th>'
            '<th style="{0}">By</th></tr>\n{1}</table>\n'
        ).format(cell, rows),
        _paragraph(left_out_words(message)),
    ]
    if message.edits:
        lines = "\n".join(map(without_invisible, diff(message.edits)))
        parts += [Markup('<p><b>To copy:</b></p>\n<pre style="{}">{}</pre>\n').format(block, lines)]
    if message.command:
        parts += [
            Markup(
                '<p><b>To prove it,</b> run in the repository:</p>\n<pre style="{}">{}</pre>\n<p>{}</p>\n'
            ).format(block, message.command, message.proof)
        ]
    parts += [
        Markup("<p><b>Reply to {}</b> with one line: {}.</p>\n</body></html>\n").format(
            _visible(message.contact), message.reply
        )
    ]
    return str(Markup("").join(parts))


def diff(edits: Iterable[Edit]) -> list[str]:
    """Lines as a diff: what to write with `+`, what to remove with `-`, under the file that they belong to."""
    lines: list[str] = []
    file = ""
    for edit in edits:
        head = f"# {'or ' if edit.alternative else ''}{edit.file}"
        lines += [head] if head != file else []
        file = head
        lines += [edit.line if edit.line.startswith("-") else f"+{edit.line}"]
    return lines


def _change(task: Task) -> str:
    many, down = len(task.applications) + task.hidden, len(task.down)
    begin = "" if not down else "Already down. " if down == many else f"{down:,} already down. "
    return f"{begin}{task.change}"


def _labels(task: Task) -> list[str]:
    """With the principal where names alone do not tell applications apart."""
    alike = Counter(each.name for each in task.applications)
    return [
        f"{shown(each.name)} of {shown(each.principal or 'no principal')}"
        if alike[each.name] > 1
        else client_label(each.name)
        for each in task.applications
    ]


def _names(task: Task, escaped: Callable[[str], str]) -> str:
    names = ", ".join(code(label, _NAME) for label in _labels(task))
    return f"{names}{escaped(_further(task))}"


def _html_names(task: Task) -> Markup:
    names = (Markup("<code>{}</code>").format(shortened(label, _NAME)) for label in _labels(task))
    return Markup("{}{}").format(Markup(", ").join(names), _visible(_further(task)))


def _further(task: Task) -> str:
    more = f" and {task.hidden:,} more" if task.hidden else ""
    return f"{more} ({task.clusters})" if task.clusters else more


def _paragraph(text: str) -> Markup:
    return Markup("<p>{}</p>\n").format(_visible(text)) if text else Markup("")


def _visible(text: str) -> Markup:
    return escape(without_invisible(text))
