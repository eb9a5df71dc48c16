import json
import subprocess
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
from client_telemetry.workers import cluster_check
from client_telemetry.workers.cluster_size import does_not_fit, too_many_slots

CHECKOUT = Path(__file__).parents[3]


def state(*workers: tuple[int, int, str]) -> dict:
    """As the page `/json/` of Spark 4.1's standalone master has it."""
    return {
        "url": "spark://master:7077",
        "status": "ALIVE",
        "workers": [{"cores": cores, "memory": mib, "state": alive} for cores, mib, alive in workers],
    }


BIG, SMALL, DEAD = (8, 24_576, "ALIVE"), (2, 1_024, "ALIVE"), (8, 24_576, "DEAD")
SETTINGS = {"spark.executor.cores": "4", "spark.executor.memory": "6g", "spark.cores.max": "32"}


@pytest.mark.parametrize(
    ("workers", "reason"),
    [
        ((BIG, SMALL), None),
        ((SMALL, SMALL), "its workers have 2 cores and 1024 MiB"),
        ((DEAD,), "it has no worker"),
        (((8, 4_096, "ALIVE"),), "can hold an executor of 4 cores and 6144 MiB"),
    ],
)
def test_an_executor_that_no_worker_has_room_for_is_one_line(workers, reason):
    found = does_not_fit(state(*workers), SETTINGS)
    assert (found is None) == (reason is None)
    assert reason is None or (reason in found and "\n" not in found)


def test_more_slots_than_cores_are_one_line():
    found = too_many_slots(state(BIG, BIG), SETTINGS, 8)
    assert "8 stages at once (slots of the pool lake_writer) x 32 cores" in found
    assert "the 16 cores" in found and "Set spark.cores.max to 2" in found
    assert too_many_slots(state(BIG, BIG), SETTINGS | {"spark.cores.max": "2"}, 8) is None
    assert too_many_slots(state(BIG), {}, 8) is None, "an unlimited stage takes what is free"


@pytest.mark.parametrize("body", [json.dumps(state(SMALL)).encode(), b"<html>Airflow</html>"])
def test_the_master_is_asked_by_its_page_and_another_program_there_says_nothing(monkeypatch, body):
    class Page(BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    with HTTPServer(("127.0.0.1", 0), Page) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        monkeypatch.setenv("SPARK_MASTER_WEBUI_PORT", str(server.server_port))
        if body.startswith(b"{"):
            with pytest.raises(
                cluster_check.UnusableCluster, match="no worker of spark://master:7077 can hold"
            ):
                cluster_check.check_sizes("spark://127.0.0.1:7077", SETTINGS)
        else:
            cluster_check.check_sizes("spark://127.0.0.1:7077", SETTINGS)
        server.shutdown()
    cluster_check.check_sizes("local[2]", SETTINGS)


def wrapped(*command: str, **environment: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        [CHECKOUT / "include/airflow.sh", *command],
        env={"PATH": "/usr/bin:/bin", "HOME": "/nonexistent", **environment},
        capture_output=True, text=True, check=False,
    )  # fmt: skip


def test_placeholders_in_settings_of_ones_own_are_refused(tmp_path):
    (tmp_path / "spark-defaults.conf").write_text((CHECKOUT / "spark/conf/cluster.conf.in").read_text())
    refused = wrapped("true", SPARK_CONF_DIR=str(tmp_path), SPARK_MASTER="spark://master:7077")
    assert refused.returncode == 2
    assert "has placeholders such as @CHECKOUT@: set CLUSTER_CONF" in refused.stderr
    assert refused.stderr.count("\n") == 1
    (tmp_path / "spark-defaults.conf").write_text("# of @SOMEBODY@\nspark.master local\n")
    assert wrapped("true", SPARK_CONF_DIR=str(tmp_path)).returncode == 0


def test_a_copy_of_the_clusters_settings_is_filled_in(tmp_path):
    text = (
        (CHECKOUT / "spark/conf/cluster.conf.in")
        .read_text()
        .replace("spark.cores.max                           32", "spark.cores.max 6")
    )
    assert "spark.cores.max 6" in text
    (tmp_path / "mine.conf").write_text(text)
    printed = wrapped(
        "sh", "-c", "cat $SPARK_CONF_DIR/spark-defaults.conf",
        CLUSTER_CONF=str(tmp_path / "mine.conf"), SPARK_MASTER="spark://master:7077",
    ).stdout  # fmt: skip
    settings = [line for line in printed.splitlines() if not line.startswith("#")]
    assert "spark.cores.max 6" in settings
    assert not any("@" in line for line in settings)
