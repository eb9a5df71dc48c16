"""What a rehearsal adds to the page of a report: a line on the first screen, and how each verdict is known."""

import re

from markupsafe import Markup, escape

from client_telemetry.formats.rehearsal_file import Application, Rehearsal
from client_telemetry.reports.client_strings import shown

SLOT = ("<!--rehearsal-->", "<!--/rehearsal-->")
_PANEL = re.compile(
    r'(?P<known><article class="app" id="(?P<anchor>[^"]+)".*?<dd class="known">[^<;]*; [^<;]*)(?:; rehearsed on [^<]*)?',
    re.S,
)
"""The panel of an application up to how its verdict is known, with what an earlier rehearsal added."""
_WORDS = {"works": "works", "refused": "refused"}


def with_rehearsal(page: str, rehearsal: Rehearsal) -> str | None:
    """A page that was made before, with this rehearsal instead of its own; None where it has no place for one."""
    before, begin, rest = page.partition(SLOT[0])
    _, end, after = rest.partition(SLOT[1])
    if not end:
        return None
    rehearsed = {each["anchor"]: each for each in rehearsal["applications"] if each["outcome"] in _WORDS}

    def with_outcome(panel: re.Match[str]) -> str:
        application = rehearsed.get(panel["anchor"])
        return panel["known"] + (f"; {_rehearsed(application, rehearsal['target'])}" if application else "")

    return _PANEL.sub(with_outcome, f"{before}{begin}{_note(rehearsal)}{end}{after}")


def _rehearsed(application: Application, target: str) -> str:
    contradicts = ", which contradicts the rule" if application["contradicts"] else ""
    return f"rehearsed on {escape(target)}: {_WORDS[application['outcome']]}{contradicts}"


def _note(rehearsal: Rehearsal) -> Markup:
    """
    >>> _note({"target": "4.3.1", "applications": [{"outcome": "works", "safe_so_far": True, "contradicts": False}]})
    Markup('<p class="note">1 safe so far: 1 of them rehearsed on 4.3.1.</p>\\n')
    """
    target, applications = rehearsal["target"], rehearsal["applications"]
    so_far = [each for each in applications if each["safe_so_far"]]
    ran = [each for each in so_far if each["outcome"] in _WORDS]
    note = Markup('<p class="note">{:,} safe so far: {:,} of them rehearsed on {}.</p>\n').format(
        len(so_far), len(ran), target
    )
    contradicting = [each for each in applications if each["contradicts"]]
    return note + Markup("").join(
        Markup(
            '<p class="better">Contradicts its verdict: <a href="#{}">{}</a> ({}), {} on {}. {}</p>\n'
        ).format(
            each["anchor"],
            shown(each["name"]),
            ", ".join(each["ran"]),
            _WORDS[each["outcome"]],
            target,
            shown(each["said"]),
        )
        for each in contradicting
    )
