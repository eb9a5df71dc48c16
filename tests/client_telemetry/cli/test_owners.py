from pathlib import Path

from client_telemetry.cli.owners import main

OWNERS = Path(__file__).parents[3] / "include" / "sample" / "owners.yaml"


def test_the_rules_of_the_sample(sample_run, capsys):
    lake = str(sample_run.folder / "lake")
    assert main(["--lake", lake, "--owners", str(OWNERS), "--cluster", "fL33tG0ldTruth000000-w"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith(
        "cluster fL33tG0ldTruth000000-w, 2026-11-21: 48 applications with 51 clients, 12 rules in "
    )
    assert "warehouse          warehouse             4        4" in lines
    without = [line for line in lines if line.endswith("->  no rule")]
    assert len(without) == 6
    assert (
        "  'User:ANONYMOUS' 'sarama' (software not declared, groups 'edge-gateway')  ->  no rule" in without
    )


def test_what_is_missing_is_reported(tmp_path, capsys):
    assert main(["--lake", str(tmp_path), "--owners", str(tmp_path / "no.yaml")]) == 2
    assert "no.yaml" in capsys.readouterr().err
    (tmp_path / "bad.yaml").write_text("rules: 3")
    assert main(["--lake", str(tmp_path), "--owners", str(tmp_path / "bad.yaml")]) == 2
    assert "the owner rules are not a list" in capsys.readouterr().err
    assert main(["--lake", str(tmp_path / "lake"), "--owners", str(OWNERS)]) == 2
    assert (
        capsys.readouterr().err
        == f"client-telemetry owners: no lake at {tmp_path / 'lake'}: name the folder or URL of one (`lake` in the clusters file)\n"
    )
    assert not (tmp_path / "lake").exists()


def test_a_day_without_clients_is_reported(sample_run, capsys):
    lake = str(sample_run.folder / "lake")
    assert main(["--lake", lake, "--owners", str(OWNERS), "--day=2026-11-01"]) == 2
    assert "no clients on 2026-11-01" in capsys.readouterr().err
