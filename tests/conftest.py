"""What the whole test session shares: one Spark, set up as `make install` sets it up for jobs, and one run of both
DAGs over the shipped sample."""

import logging
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from pathlib import Path

# Its plugin imports it when the session ends if no test has: with that much of a stack CPython 3.11.7 cannot parse its modules
# ("AST constructor recursion depth mismatch"), and a run whose tests passed crashes.
import hypothesis  # noqa: F401
import pytest

# Before any test module imports Airflow, which takes its database from the settings of that moment: two processes of
# tests in one database undo each other's tables.
import tests.airflow_settings  # noqa: F401

CHECKOUT = Path(__file__).parents[1]

# py4j says good-bye when pytest has already closed its log.
logging.getLogger("py4j").setLevel(logging.WARNING)

os.environ.setdefault("SPARK_CONF_DIR", str(CHECKOUT / "var" / "spark"))
os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
os.environ.setdefault("PYSPARK_DRIVER_PYTHON", sys.executable)
# The knowledge base of the checkout, not one that its user keeps.
os.environ["CLIENT_TELEMETRY_KNOWLEDGE"] = str(CHECKOUT / "var" / "no_knowledge_kept")
# Tests have lakes of their own; those of catalogs configure one.
for name in [name for name in os.environ if name.startswith("PYICEBERG_CATALOG__")]:
    del os.environ[name]


@pytest.fixture(scope="session")
def spark() -> Iterator["SparkSession"]:  # noqa: F821
    from pyspark.sql import SparkSession

    settings = {
        "spark.ui.showConsoleProgress": "false",
        # Compiling a query costs more than running it on a few rows.
        "spark.sql.codegen.wholeStage": "false",
        "spark.sql.codegen.factoryMode": "NO_CODEGEN",
        "spark.sql.shuffle.partitions": "1",
    }
    session = SparkSession.builder.master("local[2]").config(map=settings).getOrCreate()
    yield session
    session.stop()


@dataclass(frozen=True)
class SampleRun:
    """What `make run` printed, and the folder with its lake, published reports and results."""

    printed: str
    folder: Path


class _SampleInTheBackground:
    """Both DAGs with real jobs and real Spark over the shipped sample, as `make run` does it, beside the tests: it
    starts with them, and a test that needs it waits. The processes that pytest-xdist starts share one, by its folder:
    `started` holds its process group, `code` its exit code."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._started = folder / "started"
        self._code = folder / "code"
        self._process: subprocess.Popen | None = None

    def start(self) -> None:
        try:
            started = self._started.open("x")
        except FileExistsError:
            return
        clusters = (CHECKOUT / "include" / "clusters.yaml").read_text(encoding="utf-8")
        own = clusters.replace(": var/", f": {self.folder}/")
        (self.folder / "clusters.yaml").write_text(own, encoding="utf-8")
        commands = (
            "(python -c 'from airflow.utils.db import initdb; initdb()' >initdb.log 2>&1 && cd \"$CHECKOUT\" && "
            "include/warm.sh python -m include.sample_run); echo $? >code.new; mv code.new code"
        )
        environment = {
            **os.environ,
            "CHECKOUT": str(CHECKOUT),
            "AIRFLOW_HOME": str(self.folder / "airflow"),
            "CLIENT_TELEMETRY_CLUSTERS": str(self.folder / "clusters.yaml"),
        }
        with (self.folder / "printed").open("w") as printed, started:
            self._process = subprocess.Popen(
                [CHECKOUT / "include" / "airflow.sh", "bash", "-c", commands],
                cwd=self.folder,
                env=environment,
                stdout=printed,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
            started.write(str(self._process.pid))

    def wait(self) -> SampleRun:
        while not self._code.exists():
            time.sleep(0.2)
        printed = (self.folder / "printed").read_text()
        assert self._code.read_text().strip() == "0", printed
        return SampleRun(printed, self.folder)

    def stop(self) -> None:
        if self._started.exists() and not self._code.exists():
            os.killpg(int(self._started.read_text()), signal.SIGTERM)
        shutil.rmtree(self.folder, ignore_errors=True)


_SAMPLE = pytest.StashKey[_SampleInTheBackground]()


def pytest_configure(config: pytest.Config) -> None:
    of_worker = getattr(config, "workerinput", {}).get("sample_folder")
    config.stash[_SAMPLE] = _SampleInTheBackground(
        Path(of_worker or tempfile.mkdtemp(prefix="client_telemetry_sample_"))
    )


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node) -> None:
    """Tell a process of pytest-xdist where the sample is."""
    node.workerinput["sample_folder"] = str(node.config.stash[_SAMPLE].folder)


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    """Bytes are named by their argument: a process of pytest-xdist that collects a second later has other bytes in a
    gzip file that a module makes, and other names of tests end the whole run."""
    return argname if isinstance(val, bytes) else None


def _needs_the_sample(item: pytest.Item) -> bool:
    return "sample_run" in getattr(item, "fixturenames", ())


def _runs_jobs(nodeid: str) -> bool:
    return nodeid.startswith(("tests/jobs/", "tests/client_telemetry/cli/test_report.py"))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests that run jobs first and files that wait for the sample last, so that two processes end at about the same
    time."""
    waiting = {item.path for item in items if _needs_the_sample(item)}
    items.sort(key=lambda item: (item.path in waiting, not _runs_jobs(item.nodeid)))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log):
    """Each file in one process, and all tests that run jobs in the same one: the first jobs of a process take ten times
    as long as later ones."""
    from xdist.scheduler import LoadFileScheduling

    class ByFile(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return "jobs" if _runs_jobs(nodeid) else super()._split_scope(nodeid)

    return ByFile(config, log)


def pytest_collection_finish(session: pytest.Session) -> None:
    needed = any(map(_needs_the_sample, session.items)) and not session.config.option.collectonly
    if needed and "SAMPLE_RUN" not in os.environ:
        session.config.stash[_SAMPLE].start()


def pytest_unconfigure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):
        config.stash[_SAMPLE].stop()


@pytest.fixture(scope="session")
def sample_run(pytestconfig) -> SampleRun:
    """SAMPLE_RUN: the folder of a `make run`, with what it printed in the file `printed`, so that CI runs it once."""
    if "SAMPLE_RUN" in os.environ:
        folder = Path(os.environ["SAMPLE_RUN"])
        return SampleRun((folder / "printed").read_text(encoding="utf-8"), folder)
    return pytestconfig.stash[_SAMPLE].wait()


@pytest.fixture
def same_as_kept():
    """same_as_kept(folder, texts): that files below tests/data have just these texts, by name; `is_whole`: and the folder no other
    file. With the environment variable REWRITE they are written anew; then read what differs. Pages are kept without style and
    script, which are files of their own."""

    def compare(folder: str, texts: dict[str, str], *, is_whole: bool = False) -> None:
        if is_whole:
            kept = CHECKOUT / "tests" / "data" / folder
            other = {str(file.relative_to(kept)) for file in kept.rglob("*.*")} - texts.keys()
            assert not other, (
                f"{folder} keeps what is not made: {', '.join(sorted(other))}; delete it if that is right"
            )
        for name, text in texts.items():
            file = CHECKOUT / "tests" / "data" / folder / name
            if name.endswith(".html"):
                text = re.sub(r"<(style|script)>.*?</\1>", r"<\1/>", text, flags=re.DOTALL)
                text = re.sub(r"\n\s*\n", "\n", re.sub(r"sha256-[\w+/=]+", "sha256", text))
            if "REWRITE" in os.environ:
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(text, encoding="utf-8")
            assert text.splitlines() == file.read_text(encoding="utf-8").splitlines(), (
                f"{file.relative_to(CHECKOUT)} differs; if it should: set REWRITE=1, run the test again and read the difference"
            )

    return compare


_counted = pytest.StashKey[float]()
_DEAREST = 40


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """CPU seconds of this process, and of the processes that it started and that have ended, since the last report."""
    report = yield
    now = sum(os.times()[:4])
    report.cpu_s = now - item.session.stash.get(_counted, now)
    item.session.stash[_counted] = now
    return report


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    seconds: Counter[str] = Counter()
    for reports in terminalreporter.stats.values():
        for report in reports:
            if isinstance(report, pytest.TestReport):
                seconds[report.nodeid.partition("::")[0].rpartition("/")[2]] += getattr(report, "cpu_s", 0.0)
    terminalreporter.section("CPU seconds of the dearest files")
    terminalreporter.write_line(
        ", ".join(f"{name} {value:.0f}" for name, value in seconds.most_common(_DEAREST))
    )
    terminalreporter.write_line(f"together {seconds.total():.0f}")
