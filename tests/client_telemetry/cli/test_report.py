"""`make report`: from request logs to the report, as a person runs it."""

import csv
import io
import json
import os
import shutil
import subprocess
import tarfile
from pathlib import Path

import pytest
from client_telemetry.cli import report, review

LOGS = Path(__file__).parents[3] / "include" / "sample" / "request_logs"
TEXT = LOGS / "kafka-2.7.2-text.request.log.zst"


def test_a_text_log_gives_the_verdicts_of_its_clients(spark, tmp_path, capsys):
    log = shutil.copy(TEXT, tmp_path / "a log with blanks.log.zst")
    arguments = ["--to=4.0.1", "--from=2.7.2", f"--out={tmp_path / 'out'}", "--fail-on=breaks", str(log)]
    written = tmp_path / "monthly"
    written.mkdir()
    (written / "go.mod").write_text("module m\n\nrequire github.com/IBM/sarama v1.30.0\n")
    (written / "kafka.properties").write_text("bootstrap.servers=kafka:9092\nclient.id=monthly-close\n")
    arguments += [f"--artefacts={written}", "--planned-for=2026-12-05", "--asked-by=kafka@example.com"]
    code = report.main(arguments)
    captured = capsys.readouterr()
    printed = captured.out
    assert code == 3, printed
    assert (captured.err, "WARN" in printed) == ("", False)
    assert (tmp_path / "out" / report.LIBRARIES_LOG).read_text().count("\n") > 5
    assert not (tmp_path / "out" / report.UNFINISHED).exists()
    assert "safe so far. The one seen most rarely, " in printed
    assert "no-go: 3 applications with the verdict breaks" in printed
    page = Path(printed.rpartition("Report: ")[2].strip())
    assert "Written, and seen by no broker: 1 artefact, of which 1 would break." in printed
    assert '<section id="written-not-seen"' in page.read_text()
    with (page.parent / "clients.csv").open(newline="", encoding="utf-8") as rows:
        verdicts = {
            (row["client_id"], row["client_software_name"], row["client_software_version"]): row["verdict"]
            for row in csv.DictReader(rows)
        }
    # Commits with OffsetCommit 1, which 4.0 does not serve.
    assert verdicts["sarama", "sarama", "dev"] == "breaks"
    assert verdicts["rdkafka", "confluent-kafka-python", "1.9.2-rdkafka-1.9.2"] == "safe"
    assert "broker 1 (by its address in Metadata answers): 961 requests from 2026-11-21 06:32:27" in printed
    document = json.loads((page.parent / "report.json").read_text())
    assert document["question"]["from_release"] == "2.7.2"
    assert (document["planned_for"], document["asked_by"]) == ("2026-12-05", "kafka@example.com")
    assert document["sentence"].startswith("In 5 minutes of traffic")
    assert "Connections to broker 1 were observed from 2026-11-21 06:32 to 06:37." in document["evidence"]


def test_a_report_for_a_measured_target_claims_nothing_that_was_not_measured(spark, tmp_path, capsys):
    target = Path(__file__).parents[2] / "data/probe/apache-4.0.1.json"
    assert report.main([f"--to={target}", "--from=2.7.2", f"--out={tmp_path / 'out'}", str(TEXT)]) == 0
    page = Path(capsys.readouterr().out.rpartition("Report: ")[2].strip())
    with (page.parent / "clients.csv").open(newline="", encoding="utf-8") as rows:
        verdicts = {row["client_id"]: row["verdict"] for row in csv.DictReader(rows)}
    assert verdicts["sarama"] == "breaks"
    document = json.loads((page.parent / "report.json").read_text())
    assert document["question"]["to_release"].startswith("measured-")
    assert document["sentence"].endswith(
        "which advertise what Apache Kafka 4.0.1 or 4.0.2 does, as measured at 2026-11-28T09:01:30Z: moving to them is no rolling "
        "upgrade. Only which requests these brokers answer was measured: their own bugs and settings are not known."
    )
    absent = ("mixed_window", "way_back", "cluster_notes", "blockers", "skipped_releases", "way_back_notes")
    assert [name for name in absent if document[name]] == []
    assert document["two_steps"] in document["sentence"]
    assert {step["step"] for client in document["clients"] for step in client["steps"]} == set()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--to=missing.json", str(TEXT)], "missing.json: No such file or directory"),
        (["--to=4.0", str(TEXT)], "4.0 is not an exact release: use one of 4.0.0"),
        (
            ["--to=4.0.1", str(TEXT)],
            "broker 1: 2.7.0 or 2.7.1 or 2.7.2); specify it with --from (make: FROM=)",
        ),
        (["--to=2.7.2", "--from=2.7.2", str(TEXT)], "the brokers already run 2.7.2"),
        (["--to=4.0.1", str(LOGS / "README.md")], "none of which is an entry of kafka.request.logger"),
        (["--to=4.0.1", "nowhere.log"], "nowhere.log: no such file"),
        (["--to=4.0.1", "--from=2.7", "nowhere.log"], "2.7 is not an exact release: use one of 2.7.0"),
        (
            ["--to=4.0.1", "--from=7=2.7.2", str(TEXT)],
            "a release is given for broker 7, but the logs are of broker 1",
        ),
    ],
)
def test_what_cannot_be_answered_is_said_in_one_line(tmp_path, capsys, arguments, message):
    assert report.main([f"--out={tmp_path / 'out'}", *arguments]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1


@pytest.mark.parametrize("more", [[], ["--follow=5"]])
@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("--owners=nowhere.yaml", "there is no file of owner rules at nowhere.yaml"),
        ("--scram-users=nowhere.txt", "there is no file of SCRAM users at nowhere.txt"),
        ("--hosts=nowhere.txt", "there is no file of host names at nowhere.txt"),
        ("--knowledge=nowhere", "nowhere: there is no such folder"),
        ("--artefacts=nowhere", "nowhere: No such file or directory"),
        ("--workloads=pods.json", "--workloads says where artefacts run: name these with --artefacts"),
    ],
)
def test_a_missing_file_is_said_in_one_line_before_any_work(
    tmp_path, monkeypatch, capsys, option, more, message
):
    def begun(*arguments):
        raise AssertionError("the logs are not looked for yet")

    monkeypatch.setattr(report, "find_logs", begun)
    monkeypatch.setattr(report, "follow", begun)
    assert report.main(["--to=4.0.1", f"--out={tmp_path / 'out'}", option, *more, "a.log"]) == 2
    printed = capsys.readouterr()
    assert (printed.out, printed.err) == ("", f"client-telemetry report: {message}\n")
    assert not (tmp_path / "out").exists()


def test_a_bundle_of_a_machine_is_told_in_a_few_lines(tmp_path, capsys):
    """Thousands of its files are no logs."""
    bundle = tmp_path / "sosreport.tgz"
    with tarfile.open(bundle, "w:gz") as archive:
        for number in range(9):
            for name, content in ((f"{number}.conf", os.urandom(10_000)), (f"{number}.json", b'{"a": 1}\n')):
                member = tarfile.TarInfo(f"sos/{name}")
                member.size = len(content)
                archive.addfile(member, io.BytesIO(content))
    assert report.main(["--to=4.0.0", "--out", str(tmp_path / "out"), str(bundle)]) == 2
    said = capsys.readouterr().out.splitlines()
    assert said[0].startswith("18 files, 0.1 MB: ")
    assert "skipped, as they are not request logs: 0.conf, 1.conf, 2.conf, 3.conf, 4.conf and 4 more" in said
    assert "… and 4 more files: no entry of kafka.request.logger at DEBUG" in said
    assert len(said) < 12


def test_an_earlier_report_is_not_overwritten(tmp_path, capsys):
    (tmp_path / "there").touch()
    assert report.main(["--to=4.0.1", f"--out={tmp_path}", str(TEXT)]) == 2
    assert "name another folder" in capsys.readouterr().err


def test_what_a_killed_report_left_is_not_refused(tmp_path, monkeypatch):
    """What an interrupt leaves is in test_interrupt.py: a real one."""

    def interrupted(*arguments):
        assert (tmp_path / "out" / report.UNFINISHED).exists()
        raise KeyboardInterrupt

    monkeypatch.setattr(report, "_run_stages", interrupted)
    out = tmp_path / "out"
    (out / "raw").mkdir(parents=True)
    (out / report.UNFINISHED).touch()
    with pytest.raises(KeyboardInterrupt):
        report.main(["--to=4.0.1", "--from=2.7.2", f"--out={out}", str(TEXT)])


def test_an_early_interrupt_takes_nothing_of_somebody_elses(tmp_path, monkeypatch):
    def interrupted(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(report, "_make_room", interrupted)
    (tmp_path / "there").touch()
    with pytest.raises(KeyboardInterrupt):
        report.main(["--to=4.0.1", f"--out={tmp_path}", str(TEXT)])
    assert (tmp_path / "there").exists()


def test_a_failed_stage_is_one_line_with_its_exit_code(tmp_path, monkeypatch, capsys):
    def failed(*arguments):
        raise report.StageFailed("impact: a gate failed", 3)

    monkeypatch.setattr(report, "_run_stages", failed)
    assert report.main(["--to=4.0.1", "--from=2.7.2", f"--out={tmp_path / 'out'}", str(TEXT)]) == 3
    error = capsys.readouterr().err
    assert error.startswith("client-telemetry report: impact: a gate failed; see ")
    assert error.count("\n") == 1


@pytest.mark.parametrize(
    ("case", "text", "words"),
    [
        ("a file with blanks", "{folder}/my log.log", ["{folder}/my log.log"]),
        (
            "several, as make passes them",
            "{folder}/a.log {folder}/b.log",
            ["{folder}/a.log", "{folder}/b.log"],
        ),
        (
            "quoted within LOGS=",
            "'{folder}/my log.log' 2={folder}/a.log",
            ["{folder}/my log.log", "2={folder}/a.log"],
        ),
        ("a pattern with blanks", "{folder}/my *.log", ["{folder}/my *.log"]),
        ("a quote that is not closed", "it's not there", ["it's not there"]),
    ],
)
def test_names_with_blanks(tmp_path, case, text, words):
    for name in ("my log.log", "a.log", "b.log"):
        (tmp_path / name).touch()
    expected = [word.format(folder=tmp_path) for word in words]
    assert report._words(text.format(folder=tmp_path)) == expected, case


def test_make_passes_names_with_blanks_and_quotes_whole():
    checkout = Path(__file__).parents[3]
    printed = subprocess.run(
        ["make", "-n", "report", "LOGS='my log.log' b's.log", "TO=4.0.1"],
        cwd=checkout, capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    assert r"""-- ''\''my log.log'\'' b'\''s.log'""" in printed


@pytest.mark.parametrize("minutes", ["0", "-5", "inf", "nan", "soon"])
def test_minutes_between_reports_are_above_zero(capsys, minutes):
    with pytest.raises(SystemExit) as ended:
        report.main(["--to=4.0.1", "--out=x", f"--follow={minutes}", "a.log"])
    assert ended.value.code == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert f"{minutes!r} is not a number of minutes above 0: write --follow=10" in line


def test_a_report_that_follows_is_made_again_with_the_same_options():
    given = [
        "--to=4.0.1",
        "--out=x",
        "--planned-for=2026-12-05",
        "--asked-by=the platform team",
        "--follow=5",
        "--artefacts=a",
        "--artefacts=b",
        "a.log",
    ]
    again = report._repeated(report._arguments(given))
    options = ["--to=4.0.1", "--planned-for=2026-12-05", "--asked-by=the platform team"]
    assert again == [*options, "--artefacts=a", "--artefacts=b"]
    with pytest.raises(SystemExit):
        report._arguments([*given, "--planned-for=soon"])


@pytest.mark.parametrize(
    ("stated", "message"),
    [
        ("SCRAM-SHA-512", "'SCRAM-SHA-512' does not say which mechanisms a listener offers: write LISTENER="),
        ("SASL=SCRAM-SHA-1", "'SCRAM-SHA-1' is not a known SASL mechanism: use GSSAPI, PLAIN,"),
    ],
)
@pytest.mark.parametrize("command", ["report", "review"])
def test_unknown_mechanisms_are_refused(capsys, command, stated, message):
    options = {"report": ["--out=out"], "review": ["--from=3.9.1", "--publish=out"]}[command]
    with pytest.raises(SystemExit) as ended:
        {"report": report, "review": review}[command].main(
            ["--to=4.0.1", *options, f"--mechanisms={stated}", "a.log"]
        )
    assert ended.value.code == 2 and message in capsys.readouterr().err


def test_mechanisms_of_a_listener_that_nobody_uses_are_refused(tmp_path, capsys):
    options = ["--to=4.0.1", f"--out={tmp_path / 'out'}", "--mechanisms=SASL=PLAIN"]
    assert report.main([*options, str(TEXT), "--from=2.7.2"]) == 2
    assert "no connection to a listener SASL was seen: listeners are " in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
