"""The endpoint of numbers: what the user may see, each family once."""

import json
import shutil
import subprocess
from shutil import which

import pytest

from tests.plugins.test_access import with_teams

__all__ = ["with_teams"]


def text(cluster: str) -> str:
    return f'# TYPE client_telemetry_x gauge\n# HELP client_telemetry_x X.\nclient_telemetry_x{{cluster="{cluster}"}} 1\n# EOF\n'


@pytest.fixture
def numbers(published):
    folder = published / "metrics"
    folder.mkdir()
    for name in ("fleet-east", "upgrade-east", "fleet-west", "other-east"):
        (folder / f"{name}.prom").write_text(text(name))
    (folder / ".partial.prom").write_text("x")
    for campaign, clusters in (("both", ["east", "west"]), ("west-only", ["west"])):
        (folder / f"campaign-{campaign}.prom").write_text(text(campaign))
        gate = published / "upgrade_campaign" / campaign
        gate.mkdir(parents=True)
        (gate / "gate.json").write_text(json.dumps({"clusters": clusters}))
    yield
    for made in (folder, *(published / "upgrade_campaign" / name for name in ("both", "west-only"))):
        shutil.rmtree(made)


def seen(answer) -> set[str]:
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"] == "application/openmetrics-text; version=1.0.0; charset=utf-8"
    assert answer.text.count("# TYPE client_telemetry_x gauge") == 1 and answer.text.endswith("# EOF\n")
    return {line.split('"')[1] for line in answer.text.splitlines() if not line.startswith("#")}


def test_all_that_a_user_may_see_is_one_exposition(web, numbers):
    assert seen(web().get("/metrics")) == {"fleet-east", "upgrade-east", "fleet-west", "both", "west-only"}
    only_daily = web(may=lambda dag_id: dag_id == "client_telemetry_daily")
    assert seen(only_daily.get("/metrics")) == {"fleet-east", "fleet-west"}


def test_clusters_of_other_teams_and_their_campaigns_are_left_out(with_teams, numbers):
    assert seen(with_teams().get("/metrics")) == {"fleet-west", "west-only"}
    assert seen(with_teams(teams=("platform",)).get("/metrics")) >= {"fleet-east", "both"}


def test_without_numbers_there_are_none(web):
    assert web().get("/metrics").text == "# EOF\n"


def test_who_may_read_nothing_gets_nothing(web, numbers):
    assert web(may=lambda _: False).get("/metrics").status_code == 403


@pytest.mark.skipif(not which("promtool"), reason="promtool is not installed")
def test_promtool_reads_it(web, numbers):
    answer = web().get("/metrics").text
    subprocess.run(["promtool", "check", "metrics"], input=answer, text=True, check=True, capture_output=True)
