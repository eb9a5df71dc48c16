"""The commands about planned upgrades on a real report.json, and what they refuse."""

import json
import re
import shutil
from pathlib import Path

import pytest
from client_telemetry.cli import campaign, gate
from client_telemetry.compatibility import target_argument

REPORT = Path(__file__).parents[2] / "data/reports/whole/upgrade/report.json"
QUESTION = json.loads(REPORT.read_text())["question"]
PLAN = f"""
campaigns:
  - name: next
    clusters: [{QUESTION["cluster_name"]}]
    to: {QUESTION["to_release"]}
    date: 2027-02-01
    contact: kafka@example.com
    gate: {{least_coverage: 0}}
"""
DAY = f"--day={QUESTION['last_dt']}"


@pytest.fixture
def place(tmp_path):
    """Options for a campaigns file and published reports."""
    (tmp_path / "campaigns.yaml").write_text(PLAN)
    folder = tmp_path / "published/upgrade_impact/orders/r1"
    folder.mkdir(parents=True)
    shutil.copy(REPORT, folder)
    return [f"--campaigns={tmp_path / 'campaigns.yaml'}", f"--reports={tmp_path / 'published'}", DAY]


def test_gate_of_a_campaign(place, capsys):
    assert gate.main(["--campaign=next", *place]) == 3
    assert capsys.readouterr().out.startswith("no-go: ")
    assert gate.main(["--campaign=next", "--format=json", *place]) == 3
    document = json.loads(capsys.readouterr().out)
    assert (document["code"], document["decision"]) == (3, "no-go")
    assert "affected" in [reason["kind"] for reason in document["reasons"]]


def test_gate_without_a_report_cannot_tell(place, tmp_path, capsys):
    shutil.rmtree(tmp_path / "published/upgrade_impact/orders")
    assert gate.main(["--campaign=next", *place]) == 4
    assert capsys.readouterr().out.startswith("cannot tell: no report of ")


def test_show_writes_the_page_and_prints_the_answer(place, tmp_path, capsys):
    assert campaign.main(["show", "next", *place, f"--out={tmp_path}"]) == 0
    sentence, page = capsys.readouterr().out.splitlines()
    assert sentence.startswith("Not ready: ")
    assert sentence in re.sub(r"</?time>", "", Path(page).read_text())
    assert campaign.main(["show", "next", *place]) == 0
    assert capsys.readouterr().out.startswith("# next: ")


def test_what_people_say_changes_the_state(place, tmp_path, capsys):
    names = {each["name"] for each in json.loads(REPORT.read_text())["applications"]}
    for name in sorted(names):
        options = [f"--application={name}", "--by=ann", "--until=2027-12-31", "--text=retired"]
        assert campaign.main(["waive", "next", *place, *options]) == 0
    capsys.readouterr()
    assert gate.main(["--campaign=next", "--format=json", *place]) in (3, 4)
    kinds = [reason["kind"] for reason in json.loads(capsys.readouterr().out)["reasons"]]
    assert "waived" in kinds
    assert "affected" not in kinds


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["show", "other"], "campaigns.yaml: there is no campaign 'other': the file has next"),
        (["acknowledge", "next", "--application=a"], "name who says so: --by ann@example.com"),
        (["promise", "next", "--application=a", "--by=ann"], "no `until`"),
        (["waive", "next", "--by=ann", "--until=2027-01-01", "--text=x"], "it has no target"),
        (
            ["waive", "next", "--by=ann", "--until=2000-01-01", "--text=x", "--rule=r"],
            "until 2000-01-01 is before",
        ),
    ],
)
def test_what_cannot_be_done_is_one_line(place, capsys, arguments, message):
    before = Path(place[0].partition("=")[2]).read_text()
    assert campaign.main([*arguments, *place]) == 2
    said = capsys.readouterr().err
    assert message in said
    assert said.count("\n") == 1
    assert Path(place[0].partition("=")[2]).read_text() == before


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "report.json: not valid JSON: remove it, or publish it again"),
        ("[]", "report.json: not the report.json of an upgrade report"),
        ('{"schema_version": "x"}', "report.json: not valid JSON"),
    ],
)
def test_a_damaged_report_is_named(place, tmp_path, capsys, content, message):
    (tmp_path / "published/upgrade_impact/orders/r1/report.json").write_text(content)
    assert gate.main(["--campaign=next", *place]) == 2
    said = capsys.readouterr().err
    assert message in said
    assert said.count("\n") == 1


def test_reports_of_other_releases_versions_and_places_are_left_out(place, tmp_path, capsys):
    cluster = tmp_path / "published/upgrade_impact/orders"
    for name, content in {
        "old": '{"schema_version": 2}',
        "other": "damaged",
        ".r2.partial": "damaged",
    }.items():
        (cluster / name).mkdir()
        (cluster / name / "report.json").write_text(content)
    (cluster / "other/summary.json").write_text('{"to_release": "3.9.1"}')
    (tmp_path / "published/subscription_check/c/r").mkdir(parents=True)
    (tmp_path / "published/subscription_check/c/r/report.json").write_text("{}")
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/report.json").write_text("damaged")
    (cluster / "link").symlink_to(tmp_path / "outside")
    assert gate.main(["--campaign=next", *place]) == 3


def test_other_reports_are_named_where_there_is_none_of_the_campaign(place, tmp_path, capsys):
    (tmp_path / "published/upgrade_impact/orders/r1/summary.json").write_text('{"to_release": "3.9.1"}')
    assert gate.main(["--campaign=next", *place]) == 4
    assert f"is about fleet to {QUESTION['to_release']}; there are orders to 3.9.1" in capsys.readouterr().err


def test_a_verdict_that_is_not_known_is_not_good(place, tmp_path, capsys):
    report = tmp_path / "published/upgrade_impact/orders/r1/report.json"
    report.write_text(report.read_text().replace('"verdict": "breaks"', '"verdict": "explodes"'))
    assert gate.main(["--campaign=next", *place]) == 2
    assert "not the report.json of an upgrade report" in capsys.readouterr().err


def test_missing_files_and_options_are_one_line(tmp_path, capsys):
    missing = f"--campaigns={tmp_path / 'none.yaml'}"
    assert gate.main(["--campaign=next", missing]) == 2
    assert "name the campaigns file by --campaigns" in capsys.readouterr().err
    for arguments in ([], ["x", "--campaign=y"], ["--campaign=y", "--fail-on=breaks"]):
        with pytest.raises(SystemExit) as ended:
            gate.main(arguments)
        assert ended.value.code == 2


def test_a_campaign_to_brokers_that_were_measured(place, tmp_path, capsys):
    target = tmp_path / "targets/next.json"
    target.parent.mkdir()
    shutil.copy(Path(__file__).parents[2] / "data/probe/apache-4.0.1.json", target)
    name = target_argument.named(str(target))
    report = json.loads(REPORT.read_text())
    report["question"]["to_release"] = name
    (tmp_path / "published/upgrade_impact/orders/r1/report.json").write_text(json.dumps(report))
    (tmp_path / "campaigns.yaml").write_text(
        PLAN.replace(f"to: {QUESTION['to_release']}", "to: targets/next.json")
    )
    assert gate.main(["--campaign=next", "--format=json", *place]) == 3
    assert json.loads(capsys.readouterr().out)["to_release"] == name
    assert campaign.main(["acknowledge", "next", "--application=a", "--by=ann", *place]) == 0
    assert campaign.main(["show", "next", *place, f"--out={tmp_path}"]) == 0
    folder = Path(capsys.readouterr().out.splitlines()[-1]).parent
    assert f"{name} (targets/next.json)" in (folder / "index.html").read_text()
    messages = "".join(file.read_text() for file in folder.glob("owners/*/message.md"))
    assert "--to targets/next.json" in messages
    assert f"--to {name}" not in messages
