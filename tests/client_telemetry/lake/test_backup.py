"""A copy of a lake is used where the lake was: docs/upgrading.md, Rehearse on a copy."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from client_telemetry.lake.lake import Lake
from client_telemetry.tables.brokers import BROKERS

from .conftest import created, publish_new

CHECKOUT = Path(__file__).parents[3]
NAMESPACE = ["unshare", "--user", "--map-root-user", "--mount"]
PUBLISH = """
import sys
from client_telemetry.lake.lake import Lake
from tests.client_telemetry.lake.conftest import publish_new
publish_new(Lake(None, sys.argv[1]))
"""


def test_a_backup_is_tried_at_the_lakes_path_while_the_lake_stays_as_it_is(tmp_path):
    if not shutil.which("unshare") or subprocess.run([*NAMESPACE, "true"], check=False).returncode:
        pytest.skip("this machine allows no mount namespaces to this user")
    lake, backup = tmp_path / "lake", tmp_path / "backup"
    publish_new(created(str(lake)))
    shutil.copytree(lake, backup)
    files, rows = sorted(lake.rglob("*")), len(Lake(None, str(lake)).rows(BROKERS))
    script = f'mount --bind "{backup}" "{lake}" && exec "{sys.executable}" -c "$0" "{lake}"'
    subprocess.run([*NAMESPACE, "sh", "-c", script, PUBLISH], check=True, cwd=CHECKOUT)
    assert sorted(lake.rglob("*")) == files
    assert len(Lake(None, str(lake)).rows(BROKERS)) == rows
    assert len(list(backup.rglob("*"))) > len(files), "the copy was written"
    # Restored: the copy takes the lake's place.
    lake.rename(tmp_path / "broken")
    backup.rename(lake)
    restored = Lake(None, str(lake))
    publish_new(restored)
    assert len(restored.rows(BROKERS)) >= rows
