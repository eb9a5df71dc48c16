"""The folder of a fleet page: all renderings tell the same, and a reader sees all of it or none."""

import csv
import io
import json
from dataclasses import replace
from datetime import timedelta

import pytest
from client_telemetry.reports.fleet.files import files, publish_fleet_day


@pytest.fixture(scope="module")
def fleet(build, day_rows):
    clients = [
        day_rows.client(),
        day_rows.client("=1+1", "unknown", "unknown", api_uses=[day_rows.use(0, 2)]),
    ]
    return build(clients)


@pytest.fixture(scope="module")
def index(day_rows):
    return day_rows.index_of([day_rows.client("a\nb")], [day_rows.instance()])


def table(text: str) -> list[dict]:
    return list(csv.DictReader(io.StringIO(text)))


def test_csv_and_json_tell_the_same(fleet):
    made = files(fleet)
    document = json.loads(made["fleet.json"])
    assert len(table(made["clients.csv"])) == len(document["clients"]) == document["counts"]["clients"]
    assert sum(int(row["clients"]) for row in table(made["software.csv"])) == document["counts"]["clients"]
    assert len(table(made["metrics.csv"])) == len(document["metrics"])
    assert (
        json.loads(made["day.json"])["sentence"]
        == document["sentence"]
        in made["index.html"]
        .replace("</a>", "")
        .replace('<a href="#clients">', "")
        .replace('<a href="#deprecated">', "")
    )


def test_a_spreadsheet_sees_no_formula(fleet):
    assert "'=1+1" in {row["client_id"] for row in table(files(fleet)["clients.csv"])}


def test_a_table_tells_what_is_within_a_client_in_words(build, day_rows):
    other = {"client_id": "b", "client_software_name": "kgo", "client_software_version": "v1.15.4"}
    related = [{"relation": "one_application", **other, "because": "names some connections only"}]
    clients = [day_rows.client("a", "unknown", "unknown", related=related, api_uses=[day_rows.use(0, 2)])]
    made = files(build(clients))
    (row,) = table(made["clients.csv"])
    assert row["related"] == "same application as b (kgo v1.15.4): names some connections only"
    assert row["deprecated"] == "Produce v2 (10 requests; refused by 4.0.0 and later)"
    assert not [name for name, text in made.items() if name.endswith(".csv") and "(relation=" in text]


def test_the_index_has_strings_as_they_came_and_as_they_are_shown(index, day_rows):
    document = json.loads(day_rows.text_of(index, "search.json"))
    (client,), (instance,) = document["clients"], document["instances"]
    assert (client["client_id"], client["client_id_shown"]) == ("a\nb", "a␊b")
    assert instance["client_instance_id"] == "AAECAwQFBgcICQoLDA0ODw"
    assert client["addresses"] == ["10.0.0.1"]


def test_latest_names_the_latest_day_not_the_last_one_published(fleet, index, tmp_path):
    folder = publish_fleet_day(fleet, index, tmp_path)
    publish_fleet_day(replace(fleet, day=fleet.day - timedelta(days=1)), index, tmp_path)
    latest = json.loads((folder.parent / "latest.json").read_text())
    assert (latest["path"], latest["day"]) == (f"{fleet.day}/index.html", str(fleet.day))
    assert sorted(path.name for path in folder.parent.iterdir()) == [
        "2026-11-20",
        "2026-11-21",
        "latest.json",
    ]
