"""The command `client-telemetry`: its subcommands, their help, and how it ends."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from client_telemetry.cli import __main__ as command
from client_telemetry.cli import gate
from client_telemetry.knowledge import DamagedKnowledge

EXAMPLE = Path(__file__).parents[3] / "docs" / "examples" / "clients.csv"


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "client_telemetry.cli", *arguments], capture_output=True, text=True
    )


@pytest.mark.parametrize("name", command.SUBCOMMANDS)
def test_every_subcommand_says_what_it_takes_under_its_own_name(name, capsys):
    with pytest.raises(SystemExit) as ended:
        command.main([name, "--help"])
    assert ended.value.code == 0
    assert f"usage: client-telemetry {name}" in capsys.readouterr().out


@pytest.mark.parametrize("name", command.SUBCOMMANDS)
def test_arguments_that_cannot_be_used_are_one_line(name, capsys):
    with pytest.raises(SystemExit) as ended:
        command.main([name, "--no-such-option"])
    assert ended.value.code == command.BAD_ARGUMENTS
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"client-telemetry {name}: ") and f"client-telemetry {name} --help" in line


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["report", "--to=4.0.1", "--out={file}", "x.log"], "{file} is a file: name a folder"),
        (["report", "--to=4.0.1", "--out=x", "--follow", "x.log"], "'x.log' is not a number of minutes"),
        (["owners", "--lake=x", "--owners=/"], "is a directory"),
        (["owners", "--lake=x", "--owners=x", "--day=yesterday"], "'yesterday' is not a date"),
        (["history", "--lake=x", "--until=2026-13-01"], "'2026-13-01' is not a date"),
        (["history", "--lake={folder}/none"], "no lake at {folder}/none"),
        (["gate", "{folder}"], "{folder}/report.json: No such file or directory"),
        (["compatibility", "--from=3.9.1", "--to=4.0.1", "--input=/none", "--output=x"], "/none: No such file or directory"),
        (["knowledge-check", "/none"], "/none: there is no such folder"),
        (["show-record", "--raw=x", "v1/x", "all"], "v1/x: not the key of an object"),
        (["review", "--from=3.9.1", "--to=4.0.0", "--publish=x", "/none"], "/none: no such file"),
        (["convert", "request_log", "/none", "--cluster=c", "--raw={folder}"], "/none"),
    ],
)  # fmt: skip
def test_what_cannot_be_used_is_named_in_one_line(arguments, why, tmp_path, capsys):
    folder, file = tmp_path / "a folder", tmp_path / "file"
    folder.mkdir()
    file.touch()
    try:
        code = command.main([argument.format(folder=folder, file=file) for argument in arguments])
    except SystemExit as ended:
        code = ended.code
    (line,) = capsys.readouterr().err.splitlines()
    assert code == command.BAD_ARGUMENTS
    assert (
        line.startswith(f"client-telemetry {arguments[0]}: ") and why.format(folder=folder, file=file) in line
    )
    assert list(folder.iterdir()) == []


def test_without_a_subcommand_it_lists_them():
    listed = run()
    assert listed.returncode == 2
    assert all(f"  {name}" in listed.stdout for name in command.SUBCOMMANDS)


def test_an_unknown_subcommand_is_one_line():
    refused = run("compatability")
    assert refused.returncode == 2
    assert refused.stderr.startswith(
        "client-telemetry: unknown subcommand 'compatability': use one of compat"
    )
    assert refused.stderr.count("\n") == 1


def test_it_names_its_version():
    assert run("--version").stdout.startswith("client-telemetry 0.")


def test_a_package_that_is_not_installed_is_named_in_one_line(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "pyiceberg.catalog", None)
    for module in (
        "client_telemetry.cli.history",
        "client_telemetry.lake.catalog",
        "client_telemetry.lake.lake",
    ):
        monkeypatch.delitem(sys.modules, module, raising=False)
    assert command.main(["history", "--lake=nowhere"]) == 2
    error = capsys.readouterr().err
    assert "the package pyiceberg is not installed" in error and "client-telemetry[spark]" in error


def test_a_damaged_file_of_the_knowledge_base_is_one_line(monkeypatch, capsys):
    def read(argv):
        raise DamagedKnowledge("releases.csv", 7, "'4.x' is not a Kafka release")

    monkeypatch.setattr(gate, "main", read)
    assert command.main(["gate", "x"]) == 2
    told = "client-telemetry gate: knowledge base: releases.csv line 7: '4.x' is not a Kafka release\n"
    assert capsys.readouterr().err == told


def test_interrupting_it_is_one_line(monkeypatch, capsys):
    def interrupted(argv):
        raise KeyboardInterrupt

    monkeypatch.setattr(gate, "main", interrupted)
    assert command.main(["gate", "x"]) == command.INTERRUPTED
    assert capsys.readouterr().err == "client-telemetry gate: interrupted\n"


def test_verdicts_of_a_list_from_a_bare_interpreter(tmp_path):
    """Nothing but the standard library is imported: -S leaves site-packages out."""
    package = Path(command.__file__).parents[2]
    done = subprocess.run(
        [
            sys.executable,
            "-S",
            "-c",
            "import sys; from client_telemetry.cli.compatibility import main; sys.exit(main(sys.argv[1:]))",
            *("--from", "3.9.1", "--to", "4.0.1"),
            f"--input={EXAMPLE}",
            f"--output={tmp_path / 'verdicts.csv'}",
        ],
        env={"PYTHONPATH": str(package)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert "breaks" in (tmp_path / "verdicts.csv").read_text()


@pytest.mark.parametrize(
    ("verdicts", "options", "code", "last"),
    [
        (["safe", "safe"], [], 0, "go"),
        (["safe", "breaks"], [], 3, "no-go: 1 client with the verdict breaks"),
        (["breaks", "insufficient_evidence"], [], 3, "no-go: 1 client with the verdict breaks"),
        (["safe", "insufficient_evidence"], [], 4, "cannot tell: 1 client lacks evidence"),
        (["degrades"], [], 0, "go"),
        (
            ["degrades"],
            ["--fail-on=breaks,degrades"],
            3,
            "no-go: 1 client with the verdict breaks or degrades",
        ),
        ([], [], 4, "cannot tell: there is no client"),
    ],
)
def test_gate_of_a_report_without_applications(tmp_path, capsys, verdicts, options, code, last):
    report = tmp_path / "report.json"
    report.write_text(
        json.dumps({"sentence": "The answer.", "clients": [{"verdict": verdict} for verdict in verdicts]})
    )
    assert gate.main([str(report), *options]) == code
    assert capsys.readouterr().out == f"The answer.\n{last}\n"


@pytest.mark.parametrize(
    ("fail_on", "code", "last"),
    [
        ("breaks", 3, "no-go: 1 application with the verdict breaks"),
        ("degrades", 3, "no-go: 2 applications with the verdict degrades"),
        ("breaks,degrades", 3, "no-go: 2 applications with the verdict breaks or degrades"),
        ("unsupported", 4, "cannot tell: 1 application lacks evidence"),
    ],
)
def test_gate_counts_applications_with_any_such_client(tmp_path, capsys, fail_on, code, last):
    words = ["breaks", "breaks", "degrades", "degrades", "insufficient_evidence", "safe"]
    applications = [{"clients": [0, 1, 2]}, {"clients": [3, 4]}, {"clients": [5]}]
    report = tmp_path / "report.json"
    clients = [{"verdict": word} for word in words]
    report.write_text(
        json.dumps({"sentence": "The answer.", "clients": clients, "applications": applications})
    )
    assert gate.main([str(report), f"--fail-on={fail_on}"]) == code
    assert capsys.readouterr().out == f"The answer.\n{last}\n"


@pytest.mark.parametrize("content", ["", "[]", '{"clients": [{}], "sentence": ""}', '{"clients": []}'])
def test_gate_refuses_what_is_not_a_report(tmp_path, capsys, content):
    report = tmp_path / "report.json"
    report.write_text(content)
    assert gate.main([str(report)]) == 2
    assert "is not the report.json of an upgrade report" in capsys.readouterr().err


def test_gate_refuses_an_unknown_verdict(tmp_path, capsys):
    with pytest.raises(SystemExit) as ended:
        gate.main(["report.json", "--fail-on=broken"])
    assert ended.value.code == 2
    assert "'broken' is not a list of verdicts: use breaks" in capsys.readouterr().err


INTERRUPTS = """
import ctypes, sys

class Interrupts:
    def find_spec(self, name, *_):
        if name == "client_telemetry.cli.gate":
            run = ctypes.pythonapi.PyRun_String
            run.argtypes, run.restype = (ctypes.c_char_p, ctypes.c_int, *2 * (ctypes.py_object,)), ctypes.py_object
            run(b"raise KeyboardInterrupt", 257, {}, {})

sys.meta_path.insert(0, Interrupts())
"""
"""The import of a subcommand, as C code of an extension runs Python code (257: Py_file_input)."""


def test_an_interrupt_in_the_code_of_an_extension_ends_with_the_exit_code(tmp_path, monkeypatch):
    (tmp_path / "sitecustomize.py").write_text(INTERRUPTS)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    ended = run("gate")
    assert (ended.returncode, ended.stderr) == (
        command.INTERRUPTED,
        "client-telemetry gate: interrupted\n",
    )
