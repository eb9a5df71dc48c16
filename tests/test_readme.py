"""The first page fits on a few screens, and what it shows and links to is there."""

import re
import zipfile
from pathlib import Path

CHECKOUT = Path(__file__).parents[1]
README = (CHECKOUT / "README.md").read_text(encoding="utf-8")


def test_it_is_short():
    assert README.count("\n") < 120


def test_its_pictures_are_there_and_small():
    pictures = re.findall(r'="(docs/images/[^"]+)"', README)
    assert len(pictures) == 2
    assert all(0 < (CHECKOUT / picture).stat().st_size < 200_000 for picture in pictures)


def test_all_that_it_links_to_is_on_the_site_too():
    links = re.findall(r"\]\(([^)#]+)", README)
    assert links
    assert all(link.startswith("docs/") and (CHECKOUT / link).exists() for link in links)


def test_the_sample_report_is_of_the_release_and_the_fleet_that_the_picture_shows():
    with zipfile.ZipFile(CHECKOUT / "docs/examples/sample_report.zip") as archive:
        names = archive.namelist()
        page = archive.read("sample_report/index.html").decode()
    assert {"sample_report/report.json", "sample_report/clients.csv"} <= set(names)
    assert "12 of 45 applications" in page
