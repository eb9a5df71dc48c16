"""The plugin's application over a small published folder, with a user who may do what a test says."""

import base64
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from client_telemetry.reports.fleet.day_curves import ClientFiles, Grid, bucket, client_text
from fastapi.testclient import TestClient
from sqlalchemy import create_engine, select
from sqlalchemy.orm import Session, sessionmaker
from sqlalchemy.pool import StaticPool

DAY = "2026-11-21"
INSTANCE = bytes(range(240, 256))
HOSTILE = '<script>alert("x")</script>'


def identity(client_id: str, address: str, **changes) -> dict:
    return {
        "client_id": client_id,
        "client_id_shown": client_id,
        "principal": "User:a",
        "principal_shown": "User:a",
        "software_shown": "kgo v1.22.2",
        "addresses": [address],
        "first_seen_at": f"{DAY}T05:00:00.000000Z",
        "last_seen_at": f"{DAY}T06:00:00.000000Z",
        **changes,
    }


def index(*names: str) -> dict:
    client = {"owner": None, "connections": 3, "instances": 1}
    instance = {
        "client_instance_id": base64.urlsafe_b64encode(INSTANCE).decode().rstrip("="),
        "broker_ids": [1, 2],
        "pushes": 7,
        "end_reason": "still_open",
    }
    return {
        "clients": [identity(name, "10.0.0.1", **client) for name in names],
        "instances": [identity(names[0], "2001:db8::1", **instance)],
    }


def summary(day: str, clients: int = 2048) -> dict:
    run = {"broker_id": 1, "start": f"{day}T00:00:00.000000Z", "end": f"{day}T06:00:00.000000Z"}
    return {
        "day": day,
        "sentence": f"2 clients {HOSTILE}",
        "oldest_release": "3.9.1",
        "releases": [{"release": "3.9.1", "broker_ids": [1, 2]}, {"release": "4.0.0", "broker_ids": [3]}],
        "counts": {
            "applications": clients // 2,
            "clients": clients,
            "connections": 3,
            "applications_without_software": 1,
            "applications_with_deprecated_versions": 1,
            "clients_without_software": 1,
            "clients_with_deprecated_versions": 1,
        },
        "coverage": {
            "broker_hours": 24,
            "complete_broker_hours": 6,
            "runs": [{**run, "completeness": ["complete"]}],
        },
        "quality": {"checks": 3, "failed_critical": 0, "failed_warning": 1},
    }


CHECK = {
    "success": False,
    "table_name": "clients",
    "expectation": "clients_have_owners",
    "description": HOSTILE,
    "observed_value": "0.5",
    "unexpected_count": 2,
    "rows": 4,
    "severity": "warning",
    "examples": [{"client_id": HOSTILE}],
}

PASSED = CHECK | {"success": True, "table_name": "brokers", "expectation": "release_is_declared"}


@pytest.fixture(scope="session")
def published(tmp_path_factory) -> Path:
    root = tmp_path_factory.mktemp("published")

    def write(path: str, content: object) -> None:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        text = content if isinstance(content, str) else json.dumps(content)
        (root / path).write_text(text, encoding="utf-8")

    for day in ("2026-11-20", DAY):
        write(f"fleet/east/{day}/day.json", summary(day, 2048 if day == DAY else 1024))
        write(f"fleet/east/{day}/index.html", f"<p>page of {day}</p>")
        write(f"fleet/east/{day}/clients.csv", "a,b\r\n")
        write(f"fleet/east/{day}/{'never_pushed.csv' if day == DAY else 'refused.csv'}", "a,b\r\n")
        write(f"fleet/east/{day}/quality.json", {"checks": [CHECK, PASSED]})
    write("fleet/east/2026-11-20/search.json", index("only-yesterday", HOSTILE))
    write(f"fleet/east/{DAY}/search.json", index("orders"))
    report = {"report_id": "manual__1+00:00", "from_release": "3.9.1", "to_release": "4.0.0"}
    report |= {"sentence": "breaks 2 of 3", "created_at": f"{DAY}T07:00:00Z"}
    report |= {"counts": {"breaks_at_once": 1, "breaks_latent": 1, "safe": 1}}
    write("upgrade_impact/east/manual__1/summary.json", report)
    write("upgrade_impact/east/manual__1/index.html", "<p>the report</p>")
    write("upgrade_impact/east/manual__1/owners/team-a/report.md", "# To team-a")
    # Of an owner without work, from the review: no message of the report.
    write("upgrade_impact/east/manual__1/owners/team-c/review.md", "# To team-c")
    write("upgrade_impact/east/older/index.html", "<p>of an older program</p>")
    check = {"report_id": "manual__3+00:00", "answer": "no-go", "sentence": f"1 aborts {HOSTILE}"}
    write("subscription_check/east/manual__3/summary.json", check | {"created_at": f"{DAY}T08:00:00Z"})
    write("subscription_check/east/manual__3/index.html", "<p>the check</p>")
    review = {"sentence": "1 failed since", "from_release": "3.9.1", "to_release": "4.0.0"}
    write("upgrade_review/east/review__1/summary.json", review | {"created_at": f"{DAY}T09:00:00Z"})
    write("upgrade_review/east/review__1/index.html", "<p>the review</p>")
    gate = {"code": 3, "decision": "no-go", "clusters": ["west", "east"], "campaign": "orders-4.0"}
    gate |= {"to_release": "4.0.1", "planned_for": "2999-02-01", "day": DAY, "sentence": "no-go: 2 left"}
    write("upgrade_campaign/orders-4.0/gate.json", gate)
    line = {"sentence": f"Not ready: {HOSTILE}", "left": 2, "asked_at": f"{DAY}T07:00:00.000000Z"}
    write("upgrade_campaign/orders-4.0/summary.json", line)
    write("upgrade_campaign/orders-4.0/owners/team-a/message.md", "# To team-a")
    # An older version published it: no summary.
    write("upgrade_campaign/passed/gate.json", gate | {"campaign": "passed", "planned_for": "2026-01-02"})
    write("upgrade_campaign/passed/index.html", "<p>passed</p>")
    write("upgrade_campaign/damaged/gate.json", "{")
    write("upgrade_campaign/orders-4.0/index.html", f"<p>the campaign {HOSTILE}</p>")
    grid = Grid.of(1795239560.0, 1795241000.0)
    lines = [
        ("api", "0:9", [[0, 12.0, 0.0], [1, 15.0, 3.0]]),
        ("connections", "", [[0, 2.0], [1, 2.0]]),
        ("metric", "producer.request.latency.avg", [[0, 4.5]]),
    ]
    clients = sorted(
        (bucket(client_id, "User:a", 3), client_text(client_id, "User:a", ["kgo v1.22.2"], lines))
        for client_id in ("orders", HOSTILE, None)
    )
    marks = ((1795240000.0, "broker 3 started on 4.0.1"),)
    curves = ClientFiles(grid, marks, 3, [0], ["producer.request.latency.avg"], clients)
    for name, content in curves.files():
        write(f"fleet/east/{DAY}/{name}", "".join(content))
    write("secret.json", {"password": "x"})
    (root / "fleet" / "east" / DAY / "link.json").symlink_to(root / "secret.json")
    (root / "fleet" / "link").symlink_to(root)
    return root


@pytest.fixture
def clusters_file(published, tmp_path, monkeypatch) -> None:
    path = tmp_path / "clusters.yaml"
    path.write_text(
        f"lake: l\npublish: {published}\nresults: r\nclusters:\n  - {{name: east, cluster_id: aaa, raw: x}}\n"
    )
    monkeypatch.setenv("CLIENT_TELEMETRY_CLUSTERS", str(path))


@pytest.fixture
def audited(monkeypatch) -> Callable[[], list[tuple[str, str, str]]]:
    """Event, user and page of each row of Airflow's audit log."""
    from airflow.models.log import Log
    from telemetry_pages import audit_log

    engine = create_engine("sqlite://", poolclass=StaticPool, connect_args={"check_same_thread": False})
    Log.__table__.create(engine)
    monkeypatch.setattr(audit_log, "create_session", sessionmaker(engine).begin)

    def rows() -> list[tuple[str, str, str]]:
        with Session(engine) as session:
            logs = session.scalars(select(Log).order_by(Log.id))
            return [(row.event, row.owner, json.loads(row.extra)["page"]) for row in logs]

    return rows


@pytest.fixture
def web(clusters_file, audited, monkeypatch) -> Callable[..., TestClient]:
    """A client of the application; `may` says of a DAG id whether the user may read it, `teams` of which the user is."""
    from airflow.api_fastapi.auth.managers.simple.user import SimpleAuthManagerUser
    from airflow.api_fastapi.core_api.security import get_user
    from telemetry_pages import access
    from telemetry_pages import app as module

    def made(may=lambda dag_id: True, teams: tuple[str, ...] = ()) -> TestClient:
        class Manager:
            def is_authorized_dag(self, *, method, user, details) -> bool:
                return method == "GET" and may(details.id)

            def is_authorized_team(self, *, method, user, details) -> bool:
                return method == "GET" and details.name in teams

        user = SimpleAuthManagerUser(username="ada", role="viewer")
        monkeypatch.setattr(access, "get_auth_manager", Manager)
        monkeypatch.setitem(module.app.dependency_overrides, get_user, lambda: user)
        return TestClient(module.app)

    return made
