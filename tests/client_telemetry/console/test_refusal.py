"""One line and an exit code for what a command cannot use, whichever command it is."""

from pathlib import Path

import pytest
from client_telemetry import Unusable
from client_telemetry.console.refusal import refuses


class NotALog(Unusable):
    pass


def ends(error, **how):
    @refuses("report", **how)
    def main(argv=None):
        raise error

    return main([])


def test_what_cannot_be_used_is_one_line_and_exit_code_2(capsys):
    assert ends(NotALog("a.log is no log: name another")) == 2
    assert capsys.readouterr() == ("", "client-telemetry report: a.log is no log: name another\n")


def test_a_command_says_it_in_its_own_words(capsys):
    assert (
        ends(Unusable("specify the year"), worded=lambda text: text.replace("the year", "--year=2026")) == 2
    )
    assert capsys.readouterr().err == "client-telemetry report: specify --year=2026\n"


def test_a_file_that_cannot_be_read_is_named(tmp_path, capsys):
    @refuses("report")
    def main(argv=None):
        return len(Path(tmp_path / "none").read_bytes())

    assert main([]) == 2
    assert (
        capsys.readouterr().err
        == f"client-telemetry report: {tmp_path / 'none'}: No such file or directory\n"
    )


def test_an_error_of_a_store_without_a_file_name_is_said(capsys):
    assert ends(OSError("AWS Error ACCESS_DENIED during HeadObject")) == 2
    assert capsys.readouterr().err == "client-telemetry report: AWS Error ACCESS_DENIED during HeadObject\n"


def test_what_failed_elsewhere_is_exit_code_1(capsys):
    assert ends(RuntimeError("x"), failure=lambda error: "the database does not answer") == 1
    assert capsys.readouterr().err == "client-telemetry report: the database does not answer\n"


@pytest.mark.parametrize(
    "error", [ValueError("a bug"), BrokenPipeError(), KeyError("a bug"), ConnectionResetError()]
)
def test_errors_of_the_program_are_not_hidden(error):
    with pytest.raises(type(error)):
        ends(error)


def test_the_exit_code_of_a_command_that_ends_is_its_own():
    assert refuses("gate")(lambda argv: 3)(["x"]) == 3
