"""Targets of the Makefile that nothing else runs, in a folder with a copy of it."""

import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).parents[1]
INCLUDED = ("Makefile", "broker-plugin/plugin.mk", "tests/end_to_end/subscriptions/kafka_classes.mk")


@pytest.fixture
def checkout(tmp_path) -> Path:
    for name in INCLUDED:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(CHECKOUT / name, tmp_path / name)
    for name in ("lake", "published", "results", "airflow", "jars", "stamps"):
        (tmp_path / "var" / name).mkdir(parents=True)
    (tmp_path / "var" / "stamps" / "airflow").touch()
    return tmp_path


def make(folder: Path, *arguments: str, answer: str = "") -> subprocess.CompletedProcess[str]:
    """As a person calls it: not as a part of the make that runs the tests."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    return subprocess.run(
        ["make", *arguments], cwd=folder, env=environment, input=answer, capture_output=True, text=True
    )


def clean(checkout: Path, answer: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return make(checkout, "clean", *arguments, answer=answer)


def left(checkout: Path) -> set[str]:
    return {path.name for path in (checkout / "var").iterdir()}


@pytest.mark.parametrize(("answer", "arguments"), [("y\n", ()), ("", ("YES=1",))])
def test_clean_deletes_what_runs_made_and_leaves_what_was_installed(checkout, answer, arguments):
    done = clean(checkout, answer, *arguments)
    assert done.returncode == 0, done.stderr
    assert "var/lake" in done.stdout and "var/published" in done.stdout
    assert left(checkout) == {"jars", "stamps"}
    assert not (checkout / "var" / "stamps" / "airflow").exists()


@pytest.mark.parametrize("answer", ["n\n", "\n", ""])
def test_clean_deletes_nothing_without_a_yes(checkout, answer):
    done = clean(checkout, answer)
    assert done.returncode != 0
    assert "nothing deleted; without the question: make clean YES=1" in done.stdout
    assert left(checkout) >= {"lake", "published", "results", "airflow"}


def test_clean_of_a_new_checkout(checkout):
    shutil.rmtree(checkout / "var")
    done = clean(checkout, "")
    assert (done.returncode, done.stdout) == (0, "there is nothing to delete\n")


@pytest.mark.parametrize(("code", "ends"), [(0, 0), (3, 2), (130, -2)])
def test_make_adds_no_line_to_an_interrupt_and_keeps_other_codes(tmp_path, code, ends):
    """`make report` with commands in the place of the real ones."""
    makefile = (CHECKOUT / "Makefile").read_text(encoding="utf-8").split("\n.DEFAULT_GOAL")[0]
    (tmp_path / "Makefile").write_text(
        f"{makefile}\ntarget:\n\t@$(INTERRUPTIBLE) sh -c 'exit {code}' $(END)\n"
    )
    done = make(tmp_path, "target")
    assert done.returncode == ends
    assert ("make: ***" in done.stderr) == (code == 3)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("ask", "TO=4.3.1"), "specify CLUSTER, as in: make ask CLUSTER=fleet TO=4.3.1"),
        (("ask", "CLUSTER=fleet"), "specify TO, as in: make ask CLUSTER=fleet TO=4.3.1"),
        (("report",), "specify LOGS, as in: make report LOGS=kafka-request.log TO=4.0.1"),
    ],
)
def test_a_variable_that_is_missing_is_named_as_one(checkout, arguments, said):
    done = make(checkout, "--old-file=install", *arguments)
    assert done.returncode == 2
    assert said in done.stderr


def test_an_interrupted_compilation_prints_no_traceback(tmp_path):
    """`make install` interrupted while it compiles what workers do with pushes."""
    shutil.copy(CHECKOUT / "Makefile", tmp_path)
    for name in INCLUDED[1:]:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    code = tmp_path / "client_telemetry/formats/raw"
    code.mkdir(parents=True)
    (code / "machine_code.py").write_text(
        "import pathlib, time\ndef main():\n    pathlib.Path('compiling').touch()\n    time.sleep(60)\n"
        "if __name__ == '__main__':\n    main()\n"
    )
    (tmp_path / "spark").mkdir()
    (tmp_path / ".venv/bin").mkdir(parents=True)
    (tmp_path / ".venv/bin/python").symlink_to(sys.executable)
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    command = ["make", "--old-file=var/stamps/venv", "var/stamps/compiled"]
    with subprocess.Popen(
        command, cwd=tmp_path, env=environment | {"PYTHONPATH": str(tmp_path)}, stderr=subprocess.PIPE, text=True,
        start_new_session=True, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    ) as compilation:  # fmt: skip
        while not (tmp_path / "compiling").exists():
            assert compilation.poll() is None
            time.sleep(0.05)
        os.killpg(compilation.pid, signal.SIGINT)
        _, said = compilation.communicate(timeout=30)
    assert compilation.returncode == -signal.SIGINT
    assert "Traceback" not in said


def test_python_keeps_what_it_compiles_whatever_the_shell_says(tmp_path, monkeypatch):
    """Else each process compiles Airflow, Great Expectations and pandas again, for 15 s of CPU."""
    asked = [sys.executable, "-c", "import sys; print(sys.dont_write_bytecode)"]
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    by_script = subprocess.run(
        [CHECKOUT / "include/airflow.sh", *asked], capture_output=True, text=True, check=True
    )
    makefile = (CHECKOUT / "Makefile").read_text(encoding="utf-8").split("\n.DEFAULT_GOAL")[0]
    (tmp_path / "Makefile").write_text(f"{makefile}\ntarget:\n\t@{shlex.join(asked)}\n")
    assert by_script.stdout == make(tmp_path, "target").stdout == "False\n"


@pytest.mark.parametrize(
    ("changed", "rebuilt", "target"),
    [
        ("spark/client_telemetry/lake/spark_jars.txt", "fetching the jars of the table format", "installed"),
        ("requirements.txt", "installing Python packages", "installed"),
        (
            "spark/client_telemetry/pipeline/spark-defaults.conf.in",
            "var/spark/spark-defaults.conf",
            "installed",
        ),
        ("spark/class_archive.py", "archiving the classes", "test"),
    ],
)
def test_what_depends_on_what_changed_is_rebuilt(changed, rebuilt, target):
    """What make would do, as an update of the product changes files under an installation."""
    plan = subprocess.run(
        ["make", "--dry-run", f"--what-if={changed}", target],
        cwd=CHECKOUT, capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    assert rebuilt in plan
