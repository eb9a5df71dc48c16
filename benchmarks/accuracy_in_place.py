"""Accuracy of verdicts on programs that were upgraded in place from 3.9.1 to 4.0.1: a part of docs/accuracy-programs.md.

The clients of a program are those of its principal in benchmarks/in_place/evidence.csv; the most serious verdict on one of them
is the program's, and it fails already if one of them does. Run by `python -m benchmarks.accuracy`.
"""

import csv
from functools import cache
from pathlib import Path
from typing import NamedTuple

from client_telemetry.compatibility import ClientEvidence, ClientVerdict, judge, parse_api_uses
from client_telemetry.compatibility.evidence import FailedApi
from client_telemetry.knowledge import apis, kip511
from client_telemetry.knowledge.logins import Login, settled
from client_telemetry.knowledge.vocabulary import PRECEDENCE, Verdict

from benchmarks.scores import WORKS, Prediction, grouped, misses, table

FOLDER = Path(__file__).parent / "in_place"
SOURCE, TARGET = "3.9.1", "4.0.1"
WINDOWS = ("six minutes", "one minute")
ALREADY_FAILING = "already failing"
FAILS_IN_ITS_OWN_CODE = frozenset(("pkcge",))
"""Brokers answer everything that it requests; it cannot parse what it reads."""
_UNDECIDED_AT_MOST = {"six minutes": 0.05, "one minute": 0.20}


class Program(NamedTuple):
    prediction: Prediction
    """The outcome is `works` where the program fails before and after: it is nothing that the upgrade does."""
    fails: bool
    already_failing: bool
    reasons: tuple[str, ...]
    """Why it fails already, by the explanations of its clients."""


@cache
def _rows(name: str) -> list[dict[str, str]]:
    with (FOLDER / name).open(encoding="utf-8", newline="") as opened:
        return list(csv.DictReader(opened))


def programs() -> list[Program]:
    return [
        _program(window, case)
        for window in WINDOWS
        for case in _rows("programs.csv")
        if _clients(window, case["principal"])
    ]


def _clients(window: str, principal: str) -> list[dict[str, str]]:
    return [row for row in _rows("evidence.csv") if (row["window"], row["principal"]) == (window, principal)]


def _program(window: str, case: dict[str, str]) -> Program:
    rows = _clients(window, case["principal"])
    verdicts = [judge(_evidence(row, rows), SOURCE, TARGET) for row in rows]
    worst = min(verdicts, key=lambda verdict: PRECEDENCE.index(verdict.verdict))
    fails = case["truth_4_0_1"].startswith(ALREADY_FAILING)
    outcome = (
        worst.verdict if fails and worst.verdict != Verdict.INSUFFICIENT_EVIDENCE else case["truth_4_0_1"]
    )
    if fails and outcome == Verdict.SAFE:
        outcome = WORKS
    failing = [verdict for verdict in verdicts if verdict.already_failing]
    return Program(
        Prediction(window, case["library"], case["program"], TARGET, outcome, worst.verdict, _reason(worst)),
        fails,
        bool(failing),
        tuple(verdict.explanation for verdict in failing),
    )


def _reason(verdict: ClientVerdict) -> str:
    return verdict.missing[0] if verdict.missing else verdict.explanation


def _evidence(row: dict[str, str], rows: list[dict[str, str]]) -> ClientEvidence:
    same_id = [each for each in rows if each is not row and each["client_id"] == row["client_id"]]
    own, *others = _logins(row)
    return ClientEvidence(
        row["client_software_name"],
        row["client_software_version"],
        row["client_id"],
        parse_api_uses(row["api_uses"]),
        own.sasl_mechanism,
        own.security_protocol,
        also_declared=tuple(
            (each["client_software_name"], each["client_software_version"])
            for each in same_id
            if kip511.is_known(each["client_software_name"])
        ),
        other_logins=tuple(others),
        failed_apis=tuple(_failed(text) for text in row["failed_apis"].split()),
    )


def _logins(row: dict[str, str]) -> tuple[Login, ...]:
    """From `PROTOCOL=MECHANISM*CONNECTIONS`, the mechanism empty if it is not known."""
    seen = []
    for text in row["logins"].split():
        protocol, _, rest = text.partition("=")
        mechanism, _, connections = rest.partition("*")
        seen.append((Login(protocol, mechanism or None), int(connections)))
    return settled(seen)


def _failed(text: str) -> FailedApi:
    name, _, code = text.partition(":")
    return FailedApi(apis.find(name).key, int(code))


# --- the page --------------------------------------------------------------------------------------------------------


def report(some: list[Program]) -> list[str]:
    lines = ["## Programs before an upgrade in place", "", *_INTRODUCTION]
    by_window = grouped([program.prediction for program in some], lambda each: each.kind)
    lines += table("evidence", by_window)
    for window, predictions in by_window.items():
        lines += [
            f"### {window.capitalize()}",
            "",
            *misses(each for each in predictions if not each.is_right),
        ]
    lines += [
        "### Already failing on 3.9.1",
        "",
        "| program | window | failed | named |",
        "|---|---|---|---|",
    ]
    for program in some:
        if program.fails or program.already_failing:
            cells = (program.prediction.name, program.prediction.kind, program.fails, program.already_failing)
            lines.append(f"| {' | '.join({True: 'yes', False: 'no'}.get(cell, cell) for cell in cells)} |")
    return [*lines, ""]


def goals_missed(some: list[Program]) -> list[str]:
    missed = []
    for window, predictions in grouped(
        [program.prediction for program in some], lambda each: each.kind
    ).items():
        for name, wrong in (
            ("wrong safe", [each for each in predictions if each.is_wrong_safe]),
            ("false alarms", [each for each in predictions if each.is_false_alarm]),
        ):
            if wrong:
                missed.append(f"in place, {window}: {len(wrong)} {name}, none allowed")
        undecided = [each for each in predictions if each.is_undecided]
        most = _UNDECIDED_AT_MOST[window]
        if len(undecided) > most * len(predictions):
            missed.append(
                f"in place, {window}: {len(undecided)} of {len(predictions)} undecided, at most {most:.0%}"
            )
    named = [
        program
        for program in some
        if program.fails != program.already_failing and program.prediction.name not in FAILS_IN_ITS_OWN_CODE
    ]
    if named:
        names = sorted({program.prediction.name for program in named})
        missed.append(f"in place: already failing differs in {', '.join(names)}")
    return missed


_INTRODUCTION = (
    "benchmarks/in_place has 21 programs that ran together on brokers on 3.9.1, as their request logs show them, and what happened",
    "to them when the brokers were upgraded in place to 4.0.1 (PLAINTEXT, PLAIN, SCRAM, GSSAPI, OAUTHBEARER, mutual TLS, ACLs, a",
    "consumer group of the new protocol, a share group, transactions). *Already failing*: they did not do their job on 3.9.1 either;",
    "such a program is a false alarm only if it is called failing and was not. What the logs do not show is not known here: the SASL",
    "mechanism of most connections. `pkcge` fails in its own parser; brokers see nothing of it.",
    "",
)
