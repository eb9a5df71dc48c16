"""Progress of subcommands: on standard error, and only if they take long."""

import time

import pytest
from client_telemetry.console import progress
from client_telemetry.console.progress import Progress


@pytest.fixture
def every_tenth(monkeypatch):
    monkeypatch.setattr(progress, "FIRST_S", 0.1)
    monkeypatch.setattr(progress, "EVERY_S", 0.1)


def test_a_short_command_shows_nothing(capsys):
    with Progress("reading") as doing:
        assert list(doing.counted("judging clients", ["a", "b"])) == ["a", "b"]
    assert capsys.readouterr() == ("", "")


def test_a_long_one_says_on_standard_error_what_it_is_doing_and_how_far_it_is(every_tenth, capsys):
    with Progress("reading a.log") as doing:
        time.sleep(0.25)
        for client in doing.counted("judging clients", range(2000)):
            if client == 1500:
                time.sleep(0.25)
        doing("writing")
        time.sleep(0.25)
    printed = capsys.readouterr()
    assert printed.out == ""
    lines = printed.err.splitlines()
    assert lines[0] == "  0 s: reading a.log"
    assert "  0 s: judging clients, 1,500 of 2,000" in lines
    assert lines[-1].endswith(" s: writing")
    time.sleep(0.2)
    assert capsys.readouterr().err == ""


def test_it_ends_with_a_command_that_fails(every_tenth, capsys):
    with pytest.raises(ValueError, match="damaged"), Progress("reading"):
        raise ValueError("damaged")
    time.sleep(0.2)
    assert capsys.readouterr().err == ""
