"""Exit codes for a pipeline: --fail-on of report, compatibility and gate."""

import pytest
from client_telemetry.cli import compatibility
from client_telemetry.compatibility.go_no_go import decide, decide_by_report

CLIENTS = "docs/examples/clients.csv"


@pytest.mark.parametrize(
    ("verdicts", "fail_on", "code"),
    [
        ({"safe": 3}, ["breaks"], 0),
        ({"safe": 3, "breaks": 1, "insufficient_evidence": 1}, ["breaks"], 3),
        ({"safe": 3, "insufficient_evidence": 1}, ["breaks"], 4),
        ({"degrades": 1}, ["breaks"], 0),
        ({"degrades": 1}, ["breaks", "degrades"], 3),
        ({"insufficient_evidence": 1}, ["insufficient_evidence"], 3),
        ({}, ["breaks"], 4),
    ],
)
def test_codes(verdicts, fail_on, code):
    assert decide(verdicts, fail_on)[0] == code


@pytest.mark.parametrize(("options", "code"), [([], 0), (["--fail-on=breaks"], 3)])
def test_the_command_for_lists(tmp_path, request, options, code):
    clients = request.config.rootpath / CLIENTS
    files = [f"--input={clients}", f"--output={tmp_path / 'v.csv'}"]
    assert compatibility.main(["--from=3.9.1", "--to=4.0.0", *files, *options]) == code


def test_incomplete_evidence_never_means_go():
    report = {"clients": [{"verdict": "safe"}], "incomplete": "only deprecated requests"}
    assert decide_by_report(report, ["breaks"]) == (4, "cannot tell: only deprecated requests")
    assert decide_by_report(report | {"incomplete": None}, ["breaks"]) == (0, "go")
    breaks = report | {"clients": [{"verdict": "breaks"}]}
    assert decide_by_report(breaks, ["breaks"])[0] == 3


def test_a_list_without_a_client_cannot_tell(tmp_path):
    clients = tmp_path / "clients.csv"
    clients.write_text("client,client_software_name,client_software_version,client_id,api_uses\n")
    files = [f"--input={clients}", f"--output={tmp_path / 'v.csv'}"]
    assert compatibility.main(["--from=3.9.1", "--to=4.0.0", *files, "--fail-on=breaks"]) == 4


def test_a_word_that_is_no_verdict_is_refused(capsys):
    with pytest.raises(SystemExit) as ended:
        compatibility.main(["--from=3.9.1", "--to=4.0.0", "--input=x", "--output=y", "--fail-on=brakes"])
    assert ended.value.code == 2
    assert "'brakes' is not a list of verdicts: use breaks" in capsys.readouterr().err


def test_a_blocker_of_the_brokers_is_a_no_go_whatever_the_clients():
    report = {"clients": [{"verdict": "safe"}], "applications": [{"clients": [0]}]}
    assert decide_by_report(report, ["breaks"])[0] == 0
    blocked = {**report, "blockers": [{"subject": "ZooKeeper mode"}, {"subject": "log.segment.bytes"}]}
    assert decide_by_report(blocked, ["breaks"]) == (
        3,
        "no-go: 2 blockers in the setup of the brokers: ZooKeeper mode, log.segment.bytes",
    )
