"""The demo, as a person starts it, with less traffic."""

import json
import subprocess

import psutil
import pytest

from .demo import FOLDER
from .kafka_broker import CHECKOUT

pytestmark = pytest.mark.long


def test_the_demo_names_the_client_that_breaks_and_leaves_no_process(tmp_path):
    printed = subprocess.run(
        ["make", "demo", "ARGS=--minutes 1 --after 1.5 --yes"],
        cwd=CHECKOUT,
        capture_output=True,
        text=True,
        timeout=1200,
    )
    assert printed.returncode == 0, printed.stdout[-3000:] + printed.stderr[-1000:]
    assert (
        "breaks 1 of 7 applications at once" in printed.stdout
    )  # a program with producer and consumer has two client ids
    (report,) = FOLDER.glob("published/upgrade_impact/demo/*/report.json")
    breaks = [
        client["client_id"]
        for client in json.loads(report.read_text())["clients"]
        if client["verdict"] == "breaks"
    ]
    assert breaks == ["legacy-reports-producer"]
    reviews = FOLDER.glob("published/upgrade_review/demo/*/review.json")
    failing = {
        client["client_id"]
        for review in reviews
        for client in json.loads(review.read_text())["clients"]
        if client["outcome"] == "failing"
    }
    assert failing == {"legacy-reports-producer"}
    left = [
        process
        for process in psutil.process_iter(["cmdline"])
        if str(FOLDER) in " ".join(process.info["cmdline"] or [])
    ]
    assert not left
