"""The plugin's alerts, the exporter's rules, the figures of the plugin and what its page says to alert on are the same."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

CHECKOUT = Path(__file__).parents[1]
MONITORING = CHECKOUT / "broker-plugin/monitoring"
STATUS = CHECKOUT / "broker-plugin/src/main/java/clienttelemetry/broker/DumpStatus.java"


def rules() -> list[dict]:
    return yaml.safe_load((MONITORING / "alerts.yml").read_text())["groups"][0]["rules"]


def figures() -> set[str]:
    return set(re.findall(r'show\("(\w+)"', STATUS.read_text())) - {"Version", "Incarnation", "Dropped"}


def test_the_exporter_has_every_figure():
    patterns = [
        rule["pattern"] for rule in yaml.safe_load((MONITORING / "jmx_exporter.yml").read_text())["rules"]
    ]
    shown = [f"client.telemetry.dump<type=status><>{name}: 1" for name in (*figures(), "DroppedQueueFull")]
    assert [each for each in shown if not any(re.fullmatch(pattern, each) for pattern in patterns)] == []


def test_alerts_are_on_figures_that_there_are():
    used = {
        name
        for rule in rules()
        for name in re.findall(r"client_telemetry_dump_\(status_\)\?(\w+)", rule["expr"])
    }
    assert used - figures() == {"Dropped"}


def test_the_page_has_the_thresholds_of_the_alerts():
    expressions = " ".join(rule["expr"] for rule in rules())
    thresholds = dict(re.findall(r'dump_\(status_\)\?(\w+)"\}\) > (\d+)', expressions)) | {
        "WriterLagSeconds": "60"
    }
    assert "client_telemetry_dump:writer_lag_seconds > 60" in expressions
    page = (CHECKOUT / "docs/broker-plugin.md").read_text()
    (sentence,) = re.findall(r"^Alert on (.*?)\. Lags", page, re.MULTILINE)
    assert dict(re.findall(r"`(\w+) > (\d+)`", sentence)) == thresholds


def test_promtool_is_content():
    if not shutil.which("promtool"):
        pytest.skip("promtool is not installed (on Debian: apt-get install prometheus)")
    for command in (("check", "rules", "alerts.yml"), ("test", "rules", "alerts_test.yml")):
        subprocess.run(["promtool", *command], cwd=MONITORING, check=True, capture_output=True)
