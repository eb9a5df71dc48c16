"""Accuracy of verdicts on whole programs and on a fleet as it was upgraded: docs/accuracy-programs.md.

The clients of a program are those of its request log, and the most serious verdict on one of them is the program's.
The fleet's clients are judged for both of its upgrades. Programs that were upgraded in place are in accuracy_in_place.py. Run by `python -m benchmarks.accuracy`.
"""

import csv
from collections import defaultdict
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from client_telemetry.compatibility import ApiUse, ClientEvidence, ClientVerdict, judge, parse_api_uses
from client_telemetry.knowledge import kip511
from client_telemetry.knowledge.vocabulary import PRECEDENCE, Verdict

from benchmarks import accuracy_in_place
from benchmarks.scores import Prediction, grouped, misses, table

PROGRAMS, FLEET = Path(__file__).parent / "programs", Path(__file__).parent / "fleet"
SAMPLE = Path(__file__).parents[1] / "include" / "sample" / "fleet"
FULL, AGAIN = "its window", "short window, no offset reset"
RUNS = {FULL: ("A", "A2"), AGAIN: ("A2-again",)}


@cache
def _rows(file: Path) -> list[dict[str, str]]:
    with file.open(encoding="utf-8", newline="") as opened:
        return list(csv.DictReader(opened))


def predictions() -> list[Prediction]:
    found = []
    for kind, runs in RUNS.items():
        for mechanism in ("", ", mechanism not known"):
            for case in _rows(PROGRAMS / "cases.csv"):
                of_case = [
                    row
                    for row in _rows(PROGRAMS / "evidence.csv")
                    if row["run"] in runs and row["case"] == case["case"]
                ]
                for target in ("4.0.0", "4.3.1") if of_case else ():
                    verdict = _worst([_judged(row, of_case, case, target, not mechanism) for row in of_case])
                    outcome = case[f"outcome_{target.replace('.', '_')}"]
                    found.append(
                        Prediction(
                            kind + mechanism,
                            case["kind"],
                            f"{case['case']} ({case['client']})",
                            target,
                            Verdict.BREAKS if outcome == "latent" else outcome,
                            verdict.verdict,
                            verdict.missing[0] if verdict.missing else verdict.explanation,
                        )
                    )
    return found


def _judged(
    row: dict[str, str], of_case: list[dict[str, str]], case: dict[str, str], target: str, known: bool
) -> ClientVerdict:
    same = [each for each in of_case if each is not row and _who(each)[:2] == _who(row)[:2]]
    mechanism = case["sasl_mechanism"] if known and row["security_protocol"].startswith("SASL") else ""
    evidence = ClientEvidence(
        row["client_software_name"],
        row["client_software_version"],
        row["client_id"],
        parse_api_uses(row["api_uses"]),
        mechanism or None,
        row["security_protocol"],
        also_declared=tuple(_who(each)[2:] for each in same if kip511.is_known(each["client_software_name"])),
    )
    return judge(evidence, row["release"], target)


def _who(row: dict[str, str]) -> tuple[str, str, str, str]:
    return row["principal"], row["client_id"], row["client_software_name"], row["client_software_version"]


def _worst(verdicts: list[ClientVerdict]) -> ClientVerdict:
    return min(verdicts, key=lambda each: PRECEDENCE.index(each.verdict))


# --- the fleet -------------------------------------------------------------------------------------------------------


def fleet(source: str, target: str) -> dict[tuple[str, str, str, str], ClientVerdict]:
    """Client of the fleet -> verdict, from what brokers on the source answered and refused, and, of what the client
    sends, from what brokers of releases before it answered."""
    by_client: defaultdict[tuple[str, ...], dict[str, list[dict[str, str]]]] = defaultdict(dict)
    for row in _rows(FLEET / "evidence.csv"):
        if row["client_id"]:
            by_client[_who(row)].setdefault(row["release"], []).append(row)
    found = {}
    for who, by_release in by_client.items():
        if source not in by_release:
            continue
        protocol = by_release[source][0]["security_protocol"]
        evidence = ClientEvidence(
            who[2],
            who[3],
            who[1],
            _uses(by_release[source]),
            "PLAIN" if protocol.startswith("SASL") else None,
            protocol,
            uses_elsewhere=tuple(
                (release, use)
                for release, rows in by_release.items()
                if release < source
                for use in _uses(rows)
                if use.requests
            ),
        )
        found[who] = judge(evidence, source, target)
    return found


def _uses(rows: list[dict[str, str]]) -> tuple[ApiUse, ...]:
    found: dict[tuple[int, int], ApiUse] = {}
    for row in rows:
        for use in parse_api_uses(row["answered"]):
            before = found.get(use[:2], ApiUse(*use[:2], 0))
            found[use[:2]] = before._replace(requests=before.requests + use.requests)
        for use in parse_api_uses(row["refused"]):
            before = found.get(use[:2], ApiUse(*use[:2], 0))
            found[use[:2]] = before._replace(rejected=before.rejected + use.requests)
    return tuple(found.values())


def failing_applications() -> set[str]:
    """Applications of the fleet of which a side was broken on 4.0.0, by their own logs."""
    return {
        row["app"]
        for row in _rows(SAMPLE / "outcomes.csv")
        if row["phase"] == "4.0.0"
        and "broken" in (row["verdict"], row["producer_verdict"], row["consumer_verdict"])
    }


def applications_of(who: Iterable[tuple[str, str, str, str]]) -> set[str]:
    """Applications that these clients belong to; a library's default client id is that of one application here."""
    found = set()
    for principal, client_id, name, _ in who:
        owner = _DEFAULT_IDS.get(client_id) or next(
            (
                row["app"]
                for row in _rows(SAMPLE / "apps.csv")
                if (row["client_id"], f"User:{row['principal']}") == (client_id, principal)
                and (
                    client_id != "orders-service"
                    or (row["app"] == "orders-service-new") == (name == "apache-kafka-java")
                )
            ),
            client_id,
        )
        found.add(owner)
    return found


_DEFAULT_IDS = {
    "kafka-node-client": "erp-orders",
    "pykafka": "erp-pyk",
    "sarama": "edge-gateway",
    "rdkafka": "adhoc-notebook",
    "kafka-python-1.4.7": "erp-audit",
}


# --- the page --------------------------------------------------------------------------------------------------------


def report(some: list[Prediction]) -> str:
    lines = ["# How often verdicts are right: programs and a fleet", "", *_INTRODUCTION]
    by_kind = grouped(some, lambda each: each.kind)
    lines += table("evidence", by_kind)
    for kind, of_kind in by_kind.items():
        lines += [f"## {kind.capitalize()}", ""]
        lines += table("target", grouped(of_kind, lambda each: each.target))
        lines += table("kind of program", grouped(of_kind, lambda each: each.library))
        lines += misses(each for each in of_kind if not each.is_right)
    lines += accuracy_in_place.report(accuracy_in_place.programs())
    return "\n".join([*lines, *_fleet_page()]).rstrip("\n") + "\n"


def _fleet_page() -> list[str]:
    lines = ["## The fleet: both upgrades as they happened", "", *_FLEET]
    judged = fleet("4.0.0", "4.3.1")
    failing = applications_of(who for who, verdict in judged.items() if verdict.already_failing)
    again = applications_of(who for who, verdict in judged.items() if verdict.works_again)
    lines += [
        "| application | failed on 4.0.0 | already failing | works again on 4.3.1 |",
        "|---|---|---|---|",
    ]
    for app in sorted(failing_applications() | failing):
        cells = (app in failing_applications(), app in failing, app in again)
        lines.append(f"| {app} | {' | '.join('yes' if cell else 'no' for cell in cells)} |")
    return [*lines, ""]


def goals_missed(some: list[Prediction]) -> list[str]:
    found = []
    for kind, of_kind in grouped(some, lambda each: each.kind).items():
        if wrong := [each for each in of_kind if each.is_wrong_safe]:
            found.append(f"{kind}: {len(wrong)} wrong safe, none allowed")
        alarms = [each for each in of_kind if each.is_false_alarm]
        if len(alarms) > 0.02 * len(of_kind):
            found.append(f"{kind}: {len(alarms)} false alarms in {len(of_kind)}, at most 2 %")
        undecided = [each for each in of_kind if each.is_undecided]
        if kind == FULL and len(undecided) > 0.05 * len(of_kind):
            found.append(f"{kind}: {len(undecided)} of {len(of_kind)} undecided, at most 5 %")
    judged = fleet("4.0.0", "4.3.1")
    failing = applications_of(who for who, verdict in judged.items() if verdict.already_failing)
    if failing != failing_applications():
        found.append(
            f"fleet: already failing differs in {', '.join(sorted(failing ^ failing_applications()))}"
        )
    return found + accuracy_in_place.goals_missed(accuracy_in_place.programs())


_INTRODUCTION = (
    "Generated by `make accuracy` (`python -m benchmarks.accuracy --write docs/accuracy.md`). For the programs of",
    "benchmarks/programs, this compares what brokers on 3.9.1 logged (read by the project's own request log reader) with",
    "what happened to the programs when the brokers' data directories were started with 4.0.0 and 4.3.1. A program's verdict is the most",
    "serious one of its clients; `latent` outcomes count as broken.",
    "",
    "**Not covered**: programs that were not run (products.csv lists many more), Windows and long windows of evidence (a program",
    "was watched for 10 to 50 seconds), brokers of other vendors, features at old levels, rollback. kafka-rust-09 and",
    "scram-ruby150 did not do their main job in the run that was watched, because their topic did not exist yet.",
    "",
)
_FLEET = (
    "Clients of the sample fleet (include/sample/fleet), watched on 4.0.0, with the question 4.0.0 to 4.3.1: which applications already",
    "fail. *Failed*: according to its own log, one side of the application was broken. For most of them, no refusal can be attributed to",
    "a client; what they sent to the brokers on 3.9.1 before shows what they would send. fraud-scorer-v2 and erp-report-v2",
    "started on 4.0.0.",
    "",
)
