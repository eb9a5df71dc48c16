"""The recipes of docs/gate.md: they are read as YAML, and what they run ends as the gate does."""

import os
import re
import stat
import subprocess
from pathlib import Path

import pytest
import yaml

PAGE = Path(__file__).parents[1] / "docs/gate.md"
BLOCKS = re.findall(r"^```(yaml|bash)\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.M | re.S)
GITHUB, GITLAB, ARGO, ANSIBLE, STRIMZI = (text for _, text in BLOCKS)


def gate_line(arguments: list[str]) -> str:
    return " ".join(arguments[:4])


@pytest.fixture
def shell(tmp_path: Path):
    """Runs a script with bash where `client-telemetry` ends with a code and `kubectl` notes that it was called."""
    commands = {"client-telemetry": 'echo "$@"; exit "$CODE"', "kubectl": "touch called"}
    for name, text in commands.items():
        file = tmp_path / name
        file.write_text(f"#!/bin/sh\n{text}\n")
        file.chmod(file.stat().st_mode | stat.S_IXUSR)

    def run(script: str, code: int) -> int:
        variables = {"PATH": f"{tmp_path}:{os.environ['PATH']}", "CODE": str(code)}
        variables["GITHUB_STEP_SUMMARY"] = str(tmp_path / "summary")
        done = subprocess.run(
            ["bash", "-c", script], cwd=tmp_path, env=variables, capture_output=True, text=True
        )
        assert "gate --campaign orders-4.0" in done.stdout
        return done.returncode

    return run


@pytest.mark.parametrize("code", [0, 2, 3, 4])
def test_scripts_end_as_the_gate_does_and_change_nothing_after_a_stop(shell, tmp_path, code):
    github = yaml.safe_load(GITHUB)["jobs"]["gate"]["steps"][-1]
    assert github["shell"] == "bash"
    assert shell(github["run"], code) == code
    assert "gate" in (tmp_path / "summary").read_text()
    [gitlab] = yaml.safe_load(GITLAB)["upgrade-gate"]["script"]
    assert shell(gitlab, code) == code
    assert shell(STRIMZI, code) == code
    assert (tmp_path / "called").exists() == (code == 0)


def test_jobs_are_not_tried_again_and_fail_on_every_code_but_0():
    job = yaml.safe_load(ARGO)
    assert job["metadata"]["annotations"]["argocd.argoproj.io/hook"] == "PreSync"
    assert (job["spec"]["backoffLimit"], job["spec"]["template"]["spec"]["restartPolicy"]) == (0, "Never")
    [container] = job["spec"]["template"]["spec"]["containers"]
    assert gate_line(container["command"]) == "client-telemetry gate --campaign orders-4.0"
    [play] = yaml.safe_load(ANSIBLE)
    [task] = play["tasks"]
    assert gate_line(task["ansible.builtin.command"]["argv"]) == "client-telemetry gate --campaign orders-4.0"
    assert task["failed_when"] == "gate.rc != 0"
    rules = yaml.safe_load(GITLAB)["upgrade-gate"]["rules"]
    assert [rule.get("allow_failure") for rule in rules] == [{"exit_codes": 4}, None]
