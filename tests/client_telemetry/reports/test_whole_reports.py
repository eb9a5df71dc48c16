"""Whole reports of few clients that have all that a report can say of one, as tests/data/reports/whole/ keeps them: each word,
number and coordinate, in every format."""

import base64
import gzip
import json
import re
from datetime import timedelta

from client_telemetry.identity.hosts import host_names
from client_telemetry.reports.outcomes import OUTCOMES
from client_telemetry.reports.upgrade import owner_ticket, page, ticket, ticket_cells
from client_telemetry.reports.upgrade.build import build_report

from tests.client_telemetry.reports.conftest import texts

NOT_DECLARED = {"client_software_name": "unknown", "client_software_version": "unknown"}
SARAMA = {1: 4, 2: 1, 3: 5, 8: 1, 9: 1, 11: 1, 12: 0, 14: 0}
LINK = ("Fleet page of 2026-11-21", "../day.html")


def step(name: str, verdict: str, when: str | None = None) -> dict:
    return {"step": name, "verdict": verdict, "when": when, "explanation": f"At {name}: {verdict}."}


def profile(rows, row: dict, day: int = 0, **changes) -> dict:
    """A row of `clients` for a verdict row, so many days earlier."""
    names = ("principal", "client_id", "client_software_name", "client_software_version")
    earlier = timedelta(days=day)
    return {
        **{name: row[name] for name in names},
        "dt": rows.DAY - earlier,
        "addresses": 7 + day,
        "address_sample": [f"10.0.{day}.{n}" for n in range(4)],
        "listeners": ["SASL"] if day else ["PLAIN", "SASL"],
        "group_ids": ["group-a", "group-b"],
        "transactional_ids": ["tx-1"] if day else [],
        "topics": [f"topic-{n}" for n in range(9)] if day else None,
        "related": [],
        "connections": 4 + day,
        "first_seen_at": rows.START - earlier,
        "last_seen_at": rows.END - earlier - timedelta(minutes=3),
        "api_uses": [{"api_key": key, "version": version, "requests": 9} for key, version in SARAMA.items()],
        **changes,
    }


def upgrade_report(rows):
    steps = [
        step("rolling", "degrades", "at_once"),
        step("not_finalized", "safe"),
        step("finalized", "breaks", "latent"),
        step("rollback_before_finalization", "safe"),
        step("rollback_after_finalization", "insufficient_evidence"),
    ]
    other = [
        {"to_release": "4.0.1", "verdict": "safe", "when": None, "reason": "JoinGroup v1"},
        {"to_release": "4.1.0", "verdict": "breaks", "when": "latent", "reason": "librdkafka-list-offsets-0"},
    ]
    sarama = "upgrade sarama to 1.41.0 or later"
    brod = "upgrade brod to 4.4.2 or later"
    unknown = (
        "library not identified: if it is sarama: upgrade sarama to 1.41.0 or later; otherwise: upgrade it"
    )
    failing = {"already_failing": True, "works_again": True, "mixed_verdict": "breaks"}
    rare = {"first_seen_at": rows.START, "last_seen_at": rows.START + timedelta(seconds=30)}
    kept = {
        "condition": "breaks if it uses Kerberos (settled by its sasl.mechanism)",
        "confidence": "declared",
    }
    given = [
        rows.verdict("a", "breaks", fix=sarama, steps=steps, other_targets=other, requests=12345, product="Telegraf"),
        rows.verdict("b", "breaks", principal="User:b", when="latent", fix=brod, owner_contact="b@example.com"),
        rows.verdict("b-2", "breaks", principal="User:b", fix=brod, application="b", application_kind="family"),
        rows.verdict("c", "breaks", principal="User:c", fix=unknown, owner=None, owner_contact=None, **NOT_DECLARED),
        rows.verdict("d", "insufficient_evidence", principal="User:d", owner="two", missing=["which version it is"]),
        rows.verdict("e", "degrades", owner="two", fix=brod, rollback_verdict="breaks", rollback_explanation="Not back."),
        rows.verdict("f", "unsupported", owner="two", identified_as="sarama 1.20", mixed_verdict="breaks"),
        rows.verdict("g", owner="two", missing=["whether it uses Kerberos"], **kept),
        rows.verdict("h", owner="two", principal="User:h", mixed_explanation="It breaks until then.", **failing),
        rows.verdict("i", owner="three", well_observed=True, client_software_version="4.0.1"),
        rows.verdict("j", owner="three", principal="User:j", application_notes=["Two programs."], **rare),
        rows.verdict(None, "breaks", principal=None, owner="three", when="latent", as_before=True, program="2 of 3"),
    ]  # fmt: skip
    found = [
        rows.finding(given[0], versions="1, 2", requests=1200, broker_ids=[1, 2, 3]),
        rows.finding(given[0], 1, rule_id="other", api_name=None, api_key=None, versions=None, requests=None),
        rows.finding(
            given[1], trigger="a new partition", source_objects=[], source_sequences=[], api_name="Fetch"
        ),
        rows.finding(given[3], condition="it uses SCRAM", condition_met="unknown", settled_by="its settings"),
        rows.finding(given[5], confidence="inferred", first_seen_at=None, last_seen_at=None),
        rows.finding(
            given[11], condition="it uses SCRAM", condition_met="yes", broker_ids=[], program="2 of 3"
        ),
    ]
    related = {
        "relation": "two_applications",
        "client_id": "c",
        "client_software_name": "apache-kafka-java",
        "client_software_version": "3.9.1",
        "because": "kafka-clients 3.9.1 names every connection",
    }
    profiles = [
        profile(rows, given[3], 1),
        profile(rows, given[3], related=[related]),
        profile(rows, given[4]),
    ]
    none = dict.fromkeys(OUTCOMES, 0)
    targets = [
        {"to_release": "4.0.0"} | none | {"breaks_at_once": 4, "safe": 3},
        {"to_release": "4.0.1"} | none | {"breaks_at_once": 1, "breaks_latent": 1, "degrades": 2, "safe": 8},
        {"to_release": "4.1.0"} | none | {"safe": 12},
    ]
    counted = [
        {"software_name": "unknown", "software_version": "unknown", "connections": 3, "is_judged": False},
        {"software_name": "librdkafka", "software_version": "2.3.0", "connections": 1, "is_judged": True},
    ]
    asked = rows.question(
        len(given),
        targets=targets,
        first_dt=rows.DAY - timedelta(days=1),
        evidence_from=rows.START - timedelta(hours=3),
        clients_by_pushes_only=2,
        connections_unidentified=1,
        connections_counted_only=counted,
    )
    hours = [
        rows.broker_hour(b, h, *(["sequence_gap"] if b == h else [])) for b in (1, 2) for h in (2, 3, 4, 5)
    ]
    brokers = [rows.broker(1), rows.broker(2, "3.9.0"), rows.broker(3, started_at=rows.END)]
    warnings = [rows.quality_result(), rows.quality_result(stage="collect", unexpected_count=None)]
    return build_report(
        asked,
        given,
        found,
        hours,
        brokers,
        warnings,
        profile_rows=profiles,
        use_rows=profiles,
        hosts=host_names("10.0.0.1 app-1\n10.0.1.0/24 rack-1\n"),
        cluster_name="fleet",
        asked_by="the platform team",
        planned_for=rows.DAY + timedelta(days=9),
    )


def test_upgrade_report(rows, same_as_kept):
    same_as_kept("reports/whole/upgrade", texts(upgrade_report(rows), [LINK]), is_whole=True)


def test_a_page_of_too_many_applications_for_rows(rows, same_as_kept, monkeypatch):
    """What has no row is in the page's data, or in a group."""
    for limit, number in {"COMPACT": 5, "ROWS_OF_COMPACT": 3, "GROUPS_OF_COMPACT": 1, "LISTED": 1}.items():
        monkeypatch.setattr(page, limit, number)
    text = page.report_page(upgrade_report(rows), [LINK])
    (packed,) = re.findall(r'<script type="application/json" id="others"[^>]*>"([^"]*)"', text)
    others = json.loads(gzip.decompress(base64.b64decode(packed)))
    words = others["words"]
    named = [[name, *(words[place] for place in places)] for name, *places in others["rows"]]
    kept = {
        "index.html": text.replace(packed, "(others)"),
        "others.json": json.dumps([named, others["anchors"]], indent=1),
    }
    same_as_kept("reports/whole/compact", kept, is_whole=True)


def rollback_report(rows):
    """Back from 4.0.1 to 3.9.1, asked by nobody for no day, of brokers of which little is known; texts of one, three and four."""
    brod = "downgrade brod to 4.4.2"
    open_fix = (
        "library not identified: if it is brod: downgrade brod; if it is sarama: set Version; otherwise: ask"
    )
    alike = {"principal": "User:k", "owner": "many", "fix": brod, "explanation": "It has no lower version."}
    given = [
        *(rows.verdict(f"k-{n}", "breaks", requests=n + 1, **alike) for n in range(5)),
        *(rows.verdict(f"l-{n}", "breaks", principal="User:l", owner="four", fix="change it", application="l") for n in range(4)),
        rows.verdict("l-x", "breaks", principal="User:l", owner="four", fix="replace it", application="l", when="latent"),
        *(rows.verdict(f"m-{n}", "degrades", principal="User:m", owner="degraded") for n in range(2)),
        rows.verdict("n", "insufficient_evidence", owner=None, owner_contact=None, missing=["a", "b"], **NOT_DECLARED),
        rows.verdict("o", "breaks", owner=None, owner_contact=None, fix=open_fix, **NOT_DECLARED),
        rows.verdict("p", "unsupported", owner="unsupported", product="goka", application="goka"),
        rows.verdict("", "safe", owner="safe", application="", well_observed=True),
        rows.verdict("q", "safe", owner="safe", rollback_verdict=None, mixed_verdict=None),
        rows.verdict("r", "safe", owner="asked", missing=["whether it uses Kerberos"], well_observed=True, already_failing=True),
    ]  # fmt: skip

    def named(row: dict, number: int) -> dict:
        texts = {
            name: [f"{name}-{n}" for n in range(number)]
            for name in ("group_ids", "transactional_ids", "topics", "address_sample")
        }
        return profile(rows, row, addresses=number, **texts)

    profiles = [named(given[place], number) for place, number in ((0, 4), (5, 3), (10, 1), (12, 4), (13, 4))]
    asked = rows.question(
        len(given),
        from_release="4.0.1",
        to_release="3.9.1",
        evidence_until_reason=None,
        connections=1,
        connections_elsewhere=0,
        already_failing=1,
        connections_counted_only=[
            {"software_name": "kgo", "software_version": "v1.19.0", "connections": 2, "is_judged": False}
        ],
        snapshots={},
    )
    found = [
        rows.finding(given[0], api_name="Fetch", api_key=1, versions="17", requests=1),
        rows.finding(given[9], trigger="its next start", when="latent"),
    ]
    return build_report(
        asked, given, found, [rows.broker_hour(1, 5, mode="off")], [rows.broker(1, "4.0.1")], profile_rows=profiles,
        use_rows=profiles,
    )  # fmt: skip


def test_rollback_report(rows, same_as_kept):
    same_as_kept("reports/whole/rollback", texts(rollback_report(rows)), is_whole=True)


def test_tickets_that_must_be_short(rows, same_as_kept, monkeypatch):
    """Of long tables the first rows, applications that are alike in one; in the end cut off."""
    monkeypatch.setattr(ticket_cells, "_ROWS", (50, 3, 2, 1))
    report = rollback_report(rows)
    many, nobody = (next(each for each in report.owners if each.owner == owner) for owner in ("many", None))
    kept = {}
    for largest in (8200, 7500, 2900):
        monkeypatch.setattr(ticket_cells, "LARGEST", largest)
        kept[f"report-{largest}.md"] = ticket.report_ticket(report)
        kept[f"many-{largest}.md"] = owner_ticket.owner_ticket(report, many)
        kept[f"nobody-{largest}.md"] = owner_ticket.owner_ticket(report, nobody)
    assert all(len(text) < int(name[:-3].rpartition("-")[2]) for name, text in kept.items())
    same_as_kept("reports/whole/short_tickets", kept, is_whole=True)
