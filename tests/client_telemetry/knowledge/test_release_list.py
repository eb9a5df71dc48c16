from pathlib import Path

from client_telemetry.knowledge import release_list, releases

SHIPPED = Path(__file__).parents[3] / "include" / "releases.py"


def test_a_new_release_comes_first(monkeypatch):
    monkeypatch.setattr(releases, "known", lambda: ("2.3.1", "2.4.0", "4.4.0", "4.5.0"))
    written: dict[str, tuple[str, ...]] = {}
    exec(compile(release_list.text(), "releases.py", "exec"), written)
    assert written["RELEASES"] == ("4.5.0", "4.4.0", "2.4.0")
