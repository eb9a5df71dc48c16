"""How a benchmark measures: CPU time of everything that works for it, peers in turn, medians.

On a machine that others use too, wall time says little. What counts is the user and system time of this process
and of all processes below it (Spark's JVM, its Python workers), and ratios of cases that took turns.
"""

import os
import platform
import statistics
import subprocess
import threading
import time
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import TypeVar

import psutil

_Case = TypeVar("_Case", bound=Hashable)
RUN_STAGE = Path(__file__).parents[1] / "spark" / "run_stage.py"


def run_stage(stage: str, *arguments: str) -> None:
    """Run a stage as a job of its own; it has to end well."""
    subprocess.run(["spark-submit", RUN_STAGE, stage, *arguments], check=True)


@dataclass(frozen=True)
class Cost:
    """Seconds of one run. `cpu` is user + system time of the process tree, `jvm` the part of Java processes."""

    cpu: float
    jvm: float
    wall: float


def cost_of(work: Callable[[], object]) -> Cost:
    began, before = time.perf_counter(), _uses()
    work()
    after = _uses()
    ended: dict[int, float] = {}
    for key, use in before.items():
        if key not in after:
            ended[use.parent] = ended.get(use.parent, 0.0) + use.own + use.children
    cpu = jvm = 0.0
    for key, use in after.items():
        earlier = before.get(key, _Use(use.parent, use.is_java, 0.0, 0.0))
        own = use.own - earlier.own
        # What those that ended had used before is in their parent's sum now, unless it did not wait for them, as Spark's daemon for
        # its Python workers.
        cpu += own + max(0.0, use.children - earlier.children - ended.get(key[0], 0.0))
        jvm += own if use.is_java else 0
    return Cost(cpu, jvm, time.perf_counter() - began)


def cost_with_workers(work: Callable[[], object]) -> Cost:
    """As `cost_of`, with the processes whose time nobody is told when they end, such as Python workers of a Spark that ends with them:
    all are asked ten times a second. What a process did in its last tenth of a second is missing."""
    began, over = time.perf_counter(), threading.Event()
    before, last = _cpu_by_process(), {}

    def ask() -> None:
        while not over.wait(0.1):
            last.update(_cpu_by_process())

    asking = threading.Thread(target=ask)
    asking.start()
    try:
        work()
    finally:
        over.set()
        asking.join()
    last.update(_cpu_by_process())
    spent = [(java, seconds - before.get(key, (java, 0.0))[1]) for key, (java, seconds) in last.items()]
    return Cost(
        sum(seconds for _, seconds in spent),
        sum(seconds for java, seconds in spent if java),
        time.perf_counter() - began,
    )


def take_turns(cases: Mapping[_Case, Callable[[], object]], rounds: int = 3) -> dict[_Case, Cost]:
    """Run every case once to warm up and then `rounds` times, one case after the other in each round; medians."""
    costs: dict[_Case, list[Cost]] = {name: [] for name in cases}
    for turn in range(rounds + 1):
        for name, work in cases.items():
            cost = cost_of(work)
            if turn:
                costs[name].append(cost)
            print(f"  {'warm-up' if not turn else f'round {turn}'}: {name}: {cost.cpu:.2f} s CPU", flush=True)
    return {
        name: Cost(*(statistics.median(getattr(c, part) for c in each) for part in ("cpu", "jvm", "wall")))
        for name, each in costs.items()
    }


@dataclass(frozen=True)
class Ratio:
    """CPU of a case to that of another in pairs of runs: the median of the pairs, and the bounds between which the true median is,
    with 95 % certainty. `cpu`: seconds of the case, median."""

    median: float
    low: float
    high: float
    cpu: float


def ratio_in_pairs(case: Callable[[], object], base: Callable[[], object], pairs: int) -> Ratio:
    """Run case, base, base, case as one pair, because the first of two is slower, after one pair to warm up. What the machine does
    besides meets both alike; for work of this process alone, whose CPU time is known to the microsecond."""

    def seconds(work: Callable[[], object]) -> float:
        began = time.process_time()
        work()
        return time.process_time() - began

    found = []
    for _ in range(pairs + 1):
        first, *theirs, last = (seconds(work) for work in (case, base, base, case))
        found.append(((first + last) / sum(theirs), (first + last) / 2))
    del found[0]
    ratios = sorted(ratio for ratio, _ in found)
    # Order statistics: each ratio is above the true median or below it, as a coin falls.
    away = round(0.98 * pairs**0.5)
    low, high = max(0, pairs // 2 - away), min(pairs - 1, (pairs - 1) // 2 + away)
    return Ratio(
        statistics.median(ratios), ratios[low], ratios[high], statistics.median(cpu for _, cpu in found)
    )


def peak_memory_mb(work: Callable[[], object]) -> float:
    """Largest resident size in MB that a Python process of the tree, other than this one, had while `work` ran; from
    the kernel's own high-water marks, which are reset first. 0 if there was none. Linux only."""
    for process in _python_workers():
        Path(f"/proc/{process.pid}/clear_refs").write_text("5")
    work()
    return max((_high_water_mark(process) for process in _python_workers()), default=0) / 2**20


def machine() -> dict[str, str | int]:
    """What a result depends on."""
    java = subprocess.run(["java", "-version"], capture_output=True, text=True).stderr.splitlines()
    return {
        "processor": _processor(),
        "cores": len(os.sched_getaffinity(0)),
        "memory_gb": round(psutil.virtual_memory().total / 2**30),
        "system": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
        "java": java[0] if java else "none",
        **{name: version(name) for name in ("pyspark", "pyarrow", "protobuf", "zstandard", "numba")},
    }


def _tree() -> list[psutil.Process]:
    me = psutil.Process()
    return [me, *me.children(recursive=True)]


@dataclass(frozen=True)
class _Use:
    """Seconds of a process, `own` and of its `children` that ended and were waited for."""

    parent: int
    is_java: bool
    own: float
    children: float


def _uses() -> dict[tuple[int, float], _Use]:
    """Of each process of the tree, by its id and start."""
    uses = {}
    for process in _tree():
        try:
            times = process.cpu_times()
            uses[process.pid, process.create_time()] = _Use(
                process.ppid(),
                process.name() == "java",
                times.user + times.system,
                times.children_user + times.children_system,
            )
        except psutil.NoSuchProcess:
            continue
    return uses


def _cpu_by_process() -> dict[tuple[int, float], tuple[bool, float]]:
    """Of each process of the tree, by its id and start: whether it is Java, and the seconds of its own."""
    found = {}
    for process in _tree():
        try:
            times = process.cpu_times()
            key = process.pid, process.create_time()
            found[key] = process.name() == "java", times.user + times.system
        except psutil.NoSuchProcess:
            continue
    return found


def _python_workers() -> list[psutil.Process]:
    return [process for process in _tree()[1:] if process.name().startswith("python")]


def _high_water_mark(process: psutil.Process) -> int:
    for line in Path(f"/proc/{process.pid}/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    return 0


def _processor() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()
