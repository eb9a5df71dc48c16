import shutil
import subprocess
import sys

import generated_files
from client_telemetry.knowledge import releases
from generated_files import CHECKOUT, contents, outdated


def test_every_generated_file_is_current():
    assert outdated(CHECKOUT) == [], "run: make generated"


def test_a_file_that_differs_or_is_missing_is_named(tmp_path, monkeypatch, capsys):
    for path in contents():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(CHECKOUT / path, tmp_path / path)
    (tmp_path / "docs/tables.md").write_text("another page")
    (tmp_path / "include/releases.py").unlink()
    monkeypatch.setattr(generated_files, "CHECKOUT", tmp_path)
    assert generated_files.main(["--check"]) == 1
    assert [line.split()[0] for line in capsys.readouterr().err.splitlines()] == [
        "docs/tables.md",
        "include/releases.py",
    ]


def test_a_job_that_hides_a_standard_module_starts_its_stage():
    job = [sys.executable, str(CHECKOUT / "spark/jobs/profile.py")]
    done = subprocess.run(job, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.splitlines() == [
        "profile: the following arguments are required: --cluster, --lake, --days"
    ]


def test_a_new_release_comes_first(monkeypatch):
    monkeypatch.setattr(releases, "known", lambda: ("2.3.1", "2.4.0", "4.4.0", "4.5.0"))
    written: dict[str, tuple[str, ...]] = {}
    exec(compile(generated_files.releases_for_forms(), "releases.py", "exec"), written)
    assert written["RELEASES"] == ("4.5.0", "4.4.0", "2.4.0")
