"""The alerts and the dashboard are about numbers that daily runs write."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml
from client_telemetry.reports.campaign.document import open_metrics
from client_telemetry.reports.fleet.numbers import fleet_numbers
from client_telemetry.reports.upgrade.build import build_report
from client_telemetry.reports.upgrade.numbers import upgrade_numbers

from tests.client_telemetry.reports import conftest as made
from tests.client_telemetry.reports.campaign.test_campaign_page import of_day, plan, shown
from tests.client_telemetry.reports.fleet.conftest import build, day_rows

__all__ = ["build", "day_rows"]

MONITORING = Path(__file__).parents[1] / "monitoring"
NAME = re.compile(r"\bclient_telemetry_\w+")


@pytest.fixture(scope="module")
def numbers(build, day_rows) -> str:
    report = build_report(**made.fleet_rows(), cluster_name="fleet", planned_for=made.DAY)
    campaign = shown(plan(), [of_day(0, a="breaks"), of_day(1, a="safe")], 1)
    return upgrade_numbers(report) + fleet_numbers(build([day_rows.client()])) + open_metrics(campaign)


def test_every_number_that_is_used_is_written(numbers):
    written = set(NAME.findall(numbers))
    rules = yaml.safe_load((MONITORING / "alerts.yml").read_text())["groups"][0]["rules"]
    panels = json.loads((MONITORING / "dashboard.json").read_text())["panels"]
    used = {name for rule in rules for name in NAME.findall(rule["expr"])}
    used |= {name for panel in panels for target in panel["targets"] for name in NAME.findall(target["expr"])}
    assert used <= written and len(used) > 12


def test_labels_that_are_asked_for_are_there(numbers):
    asked = re.findall(r'(client_telemetry_\w+)\{[^}]*?(\w+)=[~"]', (MONITORING / "alerts.yml").read_text())
    for name, label in asked:
        assert re.search(rf'^{name}\{{.*\b{label}="', numbers, re.M), (name, label)


def test_the_dashboard_has_the_shape_that_grafana_provisions():
    """As Grafana 10 and 11 export dashboards: without an id of its own, with a data source that is chosen, and with panels in a
    grid of 24 columns that do not overlap. A table shows all its series only where they are asked for as a table, and what has
    no thresholds is green below 80 and red above."""
    dashboard = json.loads((MONITORING / "dashboard.json").read_text())
    assert dashboard["id"] is None and dashboard["uid"] and dashboard["schemaVersion"] >= 36
    chosen, *queries = dashboard["templating"]["list"]
    assert (chosen["type"], chosen["query"], chosen["name"]) == ("datasource", "prometheus", "datasource")
    source = {"type": "prometheus", "uid": "${datasource}"}
    assert all(
        each["datasource"] == source and each["definition"] == each["query"]["query"] for each in queries
    )
    panels = dashboard["panels"]
    assert len({panel["id"] for panel in panels}) == len(panels)
    taken: set[tuple[int, int]] = set()
    for panel in panels:
        at = panel["gridPos"]
        cells = {(x, y) for x in range(at["x"], at["x"] + at["w"]) for y in range(at["y"], at["y"] + at["h"])}
        assert max(x for x, _ in cells) < 24 and not cells & taken, panel["title"]
        taken |= cells
        assert panel["title"] and panel["description"] and panel["datasource"] == source
        assert panel["fieldConfig"]["defaults"]["unit"] in {"short", "none", "s", "percentunit"}
        for target in panel["targets"]:
            assert target["datasource"] == source and target["refId"] and target["instant"] != target["range"]
            assert (target.get("format") == "table") == (panel["type"] == "table")
        assert (
            panel["type"] != "stat"
            or panel["fieldConfig"]["defaults"]["thresholds"]["steps"][0]["color"] == "red"
        )
    used = set(re.findall(r"\$\{?(\w+)", json.dumps(panels)))
    assert used == {each["name"] for each in dashboard["templating"]["list"]}


def test_promtool_is_content(numbers):
    if not shutil.which("promtool"):
        pytest.skip("promtool is not installed (on Debian: apt-get install prometheus)")
    for command in (("check", "rules", "alerts.yml"), ("test", "rules", "alerts_test.yml")):
        subprocess.run(["promtool", *command], cwd=MONITORING, check=True, capture_output=True)
    for text in numbers.split("# EOF\n"):
        done = subprocess.run(["promtool", "check", "metrics"], input=text, text=True, capture_output=True)
        # Its only wish: ages in seconds.
        assert [line for line in done.stderr.splitlines() if "base unit" not in line] == []


def test_numbers_of_a_large_fleet_are_bounded():
    given = made.large_rows(5_000, 900)
    report = build_report(**{**given, "question": made.question(len(given["verdict_rows"]))})
    lines = [line for line in upgrade_numbers(report).splitlines() if not line.startswith("#")]
    assert len(lines) < 800
    assert any('owner="other owners"' in line for line in lines)


def test_text_of_owners_stays_in_its_label():
    hostile = 'a"} 1\nx{y="\\'
    report = build_report(made.question(1), [made.verdict("a", "breaks", owner=hostile)], [], [], [])
    [line] = [line for line in upgrade_numbers(report).splitlines() if "owner_applications{" in line]
    assert line.endswith('owner="a\\"} 1\\nx{y=\\"\\\\",outcome="breaks_at_once"} 1')
