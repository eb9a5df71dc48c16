"""CPU of a command and of everything that it starts, to the end of the last of these processes. Linux only.

    python -m benchmarks.command_cost RESULT COMMAND [ARGUMENT ...]

A process of its own, which adopts what the command leaves behind (PR_SET_CHILD_SUBREAPER): Python workers of Spark that end with
their JVM are waited for by nobody else, and their CPU would be lost.
"""

import ctypes
import json
import os
import resource
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from pathlib import Path

import psutil

from benchmarks.measure import Cost

_PR_SET_CHILD_SUBREAPER = 36
_EVERY = 0.05


def cost_of_command(command: Sequence[str]) -> Cost:
    """`jvm`, the part of Java processes, is asked for twenty times a second, so it lacks the last of each. Raises
    CalledProcessError if the command fails; what it prints is not shown unless it fails.
    """
    with tempfile.TemporaryDirectory() as folder:
        result, log = Path(folder, "cost.json"), Path(folder, "log")
        with log.open("wb") as out:
            done = subprocess.run(
                [sys.executable, "-m", "benchmarks.command_cost", result, *command],
                stdout=out,
                stderr=subprocess.STDOUT,
            )
        if done.returncode:
            raise subprocess.CalledProcessError(done.returncode, command, log.read_text(errors="replace"))
        return Cost(**json.loads(result.read_text(encoding="utf-8")))


def main(argv: Sequence[str]) -> int:
    result, *command = argv
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_CHILD_SUBREAPER, 1)
    over, java = threading.Event(), dict[int, float]()
    sampling = threading.Thread(target=_sample, args=(over, java))
    began = time.perf_counter()
    job = subprocess.Popen(command)
    sampling.start()
    code = job.wait()
    wall = time.perf_counter() - began
    _wait_for_orphans()
    over.set()
    sampling.join()
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    cost = {"cpu": used.ru_utime + used.ru_stime, "jvm": sum(java.values()), "wall": wall}
    Path(result).write_text(json.dumps(cost), encoding="utf-8")
    return code


def _wait_for_orphans() -> None:
    while True:
        try:
            os.wait()
        except ChildProcessError:
            return


def _sample(over: threading.Event, java: dict[int, float]) -> None:
    """Seconds of each Java process so far, by its id."""
    me = psutil.Process()
    while not over.wait(_EVERY):
        for process in me.children(recursive=True):
            try:
                if process.name() == "java":
                    times = process.cpu_times()
                    java[process.pid] = times.user + times.system
            except psutil.NoSuchProcess:
                continue


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
