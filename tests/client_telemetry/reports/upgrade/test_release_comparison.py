import csv
import re
from pathlib import Path

import pytest
from client_telemetry.reports.outcomes import OUTCOMES
from client_telemetry.reports.upgrade.build import build_report
from client_telemetry.reports.upgrade.page import report_page
from client_telemetry.reports.upgrade.ticket import report_ticket
from client_telemetry.reports.upgrade.wording import difference_words

TABLE = Path(__file__).parents[3] / "data/reports/better_targets.csv"
CASES = list(csv.DictReader(TABLE.read_text(encoding="utf-8").splitlines()))


def fares(text: str) -> tuple[str, str | None, str]:
    """`at_once JoinGroup v1` → verdict, when, reason."""
    word, _, reason = text.partition(" ")
    return ("breaks", word, reason) if word in ("at_once", "latent") else (word, None, reason)


def report_of(rows, case: dict):
    """One client per part of the cell; releases are the columns."""
    releases = [name for name in case if name[0].isdigit() and case[name]]
    columns = {release: [fares(part) for part in case[release].split("|")] for release in releases}
    asked = case["asked"]
    given, counts = [], {release: dict.fromkeys(OUTCOMES, 0) for release in releases}
    for number, (verdict, when, _) in enumerate(columns[asked]):
        others = []
        for release in releases:
            there, there_when, reason = columns[release][number]
            word = {"at_once": "breaks_at_once", "latent": "breaks_latent"}.get(there_when, there)
            counts[release][word] += 1
            if (there, there_when) != (verdict, when):
                reason = columns[asked][number][2] or reason
                others.append({"to_release": release, "verdict": there, "when": there_when, "reason": reason})
        given.append(rows.verdict(f"client-{number}", verdict) | {"when": when, "other_targets": others})
    targets = [{"to_release": release} | counts[release] for release in releases]
    question = rows.question(len(given), from_release=case["from"], to_release=asked, targets=targets)
    return build_report(question, given, [], [], [])


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["case"])
def test_sentence_about_a_better_release(rows, case):
    assert (report_of(rows, case).better_target or "") == case["sentence"]


def test_table_of_releases(rows):
    case = next(case for case in CASES if case["case"] == "two fail on the asked release only")
    report = report_of(rows, case)
    assert [(t.to_release, t.is_asked, t.counts["breaks_at_once"]) for t in report.targets] == [
        ("4.0.0", True, 3),
        ("4.0.1", False, 1),
        ("4.4.0", False, 1),
    ]
    assert report.targets[0].counts == report.counts


def test_alike_clients_are_one_difference(rows):
    case = next(case for case in CASES if case["case"] == "two fail on the asked release only")
    (difference,) = report_of(rows, case).target_differences
    assert (difference.releases, difference.asked, difference.there) == (
        ("4.0.1", "4.4.0"),
        "breaks_at_once",
        "safe",
    )
    assert (difference.applications, difference.reason) == (2, "JoinGroup v1")
    assert difference.names == ("client-0", "client-1")


def test_safe_so_far_is_not_called_safe_on_another_release(rows):
    other = {"to_release": "4.0.1", "verdict": "safe", "when": None, "reason": "JoinGroup v1"}
    given = [
        rows.verdict(name, "breaks", other_targets=[other], well_observed=name == "watched")
        for name in ("watched", "glimpsed")
    ]
    report = build_report(rows.question(2), given, [], [], [])
    words = {each.names: difference_words(each)[0] for each in report.target_differences}
    assert words == {("watched",): "safe", ("glimpsed",): "safe so far"}


def test_only_the_first_few_of_many_are_named(rows):
    other = {"to_release": "4.0.1", "verdict": "safe", "when": None, "reason": "JoinGroup v1"}
    given = [rows.verdict(f"c{n:03}", "breaks", other_targets=[other]) for n in range(40)]
    (difference,) = build_report(rows.question(40), given, [], [], []).target_differences
    assert difference.applications == 40 and len(difference.names) == 5


def test_a_report_of_before_the_comparison_has_none(rows):
    given = [rows.verdict(other_targets=None, mixed_verdict=None, rollback_verdict=None)]
    report = build_report(rows.question(1, targets=None), given, [], [], [])
    assert report.targets == () and report.target_differences == () and report.better_target is None


def test_works_again_counts_applications_on_every_release(rows):
    """Two clients of one application are one; upgrade_reports.targets counts both."""
    safe = {"to_release": "4.0.1", "verdict": "safe", "when": None, "reason": "SCRAM"}
    lacking = {"to_release": "4.1.0", "verdict": "insufficient_evidence", "when": None, "reason": "SCRAM"}
    failing = {"already_failing": True, "application": "one"}
    given = [
        rows.verdict("a", "breaks", other_targets=[safe, lacking], **failing),
        rows.verdict("b", "breaks", other_targets=[safe, lacking], **failing),
        rows.verdict("c", "degrades", already_failing=True, works_again=True, principal="User:c"),
        rows.verdict("d", "breaks", other_targets=[safe], principal="User:d"),
    ]
    none = dict.fromkeys(OUTCOMES, 0)
    targets = [
        {"to_release": release, **none, "works_again": clients}
        for release, clients in (("4.0.0", 1), ("4.0.1", 3), ("4.1.0", 1))
    ]
    report = build_report(rows.question(4, targets=targets), given, [], [], [])
    assert [(target.to_release, target.works_again) for target in report.targets] == [
        ("4.0.0", 1),
        ("4.0.1", 2),
        ("4.1.0", 1),
    ]
    assert report.works_again == 1
    table = report_ticket(report).split("## Releases compared")[1].split("## ")[0]
    assert "| Safe so far | Works again |" in table
    assert [line.split(" | ")[-1] for line in table.splitlines() if line.startswith("| 4")] == [
        "1 |",
        "2 |",
        "1 |",
    ]


def test_safe_so_far_on_a_compared_release(rows):
    there = {"to_release": "4.0.1", "verdict": "safe", "when": None, "reason": "JoinGroup v1"}
    given = [
        rows.verdict("a", "breaks", other_targets=[there]),
        rows.verdict("b", "breaks", other_targets=[there], principal="User:b", well_observed=True),
        rows.verdict("c", principal="User:c"),
    ]
    targets = [{"to_release": release, **dict.fromkeys(OUTCOMES, 0)} for release in ("4.0.0", "4.0.1")]
    report = build_report(rows.question(3, targets=targets), given, [], [], [])
    assert [(target.counts["safe"], target.safe_so_far) for target in report.targets] == [(1, 1), (3, 2)]
    table = report_page(report).split('class="plain targets stack"')[1].split("</table>")[0]
    assert '<th scope="col" class="n">Safe<th scope="col" class="n">Safe so far' in table
    numbers = [re.findall(r'<td class="n[^>]*>(\d+)', line) for line in table.split("<tr")[2:]]
    assert numbers == [["2", "0", "0", "1"], ["0", "0", "1", "2"]]
