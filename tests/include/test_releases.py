import csv

from include.clusters import CHECKOUT
from include.releases import RELEASES

KNOWLEDGE = CHECKOUT / "spark" / "client_telemetry" / "knowledge" / "releases.csv"


def _numbers(release: str) -> tuple[int, ...]:
    return tuple(int(part) for part in release.split("."))


def test_the_forms_offer_the_releases_of_the_knowledge_base_since_2_4_newest_first():
    with KNOWLEDGE.open(encoding="utf-8") as file:
        known = [row["release"] for row in csv.DictReader(file)]
    since = [release for release in known if _numbers(release) >= (2, 4, 0)]
    assert list(RELEASES) == sorted(since, key=_numbers, reverse=True)


def test_every_release_is_exact_to_the_patch():
    assert all(len(_numbers(release)) == 3 for release in RELEASES)
