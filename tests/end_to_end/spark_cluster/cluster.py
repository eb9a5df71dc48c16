"""A real standalone cluster: a master and workers, each a process group of its own, from a folder outside the checkout
that holds what spark/executors/pack.sh packed and nothing else."""

import json
import os
import shutil
import signal
import subprocess
import time
import urllib.request
from dataclasses import dataclass, field
from pathlib import Path

import pyspark

from tests.end_to_end.lake.servers import CHECKOUT, free_port, wait_for

PACKED = CHECKOUT / "var" / "executors"
MEMORY = "1g"
SHORT_LIVED = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""Options of each JVM here, as in spark-defaults.conf.in: what runs for seconds ends before the optimising compiler pays."""


def deployed(folder: Path) -> Path:
    """A copy of what was packed, by hard links where that can be."""
    target = folder / "client-telemetry"
    subprocess.run(["cp", "-rl", PACKED, target], check=True)
    return target


@dataclass
class Cluster:
    folder: Path
    executor_home: Path
    port: int = field(default_factory=free_port)
    ui_port: int = field(default_factory=free_port)
    _processes: dict[str, subprocess.Popen] = field(default_factory=dict)

    @property
    def url(self) -> str:
        return f"spark://127.0.0.1:{self.port}"

    def start(self, workers: int = 2) -> None:
        self.start_master()
        for number in range(1, workers + 1):
            self.start_worker(f"worker{number}")
        self.wait_for_workers(workers)

    def start_master(self) -> None:
        options = ["--host", "127.0.0.1", "--port", str(self.port), "--webui-port", str(self.ui_port)]
        wait_for(self.port, self._start("master", options), self.folder / "master.log")
        wait_for(self.ui_port, self._processes["master"], self.folder / "master.log")

    def start_worker(self, name: str) -> None:
        work = self.folder / name
        work.mkdir(exist_ok=True)
        size = ["--cores", "1", "--memory", MEMORY]
        place = ["--host", "127.0.0.1", "--work-dir", str(work), "--webui-port", str(free_port())]
        self._start("worker", [self.url, *size, *place], name)

    def _start(self, kind: str, options: list[str], name: str = "") -> subprocess.Popen:
        name = name or kind
        environment = {
            # Nothing of this checkout: not its Python, not its settings.
            "PATH": f"{Path(shutil.which('java')).parent}:/usr/bin:/bin:{Path(_base_python()).parent}",
            "SPARK_LOCAL_IP": "127.0.0.1",
            "SPARK_DAEMON_MEMORY": "256m",
            "SPARK_DAEMON_JAVA_OPTS": SHORT_LIVED,
            **{name: os.environ[name] for name in ("JAVA_HOME",) if name in os.environ},
        }
        with (self.folder / f"{name}.log").open("ab") as log:
            process = subprocess.Popen(
                [self.executor_home / "spark.sh", kind, *options],
                env=environment,
                cwd=self.folder,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        self._processes[name] = process
        return process

    def alive_workers(self) -> int:
        """No worker as long as the master's page is not there."""
        try:
            return sum(worker["state"] == "ALIVE" for worker in self.state()["workers"])
        except OSError:
            return 0

    def state(self) -> dict:
        with urllib.request.urlopen(f"http://127.0.0.1:{self.ui_port}/json/", timeout=10) as answer:
            return json.load(answer)

    def wait_for_workers(self, count: int) -> None:
        deadline = time.monotonic() + 120
        while self.alive_workers() != count:
            assert time.monotonic() < deadline, f"{count} workers did not register in two minutes"
            time.sleep(0.5)

    def kill(self, name: str) -> None:
        """With all executors and Python workers of it, and without a word."""
        process = self._processes.pop(name)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()

    def stop(self) -> None:
        for name in list(self._processes):
            self.kill(name)


def _base_python() -> str:
    code = "import sys; print(sys._base_executable)"
    return subprocess.check_output([CHECKOUT / ".venv/bin/python", "-c", code], text=True).strip()


def spark_settings(folder: Path, executor_home: Path, **more: str) -> Path:
    """SPARK_CONF_DIR: the settings for a cluster, sized for this test."""
    folder.mkdir(parents=True, exist_ok=True)
    text = (CHECKOUT / "spark/conf/cluster.conf.in").read_text()
    text = text.replace("@CHECKOUT@", str(CHECKOUT)).replace("@EXECUTOR_HOME@", str(executor_home))
    text = text.replace("@SPARK_HOME@", pyspark.__path__[0])
    own = {
        "spark.executor.memory": "900m",
        "spark.executor.cores": "1",
        "spark.cores.max": "2",
        "spark.driver.memory": "1g",
        # Before those of the recipe, which stay.
        "spark.driver.defaultJavaOptions": SHORT_LIVED,
        "spark.executor.defaultJavaOptions": SHORT_LIVED,
        **{f"spark.{name.replace('_', '.')}": value for name, value in more.items()},
    }
    # The last of two lines counts.
    lines = [text, *(f"{name} {value}" for name, value in own.items())]
    (folder / "spark-defaults.conf").write_text("\n".join(lines) + "\n")
    shutil.copy(CHECKOUT / "spark/conf/log4j2.properties", folder)
    return folder
