from dataclasses import fields
from datetime import timedelta
from itertools import permutations

import pytest
from client_telemetry.reports.evidence import QualityWarning
from client_telemetry.reports.outcomes import OUTCOMES
from client_telemetry.reports.upgrade.build import NO_GUESS, ClientCountDiffers, build_report
from client_telemetry.reports.upgrade.model import ClientVerdict, Finding, OtherTarget, Question
from client_telemetry.reports.upgrade.page import report_page
from client_telemetry.reports.upgrade.ticket import report_ticket
from client_telemetry.tables.quality_results import QUALITY_RESULTS
from client_telemetry.tables.upgrade_findings import UPGRADE_FINDINGS
from client_telemetry.tables.upgrade_reports import UPGRADE_REPORTS
from client_telemetry.tables.upgrade_verdicts import UPGRADE_VERDICTS, VERDICTS

DERIVED = [
    *(
        "anchor",
        "outcome",
        "priority",
        "trigger",
        "safe_so_far",
        "seen_rarely",
        "change",
        "is_unidentified",
        "candidates",
    ),
    *(
        "candidates_because",
        "owner_question",
        "addresses",
        "address_sample",
        "hosts",
        "listeners",
        "group_ids",
    ),
    *("transactional_ids", "topics", "related", "days_seen", "findings"),
]


def names(dataclass) -> list[str]:
    return [field.name for field in fields(dataclass)]


def build(rows, verdict_rows, finding_rows=(), question=None, **more):
    asked = question or rows.question(len(verdict_rows))
    return build_report(asked, verdict_rows, finding_rows, [], [], **more)


def test_the_model_has_the_columns_of_the_tables():
    of_question = {"cluster_id", "report_id"}
    of_client = {"client_id", "principal", "client_software_name", "client_software_version", "program"}
    verdict_columns = [c.name for c in UPGRADE_VERDICTS.columns if c.name not in of_question]
    finding_columns = [c.name for c in UPGRADE_FINDINGS.columns if c.name not in of_question | of_client]
    assert sorted(names(ClientVerdict)) == sorted(verdict_columns + DERIVED)
    assert names(Finding) == finding_columns
    question_columns = {c.name for c in UPGRADE_REPORTS.columns} - {
        "targets",
        "measured_targets",
        "is_latest",
    }
    assert set(names(Question)) == question_columns
    assert UPGRADE_REPORTS.schema["targets"].dataType.elementType.names == [
        "to_release",
        *OUTCOMES,
        "works_again",
    ]
    others = UPGRADE_VERDICTS.schema["other_targets"].dataType.elementType.names
    assert names(OtherTarget) == others
    assert set(names(QualityWarning)) <= {c.name for c in QUALITY_RESULTS.columns}


def test_every_verdict_of_the_table_has_its_outcome(rows):
    report = build(rows, [rows.verdict(verdict, verdict) for verdict in VERDICTS])
    assert {c.verdict for c in report.clients} == set(VERDICTS)
    assert list(report.counts) == list(OUTCOMES)
    assert report.counts == dict.fromkeys(OUTCOMES, 1) | {"breaks_latent": 0}


def test_counts_of_owners_and_software_add_up_to_those_of_the_report(fleet_report):
    for parts, counts in (
        (fleet_report.owners, fleet_report.counts),
        (fleet_report.software, fleet_report.client_counts),
    ):
        total = {outcome: sum(part.counts[outcome] for part in parts) for outcome in OUTCOMES}
        assert total == counts
        assert sum(part.clients for part in parts) == fleet_report.question.clients
    for software in fleet_report.software:
        assert sum(version.clients for version in software.versions) == software.clients


def test_a_question_of_other_rows_is_refused(rows):
    with pytest.raises(ClientCountDiffers, match="2 clients, there are 1"):
        build(rows, [rows.verdict()], question=rows.question(2))


def test_owner_with_most_at_stake_first_and_the_change_that_fixes_most(rows):
    given = [
        rows.verdict("a", "breaks", owner="one", fix="x"),
        rows.verdict("b", "breaks", owner=None, owner_contact=None, fix="y"),
        rows.verdict("c", "breaks", owner=None, owner_contact=None, fix="z", when="latent"),
        rows.verdict("d", "breaks", owner="two", fix="z"),
        rows.verdict("e", "breaks", owner="two", fix="y"),
        rows.verdict("f", "breaks", owner="two", fix="z", when="latent"),
        rows.verdict("g", owner="two", fix="never counted"),
    ]
    owners = build(rows, given).owners
    assert [(o.owner, o.folder, o.first_fix, o.first_fix_applications) for o in owners] == [
        ("two", "two", "z", 2),
        (None, "_no-owner", "z", 1),
        ("one", "one", "x", 1),
    ]


def test_unknown_and_untold_software_are_one_group(rows):
    declared = [
        (None, None),
        ("", ""),
        ("unknown", "unknown"),
        ("kgo", "v1.15.4"),
        ("kgo", "v1.9.0"),
        ("kgo", "unknown"),
    ]
    given = [
        rows.verdict(str(n), client_software_name=name, client_software_version=version)
        for n, (name, version) in enumerate(declared)
    ]
    software = build(rows, given).software
    assert [(s.name, [v.version for v in s.versions]) for s in software] == [
        ("kgo", ["v1.9.0", "v1.15.4", None]),
        (None, [None]),
    ]


def test_software_of_as_many_clients_comes_by_its_name_and_undeclared_last(rows):
    names = ("sarama", "unknown", "kgo", "rdkafka")
    given = [rows.verdict(str(n), client_software_name=name) for n, name in enumerate(names)]
    for order in permutations(given):
        assert [s.name for s in build(rows, order).software] == ["kgo", "rdkafka", "sarama", None]


def test_only_failed_warnings_are_shown(rows):
    results = [
        rows.quality_result(),
        rows.quality_result(expectation="held", success=True),
        rows.quality_result(expectation="critical", severity="critical"),
    ]
    report = build(rows, [rows.verdict()], warnings=results)
    assert [warning.expectation for warning in report.quality_warnings] == ["owner_known"]


def test_warnings_come_by_day_then_by_stage_and_table(rows):
    later = rows.DAY + timedelta(days=1)
    results = [
        rows.quality_result(dt=later, stage="a"),
        rows.quality_result(stage="b", table_name="a"),
        rows.quality_result(stage="a", table_name="b"),
        rows.quality_result(stage="a", table_name="a", expectation="b"),
        rows.quality_result(stage="a", table_name="a", expectation="a"),
    ]
    shown = build(rows, [rows.verdict()], warnings=results).quality_warnings
    assert [(w.dt, w.stage, w.table_name, w.expectation) for w in shown] == [
        (rows.DAY, "a", "a", "a"),
        (rows.DAY, "a", "a", "b"),
        (rows.DAY, "a", "b", "owner_known"),
        (rows.DAY, "b", "a", "owner_known"),
        (later, "a", "clients", "owner_known"),
    ]


def test_evidence_without_begin_and_end(rows):
    asked = rows.question(1, evidence_from=None, evidence_until=None, connections=1, connections_elsewhere=0)
    report = build(rows, [rows.verdict()], question=asked)
    assert report.evidence == (
        "1 connection of 1 client in 1 application from 2026-11-21 to 2026-11-21.",
        "Coverage is unknown: no broker reported its hours.",
    )


def test_no_clients(rows):
    report = build(rows, [])
    assert report.sentence.endswith("cannot be judged: no client was seen.")
    assert set(report.counts.values()) == {0} and report.owners == ()


def test_rules_are_listed_once_with_their_findings(rows):
    row = rows.verdict("a", "breaks")
    found = [rows.finding(row, 0), rows.finding(row, 1), rows.finding(row, 2, rule_id="b", source="KIP-896")]
    rules = build(rows, [row], found).rules
    assert [(r.rule_id, r.source, r.findings) for r in rules] == [
        ("b", "KIP-896", 1),
        ("request-version-not-served", "KAFKA-19444", 2),
    ]


def test_cluster_is_called_by_its_id_where_it_has_no_name(rows):
    assert build(rows, []).question.cluster_name == rows.question(0)["cluster_id"]
    assert build(rows, [], cluster_name="orders-eu").question.cluster_name == "orders-eu"


def test_it_is_said_that_nobody_is_guessed_where_that_is_so(rows):
    unnamed = rows.verdict("a", client_software_name="unknown", client_software_version="unknown")
    assert NO_GUESS in build(rows, [unnamed]).not_assessed
    assert NO_GUESS not in build(rows, [unnamed | {"identified_as": "probably sarama"}]).not_assessed


@pytest.mark.parametrize(
    ("count", "sentence"),
    [
        (0, None),
        (None, None),
        (
            1,
            "1 connection from unidentified clients: rejected before authentication, or without principal, client id and "
            "software. No verdict covers it.",
        ),
        (
            9780,
            "9,780 connections from unidentified clients: rejected before authentication, or without principal, client id "
            "and software. No verdict covers them.",
        ),
    ],
)
def test_connections_that_no_client_explains(rows, count, sentence):
    report = build(rows, [rows.verdict()], question=rows.question(1, connections_unidentified=count))
    sentences = [each for each in report.evidence if "unidentified" in each]
    assert sentences == ([sentence] if sentence else [])


def test_connections_that_only_brokers_counted(rows):
    counted = [
        {"software_name": name, "software_version": version, "connections": count, "is_judged": judged}
        for name, version, count, judged in (
            ("unknown", "unknown", 3, False),
            ("librdkafka", "2.3.0", 6, False),
            ("kgo", "v1.19.0", 1, True),
        )
    ]
    report = build(rows, [rows.verdict()], question=rows.question(1, connections_counted_only=counted))
    assert report.sentence.endswith(
        " 3 connections from unidentified clients have no verdict. "
        "6 connections were counted by the brokers but not observed: no verdict."
    )
    assert [each for each in report.evidence if "counted by the brokers" in each] == [
        "3 connections of unidentified clients were counted by the brokers but not observed: no verdict.",
        "6 connections of librdkafka 2.3.0 were counted by the brokers but not observed: no verdict.",
        "1 connection of kgo v1.19.0 was counted by the brokers but not observed: the verdict is based on the software.",
    ]


def test_what_is_assessed_is_not_listed_as_not_assessed(rows):
    text = " ".join(build(rows, [rows.verdict()]).not_assessed)
    assert "rollback" not in text and "some brokers" not in text


def test_owners_with_as_much_at_stake_come_by_name_and_nobody_last(rows):
    given = [
        rows.verdict(f"{owner}", principal=f"User:{owner}", owner=owner) for owner in (None, "b", "a", "aa")
    ]
    assert [stake.owner for stake in build(rows, given).owners] == ["a", "aa", "b", None]
    given.append(rows.verdict("broken", "degrades", principal="User:x", owner=None))
    assert [stake.owner for stake in build(rows, given).owners] == [None, "a", "aa", "b"]


def test_what_the_brokers_print_can_stop_the_upgrade_before_any_client(rows):
    settings = {"delegation.token.master.key": "[set]", "delegation.token.secret.key": "null"}
    brokers = [rows.broker(1, settings=settings), rows.broker(2, finalized_features={"metadata.version": 21})]
    report = build_report(rows.question(0), [], [], [], brokers)
    assert report.sentence.startswith("1 blocker in the setup of the brokers: delegation.token.master.key. ")
    assert [(note.note_id, note.broker_ids) for note in report.blockers] == [
        ("delegation_token_master_key", (1,))
    ]
    assert report.notes_ruled_out == ()
    page = "".join(report_page(report))
    assert "Blocker: delegation.token.master.key is removed" in page
    assert "<small>delegation.token.master.key on broker 1 · " in page
    assert "## Blockers\n\n- delegation.token.master.key is removed" in report_ticket(report)


def test_notes_that_cannot_apply_are_said_to_be_ruled_out(rows):
    brokers = [rows.broker(number, finalized_features={"metadata.version": 21}) for number in (1, 2)]
    report = build_report(rows.question(0), [], [], [], brokers)
    assert {note.note_id for note in report.notes_ruled_out} == {
        "zookeeper_removed",
        "metadata_version_minimum",
    }
    assert "as the setup of brokers 1, 2 shows that they do not apply" in "".join(report_page(report))
    assert "Do not apply, as the setup of brokers 1, 2 shows" in report_ticket(report)
