"""Whole verdicts of the clients that other tests look at in parts, as tests/data/compatibility/verdicts/ keeps them: each of
their words, findings and steps."""

import csv
from dataclasses import fields
from pathlib import Path

import pytest
from client_telemetry.compatibility import (
    ClientEvidence,
    ClientVerdict,
    Finding,
    Outlook,
    judge,
    judge_mixed_window,
    judge_rollback,
    parse_api_uses,
)
from client_telemetry.compatibility.releases import is_rollback

DATA = Path(__file__).parents[2] / "data" / "compatibility"
IN_FRONT = ("verdict", "when", "confidence", "explanation", "findings", "steps", "source")


def evidence(row: dict[str, str]) -> ClientEvidence:
    subscriptions, also = row.get("subscriptions", ""), row.get("also_declared", "").split()
    return ClientEvidence(
        row["client_software_name"] or None,
        row["client_software_version"] or None,
        row.get("client_id") or None,
        parse_api_uses(row["api_uses"]),
        row["sasl_mechanism"] or None,
        row.get("security_protocol") or None,
        None if not subscriptions else () if subscriptions == "none" else tuple(subscriptions.split()),
        tuple(zip(also[::2], also[1::2], strict=True)),
    )


class Texts:
    """Long texts are numbered: where one comes again, its number stands for it."""

    def __init__(self) -> None:
        self.said: dict[str, int] = {}

    def __call__(self, value: object) -> str:
        if isinstance(value, tuple):
            return ", ".join(map(self, value))
        text = str(value)
        if len(text) < 40:
            return text
        if text in self.said:
            return f"({self.said[text]})"
        self.said[text] = len(self.said) + 1
        return f"({self.said[text]}) {text}"


def in_front(what: ClientVerdict | Finding | Outlook, texts: Texts) -> str:
    return f"{' '.join(filter(None, (what.verdict, what.when, what.confidence)))}: {texts(what.explanation)}"


def others(what: ClientVerdict | Finding, texts: Texts) -> list[str]:
    """What else is told: only what is not as by default."""
    values = {field.name: getattr(what, field.name) for field in fields(what) if field.name not in IN_FRONT}
    return [
        f"{name}: {texts(value)}" for name, value in values.items() if value not in (None, "", (), False, 0)
    ]


def text(case: str, given: ClientEvidence, source: str, target: str) -> str:
    verdict = judge(given, source, target)
    outlooks = dict(verdict.steps)
    if not is_rollback(source, target):
        outlooks["mixed"] = judge_mixed_window(source, target, verdict)
        outlooks["back"] = judge_rollback(given, source, target, verdict)
    texts = Texts()
    lines = [f"# {case}, {source} → {target}", in_front(verdict, texts), *others(verdict, texts)]
    lines += [f"- {in_front(each, texts)}; {'; '.join(others(each, texts))}" for each in verdict.findings]
    lines += [f"* {name}: {in_front(outlook, texts)}" for name, outlook in outlooks.items()]
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("name", ["fleet_3.9.1_to_4.0.0", "rules"])
def test_verdicts(name, same_as_kept):
    with (DATA / f"{name}.csv").open(encoding="utf-8", newline="") as opened:
        rows = {row["case"]: row for row in reversed(list(csv.DictReader(opened)))}
    found = [
        text(case, evidence(row), row.get("from", "3.9.1"), row.get("to", "4.0.0"))
        for case, row in reversed(rows.items())
    ]
    same_as_kept("compatibility/verdicts", {f"{name}.txt": "\n".join(found)})


def test_sources(same_as_kept):
    """What each rule cites."""
    cited = set()
    for name in ("fleet_3.9.1_to_4.0.0", "rules"):
        with (DATA / f"{name}.csv").open(encoding="utf-8", newline="") as opened:
            for row in csv.DictReader(opened):
                verdict = judge(evidence(row), row.get("from", "3.9.1"), row.get("to", "4.0.0"))
                cited |= {f"{each.rule_id}: {each.source}" for each in verdict.findings}
    same_as_kept("compatibility/verdicts", {"sources.txt": "\n".join(sorted(cited)) + "\n"})
