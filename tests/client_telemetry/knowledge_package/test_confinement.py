"""Programs of others get no more than they need, and do not outlive their deadline."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from client_telemetry.knowledge_package import confinement
from client_telemetry.rehearsal import client_runs
from client_telemetry.rehearsal.library_programs import BY_NAME, Program
from client_telemetry.rehearsal.workplace import PROGRAMS, NotInstalled, Workplace


def test_a_program_sees_neither_secrets_nor_the_home_of_the_caller(tmp_path, monkeypatch):
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    monkeypatch.setenv("PIP_INDEX_URL", "https://user:secret@mirror.example/simple")
    environment = confinement.of_programs(tmp_path / "home")
    printed = confinement.run(
        [sys.executable, "-c", "import os; print(dict(os.environ))"], environment, tmp_path, 20
    )
    assert printed.code == 0
    assert "secret" not in printed.output and str(Path.home()) + "'" not in printed.output
    assert environment["HOME"] == str(tmp_path / "home")


def test_an_installer_gets_the_addresses_of_registries_and_nothing_else(tmp_path, monkeypatch):
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    monkeypatch.setenv("PIP_INDEX_URL", "https://mirror.example/simple")
    monkeypatch.setenv("https_proxy", "http://proxy.example:3128")
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    (tmp_path / ".npmrc").write_text("")
    (tmp_path / ".rustup").mkdir()
    environment = confinement.of_installers(tmp_path / "home", tmp_path / "cache")
    assert "AWS_SECRET_ACCESS_KEY" not in environment
    assert environment["PIP_INDEX_URL"] == "https://mirror.example/simple"
    assert environment["https_proxy"] == "http://proxy.example:3128"
    assert environment["NPM_CONFIG_USERCONFIG"] == str(tmp_path / ".npmrc")
    assert environment["RUSTUP_HOME"] == str(tmp_path / ".rustup")  # cargo finds its toolchain there


def test_a_program_and_its_children_end_at_the_deadline(tmp_path):
    child = tmp_path / "child"
    command = f"(sleep 30; touch {child}) & echo $! > {tmp_path}/pid; echo begun; wait"
    begin = time.monotonic()
    ended = confinement.run(["sh", "-c", command], {"PATH": os.environ["PATH"]}, tmp_path, 1)
    assert (ended.code, ended.output) == (None, "begun\n")
    assert time.monotonic() - begin < 10
    pid = int((tmp_path / "pid").read_text())
    until = time.monotonic() + 10
    while _is_running(pid) and time.monotonic() < until:
        time.sleep(0.05)
    assert not _is_running(pid)


def _is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().split()[2] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def test_a_library_that_cannot_be_had_is_said_in_one_line_and_left_again(tmp_path):
    def fail(at: Workplace, version: str) -> None:
        at.do("sh", "-c", f"echo 'ERROR: No matching distribution found for x=={version}'; echo more; exit 1")

    program = Program("python", fail, lambda folder: ["true"])
    with pytest.raises(NotInstalled) as raised:
        client_runs.install("x", program, "9.9.9", tmp_path)
    assert str(raised.value) == "ERROR: No matching distribution found for x==9.9.9"
    with pytest.raises(NotInstalled, match="is not an exact version"):
        client_runs.install("x", program, "1.0 --index-url=elsewhere", tmp_path)
    with pytest.raises(NotInstalled, match=r"^no-such-tool is not installed$"):
        Workplace(tmp_path, tmp_path).do("no-such-tool")


def test_a_compiler_that_fails_is_quoted_and_not_where_npm_logs_it(tmp_path):
    """As npm ends when node-gyp compiles a package with several jobs and one file is made too late."""
    lines = (
        "npm error make: *** No rule to make target 'config.h', needed by 'x'.  Stop.",
        "npm error gyp ERR! not ok",
        "npm error A complete log of this run can be found in: /tmp/x.log",
    )
    (tmp_path / "printed").write_text("\n".join(lines), encoding="utf-8")
    with pytest.raises(NotInstalled, match=r"^npm error make: \*\*\* No rule to make target 'config.h'"):
        Workplace(tmp_path, tmp_path).do("sh", "-c", "cat printed; exit 1")


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        (
            '{"step": "connect", "outcome": "ok"}\nnoise\n{"step": "produce", "outcome": "boom after 12 ms"}',
            {"connect": "ok", "produce": "boom after some ms"},
        ),
        ('{"step": "commit", "outcome": "EOF"}', {"group": "EOF"}),
        ('{"step": "txn", "outcome": "Error: n/a"}', {"txn": "n/a"}),
        (
            "Traceback\nModuleNotFoundError: No module named x",
            {"connect": "ModuleNotFoundError: No module named x"},
        ),
        ("", {"connect": "no output"}),
        (
            '{"step": "rm -rf", "outcome": "ok"}\n{"step": [], "outcome"',
            {"connect": '{"step": [], "outcome"'},
        ),
    ],
)
def test_steps_are_what_the_program_prints(tmp_path, output, expected):
    (tmp_path / "said").write_text(output)
    program = Program("python", lambda at, version: None, lambda folder: ["cat", str(tmp_path / "said")])
    assert client_runs.steps(program, tmp_path, {}) == expected


def test_every_program_is_there():
    for name, program in BY_NAME.items():
        assert any((PROGRAMS / program.source).iterdir()), name


def test_what_was_started_ends_with_a_terminated_command(tmp_path):
    code = f"""
import os
from pathlib import Path
from client_telemetry.knowledge_package import confinement
with confinement.ended_in_order(), (Path({str(tmp_path)!r}) / "out").open("w") as out:
    with confinement.started(["sleep", "60"], dict(os.environ), Path({str(tmp_path)!r}), out.fileno()) as process:
        print(process.pid, flush=True)
        process.wait()
"""
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as command:
        pid = int(command.stdout.readline())
        assert _is_running(pid)
        command.terminate()
        assert command.wait(20) == 143
    assert not _is_running(pid)
