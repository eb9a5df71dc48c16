"""Subcommands that go through the checkout's Airflow: what they hand to it (tests/dags/test_commands.py runs them)."""

import json
import os
import signal

import pytest
from client_telemetry.cli import __main__ as command
from client_telemetry.cli import checkout

THROUGH_AIRFLOW = [
    ["run"],
    ["requarantine"],
    ["ui"],
    ["ask", "fleet", "--to=4.3.1"],
    ["review", "--cluster=fleet"],
]


class Became(Exception):
    """This process was replaced."""


@pytest.fixture
def becomes(monkeypatch, tmp_path):
    """Gives the command that a subcommand becomes, from the name of its module on."""

    def become(_, words):
        raise Became(words)

    monkeypatch.setattr(os, "execv", become)
    monkeypatch.setattr(checkout, "_PREPARED", tmp_path)

    def of(*arguments):
        with pytest.raises(Became) as became:
            command.main(list(arguments))
        return became.value.args[0]

    return of


def test_a_question_has_what_was_said_and_leaves_the_rest_to_the_dag(becomes):
    *_, module, question = becomes("ask", "fleet", "--to=4.3.1")
    assert (module, json.loads(question)) == ("ask", {"cluster": "fleet", "to": "4.3.1"})
    options = ("--from=4.0.0", "--day=2026-11-21", "--window=3", "--mechanisms=CLIENTS=PLAIN")
    options += ("--planned-for=2026-12-05", "--asked-by=kafka@example.com")
    *_, question = becomes("ask", "fleet", "--to=4.3.1", *options)
    assert json.loads(question) == {
        "cluster": "fleet",
        "to": "4.3.1",
        "from": "4.0.0",
        "day": "2026-11-21",
        "window_days": 3,
        "mechanisms": "CLIENTS=PLAIN",
        "planned_for": "2026-12-05",
        "asked_by": "kafka@example.com",
    }


def test_a_process_that_could_not_be_replaced_survives_a_closed_connection(becomes):
    """One of pytest-xdist that ran this file died without a word in the next test whose client hung up."""
    becomes("run")
    assert signal.getsignal(signal.SIGPIPE) is signal.SIG_IGN


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("ask", "fleet", "--to=4.0"), "--to: '4.0' is not an exact release: write it as 4.0.1"),
        (("ask", "fleet", "--to=4.0.1 "), "--to: '4.0.1 ' is not an exact release: write it as 4.0.1"),
        (("ask", "fleet", "--to=4.0.1", "--from=3.x"), "--from: '3.x' is not an exact release"),
        (
            ("ask", "fleet", "--to=4.0.1", "--window=-3"),
            "--window: '-3' is not a number of days from 1 to 366",
        ),
        (("ask", "fleet", "--to=4.0.1", "--window=week"), "--window: 'week' is not a number of days"),
        (("review", "--cluster=fleet", "--to=4.0"), "--to: '4.0' is not an exact release: write it as 4.0.1"),
    ],
)
def test_what_cannot_be_meant_is_refused_before_airflow_starts(capsys, arguments, said):
    with pytest.raises(SystemExit) as ended:
        command.main(list(arguments))
    (line,) = capsys.readouterr().err.splitlines()
    assert (ended.value.code, said in line) == (2, True), line


def test_a_port_is_airflows_and_that_of_its_address(becomes, monkeypatch):
    for name in ("PORT", "AIRFLOW__API__PORT"):
        monkeypatch.setenv(name, "1")
    assert becomes("ui", "--port=8081")[-1].endswith("include/ui.sh")
    assert (os.environ["PORT"], os.environ["AIRFLOW__API__PORT"]) == ("8081", "8081")


@pytest.mark.parametrize("port", ["0", "65536", "99999999", "-1", "http"])
def test_a_port_that_cannot_be_is_refused_before_anything_starts(port, monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(checkout, "_PREPARED", tmp_path / "none")
    with pytest.raises(SystemExit) as ended:
        command.main(["ui", f"--port={port}"])
    assert ended.value.code == 2
    assert f"'{port}' is not a port: write a number from 1 to 65535" in capsys.readouterr().err


@pytest.mark.parametrize("arguments", THROUGH_AIRFLOW, ids=lambda arguments: arguments[0])
def test_a_checkout_without_airflow_says_what_to_do(arguments, monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(checkout, "_PREPARED", tmp_path / "none")
    assert command.main(arguments) == 2
    assert capsys.readouterr().err == (
        f"client-telemetry {arguments[0]}: Airflow is not installed in {checkout.CHECKOUT}: run make install there\n"
    )


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["x.log", "--cluster=fleet"], "LOG is for logs and cannot be combined with --cluster"),
        (["--publish=x", "--cluster=fleet"], "--publish is for logs"),
        (["--zone=Europe/Berlin", "--cluster=fleet"], "--zone is for logs"),
        (["--jar=x", "--cluster=fleet"], "--jar is for logs"),
        (["x.log", "--day=2026-11-21"], "--day needs --cluster"),
        (["x.log", "--from=3.9.1"], "are required: --to, --publish (or --cluster, for its tables)"),
        ([], "are required: LOG, --from, --to, --publish"),
    ],
)
def test_a_review_is_of_logs_or_of_a_cluster(arguments, said, capsys):
    with pytest.raises(SystemExit) as ended:
        command.main(["review", *arguments])
    (line,) = capsys.readouterr().err.splitlines()
    assert ended.value.code == 2
    assert said in line
