"""How right the verdicts are: predictions replayed against what real clients did on real brokers.

    python -m benchmarks.accuracy [--write docs/accuracy.md]

For each client of benchmarks/matrix, each old broker release and each new one, the engine is given one of four
kinds of evidence and its verdict is compared with the outcome. Exit code 1 when a goal is missed.
"""

import argparse
import csv
import sys
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from client_telemetry.compatibility import ApiUse, ClientEvidence, judge, parse_api_uses
from client_telemetry.knowledge import apis
from client_telemetry.knowledge.vocabulary import PRECEDENCE, Verdict

from benchmarks import accuracy_authentication, accuracy_programs, review_accuracy, scores
from benchmarks.leave_one_out import LIBRARY_OF, without_library, without_runs

MATRIX = Path(__file__).parent / "matrix"
PROTOCOL = "PLAINTEXT"
"""Of all runs of the matrix."""
RARE = frozenset((2, 8)) | {key for key, api in apis.by_key().items() if api.used_by == "admin"}
"""ListOffsets, OffsetCommit and administrative calls: what a short window misses."""


@dataclass(frozen=True)
class Client:
    library: str
    version: str
    configuration: str

    def __str__(self) -> str:
        return " ".join(
            each for each in (self.library, self.version, self.configuration) if each != "default"
        )


@dataclass(frozen=True)
class Seen:
    """What the broker of one release knew of a client."""

    client: Client
    name: str
    software_version: str
    client_ids: tuple[str, ...]
    release: str
    uses: tuple[ApiUse, ...]


@dataclass(frozen=True)
class Prediction:
    kind: str
    seen: Seen
    target: str
    outcome: str
    """works, degrades or breaks: what happened."""
    verdict: str
    reason: str

    @property
    def is_right(self) -> bool:
        harmless = ("safe", "unsupported")
        return self.verdict == self.outcome or (self.outcome == "works" and self.verdict in harmless)


KINDS: dict[str, Callable[[Seen], list[ClientEvidence]]] = {
    "all requests seen": lambda seen: [
        ClientEvidence(
            seen.name, seen.software_version, seen.client_ids[0], seen.uses, security_protocol=PROTOCOL
        )
    ],
    "short window": lambda seen: [
        ClientEvidence(
            seen.name,
            seen.software_version,
            seen.client_ids[0],
            tuple(use for use in seen.uses if use.api_key not in RARE),
            security_protocol=PROTOCOL,
        )
    ],
    "name and version alone": lambda seen: [
        ClientEvidence(seen.name, seen.software_version, security_protocol=PROTOCOL)
    ],
    "client id alone": lambda seen: [
        ClientEvidence(client_id=each, security_protocol=PROTOCOL) for each in seen.client_ids
    ],
}
"""Kind of evidence -> what the engine is given; several client ids of one client are judged one by one and the
strongest verdict counts. The short window lacks ListOffsets, OffsetCommit and administrative calls."""


def _rows(name: str) -> list[dict[str, str]]:
    with (MATRIX / name).open(encoding="utf-8", newline="") as opened:
        return list(csv.DictReader(opened))


def _client(row: dict[str, str]) -> Client:
    return Client(row["library"], row["version"], row["configuration"])


@cache
def matrix() -> tuple[tuple[Seen, ...], dict[tuple[Client, str], str]]:
    """What old brokers saw, and outcome by client and new release."""
    seen = tuple(
        Seen(
            _client(row),
            row["client_software_name"],
            row["client_software_version"],
            tuple(row["client_ids"].split("|")),
            row["brokers"],
            parse_api_uses(row["api_uses"]),
        )
        for row in _rows("evidence.csv")
    )
    return seen, {(_client(row), row["brokers"]): row["outcome"] for row in _rows("outcomes.csv")}


def predictions(library: str | None = None) -> list[Prediction]:
    """Every kind × client × old release × new release, of one library of the matrix or of all.

    Name and version alone: only clients that declare one.
    """
    seen_by_brokers, outcomes = matrix()
    seen_by_brokers = tuple(seen for seen in seen_by_brokers if library in (None, seen.client.library))
    targets = sorted({target for _, target in outcomes})
    found = []
    for kind, evidence in KINDS.items():
        for seen in seen_by_brokers:
            if kind == "name and version alone" and not seen.name:
                continue
            for target in targets:
                verdicts = [judge(each, seen.release, target) for each in evidence(seen)]
                verdict = min(verdicts, key=lambda each: PRECEDENCE.index(each.verdict))
                reason = verdict.missing[0] if verdict.missing else verdict.explanation
                outcome = outcomes[seen.client, target]
                found.append(Prediction(kind, seen, target, outcome, verdict.verdict, reason))
    return found


def predictions_without_own_runs() -> list[Prediction]:
    """The same, each library judged without what its own runs taught."""
    found = []
    for library in dict.fromkeys(seen.client.library for seen in matrix()[0]):
        with without_runs(LIBRARY_OF.get(library, library)):
            found += predictions(library)
    return found


def predictions_without_libraries() -> list[Prediction]:
    """The same, each library's clients judged by an engine that has never heard of it."""
    found = []
    for library in dict.fromkeys(seen.client.library for seen in matrix()[0]):
        with without_library(LIBRARY_OF.get(library, library)):
            found += predictions(library)
    return found


@dataclass(frozen=True)
class Score:
    """Counts over a set of predictions, of the verdict `breaks` and of what was left undecided."""

    total: int
    breaking: int
    found: int
    false: int
    wrong_safe: int
    undecided: int

    @classmethod
    def of(cls, some: Iterable[Prediction]) -> "Score":
        count = Counter((each.outcome, each.verdict) for each in some)
        breaking = sum(number for (outcome, _), number in count.items() if outcome == Verdict.BREAKS)
        found = count[Verdict.BREAKS, Verdict.BREAKS]
        left = count[Verdict.BREAKS, Verdict.INSUFFICIENT_EVIDENCE]
        return cls(
            total=sum(count.values()),
            breaking=breaking,
            found=found,
            false=sum(
                number for (outcome, verdict), number in count.items() if verdict == Verdict.BREAKS != outcome
            ),
            wrong_safe=breaking - found - left,
            undecided=sum(
                number for (_, verdict), number in count.items() if verdict == Verdict.INSUFFICIENT_EVIDENCE
            ),
        )

    def cells(self) -> list[str]:
        claimed = self.found + self.false
        return [
            str(self.total),
            str(self.breaking),
            _share(self.found, claimed),
            _share(self.found, self.breaking),
            str(self.false),
            str(self.wrong_safe),
            _share(self.undecided, self.total),
        ]


COLUMNS = ("cases", "break", "precision", "recall", "false alarms", "wrong safe", "undecided")


def _share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f} %" if whole else "–"


def table(title: str, groups: dict[str, list[Prediction]]) -> list[str]:
    lines = [f"| {title} | {' | '.join(COLUMNS)} |", f"|---|{'---:|' * len(COLUMNS)}"]
    lines += [f"| {name} | {' | '.join(Score.of(some).cells())} |" for name, some in groups.items()]
    return [*lines, ""]


def grouped(some: Iterable[Prediction], by: Callable[[Prediction], str]) -> dict[str, list[Prediction]]:
    found: dict[str, list[Prediction]] = {}
    for each in some:
        found.setdefault(by(each), []).append(each)
    return found


def report(
    all_predictions: list[Prediction],
    without_runs: list[Prediction],
    without_libraries: list[Prediction],
    rules_in_reviews: list[str],
) -> str:
    """Tables by kind, library and target, then every miss with its reason. `rules_in_reviews`: lines of a table."""
    lines = ["# How often verdicts are right", "", *_INTRODUCTION]
    lines += [
        "## By kind of evidence",
        "",
        *table("evidence", grouped(all_predictions, lambda each: each.kind)),
    ]
    lines += _AXES
    lines += _UNDECIDED
    lines += ["## Rules in reviews of real upgrades", "", *_REVIEWS, *rules_in_reviews, ""]
    lines += ["## Each library without what was learned from its own runs", "", *_LEAVE_ONE_OUT]
    lines += table("evidence", grouped(without_runs, lambda each: each.kind))
    differing = [
        after
        for before, after in zip(_in_order(all_predictions), _in_order(without_runs), strict=True)
        if before.verdict != after.verdict
    ]
    lines += _misses(differing) if differing else ["No verdict differs.", ""]
    lines += ["## Each library unknown", "", *_LIBRARY_UNKNOWN]
    lines += table("evidence", grouped(without_libraries, lambda each: each.kind))
    for kind, some in grouped(all_predictions, lambda each: each.kind).items():
        lines += [f"## {kind.capitalize()}", ""]
        lines += table("target", grouped(some, lambda each: each.target))
        lines += table("library", grouped(some, lambda each: each.seen.client.library))
        misses = [each for each in some if not each.is_right]
        lines += _misses(misses) if misses else ["No miss.", ""]
    return "\n".join(lines).rstrip("\n") + "\n"


def _in_order(some: list[Prediction]) -> list[Prediction]:
    return sorted(some, key=lambda each: (each.kind, str(each.seen.client), each.seen.release, each.target))


def _misses(misses: list[Prediction]) -> list[str]:
    lines = ["| client | happened | predicted | targets | why |", "|---|---|---|---|---|"]
    together: dict[tuple[str, str, str, str], set[str]] = {}
    for each in misses:
        reason = each.reason.replace(each.target, "the target").replace(each.seen.release, "the source")
        key = (str(each.seen.client), each.outcome, each.verdict, _without_ranges(reason))
        together.setdefault(key, set()).add(each.target)
    for (client, outcome, verdict, reason), targets in together.items():
        lines.append(f"| {client} | {outcome} | {verdict} | {', '.join(sorted(targets))} | {reason} |")
    return [*lines, ""]


def _without_ranges(reason: str) -> str:
    """Reasons that differ only in the target's ranges are one."""
    return reason.split("; the target accepts")[0].replace("|", "\\|")


_INTRODUCTION = (
    "Generated by `python -m benchmarks.accuracy --write docs/accuracy.md`; `make accuracy` prints the first table and checks",
    "the goals. The clients are the real clients of benchmarks/matrix, with old brokers 2.8.2, 3.4.1, 3.7.1 and 3.9.1 and new brokers",
    "4.0.0, 4.0.1, 4.1.0 and 4.3.1. Each client is judged on four kinds of evidence: all requests that the old broker logged; a short",
    "window without ListOffsets, OffsetCommit and administrative calls; only name and version, for clients that declare them; only the",
    "default client id. Precision and recall refer to `breaks`. *Wrong safe*: the client broke, and the verdict was neither",
    "`breaks` nor `insufficient_evidence`. *Undecided*: `insufficient_evidence`.",
    "",
)

_AXES = (
    "## What was run, and what was not",
    "",
    "| axis | run | not run |",
    "|---|---|---|",
    "| brokers before 2.8 | no real broker; made clients from 0.10 on | old clients at old brokers |",
    "| sources whose features were not finalized | real clients at unfinalized targets; made clients at such sources | a second hop of a real cluster |",
    "| GSSAPI (Kerberos) | Java 2.5.1 and librdkafka 2.0.2 through an upgrade, with a real KDC; made clients | RC4 and 3DES keys; Java 0.9 |",
    "| OAUTHBEARER | unsecured tokens on nine releases; Java with a real token server through an upgrade | other libraries with a token server |",
    "| delegation tokens | made clients | real ones |",
    "| mutual TLS | client certificates on nine releases; Java 0.11 through an upgrade | certificates that expire or change |",
    "| ACLs | one program without the right to write, through an upgrade | rights that a release newly asks for |",
    "| groups of the consumer protocol | libraries of the matrix that have them; Java 4.0.0 through an upgrade; made clients | their migration from classic groups |",
    "| share groups | Java 4.4.0 through an upgrade, refused before and after; made clients | groups that work on the source |",
    "| streams groups | made clients | real ones |",
    "| vendors | made clients, by the vendors' documentation | brokers of Confluent, Amazon MSK, Redpanda, Event Hubs |",
    "",
    "Made clients: [accuracy-withheld-facts.md](accuracy-withheld-facts.md) (`make withheld-facts`). Upgrades with a KDC, a token server,",
    "certificates and ACLs: [accuracy-programs.md](accuracy-programs.md). Logins on nine releases:",
    "[accuracy-authentication.md](accuracy-authentication.md).",
    "",
)

_UNDECIDED = (
    "**Not covered**: logins and feature levels ([accuracy-authentication.md](accuracy-authentication.md)), whole programs",
    "and a fleet ([accuracy-programs.md](accuracy-programs.md)), several brokers, libraries that are not in the matrix",
    "(Ruby, Erlang, .NET).",
    "",
    "## What stays undecided, and why",
    "",
    "With the full knowledge base, no client that breaks is called safe; missed clients are left undecided, and their verdicts",
    "say what would settle them.",
    "",
    "* *Short window*: if a client declares nothing and all its observed requests date from 0.11 or later, its unseen requests are",
    "  not refused either: the versions that 4.x removed are older, and no known library that sends exactly these requests still uses",
    "  one (inference.py). The exceptions are Sarama up to 1.40.1 on 4.0.1 and later, and clients that send what Sarama could send.",
    "  Sarama joins, and breaks because it commits with OffsetCommit v1, or works because `Consumer.Offsets.Retention` above 0 makes it",
    "  use OffsetCommit v2. Its other requests do not show which: it sends Fetch v10, from Kafka 2.1, and Heartbeat v0, from 0.9.",
    "* *Name and version alone*: Sarama, whose requests follow `config.Version` and whose declared version was that of the",
    "  application before 1.47.",
    "* *Client id alone*: a default client id identifies a library but usually no version; these libraries have",
    "  versions or configurations that work and others that break.",
    "",
)


_REVIEWS = (
    "For each rule, the applications of the recorded upgrades (tests/data/roll, include/sample/fleet) that it was found for, and what",
    "happened to them by the review. Precision: of the predictions with a known outcome, the share that happened. Recall: of the clients",
    "that failed in what the rule is about, the share that it predicted. By recording, and how often the reviews themselves are right:",
    "[review-accuracy.md](review-accuracy.md).",
    "",
)

_LIBRARY_UNKNOWN = (
    "The clients of a library are judged with a knowledge base that has no rows for this library: this shows what happens to clients",
    "of unknown libraries. Observed requests decide as before, no client that breaks is called safe, and more clients are left",
    "undecided.",
    "",
)


_LEAVE_ONE_OUT = (
    "Ranges that the runs of a library corrected are reverted, issues and default client ids learned from them are left",
    "out, and the clients of that library are judged again. The clients whose verdict changes are listed below the table.",
    "",
)


def goals_missed(all_predictions: list[Prediction]) -> list[str]:
    """The goals of the project that these predictions do not reach, in words; empty when all are reached."""
    by_kind = grouped(all_predictions, lambda each: each.kind)
    missed = []
    for kind in KINDS:
        if Score.of(by_kind[kind]).wrong_safe:
            missed.append(f"{kind}: {Score.of(by_kind[kind]).wrong_safe} wrong safe")
    everything = Score.of(by_kind["all requests seen"])
    if everything.false or everything.undecided:
        missed.append("all requests seen: false alarms or undecided")
    named = [
        each
        for each in by_kind["name and version alone"]
        if any(map(str.isdigit, each.seen.software_version))
    ]
    short = Score.of(by_kind["short window"])
    if short.undecided > 0.20 * short.total:
        missed.append(f"short window: {_share(short.undecided, short.total)} undecided, at most 20 %")
    score = Score.of(named)
    if score.false > 0.02 * score.total:
        missed.append(f"name and version alone: {_share(score.false, score.total)} false alarms, at most 2 %")
    if score.undecided > 0.20 * score.total:
        missed.append(
            f"name and version alone: {_share(score.undecided, score.total)} undecided, at most 20 %"
        )
    return missed


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.accuracy",
        description="How right the verdicts are, measured on real clients.",
    )
    parser.add_argument(
        "--write",
        type=Path,
        metavar="FILE",
        help="write the whole report there as Markdown, and the pages on logins and on programs beside it",
    )
    args = parser.parse_args()
    found, logins = predictions(), accuracy_authentication.predictions()
    programs = accuracy_programs.predictions()
    if args.write:
        args.write.write_text(
            report(
                found,
                predictions_without_own_runs(),
                predictions_without_libraries(),
                review_accuracy.rules_of_all(review_accuracy.recordings()),
            ),
            encoding="utf-8",
        )
        pages = {
            "authentication": accuracy_authentication.report(
                logins, accuracy_authentication.without_libraries()
            ),
            "programs": accuracy_programs.report(programs),
        }
        for name, text in pages.items():
            args.write.with_name(f"{args.write.stem}-{name}.md").write_text(text, encoding="utf-8")
    print("\n".join(table("evidence", grouped(found, lambda each: each.kind))))
    for some in (logins, programs):
        print("\n".join(scores.table("evidence", scores.grouped(some, lambda each: each.kind))))
    missed = [
        *goals_missed(found),
        *accuracy_authentication.goals_missed(logins),
        *accuracy_programs.goals_missed(programs),
    ]
    print("\n".join(missed) if missed else "All goals are reached.")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
