"""Ctrl-C ends a command, whatever its main thread is doing: importing, or waiting for Spark in its own process."""

import logging
import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Final

INTERRUPTED: Final = 130
_JVM_ENDS_WITHIN_S = 5
_UNWINDS_WITHIN_S = 1


@contextmanager
def ended_at_once(line: str) -> Iterator[None]:
    """At Ctrl-C: prints the line to standard error and ends this process with 130. For imports, before anything has
    begun: a KeyboardInterrupt inside one of the import system's own callbacks is printed and lost
    (`_get_module_lock` of CPython's importlib). For the main thread only. If Ctrl-C is ignored, it stays ignored.
    """
    before = signal.getsignal(signal.SIGINT)
    if before is not signal.default_int_handler:
        yield
        return

    def end(*_: object) -> None:
        os.write(2, f"{line}\n".encode())
        os._exit(INTERRUPTED)

    signal.signal(signal.SIGINT, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def ended_by_interrupt(line: str, tidy: Callable[[], None]) -> Iterator[None]:
    """At Ctrl-C: prints the line to standard error, ends the child processes, calls `tidy`, and ends this process with
    130.

    A thread does that, woken by Python's own signal handler in C (`set_wakeup_fd`): while Spark starts, the main thread
    waits for the JVM, and pyspark replaces any other handler by its own. For the main thread only.
    """
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    console = os.dup(2)  # the libraries' output is redirected while they work
    unwound = threading.Event()

    def watch() -> None:
        if os.read(reader, 1)[0] != signal.SIGINT:
            return
        os.write(console, f"{line}\n".encode())
        logging.disable()  # py4j logs each answer of the JVM that does not come
        _end(_children())
        unwound.wait(_UNWINDS_WITHIN_S)
        tidy()
        os._exit(INTERRUPTED)

    before = signal.set_wakeup_fd(writer)
    watching = threading.Thread(target=watch, daemon=True)
    watching.start()
    try:
        yield
    finally:
        signal.set_wakeup_fd(before)
        unwound.set()
        os.write(writer, bytes(1))
        watching.join()  # does not return after an interrupt
        for descriptor in (reader, writer, console):
            os.close(descriptor)


def _children() -> list[int]:
    """Ids of child processes; none if there is no `ps`: a JVM ends by itself when its Python is gone."""
    with suppress(FileNotFoundError):
        listed = subprocess.run(
            ["ps", "-A", "-o", "pid=", "-o", "ppid="], capture_output=True, text=True, check=False
        )
        processes = (map(int, line.split()) for line in listed.stdout.splitlines())
        return [process for process, parent in processes if parent == os.getpid()]
    return []


def _end(processes: list[int]) -> None:
    """SIGTERM, so that Spark removes its temporary files, and SIGKILL for what is still running seconds later."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        for process in processes:
            with suppress(ProcessLookupError):
                os.kill(process, number)
        deadline = time.monotonic() + _JVM_ENDS_WITHIN_S
        while (
            processes := [process for process in processes if _runs(process)]
        ) and time.monotonic() < deadline:
            time.sleep(0.05)


def _runs(child: int) -> bool:
    try:
        return os.waitpid(child, os.WNOHANG) == (0, 0)
    except ChildProcessError:  # the main thread already knows that it has ended
        return False
