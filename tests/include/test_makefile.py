"""What make hands to the commands, and how it ends at Ctrl-C."""

import ast
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).parents[2]
SAYS_ITS_ARGUMENTS = f"{sys.executable} -c 'import sys; print(sys.argv[1:])'"
ODD = ("a b", "it's", 'a "b"', "a;b", "-x", "a&b")
ALONE = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}


@pytest.mark.parametrize("odd", ODD)
@pytest.mark.parametrize(
    ("target", "settings"),
    [
        ("ask", ("CLUSTER", "TO", "FROM", "DAY", "WINDOW", "MECHANISMS", "PLANNED_FOR", "ASKED_BY")),
        (
            "report",
            (
                "LOGS",
                "TO",
                "OUT",
                "OWNERS",
                "KNOWLEDGE",
                "SCRAM_USERS",
                "MECHANISMS",
                "HOSTS",
                "NAME",
                "FOLLOW",
                "PLANNED_FOR",
                "ASKED_BY",
            ),
        ),
        ("review", ("LOGS", "FROM", "TO", "OUT", "OWNERS", "MECHANISMS", "NAME")),
        ("review", ("CLUSTER", "FROM", "TO", "DAY", "MECHANISMS")),
    ],
)
def test_a_setting_arrives_as_it_was_written(target, settings, odd):
    values = {name: f"/{name} {odd}" for name in settings}
    stubs = [f"{name}={SAYS_ITS_ARGUMENTS}" for name in ("AIRFLOW", "CLIENT_TELEMETRY")]
    command = ["make", "-s", "-o", "install", target, *stubs]
    command += [f"{name}={value}" for name, value in values.items()]
    printed = subprocess.run(command, cwd=CHECKOUT, env=ALONE, capture_output=True, text=True)
    assert (printed.returncode, printed.stderr) == (0, "")
    arguments = [argument.partition("=")[2] or argument for argument in ast.literal_eval(printed.stdout)]
    assert set(values.values()) <= set(arguments)


@pytest.mark.parametrize("delay", [0.0, 0.005, 0.01, 0.02, 0.03, 0.05, 0.2])
def test_compiling_ends_without_a_traceback_at_ctrl_c(tmp_path, delay):
    sources = tmp_path / "sources"
    sources.mkdir()
    for number in range(100):
        (sources / f"m{number}.py").write_text("\n".join(f"a{n} = {n}, {n}" for n in range(3000)))
    stamps = tmp_path / "stamps"
    stamps.mkdir()
    command = ["make", "-s", "-o", f"{stamps}/venv", f"{stamps}/bytecode"]
    command += [f"STAMPS={stamps}", f"IMPORTED={sources}", f"BIN={Path(sys.executable).parent}"]
    with subprocess.Popen(
        command, cwd=CHECKOUT, env=ALONE, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as running:
        while not _compiles(running.pid) and running.poll() is None:
            time.sleep(0.001)
        time.sleep(delay)
        os.killpg(running.pid, signal.SIGINT)
        _, said = running.communicate(timeout=60)
    assert running.returncode != 0 and "Traceback" not in said
    assert not (stamps / "bytecode").exists()


def _compiles(session: int) -> bool:
    """Whether Python has begun to compile in a session of processes."""
    for process in Path("/proc").glob("[0-9]*"):
        try:
            of_process = os.getsid(int(process.name))
            program, *_ = (process / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if of_process == session and program.endswith(b"/python"):
            return True
    return False
