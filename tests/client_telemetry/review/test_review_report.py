"""What a review says on paper: messages to owners, sections of metrics, JSON that a program can read."""

import csv
import io
import json
import re
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import scenarios
from client_telemetry.activity.records import FailedLogin
from client_telemetry.identity.owners import load_owner_rules
from client_telemetry.reports.review.document import OUTCOME_COLUMNS, files
from client_telemetry.reports.review.metrics import by_group, of_changed
from client_telemetry.reports.review.page import PHASE_WORDS, review_page
from client_telemetry.reports.review.publish import publish
from client_telemetry.reports.review.report import ReviewReport
from client_telemetry.reports.review.ticket import ROWS, owner_packs
from client_telemetry.reports.review.wording import KIND_WORDS, OUTCOME_WORDS
from client_telemetry.review import decision, outcome, phases
from client_telemetry.review.in_parts import assembled, part, setting
from client_telemetry.review.metric_curves import NOTHING
from client_telemetry.review.metric_review import metric_review
from client_telemetry.review.outcome import Happened, Kind
from client_telemetry.review.prediction import Comparison

OWNERS = """
rules:
  - {name: orders, owner: orders-team, contact: orders@example.com, client_id: orders.*}
  - {name: quiet, owner: quiet-team, client_id: quiet.*}
"""
HOSTILE = "orders|<script>`x`"


def client(name: str, software: str = "unknown") -> Any:
    return scenarios.client(name, software)._replace(principal=f"User:{name}")


def report(extra: int = 0) -> ReviewReport:
    clients = [
        (client("orders-refused"), "Produce:2@0-379/2 Metadata:1@0-900/5 Produce:2@320-900/2x"),
        (client(HOSTILE), "Produce:2@0-379/2 Metadata:1@0-900/5 Produce:2@320-900/2x"),
        (client("orders-fine"), "Produce:9@0-900/2"),
        (client("quiet-fine"), "Produce:9@0-900/2"),
        (client("nobody"), "Produce:9@0-450/1 Produce:9@450-900/4"),
    ]
    clients += [
        (client(f"orders-gone-{'abcdefghij'[n % 10]}{n}x"), "Produce:9@0-330/3") for n in range(extra)
    ]
    evidence = scenarios.evidence(clients)
    common = setting(evidence, "3.9.1", "4.0.1", owner_rules=load_owner_rules(OWNERS))
    made, tracks = part(evidence.activities, common)
    found, comparisons, curves = assembled([made], evidence, common)
    metrics = metric_review(found, common, comparisons, curves, lambda groups: tracks)
    now = datetime(2026, 11, 21, 13, tzinfo=UTC)
    return ReviewReport(
        found,
        "r",
        "fleet",
        now,
        decision.decisions(found),
        "made now",
        metrics=metrics,
        knowledge_built_at=datetime(2026, 11, 20, tzinfo=UTC),
    )


def test_owners_with_news_get_a_message_and_others_none() -> None:
    packs = owner_packs(report())
    assert list(packs) == ["owners/orders-team/review.md"]
    text = packs["owners/orders-team/review.md"]
    assert "2 of 2 applications need action now." in text
    assert "orders-fine" not in text and "quiet" not in text
    assert "Produce v2 rejected" in text
    assert "failing (requests refused)" in text


def test_nothing_was_predicted_and_one_break_happened() -> None:
    made = report()
    for name, words in (
        ("orders-fine", "no immediate break was predicted, 0 unexpected"),
        ("orders-refused", "1 application is down; 1 of 1 predicted immediate break happened, 0 unexpected"),
    ):
        clients = tuple(each for each in made.review.clients if each.client_id == name)
        one = replace(made, review=replace(made.review, clients=clients))
        assert one.sentence == f"Upgrade of fleet from 3.9.1 to 4.0.1: {words}"


def test_what_was_down_before_the_upgrade_is_down_now() -> None:
    """Sentences about now say so whoever caused it: a second upgrade finds the victims of the first."""
    made = report()
    (failing,) = (each for each in made.review.clients if each.client_id == "orders-refused")
    before = outcome.Outcome("finalized", Happened.FAILING_BEFORE, Kind.REFUSED, 60.0, reasons=("refused",))
    down = replace(failing, outcomes=(*failing.outcomes[:-1], before), comparison=Comparison.NOT_COUNTED)
    again = replace(down, outcomes=(*failing.outcomes[:-1], replace(before, kind=Kind.WORKS_AGAIN)))
    one = replace(made, review=replace(made.review, clients=(down,)))
    assert "4.0.1: 1 application is down (before the upgrade already); no immediate" in one.sentence
    assert "No application" not in review_page(one)
    assert "1 of 1 application needs action now." in owner_packs(one)["owners/orders-team/review.md"]
    recovered = replace(made, review=replace(made.review, clients=(again,)))
    assert " down" not in recovered.sentence
    assert "No application that is known by its requests is failing at the end" in review_page(recovered)
    assert "None of them needs action now." in owner_packs(recovered)["owners/orders-team/review.md"]


def test_one_application_needs_action_and_two_need_it() -> None:
    made = report()
    one = tuple(each for each in made.review.clients if each.client_id == "orders-refused")
    (text,) = owner_packs(replace(made, review=replace(made.review, clients=one))).values()
    assert "\n1 of 1 application needs action now.\n" in text


def test_other_software_that_fails_since_is_down() -> None:
    made = report()
    (refused,) = (each for each in made.review.clients if each.client_id == "orders-refused")
    for word, kind, is_down in (
        (Happened.FAILING_BEFORE, Kind.STUCK, True),
        (Happened.FAILING_BEFORE, Kind.WORKS_AGAIN, False),
        (Happened.CHANGED, Kind.WORSE, True),
        (Happened.CHANGED, Kind.FIXED, False),
    ):
        client = replace(refused, outcomes=(outcome.Outcome(phases.FINALIZED, word, kind),))
        one = replace(made, review=replace(made.review, clients=(client,)))
        (text,) = owner_packs(one).values()
        assert ("1 of 1 application needs action now." in text) == is_down, (word, kind)
        assert ("1 application is down" in one.sentence) == is_down, (word, kind)
        is_before = is_down and word == Happened.FAILING_BEFORE
        assert ("(before the upgrade already)" in one.sentence) == is_before, (word, kind)


def test_who_fails_otherwise_than_predicted_does_not_get_the_fix() -> None:
    made = report()
    (refused,) = (each for each in made.review.clients if each.client_id == "orders-refused")
    for comparison, is_given in (
        (Comparison.HAPPENED, True),
        (Comparison.UNEXPECTED, False),
        (Comparison.NOT_TRIGGERED, False),
    ):
        client = replace(refused, comparison=comparison)
        one = replace(made, review=replace(made.review, clients=(client,)))
        assert client.prediction is not None and client.prediction.fix
        rows = json.loads("".join(files(one)["review.json"]))["clients"]
        assert [bool(row["fix"]) for row in rows] == [is_given] * len(rows), comparison
        assert (client.fix == client.prediction.fix) == is_given


def test_text_that_clients_choose_stays_in_its_cell() -> None:
    text = owner_packs(report())["owners/orders-team/review.md"]
    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert len({line.count("|") for line in rows}) == 1, rows
    assert "orders[U+007C]" in text
    page = review_page(report())
    assert "<script>`x`" not in page
    assert "[U+00A0]" not in page, "characters of our own words are no client's"


def test_candidates_of_a_library_that_is_not_identified_are_a_list() -> None:
    fix = (
        "library not identified: if it is sarama: upgrade sarama to 1.41.0 or later; if it is kafka-go: raise it; "
        "otherwise: upgrade the library; or upgrade the brokers to 4.0.1 or later instead, which accepts these versions"
    )
    made = report()
    clients = tuple(
        replace(each, prediction=replace(each.prediction, fix=fix)) if each.client_id == HOSTILE else each
        for each in made.review.clients
    )
    page = review_page(replace(made, review=replace(made.review, clients=clients)))
    assert "<summary>Library not identified: possibly sarama or kafka-go</summary>" in page
    assert (
        "<ul><li>sarama: upgrade sarama to 1.41.0 or later</li><li>kafka-go: raise it</li>"
        "<li>Any other: upgrade the library</li><li>For all of them instead: upgrade the brokers to 4.0.1 or later</li></ul>"
    ) in page


def test_a_long_message_names_the_first_and_counts_the_others() -> None:
    text = owner_packs(report(extra=ROWS + 5))["owners/orders-team/review.md"]
    shown = [line for line in text.splitlines() if line.startswith("| ")]
    assert len(shown) == ROWS + 2
    (needing_action,) = re.findall(r"^(\d+) of \d+ applications need action now", text, re.MULTILINE)
    assert f"\n{int(needing_action) - ROWS} more in outcomes.csv." in text


def test_json_is_one_document_with_a_line_for_each_client_and_phase() -> None:
    text = "".join(files(report())["review.json"])
    document = json.loads(text)
    phases = len(document["phases"]) - 1
    assert len(document["clients"]) == 5 * phases
    lines = [line for line in text.splitlines() if line.startswith('  {"application"')]
    assert len(lines) == len(document["clients"])
    outcomes = {(c["client_id"], c["phase"]): (c["outcome"], c["kind"]) for c in document["clients"]}
    assert outcomes["orders-refused", "finalized"] == ("failing", "refused")
    assert outcomes["orders-fine", "finalized"] == ("unaffected", None)


def test_logins_that_no_client_explains_fail_before_the_upgrade_or_since_it_began() -> None:
    made = report()
    began = made.review.upgrade.began
    logins = tuple(
        FailedLogin("10.0.0.9", 1, "i", "PLAIN", "wrong password", began + after, began + after + 1, 3)
        for after in (-1, 0, 1)
    )
    made = replace(made, review=replace(made.review, unexplained_logins=logins))
    found = json.loads("".join(files(made)["review.json"]))["not_identified"]
    assert [each["outcome"] for each in found] == ["failing_before", "failing", "failing"]
    assert {(each["address"], each["sasl_mechanism"], each["connections"]) for each in found} == {
        ("10.0.0.9", "PLAIN", 3)
    }


def test_csv_has_the_same_outcomes_as_json() -> None:
    made = report()
    rows = list(csv.DictReader(io.StringIO("".join(files(made)["outcomes.csv"]).removeprefix("\ufeff"))))
    assert tuple(rows[0]) == OUTCOME_COLUMNS
    document = json.loads("".join(files(made)["review.json"]))
    assert [(r["phase"], r["outcome"]) for r in rows] == [
        (c["phase"], c["outcome"]) for c in document["clients"]
    ]


def test_metrics_are_drawn_by_version_by_owner_and_of_who_changed() -> None:
    made = report()
    upgrade = made.review.upgrade
    owners = dict(by_group(made.metrics.owners, upgrade))
    drawn = owners["Produce requests"]
    assert (
        "orders-team <small>a minute, 3 clients: " in drawn
        and "quiet-team <small>a minute, 1 client: " in drawn
    )
    versions = dict(by_group(made.metrics.versions, upgrade))
    assert "Produce requests" in versions
    assert "broker 3 on 4.0.1" in versions["Produce requests"]
    changed = of_changed(made.metrics.changed, upgrade)
    assert "nobody" in changed and "Produce requests" in changed


def test_whole_review(same_as_kept, tmp_path) -> None:
    """Each word, number and coordinate, as tests/data/reports/whole/review/ keeps it."""
    made = report(extra=1)
    began = made.review.upgrade.began
    logins = tuple(
        FailedLogin("10.0.0.9", 1, "i", "PLAIN", "wrong password", began + after, began + after + 1, 3)
        for after in (-1, 1)
    )
    made = replace(made, review=replace(made.review, unexplained_logins=logins, unexplained_refusals=7))
    folder = publish(made, tmp_path)
    same_as_kept(
        "reports/whole/review",
        {str(file.relative_to(folder)): file.read_text(encoding="utf-8") for file in folder.rglob("*.*")},
        is_whole=True,
    )


KINDS = [
    *((Happened.FAILING, kind) for kind in outcome.FAILURE_KINDS),
    *((Happened.GONE, kind) for kind in outcome.GONE_KINDS),
    *((Happened.CHANGED, kind) for kind in (Kind.FIXED, Kind.WORSE, Kind.WORKS_AGAIN)),
    *((word, None) for word in outcome.OUTCOMES),
]


def report_of_every_kind() -> ReviewReport:
    """A client for each outcome and kind, and for each word of how it compares with the prediction."""
    made = report()
    refused, other = (
        next(c for c in made.review.clients if c.client_id == name) for name in ("orders-refused", "nobody")
    )
    clients = []
    for number, (word, kind) in enumerate(KINDS):
        happened = outcome.Outcome(
            "finalized", word, kind, 600.0 + number, "likely", ("a reason", "another"),
            (("produce", 12.345, 0.5),), ("produce",), (0, 1),
        )  # fmt: skip
        comparison = tuple(Comparison)[number % len(Comparison)]
        one = refused if number % 3 else other
        own = {
            "client_id": f"c-{number}",
            "comparison": comparison,
            "outcomes": (*one.outcomes[:-1], happened),
        }
        if number % 4:
            own["prediction"] = replace(one.prediction, when=(None, "latent", "at_once")[number % 3])
        if number % 5 == 0:
            own |= {"application": "several", "principal": "User:several"}
        clients.append(replace(one, **own))
    review = replace(made.review, clients=tuple(clients), has_failed_logins=False, has_refusals=False)
    return replace(made, review=review, report_link="../report.html")


def test_the_numbers_of_the_sentence_are_those_of_the_rows() -> None:
    made = report_of_every_kind()
    rows = json.loads("".join(files(made)["review.json"]))["clients"]
    of_client: dict[str, list[dict]] = {}
    for row in rows:
        of_client.setdefault(row["client_id"], []).append(row)

    def many(*words: str, comparison: str = "", at_once: bool | None = None, last: str = "") -> str:
        found = set()
        for own in of_client.values():
            telling = [row for row in own if row["outcome"] != Happened.NOT_SEEN] or own
            breaks = any(r["predicted"] == "breaks" and r["predicted_when"] != "latent" for r in own)
            if (
                own[0]["comparison"] in (comparison or own[0]["comparison"], *words)
                and at_once in (None, breaks)
                and telling[-1]["outcome"] == (last or telling[-1]["outcome"])
            ):
                found.add(
                    (own[0]["principal"], own[0]["owner"], own[0]["application"] or own[0]["client_id"])
                )
        return str(len(found))

    numbers = {
        r"(\d+) of \d+ predicted immediate": many(comparison=Comparison.HAPPENED, at_once=True),
        r"(\d+) unexpected": many(comparison=Comparison.UNEXPECTED),
        r"(\d+) latent ones? ha": many(comparison=Comparison.NOT_TRIGGERED),
        r"(\d+) fixed meanwhile": many(comparison=Comparison.FIXED_MEANWHILE),
        r"(\d+) applications? disappeared for unknown reasons": many(last=Happened.GONE),
        r"(\d+) (?:was|were) already failing": many(last=Happened.FAILING_BEFORE),
    }
    for pattern, number in numbers.items():
        (said,) = re.findall(pattern, made.sentence)
        assert said == number, (pattern, made.sentence)
    page = review_page(made)
    compared, changed = re.findall(r"([\d,]+) comparisons of metrics .*?; ([\d,]+) changed", page)[0]
    table = list(
        csv.DictReader(io.StringIO("".join(files(made)["metric_changes.csv"]).removeprefix("\ufeff")))
    )
    assert (int(compared), int(changed)) == (
        len(table),
        sum(row["changed"] in ("true", "True") for row in table),
    )


def test_whole_review_of_every_kind(same_as_kept, tmp_path) -> None:
    folder = publish(report_of_every_kind(), tmp_path)
    same_as_kept(
        "reports/whole/review_of_every_kind",
        {str(file.relative_to(folder)): file.read_text(encoding="utf-8") for file in folder.rglob("*.*")},
        is_whole=True,
    )
    assert set(OUTCOME_WORDS) == {*outcome.OUTCOMES}
    assert set(KIND_WORDS) == {kind for _, kind in KINDS if kind}
    assert set(PHASE_WORDS) == {phases.BEFORE, *phases.AFTER}


def test_a_review_links_to_its_files_owners_and_messages() -> None:
    text = review_page(report())
    assert set(re.findall(r'href="([^#"][^"]*)"', text)) == {
        "mailto:orders@example.com",
        "outcomes.csv",
        "metric_changes.csv",
        "review.json",
        *owner_packs(report()),
    }
    assert text.count("<table") == text.count("<caption")


def test_parts_of_a_review_without_content_are_not_drawn() -> None:
    made = report()
    nothing = replace(made, review=replace(made.review, rules=()), metrics=NOTHING)
    text = review_page(nothing)
    for anchor in ("rules", "metrics"):
        assert f'id="{anchor}"' not in text and f'href="#{anchor}"' not in text
