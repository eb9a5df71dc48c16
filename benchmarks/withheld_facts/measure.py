"""Compares verdicts with the oracle, case by case; exit code 1 if a client that breaks is called safe.

A case is one client, two releases and what is said of the client. For an upgrade the steps are compared too: the rolling
upgrade, the target before its features are finalized, and after. A client counts as called safe if its verdict is `safe`
or `unsupported`. Where only a setting of the brokers decides that no record shows (`delegation.token.master.key`), the
verdict may be safe if it names the condition.
"""

import argparse
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from random import Random

from client_telemetry.compatibility import ApiUse, ClientEvidence, ClientVerdict, judge
from client_telemetry.knowledge.logins import Login
from client_telemetry.knowledge.vocabulary import Step, Verdict

from benchmarks.withheld_facts.clients import Case, Said, draw, not_finalized
from benchmarks.withheld_facts.protocol import (
    Cluster,
    depends_on_broker_settings,
    harm,
    harm_while_brokers_differ,
    parse,
)

ROLLBACK = "rollback"
CASES, SEED = 100_000, 1
_AT_ONCE = 500
"""Cases of one task of a worker."""


@dataclass(frozen=True)
class Answer:
    """One step of one case."""

    case: Case
    step: str
    harm: tuple[str, ...]
    verdict: str
    condition: str

    @property
    def is_wrong_safe(self) -> bool:
        if not self.harm or self.verdict not in (Verdict.SAFE, Verdict.UNSUPPORTED):
            return False
        named = bool(self.condition) or self.case.said.mechanism is None
        depends = any(depends_on_broker_settings(client, self.case.target) for client in self.case.clients)
        return not (named and depends)

    @property
    def is_false_alarm(self) -> bool:
        return not self.harm and self.verdict == Verdict.BREAKS

    @property
    def is_undecided(self) -> bool:
        return self.verdict == Verdict.INSUFFICIENT_EVIDENCE


def case_number(seed: int, number: int) -> Case:
    return draw(Random(f"{seed} {number}"))


def evidence_of(said: Said) -> ClientEvidence:
    return ClientEvidence(
        client_software_name=said.software_name,
        client_software_version=said.software_version,
        client_id=said.client_id,
        api_uses=tuple(ApiUse(*request) for request in said.requests),
        sasl_mechanism=said.mechanism,
        security_protocol=said.security_protocol,
        offered_sasl_mechanisms=said.offered_mechanisms,
        principal_has_scram=said.has_scram,
        also_declared=said.also_declared,
        other_logins=tuple(Login(*login) for login in said.other_logins),
        source_features=said.source_features,
    )


def answers(case: Case) -> list[Answer]:
    """What the engine says of each step of a case, beside what happens then."""
    verdict = judge(evidence_of(case.said), case.source.release, case.target.release, vendor=case.said.vendor)
    if parse(case.target.release) < parse(case.source.release):
        return [_answer(case, ROLLBACK, _harm(case, case.target), verdict.verdict, verdict)]
    before = not_finalized(case.source, case.target)
    reasons = {
        Step.ROLLING: [
            reason
            for client in case.clients
            for reason in harm_while_brokers_differ(client, case.source, before)
        ],
        Step.NOT_FINALIZED: _harm(case, before),
        Step.FINALIZED: _harm(case, case.target),
    }
    return [
        _answer(case, step, happens, verdict.steps[step].verdict, verdict)
        for step, happens in reasons.items()
    ]


def _harm(case: Case, cluster: Cluster) -> list[str]:
    return [reason for client in case.clients for reason in harm(client, cluster)]


def _answer(case: Case, step: str, reasons: Iterable[str], said: str, verdict: ClientVerdict) -> Answer:
    return Answer(case, step, tuple(dict.fromkeys(reasons)), said, verdict.condition)


@dataclass
class Tally:
    """Counts by step, and what went wrong."""

    counts: Counter[tuple[str, str]]
    wrong: list[Answer]
    pairs: int = 0
    """Cases that are two programs behind one client id."""

    @classmethod
    def empty(cls) -> "Tally":
        return cls(Counter(), [])

    def add(self, answer: Answer) -> None:
        for name, counted in (
            ("cases", True),
            ("break", bool(answer.harm)),
            ("found", bool(answer.harm) and answer.verdict == Verdict.BREAKS),
            ("wrong safe", answer.is_wrong_safe),
            ("false alarms", answer.is_false_alarm),
            ("undecided", answer.is_undecided),
        ):
            self.counts[answer.step, name] += counted
        if answer.is_wrong_safe:
            self.wrong.append(answer)

    def merge(self, other: "Tally") -> None:
        self.counts.update(other.counts)
        self.wrong += other.wrong
        self.pairs += other.pairs


def tally(seed: int, numbers: Iterable[int]) -> Tally:
    counted = Tally.empty()
    for number in numbers:
        case = case_number(seed, number)
        counted.pairs += case.beside is not None
        for answer in answers(case):
            counted.add(answer)
    return counted


def _tallies(seed: int, cases: int) -> Iterator[Tally]:
    tasks = [range(first, min(first + _AT_ONCE, cases)) for first in range(0, cases, _AT_ONCE)]
    with ProcessPoolExecutor() as workers:
        yield from workers.map(tally, [seed] * len(tasks), tasks)


COLUMNS = ("cases", "break", "found", "wrong safe", "false alarms", "undecided")


def table(counted: Tally) -> list[str]:
    lines = [f"| step | {' | '.join(COLUMNS)} |", f"|---|{'---:|' * len(COLUMNS)}"]
    for step in (Step.ROLLING, Step.NOT_FINALIZED, Step.FINALIZED, ROLLBACK):
        cells = [f"{counted.counts[step, column]:,}" for column in COLUMNS]
        lines.append(f"| {step.replace('_', ' ')} | {' | '.join(cells)} |")
    return [*lines, ""]


def page(cases: int, seed: int, counted: Tally) -> str:
    """The Markdown page; `counted`: of `cases` cases."""
    wrong = [f"* {describe(answer)}" for answer in counted.wrong]
    lines = ["# Verdicts with facts withheld", "", *_INTRODUCTION, ""]
    lines += [
        f"{cases:,} cases, seed {seed}; a case is one client and two releases. {counted.pairs:,} are two programs behind one client id",
        "whose record shows that they are two.",
        "",
        *table(counted),
    ]
    lines += [*_COVERED, "", "## Called safe, and breaks", "", *(wrong or ["None."])]
    return "\n".join(lines) + "\n"


_INTRODUCTION = (
    "Generated by `make withheld-facts`. Clients are made from protocol facts: a library, version and configuration, what its program",
    "does, its SASL mechanism, the releases of the brokers, their finalized features and vendor. An oracle that knows all of it, and",
    "shares no code or table with the verdicts, says at which steps of the upgrade the client breaks. The verdict gets a part: software",
    "name, client id, mechanism, security protocol, what the listener offers, SCRAM credentials, finalized features, vendor and requests",
    "are withheld at random. The goal: no client that breaks is called safe (*wrong safe*). *False alarms*: `breaks`, and it works. *Undecided*:",
    "`insufficient_evidence`; with so much withheld, many are.",
)
_COVERED = (
    "**Covered**: 15 libraries from Kafka 0.9 on; producers, transactions, groups of the classic and of the consumer protocol, share and",
    "streams groups, lag exporters, administration; sources and targets from 0.10 to 4.4; sources whose features were never finalized;",
    "PLAIN, SCRAM, GSSAPI, OAUTHBEARER, delegation tokens; Confluent, Amazon MSK, Redpanda and Event Hubs by their documentation.",
    "",
    "**Not covered**: what an administrator calls that was not seen to call it; libraries that nobody has described; several programs",
    "behind one client id that nothing tells apart; proxies; ACLs; metric subscriptions. Clients are no more right than the facts that they are made of:",
    "benchmarks/withheld_facts/README.md has the sources. Real clients: [accuracy.md](accuracy.md).",
)


def describe(answer: Answer) -> str:
    """One line about a wrong answer: who, what was said of it, and what happens."""
    case, said = answer.case, answer.case.said
    client = " ".join(filter(None, (case.client.library, case.client.version, case.client.configuration)))
    requests = " ".join(f"{key}:{version}x{count}" for key, version, count, _ in said.requests)
    return (
        f"{client}, {case.program}, {case.client.mechanism}, {case.source.release} to {case.target.release} "
        f"({case.target.vendor}), {answer.step}: {answer.verdict}, but {'; '.join(answer.harm)}. Said: "
        f"{said.software_name} {said.software_version}, id {said.client_id}, {said.security_protocol}, {said.mechanism}, "
        f"offered {said.offered_mechanisms}, other logins {said.other_logins}, SCRAM {said.has_scram}, vendor {said.vendor}, "
        f"features {said.source_features}, {said.window}: {requests}"
    )


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.withheld_facts",
        description="Whether any client that breaks is called safe, whatever is withheld of it.",
    )
    parser.add_argument("--cases", type=int, default=CASES, metavar="N")
    parser.add_argument("--seed", type=int, default=SEED, metavar="N")
    parser.add_argument("--write", type=Path, metavar="FILE", help="write the page there as Markdown")
    args = parser.parse_args()
    counted = Tally.empty()
    for part in _tallies(args.seed, args.cases):
        counted.merge(part)
    if args.write:
        args.write.write_text(page(args.cases, args.seed, counted), encoding="utf-8")
    print("\n".join(table(counted)))
    for answer in counted.wrong[:200]:
        print(describe(answer))
    print(f"{len(counted.wrong)} wrong safe" if counted.wrong else "No client that breaks is called safe.")
    return 1 if counted.wrong else 0
