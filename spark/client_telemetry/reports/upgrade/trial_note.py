"""What a rehearsal and a replay add to the page of a report: a line on the first screen, and how each verdict is known."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from markupsafe import Markup, escape

from client_telemetry.formats import trial_file
from client_telemetry.formats.trial_file import Application, Trial
from client_telemetry.knowledge.vocabulary import KnownBy
from client_telemetry.reports.client_strings import shown

SLOT = ("<!--rehearsal-->", "<!--/rehearsal-->")
_PANEL = re.compile(
    r'(?P<known><article class="app" id="(?P<anchor>[^"]+)".*?<dd class="known">[^<;]*; [^<;]*)(?:; (?:rehearsed|replayed) on [^<]*)?',
    re.S,
)
"""The panel of an application up to how its verdict is known, with what earlier trials added."""


@dataclass(frozen=True)
class _Kind:
    known_by: KnownBy
    words: Mapping[str, str]
    """Outcomes that say something about the target."""


KINDS: Mapping[str, _Kind] = {
    trial_file.REHEARSAL: _Kind(KnownBy.REHEARSED, {"works": "works", "refused": "refused"}),
    trial_file.REPLAY: _Kind(
        KnownBy.REPLAYED, {"answered": "all requests answered", "refused": "requests refused"}
    ),
}
"""File beside the report -> what it is; in the order of the page."""


def with_trials(page: str, trials: Mapping[str, Trial]) -> str | None:
    """A page that was made before, with these trials instead of its own; None where it has no place for them. `trials`: content
    by the names of the files.
    """
    before, begin, rest = page.partition(SLOT[0])
    _, end, after = rest.partition(SLOT[1])
    if not end:
        return None
    tried = [(KINDS[name], trials[name]) for name in KINDS if name in trials]
    known: dict[str, Markup] = {}
    for kind, trial in tried:
        for each in trial["applications"]:
            if each["outcome"] in kind.words:
                known[each["anchor"]] = known.get(each["anchor"], Markup("")) + _known(kind, trial, each)
    return _PANEL.sub(
        lambda panel: panel["known"] + str(known.get(panel["anchor"], "")),
        f"{before}{begin}{_note(tried)}{end}{after}",
    )


def _known(kind: _Kind, trial: Trial, application: Application) -> Markup:
    contradicts = ", which contradicts the rule" if application["contradicts"] else ""
    return Markup("; {} on {}: {}{}").format(
        kind.known_by, trial["target"], kind.words[application["outcome"]], contradicts
    )


def _note(tried: list[tuple[_Kind, Trial]]) -> Markup:
    """
    >>> works = {"outcome": "works", "safe_so_far": True, "contradicts": False}
    >>> answered = works | {"outcome": "answered"}
    >>> rehearsal = {"target": "4.3.1", "applications": [works]}
    >>> _note([(KINDS["rehearsal.json"], rehearsal), (KINDS["replay.json"], {"target": "a:9092", "applications": [answered]})])
    Markup('<p class="note">1 safe so far: 1 of them rehearsed on 4.3.1, 1 replayed on a:9092.</p>\\n')
    """
    if not tried:
        return Markup("")
    counts: list[str] = []
    for kind, trial in tried:
        so_far = [each for each in trial["applications"] if each["safe_so_far"]]
        ran = sum(each["outcome"] in kind.words for each in so_far)
        of_them = "" if counts else " of them"
        counts.append(f"{ran:,}{of_them} {kind.known_by} on {trial['target']}")
    note = Markup('<p class="note">{:,} safe so far: {}.</p>\n').format(len(so_far), ", ".join(counts))
    return note + Markup("").join(
        _contradiction(kind, trial, each)
        for kind, trial in tried
        for each in trial["applications"]
        if each["contradicts"]
    )


def _contradiction(kind: _Kind, trial: Trial, application: Application) -> Markup:
    ran = f" ({', '.join(application['ran'])})" if application["ran"] else ""
    return Markup(
        '<p class="better">Contradicts its verdict: <a href="#{}">{}</a>{}, {} on {}: {}</p>\n'
    ).format(
        application["anchor"],
        shown(application["name"]),
        escape(ran),
        kind.words[application["outcome"]],
        trial["target"],
        shown(application["said"]),
    )
