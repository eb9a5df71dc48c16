"""Whole verdicts of the clients that other tests look at in parts, as tests/data/compatibility/verdicts/ keeps them: each of
their words, findings and steps."""

import csv
import random
from dataclasses import fields
from pathlib import Path

import pytest
from client_telemetry.compatibility import (
    ApiUse,
    ClientEvidence,
    ClientVerdict,
    Finding,
    Outlook,
    judge,
    judge_mixed_window,
    judge_rollback,
    parse_api_uses,
)
from client_telemetry.knowledge.releases import is_rollback

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


OF_ROLES = (
    (0, 3, 18, 22),
    (0, 3, 10, 18, 22, 24, 25, 26, 28),
    (1, 2, 3, 8, 9, 10, 11, 12, 13, 14, 18),
    (1, 2, 3, 10, 18, 68),
    (0, 1, 2, 3, 8, 9, 10, 11, 12, 13, 14, 18, 19),
    (3, 18, 19, 20, 32, 33, 37),
    (2, 3, 9, 10, 15, 16, 18),
    (1, 2, 3, 17, 18, 36, 71, 72),
)
NAMES = (
    (None, None), (None, None), ("unknown", "unknown"), ("apache-kafka-java", "1.1.0"), ("apache-kafka-java", "3.2.0"),
    ("apache-kafka-java", "7.6.1-ccs"), ("librdkafka", "1.7.0"), ("librdkafka", "2.3.0"), ("sarama", "1.20.0"),
    ("confluent-kafka-python", "2.3.0-rdkafka-2.3.0"), ("kgo", "v1.15.1"), ("kafka-python", "2.0.2"), ("strange", "1"),
)  # fmt: skip
CLIENT_IDS = (
    None,
    None,
    "orders",
    "sarama",
    "rdkafka",
    "consumer-1",
    "kafka-python-1.4.7",
    "kafkajs",
    "connect-1",
)
CHANGES = (
    ("3.9.1", "4.0.0"), ("3.9.1", "4.1.0"), ("2.8.2", "4.0.1"), ("2.4.1", "3.9.1"), ("4.0.0", "4.2.0"), ("4.0.1", "3.9.1"),
    ("3.3.2", "2.8.2"),
)  # fmt: skip


def drawn(chance: random.Random) -> ClientEvidence:
    """Somebody who does one thing, in versions that go together or not, some of it refused."""
    newest = chance.choice((1, 2, 4, 7, 15))
    refused = chance.choice((0, 0, 0.1, 0.5))
    uses = []
    for key in chance.choice(OF_ROLES):
        for version in chance.sample(range(newest + 1), 1 + (chance.random() < 0.1)):
            first = chance.choice((None, 1_000_000, 2_000_000))
            last = first and first + chance.choice((0, 30, 600)) * 1_000_000
            requests, rejected = chance.choice((1, 5, 12, 400)), chance.choice((1, 60))
            counts = (0, rejected) if chance.random() < refused else (requests, 0)
            uses.append(ApiUse(key, version, *counts, first, last, chance.choice((None, None, True))))
    elsewhere = tuple(("3.5.0", use) for use in uses if chance.random() < 0.05)
    return ClientEvidence(
        *chance.choice(NAMES),
        chance.choice(CLIENT_IDS),
        tuple(uses),
        chance.choice((None, "PLAIN", "GSSAPI", "SCRAM-SHA-256")),
        chance.choice((None, "SSL", "SASL_SSL")),
        chance.choice((None, (), ("*",), ("org.apache.kafka.consumer.",))),
        chance.choice(((), (), (("kgo", "v1.15.4"),), (("kafka-python", "2.2.15"),))),
        chance.choice((None, ("PLAIN",), ("GSSAPI", "SCRAM-SHA-512"))),
        chance.choice((None, True, False)),
        elsewhere,
        chance.choice((None, None, "Dapr", "Telegraf")),
    )


@pytest.mark.parametrize("change", CHANGES, ids=" to ".join)
def test_verdicts_of_drawn_clients(change, same_as_kept):
    chance = random.Random(" ".join(change))
    found = [text(f"client {number}", drawn(chance), *change) for number in range(14)]
    same_as_kept("compatibility/verdicts", {f"drawn_{'_to_'.join(change)}.txt": "\n".join(found)})


def test_sources(same_as_kept):
    """What each rule cites."""
    cited = set()
    for name in ("fleet_3.9.1_to_4.0.0", "rules"):
        with (DATA / f"{name}.csv").open(encoding="utf-8", newline="") as opened:
            for row in csv.DictReader(opened):
                verdict = judge(evidence(row), row.get("from", "3.9.1"), row.get("to", "4.0.0"))
                cited |= {f"{each.rule_id}: {each.source}" for each in verdict.findings}
    same_as_kept("compatibility/verdicts", {"sources.txt": "\n".join(sorted(cited)) + "\n"})
