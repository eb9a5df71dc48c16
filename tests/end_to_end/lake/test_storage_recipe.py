"""The commands of docs/storage.md for PostgreSQL, as they stand and in their order, from an empty database."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml
from client_telemetry.lake.lake import Lake
from client_telemetry.tables.clients import CLIENTS

from .servers import CHECKOUT, postgres_programs, postgres_server

FLEET = "fL33tG0ldTruth000000-w"


def recipe(page: Path) -> str:
    section = page.read_text().partition("### PostgreSQL")[2].partition("### ")[0]
    (block,) = re.findall(r"^```\n(.*?)^```", section, re.MULTILINE | re.DOTALL)
    return block


@pytest.mark.long
def test_the_documented_commands_fill_an_empty_database(tmp_path, warehouse, monkeypatch):
    if postgres_programs() is None:
        pytest.skip("no PostgreSQL: on Debian, apt-get install postgresql")
    folder = warehouse.removeprefix("file://")
    clusters = tmp_path / "clusters.yaml"
    raw = tmp_path / "raw"
    shutil.copytree(CHECKOUT / "include/sample/fleet/raw", raw, ignore=shutil.ignore_patterns("hour=06"))
    content = {"lake": folder, "publish": str(tmp_path / "published"), "results": str(tmp_path / "results")}
    clusters.write_text(
        yaml.safe_dump(content | {"clusters": [{"name": "fleet", "cluster_id": FLEET, "raw": str(raw)}]})
    )
    with postgres_server() as server:
        commands = recipe(CHECKOUT / "docs/storage.md")
        for documented, here in (
            ("/etc/client-telemetry/clusters.yaml", str(clusters)),
            ("telemetry@db.example.com/lake", f"lake@127.0.0.1:{server.port}/lake"),
            ("/srv/telemetry/lake", folder),
            ("PGPASSWORD=...", "PGPASSWORD=of-the-test"),
        ):
            assert documented in commands
            commands = commands.replace(documented, here)
        # As in a new checkout, where `make storage` archives classes: it used to leave tables in a folder that is gone.
        for stamp in ("class_archive", "airflow"):
            (CHECKOUT / "var/stamps" / stamp).unlink(missing_ok=True)
        environment = os.environ | {"AIRFLOW_HOME": str(tmp_path / "airflow")}
        log = tmp_path / "log"
        with log.open("w") as out:
            done = subprocess.run(
                ["bash", "-e", "-c", commands],
                cwd=CHECKOUT,
                env=environment,
                stdout=out,
                stderr=out,
                check=False,
            )
        printed = log.read_text()
        assert done.returncode == 0, printed[-5000:]
        assert "billing" in printed, "history lists applications"
        for name, value in server.environment.items():
            monkeypatch.setenv(name, value)
        lake = Lake(None, folder)
        places = {table.location().rpartition("/client_telemetry/")[0] for table in lake.tables().values()}
        assert {place.removeprefix("file:").removeprefix("//") for place in places} == {folder}
        assert lake.rows(CLIENTS, cluster_id=FLEET)
