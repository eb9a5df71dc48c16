"""The order of the files: pytest-xdist gives them out one after the other, and the last to end should be short. At the end stands
what each has cost."""

import os
from collections import Counter
from collections.abc import Generator

import pytest

LONGEST_FIRST = (
    "test_live_roll.py",
    "test_whole_path.py",
    "test_upkeep.py",
    "test_object_store.py",
    "test_cluster.py",
    "test_images.py",
    "test_watch_modes.py",
    "test_operators_levels.py",
    "test_subscription_check_in_airflow.py",
    "test_question_that_waits.py",
    "test_killed_writers.py",
    "test_many_writers.py",
    "test_vended_credentials.py",
    "test_privacy.py",
    "test_full_spool.py",
    "test_kafka_classes.py",
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    order = {name: number for number, name in enumerate(LONGEST_FIRST)}
    items.sort(key=lambda item: order.get(item.path.name, len(order)))


_counted = pytest.StashKey[float]()


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
    terminalreporter.section("CPU seconds of each file")
    terminalreporter.write_line(", ".join(f"{name} {value:.0f}" for name, value in seconds.most_common()))
    terminalreporter.write_line(f"together {seconds.total():.0f}")
