"""A cluster's own rows of the knowledge base count in every stage: what one stage says of a release or library, all say."""

import pytest
from client_telemetry.jobs import main_of
from client_telemetry.tables.stages import STAGES, UPKEEP

REQUIRED = {
    "collect": ("--raw=raw", "--day=2026-11-21"),
    "decode": ("--raw=raw", "--days=2026-11-21"),
    "sessionize": ("--days=2026-11-21",),
    "profile": ("--days=2026-11-21",),
    "publish_fleet": ("--days=2026-11-21", "--publish=pages"),
    "impact": ("--report-id=r", "--to=4.0.1"),
    "publish": ("--report-id=r", "--publish=pages"),
    "review": ("--publish=pages",),
    "subscription_check": ("--report-id=r", "--publish=pages"),
    "artefact_inventory": ("--artefacts=written", "--day=2026-11-21"),
    "upgrade_campaign": ("--campaigns=campaigns.yaml", "--campaign=c", "--publish=pages", "--day=2026-11-21"),
}


@pytest.mark.parametrize("stage", [each.name for each in STAGES])
def test_every_stage_reads_the_clusters_own_rows(stage, tmp_path, capsys):
    own = tmp_path / "own"
    own.mkdir()
    (own / "products.csv").write_text("product\n")
    arguments = ["--cluster=c", f"--lake={tmp_path / 'lake'}", f"--knowledge={own}", *REQUIRED[stage]]
    assert main_of(stage)(arguments) == 2
    assert f"{stage}: {own / 'products.csv'} line 1: columns are product, expected" in capsys.readouterr().err


def test_upkeep_of_a_lake_has_no_clusters_rows(tmp_path, capsys):
    assert main_of(UPKEEP.name)([f"--lake={tmp_path}", "--knowledge=own"]) == 2
    assert "unrecognized arguments: --knowledge=own" in capsys.readouterr().err
