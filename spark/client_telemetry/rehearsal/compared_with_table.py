"""What a library sent to brokers that offer less, held against its rows in the knowledge base, and what it said when it was refused."""

import re
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from client_telemetry.compatibility import fingerprints
from client_telemetry.knowledge import apis, client_ranges, client_versions, releases, served
from client_telemetry.knowledge.apis import Versions
from client_telemetry.knowledge.client_ranges import Row
from client_telemetry.rehearsal.client_runs import NOT_AVAILABLE, OK
from client_telemetry.rehearsal.measured import WIDEST
from client_telemetry.rehearsal.older_brokers import OnRelease, lowest_versions
from client_telemetry.rehearsal.outcomes import ROLE_STEPS
from client_telemetry.rehearsal.subjects import Subject

_QUIET = re.compile(r"(^|: |\b)(no record in|no delivery report|no output|ended after) |^StopIteration:")
"""In the program's own words: the library reported nothing, and the program waited in vain."""
_NOT_COMMITTED = re.compile(r"(^|: )(no )?committed( offset|:)")
"""In the program's own words: an offset that it committed is not there, which is no refusal."""
_WRAPPED = "java.util.concurrent.ExecutionException: "
_LONGEST = 240
_SEVERAL = "several"
"""Configuration of a row that stands for those of several, of which each decides the version."""


@dataclass(frozen=True)
class Compared:
    """APIs of a library version: of the `equal` ones nothing outside of their rows was sent, and to the newest release that they were
    sent to, what the row lets one expect. To older ones a library may send less: not every version in a row is there in each library.
    """

    equal: tuple[str, ...]
    differences: tuple[str, ...]
    not_sent: tuple[str, ...]
    """In the table, and the program does not send them: not measured."""
    lowest_sent: tuple[str, ...]
    """Of the equal ones those of which the lowest version in the table was sent; of the others no broker offered so little."""


def with_table(library: str, version: str, configuration: str, runs: Sequence[OnRelease]) -> Compared:
    """`version`: of the library; `configuration`: as in the table."""
    rows = {row.api_key: row for row in table_rows(library, version, configuration)}
    lowest = {key: low for key, low in lowest_versions(runs).items() if key != apis.API_VERSIONS}
    different = {
        key: text for key in lowest if (text := _difference(library, key, rows.get(key), runs, lowest[key]))
    }
    return Compared(
        tuple(apis.name(key) for key in lowest if key not in different),
        tuple(f"{apis.name(key)}: {text}" for key, text in different.items()),
        tuple(apis.name(key) for key in sorted(rows.keys() - lowest.keys() - {apis.API_VERSIONS})),
        tuple(
            apis.request(key, low)
            for key, low in lowest.items()
            if key not in different and low == rows[key].versions.min
        ),
    )


def table_rows(library: str, version: str, configuration: str) -> list[Row]:
    """One for each API: those of the configuration or, without one, of the default; where the table has none of these, all in one."""
    wanted = client_versions.parse(version)
    rows = [
        row
        for row in client_ranges.every()
        if row.library == library and row.version_from <= wanted <= row.version_to
    ]
    known = {row.configuration for row in rows}
    named = {configuration} & known if configuration else {"", "any"} & known
    chosen: dict[int, Row] = {}
    for row in rows:
        if not named or row.configuration in named:
            chosen[row.api_key] = _both(chosen.get(row.api_key, row), row, is_certain=bool(named))
    return list(chosen.values())


def _both(one: Row, other: Row, *, is_certain: bool) -> Row:
    low, high = min(one.versions.min, other.versions.min), max(one.versions.max, other.versions.max)
    configuration = one.configuration if is_certain else _SEVERAL
    return one._replace(versions=Versions(low, high), configuration=configuration)


def _difference(library: str, key: int, row: Row | None, runs: Sequence[OnRelease], lowest: int) -> str:
    """Empty: none."""
    if row is None:
        return f"v{lowest} is sent, and the table has no row"
    sent = {
        run.release: {each.version for each in run.sent if each.api_key == key and each.is_accepted}
        for run in runs
    }
    for version in sorted(set().union(*sent.values())):
        if not client_ranges.can_send(version, row.versions, row.also_sends):
            return f"v{version} is sent, and the table has {apis.in_words(row.versions)}"
    newest = next(release for release in reversed(sent) if sent[release])
    expected = min(row.versions.max, served.by(newest)[key].advertised.max)
    holds_back = row.configuration in (_SEVERAL, "any") or key in fingerprints.TAKES_LOWER.get(library, ())
    if max(sent[newest]) == expected or holds_back:
        return ""
    return f"v{max(sent[newest])} is sent to {newest}, and the table lets v{expected} expect"


def messages(library: str, version: str, subject: Subject, runs: Sequence[OnRelease]) -> list[list[str]]:
    """Rows of client_messages.csv: one for each role and words, with the releases in a row at which they were the same."""
    found: list[list[str]] = []
    configuration = subject.configuration or WIDEST.get(subject.program, "")
    for role in ROLE_STEPS:
        of_role = [(run.release, _refused(run, role)) for run in runs]
        for (words, requests), group in groupby(of_role, key=lambda each: each[1]):
            at = [release for release, _ in group]
            if not words or _NOT_COMMITTED.search(words):
                continue
            said = "" if _QUIET.search(words) else _shortened(words)
            brokers = [_first_of_line(at[0]), "" if at[-1] == runs[-1].release else at[-1]]
            source = f"measured: {subject.text} (knowledge measure)"
            found.append([library, version, configuration, role, *brokers, requests, said, source])
    return found


def _shortened(words: str) -> str:
    """Without what Java wraps around an error, and with a broker as readers know it."""
    text = words.removeprefix(_WRAPPED).replace("BROKER", "HOST:PORT")
    text = re.sub(r"\btopic-[0-9a-f]{8}\b", "TOPIC", text)
    return textwrap.shorten(text, _LONGEST, placeholder=" …")


def _first_of_line(release: str) -> str:
    return next(each for each in releases.known() if releases.line(each) == releases.line(release))


def _refused(run: OnRelease, role: str) -> tuple[str, str]:
    """The words of the first step of a role that did not work, and the requests at which it was disconnected; empty if it works."""
    for step in ("connect", *ROLE_STEPS[role]):
        words = run.steps.get(step, OK)
        if words not in (OK, NOT_AVAILABLE):
            sent = [each for each in run.sent if not each.is_accepted and each.api_key != apis.API_VERSIONS]
            return words, " ".join(f"{apis.name(each.api_key)}:{each.version}" for each in sent)
    return "", ""
