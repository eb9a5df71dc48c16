"""A real Prometheus scrapes what runs have written, loads the alert rules, and answers what the dashboard asks."""

import http.server
import json
import re
import shutil
import subprocess
import threading
import time
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from telemetry_pages.numbers import MEDIA_TYPE, merged

from tests.test_monitoring import MONITORING, build, day_rows, numbers

__all__ = ["build", "day_rows", "numbers"]

pytestmark = pytest.mark.end_to_end
DASHBOARD = json.loads((MONITORING / "dashboard.json").read_text())
QUERIES = {target["expr"] for panel in DASHBOARD["panels"] for target in panel["targets"]}
LONGEST_S = 60
CONFIGURATION = """\
global: {{scrape_interval: 1s, evaluation_interval: 1s}}
rule_files: [{rules}]
scrape_configs:
  - job_name: client-telemetry
    metrics_path: /client-telemetry/metrics
    static_configs: [{{targets: ['127.0.0.1:{port}']}}]
"""


@contextmanager
def exposed(text: str) -> Iterator[int]:
    """The port of an endpoint with these numbers."""

    class Endpoint(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", MEDIA_TYPE)
            self.end_headers()
            self.wfile.write(text.encode())

        def log_message(self, *_) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Endpoint) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_port
        server.shutdown()


@pytest.fixture(scope="module")
def ask(numbers, tmp_path_factory) -> Iterator[Callable[..., dict]]:
    if not shutil.which("prometheus"):
        pytest.skip("prometheus is not installed (on Debian: apt-get install prometheus)")
    folder = tmp_path_factory.mktemp("prometheus")
    log = folder / "log"
    text = merged(f"{part}# EOF\n" for part in numbers.split("# EOF\n") if part)
    with exposed(text) as port, log.open("w") as out:
        configuration = CONFIGURATION.format(rules=MONITORING / "alerts.yml", port=port)
        (folder / "prometheus.yml").write_text(configuration)
        command = [
            "prometheus",
            f"--config.file={folder / 'prometheus.yml'}",
            f"--storage.tsdb.path={folder / 'data'}",
            "--web.listen-address=127.0.0.1:0",
        ]
        process = subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT)
        try:
            address = until(lambda: re.search(r'"Listening on" address=(\S+)', log.read_text()), log)[1]

            def ask(path: str, **parameters: str) -> dict:
                query = urllib.parse.urlencode(parameters)
                with urllib.request.urlopen(f"http://{address}/api/v1/{path}?{query}") as found:
                    return json.load(found)["data"]

            until(lambda: ask("query", query="up == 1")["result"], log)
            yield ask
        finally:
            process.terminate()
            process.wait()


def until(found: Callable, log: Path):
    deadline = time.monotonic() + LONGEST_S
    while time.monotonic() < deadline:
        try:
            if result := found():
                return result
        except OSError:  # not ready yet
            pass
        time.sleep(0.1)
    raise AssertionError(log.read_text())


def test_the_endpoint_is_read_without_an_error(ask):
    [target] = ask("targets")["activeTargets"]
    assert (target["health"], target["lastError"]) == ("up", "")


@pytest.mark.parametrize("query", sorted(QUERIES))
def test_each_panel_has_data(ask, query):
    """With all clusters and campaigns chosen, as the dashboard opens."""
    whole = query.replace("$cluster", ".*").replace("$campaign", ".*")
    found = ask("query", query=whole)["result"]
    assert found and all(sample["value"][1] != "NaN" for sample in found)


def test_the_choices_of_the_dashboard_are_there(ask):
    variables = {each["name"]: each["query"] for each in DASHBOARD["templating"]["list"]}
    for name, value in (("cluster", "fleet"), ("campaign", "orders-4.0")):
        metric, label = re.fullmatch(r"label_values\((\w+), (\w+)\)", variables[name]["query"]).groups()
        assert ask(f"label/{label}/values", **{"match[]": metric}) == [value]


def test_every_alert_can_be_evaluated(ask):
    def rules() -> list[dict]:
        found = [rule for group in ask("rules")["groups"] for rule in group["rules"]]
        return found if all(rule["health"] != "unknown" for rule in found) else []

    evaluated = until(rules, MONITORING / "alerts.yml")
    assert {rule["health"] for rule in evaluated} == {"ok"}
    assert {rule["name"] for rule in evaluated} == set(
        re.findall(r"alert: (\w+)", (MONITORING / "alerts.yml").read_text())
    )
