"""What is fetched of an object store before something is published beside it."""

from pathlib import Path

from client_telemetry.pipeline.place import fetch_files, fetch_linked
from pyarrow import fs


def test_a_report_finds_the_reviews_of_an_object_store(tmp_path: Path) -> None:
    there = tmp_path / "store" / "upgrade_review" / "fleet" / "one"
    (there / "owners" / "orders").mkdir(parents=True)
    (there / "summary.json").write_text("{}")
    (there / "index.html").write_text("large")
    (there / "owners" / "orders" / "review.md").write_text("# what happened")
    files, root = fs.LocalFileSystem(), str(tmp_path / "store")
    fetch_linked(files, root, "upgrade_review/fleet", tmp_path / "here")
    fetch_linked(files, root, "upgrade_review/absent", tmp_path / "here")
    here = tmp_path / "here"
    found = {path.relative_to(here).as_posix() for path in here.rglob("*") if path.is_file()}
    one = "upgrade_review/fleet/one"
    assert found == {f"{one}/summary.json", f"{one}/owners/orders/review.md"}


def test_single_files_are_fetched_if_they_are_there(tmp_path: Path) -> None:
    (tmp_path / "store" / "fleet").mkdir(parents=True)
    (tmp_path / "store" / "fleet" / "latest.json").write_text("{}")
    here = tmp_path / "here"
    names = ("fleet/latest.json", "fleet/absent.json", "other/latest.json")
    fetch_files(fs.LocalFileSystem(), str(tmp_path / "store"), names, here)
    assert [path for path in here.rglob("*") if path.is_file()] == [here / "fleet" / "latest.json"]
