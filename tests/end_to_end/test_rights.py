"""Four users of a running Airflow with teams: which pages each sees, what they leave in the audit log, and how long that is kept."""

import datetime as dt
import json
import re
import shutil
import subprocess
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import pytest

from tests.end_to_end.airflow_server import SHELL, environment, started, wait_for_answer
from tests.end_to_end.test_airflow_pages import _published

pytestmark = pytest.mark.end_to_end

USERS = "root:admin,ada:viewer:platform,bob:viewer:orders,eve:viewer"
TEAMS = ("platform", "orders")
PASSWORD = "of-a-test"


@dataclass(frozen=True)
class Airflow:
    url: str
    settings: dict[str, str]
    day: str
    run_id: str

    def get(self, user: str | None, path: str) -> tuple[int, str]:
        return self._answer(user, urllib.request.Request(f"{self.url}{path}"))

    def post(self, user: str | None, path: str, body: dict) -> tuple[int, str]:
        headers = {"Content-Type": "application/json"}
        data = json.dumps(body).encode()
        return self._answer(user, urllib.request.Request(f"{self.url}{path}", data, headers))

    def _answer(self, user: str | None, request: urllib.request.Request) -> tuple[int, str]:
        if user:
            request.add_header("Authorization", f"Bearer {self._token(user)}")
        try:
            with urllib.request.urlopen(request, timeout=120) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()

    def _token(self, user: str) -> str:
        status, text = self.post(None, "/auth/token", {"username": user, "password": PASSWORD})
        assert status == 201, text
        return json.loads(text)["access_token"]

    def logged(self, **wanted: str) -> list[tuple[str, str]]:
        """User and `extra` of rows of the audit log, oldest first."""
        query = "&".join(f"{name}={quote(value)}" for name, value in wanted.items())
        status, text = self.get("root", f"/api/v2/eventLogs?limit=100&order_by=id&{query}")
        assert status == 200, text
        return [(row["owner"], row["extra"]) for row in json.loads(text)["event_logs"]]


@pytest.fixture(scope="module")
def airflow(tmp_path_factory) -> Iterator[Airflow]:
    home = tmp_path_factory.mktemp("airflow")
    day, _, run_id = _published(home / "published")
    # A cluster that all may see has the same pages.
    shutil.copytree(home / "published/fleet/fleet", home / "published/fleet/telemetry_cluster")
    settings = environment(
        home, AIRFLOW__CORE__MULTI_TEAM="True", AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_USERS=USERS
    )
    clusters = home / "clusters.yaml"
    clusters.write_text(
        clusters.read_text().replace("- name: fleet\n", "- name: fleet\n    team: platform\n")
    )
    names = [user.split(":")[0] for user in USERS.split(",")]
    passwords = home / "simple_auth_manager_passwords.json.generated"
    passwords.write_text(json.dumps(dict.fromkeys(names, PASSWORD)))
    teams = (["teams", "create", team] for team in TEAMS)
    with started(
        ("airflow", "api-server"), (["db", "migrate"], *teams, ["dags", "reserialize"]), settings
    ) as (
        url,
        server,
        log,
    ):
        wait_for_answer(url, server, log)
        yield Airflow(url, settings, day, run_id)


def test_each_sees_what_is_for_them(airflow):
    fleet = f"/client-telemetry/fleet/fleet/{airflow.day}"
    open_to_all = f"/client-telemetry/fleet/telemetry_cluster/{airflow.day}"
    seen = {
        user: [airflow.get(user, path)[0] for path in (fleet, open_to_all)]
        for user in ("root", "ada", "bob", "eve", None)
    }
    assert seen == {
        "root": [200, 200],
        "ada": [200, 200],
        "bob": [403, 200],
        "eve": [403, 200],
        None: [401, 401],
    }
    for user, is_seen in (("root", True), ("ada", True), ("bob", False), ("eve", False)):
        status, text = airflow.get(user, "/client-telemetry/")
        assert status == 200
        assert ('/clusters/fleet"' in text) == is_seen
        assert '/clusters/telemetry_cluster"' in text


def test_a_team_reads_the_message_to_it_as_an_owner(airflow):
    status, text = airflow.get("ada", f"/client-telemetry/runs/broker_upgrade_impact/{quote(airflow.run_id)}")
    assert status == 200
    (message,) = set(re.findall(r'/client-telemetry/files/[^"]+/owners/orders/report\.md', text))
    assert airflow.get("bob", message)[0] == 200
    assert airflow.get("eve", message)[0] == 403
    assert airflow.get("bob", message.replace("owners/orders/report.md", "index.html"))[0] == 403


def test_who_asked_and_who_read_is_in_the_audit_log_until_it_is_cleaned(airflow):
    question = {"logical_date": None, "conf": {"cluster": "fleet", "from": "3.9.1", "to": "4.0.0"}}
    runs = "/api/v2/dags/broker_upgrade_impact/dagRuns"
    assert airflow.post("eve", runs, question)[0] == 403
    assert airflow.post("root", runs, question)[0] == 200
    airflow.get("ada", "/client-telemetry/search?q=orders")
    airflow.get("eve", "/client-telemetry/clusters/fleet")

    (asked,) = [extra for user, extra in airflow.logged(event="trigger_dag_run") if user == "root"]
    assert "4.0.0" in asked
    read = json.dumps({"page": "/search", "query": "q=orders"})
    assert ("ada", read) in airflow.logged(event="client_telemetry.read")
    refused = json.dumps({"page": "/clusters/fleet", "query": ""})
    assert airflow.logged(event="client_telemetry.refused")[-1] == ("eve", refused)

    tomorrow = str((dt.datetime.now(dt.UTC) + dt.timedelta(days=2)).date())
    options = ["--tables", "log", "--skip-archive", "--yes", "--clean-before-timestamp", tomorrow]
    subprocess.run(
        [SHELL, "airflow", "db", "clean", *options], env=airflow.settings, check=True, capture_output=True
    )
    assert airflow.logged(event="client_telemetry.read") == []


def test_files_of_this_airflow_are_its_users_and_its_groups(airflow):
    home = Path(airflow.settings["AIRFLOW_HOME"])
    database = home / "airflow.db"
    assert database.exists()
    assert [str(file) for file in (database, *home.glob("logs/**/*")) if file.stat().st_mode & 0o007] == []
