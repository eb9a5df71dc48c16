"""Rows as the tables hand them over: single ones with chosen values, and the fleet's from its list of applications.
The fleet's verdicts are made up here to look plausible; what the rules really say is tested elsewhere."""

import csv
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace

import pytest

FLEET = Path(__file__).parents[3] / "include/sample/fleet"
DAY = date(2026, 11, 21)
START = datetime(2026, 11, 21, 5, 39, 39, tzinfo=UTC)
END = datetime(2026, 11, 21, 5, 47, 58, tzinfo=UTC)
CLUSTER_ID = "fL33tG0ldTruth000000-w"
REPORT_ID = "manual__2026-11-21T05:00:00+00:00"


def question(clients: int, **changes) -> dict:
    return {
        "cluster_id": CLUSTER_ID,
        "cluster_name": CLUSTER_ID,
        "report_id": REPORT_ID,
        "from_release": "3.9.1",
        "to_release": "4.0.0",
        "first_dt": DAY,
        "last_dt": DAY,
        "evidence_from": START,
        "evidence_until": END,
        "evidence_until_reason": "broker 3 started with 4.0.0",
        "clients": clients,
        "clients_by_pushes_only": 0,
        "already_failing": 0,
        "connections": 1234,
        "connections_elsewhere": 74182,
        "connections_unidentified": 0,
        "connections_counted_only": None,
        "targets": [],
        "knowledge_version": "0123456789abcdef",
        "knowledge_built_at": datetime(2026, 11, 20, 4, tzinfo=UTC),
        "measured_targets": None,
        "knowledge_gaps": None,
        "snapshots": {"client_connections": 4711, "brokers": 4712},
        "is_latest": True,
        "code_version": "0.1.0",
        "created_at": datetime(2026, 11, 22, 2, 10, tzinfo=UTC),
        **changes,
    }


def verdict(client_id: str | None = "orders", verdict: str = "safe", **changes) -> dict:
    return {
        "cluster_id": CLUSTER_ID,
        "report_id": REPORT_ID,
        "client_id": client_id,
        "principal": "User:orders",
        "client_software_name": "apache-kafka-java",
        "client_software_version": "3.9.1",
        "verdict": verdict,
        "confidence": "observed",
        "when": "at_once" if verdict in ("breaks", "degrades") else None,
        "roles": ["producer"],
        "explanation": "Every request version that it uses is served by 4.0.0.",
        "fix": None,
        "missing": [],
        "identified_as": None,
        "condition": None,
        "already_failing": False,
        "works_again": False,
        "as_before": False,
        "steps": [],
        "rollback_verdict": "safe",
        "rollback_explanation": "3.9.1 answered its requests (Fetch v12) and accepts the same again.",
        "mixed_verdict": verdict,
        "mixed_explanation": "Both releases serve what it uses.",
        "other_targets": [],
        "owner": "orders",
        "owner_contact": "#orders",
        "application": "(no client id)" if client_id is None else client_id,
        "application_kind": "application",
        "product": None,
        "application_notes": [],
        "connections": 3,
        "requests": 420,
        "broker_ids": [1, 2, 3],
        "first_seen_at": START,
        "last_seen_at": END - timedelta(seconds=5),
        "well_observed": False,
        **changes,
    }


def finding(row: dict, number: int = 0, **changes) -> dict:
    """A finding of the client of a verdict row."""
    identity = ("cluster_id", "report_id", "client_id", "principal")
    return {
        **{name: row[name] for name in (*identity, "client_software_name", "client_software_version")},
        "finding": number,
        "rule_id": "request-version-not-served",
        "verdict": row["verdict"],
        "confidence": row["confidence"],
        "when": row["when"],
        "trigger": None,
        "condition": None,
        "condition_met": None,
        "settled_by": None,
        "api_key": 11,
        "api_name": "JoinGroup",
        "versions": "1",
        "requests": 12,
        "first_seen_at": START,
        "last_seen_at": END,
        "broker_ids": [2],
        "source_objects": [
            f"v1/dataset=connections/cluster={CLUSTER_ID}/dt=2026-11-21/hour=05/broker=2/"
            f"7768196bbc445e1d8b9f3a375c779b2f-{n:020d}-{n + 99:020d}.zst"
            for n in range(0, 300, 100)
        ],
        "source_sequences": [7, 107, 207],
        "explanation": "joins its group with JoinGroup v1; 4.0.0 accepts v2–v9",
        "fix": row["fix"],
        "source": "KAFKA-19444",
        **changes,
    }


def broker_hour(
    broker_id: int, hour: int, *completeness: str, windows: list[str] | None = None, mode: str | None = None
) -> dict:
    return {
        "cluster_id": CLUSTER_ID,
        "dt": DAY,
        "broker_id": broker_id,
        "hour": hour,
        "completeness": list(completeness) or ["complete"],
        "incarnations": ["00112233445566778899aabbccddeeff"],
        "registry_mode": mode,
        "registry_windows": windows,
    }


def broker(broker_id: int, version: str = "3.9.1", started_at: datetime = START, **changes) -> dict:
    return {
        "cluster_id": CLUSTER_ID,
        "dt": DAY,
        "broker_id": broker_id,
        "broker_incarnation": f"{broker_id:032x}",
        "software_name": "apache-kafka",
        "software_version": version,
        "releases": [version],
        "releases_known_by": "declared",
        "started_at": started_at,
        "last_evidence_at": started_at + timedelta(minutes=8),
        **changes,
    }


def quality_result(**changes) -> dict:
    return {
        "cluster_id": CLUSTER_ID,
        "dt": DAY,
        "run_id": "run",
        "stage": "profile",
        "table_name": "clients",
        "expectation": "owner_known",
        "severity": "warning",
        "success": False,
        "observed_value": "0.88",
        "rows": 42,
        "unexpected_count": 5,
        "description": "at least 90 % of the clients have an owner",
        "result": None,
        **changes,
    }


JOIN_GROUP = ("JoinGroup", "1", "joins its group with JoinGroup v1; 4.0.0 accepts v2–v9")
PRODUCE = ("Produce", "2", "produces with Produce v2; 4.0.0 accepts v3–v12")
BROKEN = {
    "orders-service-old": (PRODUCE, "Upgrade kafka-clients to 2.1 or newer"),
    "erp-bridge": (
        ("Fetch", "3", "fetches with Fetch v3; 4.0.0 accepts v4–v17"),
        "Upgrade kafka-clients to 2.1 or newer",
    ),
    "erp-import": (PRODUCE, "Upgrade Sarama to 1.41 or newer and set Version to 2.1 or newer"),
    "erp-sync": (JOIN_GROUP, "Upgrade Sarama to 1.41 or newer and set Version to 2.1 or newer"),
    "click-ingest": (JOIN_GROUP, "Upgrade Sarama to 1.41 or newer"),
    "click-enrich": (JOIN_GROUP, "Upgrade Sarama to 1.41 or newer"),
    "batch-reindex": (JOIN_GROUP, "Upgrade Sarama to 1.41 or newer"),
    "click-sink": (JOIN_GROUP, "Upgrade kafka-go to 0.4.48 or newer"),
    "erp-scan": (PRODUCE, "Upgrade kafka-python to 2.0 or newer"),
    "search-pinned": (PRODUCE, "Remove api_version from the configuration"),
    "erp-orders": (PRODUCE, "Replace kafka-node, which is not maintained any more, by kafkajs"),
    "erp-pyk": (
        ("Produce", "0", "produces with Produce v0; 4.0.0 accepts v3–v12"),
        "Replace pykafka by kafka-python",
    ),
}
LATENT = {"fraud-scorer", "erp-report"}
LACKING = {"adhoc-notebook", "search-suggest", "marketing-form", "erp-audit"}
DEFAULT_CLIENT_IDS = {
    "edge-gateway": "sarama",
    "adhoc-notebook": "rdkafka",
    "erp-audit": "kafka-python-1.4.7",
    "erp-pyk": "pykafka",
}
TELLS_NAME = {
    "confluent-kafka": "confluent-kafka-python",
    "confluent-kafka-go": "confluent-kafka-go",
    "franz-go": "kgo",
}


def fleet_row(app: dict) -> tuple[dict, list[dict]]:
    """Verdict and findings of one application of apps.csv."""
    name, library, version = app["app"], app["library"], app["version"]
    tells = library in TELLS_NAME or (library == "kafka-clients" and int(version.split(".")[0]) >= 3)
    software = {"kafka-clients": "apache-kafka-java"}.get(library, TELLS_NAME.get(library, library))
    common = {
        "client_id": DEFAULT_CLIENT_IDS.get(name, app["client_id"]),
        "principal": f"User:{app['principal']}",
        "client_software_name": software if tells else "unknown",
        "client_software_version": version if tells else "unknown",
        "identified_as": f"librdkafka {version} in {software} {version}"
        if "confluent" in library and tells
        else None,
        "owner": None if app["team"] in ("adhoc", "edge") else app["team"],
        "owner_contact": None if app["team"] in ("adhoc", "edge") else f"{app['team']}@example.com",
        "roles": {
            "both": ["group_consumer", "producer"],
            "group": ["group_consumer"],
            "assign": ["assigned_consumer"],
        }.get(app["role"], [app["role"]]),
        "requests": 700 + 13 * len(name),
    }
    if app["role"] == "admin":
        common |= {
            "first_seen_at": START + timedelta(minutes=3),
            "last_seen_at": START + timedelta(minutes=3, seconds=4),
        }
    if name in BROKEN:
        (api, versions, why), fix = BROKEN[name]
        row = verdict(verdict="breaks", explanation=why, fix=fix, **common)
        return row, [finding(row, api_name=api, versions=versions, explanation=why, fix=fix)]
    if name in LATENT:
        why = "asks for offsets with ListOffsets v0; 4.0.0 accepts v1–v10"
        row = verdict(verdict="breaks", explanation=why, fix="Upgrade librdkafka to 1.8.0 or newer", **common)
        row |= {"when": "latent", "confidence": "declared"}
        trigger = "offset reset: new group, new partition, expired or out-of-range offset"
        found = finding(
            row, rule_id="librdkafka-list-offsets-0", trigger=trigger, api_name="ListOffsets", versions="0"
        )
        return row, [
            found
            | {
                "explanation": why,
                "requests": None,
                "source_objects": [],
                "source_sequences": [],
                "source": "confluentinc/librdkafka v1.8.0",
            }
        ]
    if name in LACKING:
        missing = [
            "Which versions of ListOffsets it uses: watch it through a restart, or ask the owner for the library."
        ]
        row = verdict(
            verdict="insufficient_evidence", confidence="none", missing=missing,
            explanation="Tells no software name, and its offset requests were not seen.", **common
        )  # fmt: skip
        return row, []
    if version in ("0.11.0.3", "1.1.1"):
        why = "Works on 4.0.0, and kafka-clients before 2.1 is documented as unsupported."
        row = verdict(
            verdict="unsupported", explanation=why, fix="Upgrade kafka-clients to 2.1 or newer", **common
        )
        return row, [
            finding(
                row, rule_id="java-before-2.1", api_key=None, api_name=None, versions=None, explanation=why
            )
        ]
    if app["role"] == "admin":
        why = "describes settings with DescribeConfigs v0; 4.0.0 accepts v1–v4"
        row = verdict(
            verdict="degrades", explanation=why, fix="Upgrade kafka-python to 2.1 or newer", **common
        )
        return row, [finding(row, api_name="DescribeConfigs", versions="0", explanation=why)]
    return verdict(**common), []


def fleet_rows() -> dict:
    """Arguments of build_report: 42 clients in one complete hour of three brokers."""
    apps = list(csv.DictReader((FLEET / "apps.csv").read_text(encoding="utf-8").splitlines()))
    pairs = [fleet_row(app) for app in apps if not app["app"].endswith("-v2")]
    hours = [broker_hour(b, h, *([] if h == 5 else ["no_manifest"])) for b in (1, 2, 3) for h in range(24)]
    return {
        "question": question(len(pairs)),
        "verdict_rows": [row for row, _ in pairs],
        "finding_rows": [row for _, found in pairs for row in found],
        "coverage_rows": hours,
        "broker_rows": [broker(b) for b in (1, 2, 3)],
    }


@pytest.fixture(scope="session")
def rows() -> SimpleNamespace:
    """The makers of rows."""
    makers = (question, verdict, finding, broker_hour, broker, quality_result, fleet_rows)
    return SimpleNamespace(**{maker.__name__: maker for maker in makers}, START=START, END=END, DAY=DAY)


def texts(*of_report) -> dict[str, str]:
    """The files of an upgrade report, each whole."""
    from client_telemetry.reports.upgrade.publish import files

    return {name: "".join(pieces) for name, pieces in files(*of_report).items()}


@pytest.fixture(scope="session")
def fleet_report():
    from client_telemetry.reports.upgrade.build import build_report

    return build_report(**fleet_rows(), cluster_name="fleet")


@pytest.fixture(scope="session")
def compared(rows):
    """A report in which nearby targets, the mixed window and the rollback differ from the answer."""
    from client_telemetry.reports.outcomes import OUTCOMES
    from client_telemetry.reports.upgrade.build import build_report

    other = {"to_release": "4.0.1", "verdict": "safe", "when": None, "reason": "JoinGroup v1"}
    given = [
        rows.verdict("a|b", "breaks", other_targets=[other]),
        rows.verdict("half-way", mixed_verdict="breaks", mixed_explanation="While brokers differ, it stops."),
        rows.verdict("no-return", rollback_verdict="breaks", rollback_explanation="Its group was converted."),
    ]
    none = dict.fromkeys(OUTCOMES, 0)
    targets = [
        {"to_release": "4.0.0"} | none | {"breaks_at_once": 1, "safe": 2},
        {"to_release": "4.0.1"} | none | {"safe": 3},
    ]
    return build_report(rows.question(3, targets=targets), given, [], [], [])


def large_rows(clients: int = 50_000, owners: int = 500) -> dict:
    """Arguments of build_report: a large fleet, a tenth of which breaks."""
    kinds = ["breaks"] * (clients // 10) + ["insufficient_evidence"] * (clients // 20)
    kinds += ["degrades"] * (clients // 50)
    kinds += ["safe"] * (clients - len(kinds))
    fixes = (
        "upgrade sarama to 1.41.0 or later",
        "upgrade confluent-kafka-python to 1.8.2 or later",
        "library not identified: if it is brod: upgrade brod to 4.4.2 or later",
    )
    not_declared = {"client_software_name": "unknown", "client_software_version": "unknown"}
    given = [
        verdict(
            f"orders-service-{number:05d}-consumer",
            kind,
            principal=f"User:app-{number}",
            owner=f"team-{number % owners}",
            owner_contact=f"team-{number % owners}@example.com",
            fix=None if kind == "safe" else fixes[number % 3],
            explanation=f"joins its group with JoinGroup v1; 4.0.0 accepts v2–v9 ({number % 7})",
            **(not_declared if kind != "safe" and number % 3 == 2 else {}),
        )
        for number, kind in enumerate(kinds)
    ]
    return {
        "question": question(clients),
        "verdict_rows": given,
        "finding_rows": [finding(row) for row in given if row["verdict"] == "breaks"],
        "coverage_rows": [broker_hour(1, 5)],
        "broker_rows": [broker(1)],
    }
