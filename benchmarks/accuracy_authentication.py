"""Accuracy of verdicts on clients that log in, at every feature level: docs/accuracy-authentication.md.

Real clients of benchmarks/authentication worked on 3.9.1; each verdict from 3.9.1 is compared with what became of the
client on another release, with its features at some level. Run by `python -m benchmarks.accuracy`.
"""

import csv
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from client_telemetry.compatibility import ClientEvidence, judge, parse_api_uses
from client_telemetry.knowledge import features
from client_telemetry.knowledge.vocabulary import Verdict

from benchmarks.leave_one_out import LIBRARY_OF, without_library
from benchmarks.scores import Prediction, grouped, misses, table

TRUTH = Path(__file__).parent / "authentication"
SOURCE = "3.9.1"
KNOWN, UNKNOWN = "mechanism known", "mechanism not known"


@cache
def _rows(name: str) -> list[dict[str, str]]:
    with (TRUTH / name).open(encoding="utf-8", newline="") as opened:
        return list(csv.DictReader(opened))


def _levels(release: str, name: str) -> dict[str, int]:
    """The finalized levels of a run (benchmarks/authentication/README.md)."""
    old = dict(features.not_finalized(SOURCE, release))
    return {
        "newest": dict(features.newest(release)),
        "tv0": {"transaction.version": 0, "group.version": 0},
        "tv1": {"transaction.version": 1},
        "rel3.9": old,
        "in-place-unfinalized": old,
        "in-place+tv1": {**old, "transaction.version": 1},
        "in-place+tv2": {**old, "transaction.version": 2},
        "in-place+tv1+mv4.0": {**old, "transaction.version": 1, "metadata.version": 25},
    }[name]


def predictions(library: str | None = None) -> list[Prediction]:
    clients = {row["client"]: row for row in _rows("evidence.csv") if library in (None, row["library"])}
    found = []
    for kind in (KNOWN, UNKNOWN):
        for row in _rows("outcomes.csv"):
            client = clients.get(row["client"])
            if client is None:
                continue
            evidence = ClientEvidence(
                client["client_software_name"],
                client["client_software_version"],
                client["client_id"],
                parse_api_uses(client["api_uses"]),
                client["sasl_mechanism"] or None if kind == KNOWN else None,
                client["security_protocol"],
            )
            verdict = judge(
                evidence, SOURCE, row["release"], features=_levels(row["release"], row["features"])
            )
            lost = "txn" in row["steps_lost"].split()
            found.append(
                Prediction(
                    kind,
                    client["library"],
                    " ".join(
                        client[name]
                        for name in (
                            "library",
                            "version",
                            "configuration",
                            "sasl_mechanism",
                            "security_protocol",
                        )
                        if client[name] not in ("", "default")
                    ),
                    f"{row['release']} {row['features']}",
                    Verdict.BREAKS if lost else row["outcome"],
                    verdict.verdict,
                    verdict.missing[0] if verdict.missing else verdict.explanation,
                )
            )
    return found


def without_libraries() -> list[Prediction]:
    """Each library's clients judged by an engine that has never heard of it."""
    found = []
    for library in dict.fromkeys(row["library"] for row in _rows("evidence.csv")):
        known_as = library.partition("(")[0]
        with without_library(
            {"@platformatic/kafka": "platformatic-kafka"}.get(known_as, LIBRARY_OF.get(known_as, known_as))
        ):
            found += predictions(library)
    return found


def report(some: list[Prediction], left_out: list[Prediction]) -> str:
    lines = ["# How often verdicts are right: logins and feature levels", "", *_INTRODUCTION]
    by_kind = grouped(some, lambda each: each.kind)
    lines += table("evidence", by_kind)
    for kind, of_kind in by_kind.items():
        lines += [f"## {kind.capitalize()}", ""]
        lines += table("release and features", grouped(of_kind, lambda each: each.target))
        lines += table("library", grouped(of_kind, lambda each: each.library))
        lines += misses(each for each in of_kind if not each.is_right)
    lines += ["## Each library unknown", "", *_LEFT_OUT]
    lines += table("evidence", grouped(left_out, lambda each: each.kind))
    lines += misses(each for each in left_out if each.is_wrong_safe)
    return "\n".join(lines).rstrip("\n") + "\n"


def goals_missed(some: Iterable[Prediction]) -> list[str]:
    found = []
    for kind, of_kind in grouped(some, lambda each: each.kind).items():
        if wrong := [each for each in of_kind if each.is_wrong_safe]:
            found.append(f"{kind}: {len(wrong)} wrong safe, none allowed")
        alarms = [each for each in of_kind if each.is_false_alarm]
        if len(alarms) > 0.02 * len(of_kind):
            found.append(f"{kind}: {len(alarms)} false alarms in {len(of_kind)}, at most 2 %")
        if kind == KNOWN and any(each.is_undecided for each in of_kind):
            found.append(f"{kind}: some undecided, none allowed")
    return found


_INTRODUCTION = (
    "Generated by `make accuracy` (`python -m benchmarks.accuracy --write docs/accuracy.md`). The clients are the real clients of",
    "benchmarks/authentication, with PLAIN, SCRAM-SHA-256 and -512, OAUTHBEARER and client certificates, on 3.9.1 and then",
    "on eight other releases: with the features of a new cluster (`newest`), at transaction.version 0 or 1, formatted as",
    "3.9, and upgraded in place. *Wrong safe*: the client broke or lost a function, and the verdict was `safe` or `unsupported`. A client",
    "that lost its transactions counts as broken.",
    "",
    "**Not covered**: real Kerberos (GSSAPI), an OAuth server (tokens were unsecured), delegation tokens, re-authentication,",
    "brokers of Confluent Platform and other vendors, several brokers, rollback after finalization. The rules on GSSAPI",
    "and on Confluent Platform are based only on their sources. The library versions are those of the runs: brod, lua-resty-kafka",
    "and franz-go before 1.3.0 were not run with SCRAM.",
    "",
    "If the mechanism is not known, and the library fails with one that the listener may offer, the client is left undecided:",
    'the verdict begins with "Breaks if it uses SCRAM" and says what would settle it.',
    "",
)
_LEFT_OUT = (
    "The knowledge base has no rows for the library: this shows what protocol facts alone say about its clients. A failed login is not",
    "visible in any request before the upgrade. Clients of unknown libraries are therefore left undecided if they may log in with SCRAM,",
    "because of what brokers refuse since 3.7.2 and 4.0; if they may choose a version that requires a feature level; and if they",
    "return to a release that answers their ApiVersions with error 35 and were not seen to retry (KIP-511).",
    "",
)
