"""The same logs give the same reason and exit code in `convert`, `report` and `review`."""

import os
import re
from pathlib import Path

import pytest
from client_telemetry.cli import convert, report, review

ENTRY = (Path(__file__).parents[2] / "data/sources/server_lines.log").read_text().splitlines()
SAMPLE = Path(__file__).parents[3] / "include/sample/request_logs"
REQUESTS = [line for line in ENTRY if "Completed request:" in line]


def commands(logs: Path, tmp_path: Path, *more: str) -> dict[str, int]:
    """Exit codes by command."""
    release = ["--from=3.9.1", "--to=4.0.1"]
    return {
        "convert": convert.main(
            ["request_log", "--cluster=x", f"--raw={tmp_path / 'raw'}", "--release=3.9.1", *more, str(logs)]
        ),
        "report": report.main([*release, f"--out={tmp_path / 'out'}", *more, str(logs)]),
        "review": review.main([*release, f"--publish={tmp_path / 'published'}", *more, str(logs)]),
    }


REFUSED = {
    "damaged": (
        "[2026-11-22 10:48:20,123] DEBUG Completed request:{cut (kafka.request.logger)",
        "not whole JSON",
    ),
    "another logger": (
        "[2026-11-22 10:48:20,123] INFO [LogCleaner] done (kafka.log.LogCleaner)",
        "1 lines, of other loggers of Kafka; none is an entry of kafka.request.logger",
    ),
    "another program": ("10.0.0.1 GET /index.html 200", "1 lines, none of which is an entry"),
    "empty": ("", "the files are empty"),
    "a zone name": (REQUESTS[0].replace("]", " CEST]", 1), "specify --zone=Europe/Berlin"),
    "day and month": (
        "03/04/2026 10:48:20,123" + REQUESTS[0][25:],
        "a date whose day and month cannot be told apart",
    ),
    "Parquet": ("PAR1", "a Parquet file: export the lines as text or JSON"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_read_is_refused_in_the_same_words(tmp_path, capsys, case):
    text, reason = REFUSED[case]
    path = tmp_path / "logs" / "kafka-request.log"
    path.parent.mkdir()
    path.write_text(text and f"{text}\n")
    assert commands(path.parent, tmp_path) == {"convert": 2, "report": 2, "review": 2}
    errors = [line for line in capsys.readouterr().err.splitlines() if line.startswith("client-telemetry")]
    said = {re.sub(r" \(make: [^)]*\)", "", line.partition(": ")[2]) for line in errors}
    assert len(errors) == 3 and len(said) == 1
    assert reason in said.pop()


def test_options_are_named_as_the_command_has_them(tmp_path, capsys):
    path = tmp_path / "kafka-request.log"
    path.write_text(REFUSED["a zone name"][0] + "\n")
    commands(path, tmp_path)
    converted, reported, reviewed = capsys.readouterr().err.splitlines()[-3:]
    assert "--zone=Europe/Berlin" in converted and "make:" not in converted
    for line in (reported, reviewed):
        assert "specify --zone=Europe/Berlin (make: ZONE=Europe/Berlin)" in line


def test_the_year_reaches_every_command(tmp_path, capsys):
    """The file's time would make it 2019."""
    path = tmp_path / "kafka-request.log"
    path.write_text("".join(f"Nov 22 10:48:20 {line[24:]}\n" for line in REQUESTS))
    os.utime(path, (1.577e9, 1.577e9))
    said = {}
    for year, options in ((2019, []), (2026, ["--year=2026"])):
        review.main(["--from=3.9.1", "--to=4.0.1", f"--publish={tmp_path / 'p'}", *options, str(path)])
        report.main(["--from=5=3.9.1", "--to=4.0.1", f"--out={tmp_path / 'o'}", *options, str(path)])
        convert.main(
            [
                "request_log",
                "--cluster=x",
                f"--raw={tmp_path / str(year)}",
                "--release=3.9.1",
                *options,
                str(path),
            ]
        )
        said[year] = capsys.readouterr()
        assert list((tmp_path / str(year)).glob(f"v1/**/dt={year}-11-22/**/*.*"))
    assert "specify --year=2026 (make: YEAR=2026) if the file was copied later" in said[2019].out
    assert "specify --year=2026 if the file was copied later" in said[2019].err
    assert "specify --year" not in said[2026].out + said[2026].err


def test_a_release_that_the_logs_leave_open_is_asked_for_with_each_commands_option(tmp_path, capsys):
    logs = str(SAMPLE / "kafka-2.7.2-text.request.log.zst")
    commands = {
        "--from": lambda: report.main(["--to=4.0.1", f"--out={tmp_path / 'out'}", logs]),
        "--release": lambda: convert.main(
            ["request_log", "--cluster=1o5EsAeXSL6vbIOiK644hw", f"--raw={tmp_path / 'raw'}", logs]
        ),
    }
    for option, command in commands.items():
        assert command() == 2
        refusal = capsys.readouterr().err
        assert "broker 1: 2.7.0 or 2.7.1 or 2.7.2" in refusal
        assert f"specify it with {option}" in refusal
