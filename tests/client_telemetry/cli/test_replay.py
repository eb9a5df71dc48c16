"""What other brokers would refuse of the sample fleet's requests."""

import csv
import io
import json
import shutil
from pathlib import Path

import pytest
from client_telemetry.cli.replay import main
from client_telemetry.formats import target_file
from client_telemetry.knowledge import served, target_profiles
from client_telemetry.probe import replay
from client_telemetry.probe.replay import ABOVE, BELOW, NONE, Sent

FILES = Path(__file__).parents[2] / "data/probe"
FLEET = "fL33tG0ldTruth000000-w"


def sent(key: int, version: int) -> Sent:
    return Sent("c", "User:o", "orders", "shop", ("CLIENTS",), (key, version), 5)


def outcomes(file: str, *pairs: tuple[int, int]) -> list[tuple[str, str, bool]]:
    content = target_file.read(FILES / file)
    return [
        (each.outcome, each.side, each.refused)
        for each in replay.replayed([sent(*pair) for pair in pairs], content)
    ]


def test_a_version_is_refused_below_or_above_what_the_target_accepts():
    assert outcomes("apache-4.0.1.json", (0, 2), (0, 3), (1, 18), (22, 5), (999, 0)) == [
        ("closed", BELOW, True),
        ("answered", "", False),
        ("closed", ABOVE, True),
        ("advertised", "", False),
        ("not asked", "", False),
    ]


def test_an_api_that_the_target_lacks_has_no_version_to_take():
    assert outcomes("librdkafka-mock-2.16.1.json", (19, 7), (11, 9)) == [
        ("closed", NONE, True),
        ("closed", ABOVE, True),
    ]


def test_a_refused_apiversions_is_no_refusal_as_clients_ask_again():
    assert outcomes("librdkafka-mock-2.16.1.json", (18, 4)) == [("refused", ABOVE, False)]


def test_what_differs_from_the_releases_that_the_target_answers_like_is_told():
    content = target_file.read(FILES / "apache-4.0.1.json")
    content["answers"][0]["0 Produce"] = {"advertised": "0-12", "answered": "5-12", "closed": "0-4"}
    pairs = [(0, 4), (0, 5), (0, 2)]
    assert [each.differs for each in replay.replayed([sent(*pair) for pair in pairs], content)] == [
        True,
        False,
        False,
    ]


def test_requests_that_were_only_rejected_are_not_sent_again():
    row = {"cluster_id": "c", "principal": "User:a", "client_id": "a", "application": None, "owner": None}
    uses = [
        {"api_key": 0, "version": 2, "requests": 0, "rejected": 3},
        {"api_key": 0, "version": 3, "requests": 2, "rejected": 0},
    ]
    assert replay.sent_by([{**row, "listeners": ["B", "A"], "api_uses": uses}]) == [
        Sent("c", "User:a", "a", "", ("A", "B"), (0, 3), 2)
    ]


@pytest.mark.parametrize(
    ("release", "like"),
    [("4.0.1", "4.0.1 or 4.0.2"), ("4.3.1", "4.3.0 or 4.3.1")],
)
def test_the_sample_fleet_is_refused_what_the_knowledge_base_says(
    sample_run, tmp_path, capsys, release, like
):
    """On brokers of 4.0.1 that were measured, and on those of the profile of 4.3.1."""
    measured = FILES / f"apache-{release}.json"
    if not measured.exists():
        measured = tmp_path / "target.json"
        measured.write_text(target_profiles.texts()[f"apache-kafka-{release}"])
    lake = str(sample_run.folder / "lake")
    assert main(["--lake", lake, f"--cluster={FLEET}", f"--target={measured}"]) == 3
    printed = capsys.readouterr()
    rows = list(csv.DictReader(io.StringIO(printed.out)))
    refused = [row for row in rows if row["outcome"] == "closed"]
    # A broker without a telemetry plugin does not advertise it, and it is not asked.
    assert {row["api_name"] for row in rows if row not in refused} == {"GetTelemetrySubscriptions"}
    for row in refused:
        api = served.by(release).get(int(row["api_key"]))
        assert api is None or not api.served.min <= int(row["version"]) <= api.served.max
    assert "older than all that the target accepts, of 12 applications" in printed.err
    assert f"0 answers not as expected of Apache Kafka {like}" in printed.err


def test_a_replay_beside_the_report_of_the_sample_fleet(sample_run, tmp_path, capsys):
    summaries = sorted((sample_run.folder / "published/upgrade_impact/fleet").glob("*/summary.json"))
    to_4_0_0 = [file for file in summaries if json.loads(file.read_text())["to_release"] == "4.0.0"]
    report = tmp_path / "report"
    shutil.copytree(to_4_0_0[0].parent, report)
    arguments = ["--lake", str(sample_run.folder / "lake"), f"--target={FILES / 'apache-4.0.1.json'}"]
    assert main([*arguments, "--report", str(report)]) == 3
    target = "127.0.0.1:15122 (like 4.0.1 or 4.0.2)"
    lines = capsys.readouterr().err.splitlines()
    assert f"28 of 31 safe applications replayed on {target}" in lines
    assert "0 contradictions with the report" in lines, "it is about 4.0.0, which refuses more"
    page = (report / "index.html").read_text()
    assert f"of them replayed on {target}." in page
    assert f"; replayed on {target}: requests refused</dd>" in page
    assert f"; replayed on {target}: all requests answered</dd>" in page


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--lake=missing", "--target=x.json"], "no lake at missing"),
    ],
)
def test_what_cannot_be_replayed_is_a_line(arguments, said, capsys):
    assert main(arguments) == 2
    assert said in capsys.readouterr().err
