import time

from client_telemetry.cli.quiet_libraries import output_of_libraries_to


def test_it_is_said_while_libraries_are_quiet_and_not_afterwards(tmp_path, capsys):
    with output_of_libraries_to(tmp_path / "log", every_s=0.05):
        print("of a library")
        time.sleep(0.5)
    said = capsys.readouterr().out
    assert said.startswith("    0 s\n") and "library" not in said
    time.sleep(0.2)
    assert capsys.readouterr().out == ""
