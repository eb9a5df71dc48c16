"""Which upgrades a run reviews, and which report each is held against: from rows of brokers and upgrade_reports, without Spark. And what is done with that report
after the review."""

import argparse
import datetime as dt
import json
from pathlib import Path
from typing import Any

import pytest
from client_telemetry.jobs.review import idle
from client_telemetry.jobs.review_prediction import show_in_report
from client_telemetry.lake.lake import Lake
from client_telemetry.pipeline.stage import BadArguments
from client_telemetry.review.planned import Planned, planned
from client_telemetry.tables.broker_hours import BROKER_HOURS
from client_telemetry.tables.brokers import BROKERS as BROKERS_TABLE
from client_telemetry.tables.clients import CLIENTS
from client_telemetry.tables.publications import PUBLICATIONS
from client_telemetry.tables.quality_results import QUALITY_RESULTS
from client_telemetry.tables.table import Table
from client_telemetry.tables.upgrade_findings import UPGRADE_FINDINGS
from client_telemetry.tables.upgrade_reports import UPGRADE_REPORTS
from client_telemetry.tables.upgrade_verdicts import UPGRADE_VERDICTS

DAY = dt.date(2026, 11, 21)
PROBED = Path(__file__).parents[2] / "data/probe"


def at(hour: int, minute: int = 0) -> dt.datetime:
    return dt.datetime(2026, 11, 21, hour, minute, tzinfo=dt.UTC)


def broker(node: int, release: str, started: dt.datetime, until: dt.datetime) -> dict[str, Any]:
    return {
        "dt": DAY,
        "broker_id": node,
        "broker_incarnation": f"{node}-{release}",
        "releases": [release],
        "started_at": started,
        "last_evidence_at": until,
        "finalized_features": None,
    }


BROKERS = [
    broker(node, release, at(begin, node), at(end, node - 1) if end < 20 else at(end))
    for release, begin, end in (("3.9.1", 1, 6), ("4.0.0", 6, 10), ("4.3.1", 10, 20))
    for node in (1, 2, 3)
]


def report(name: str, source: str, target: str, **changed: Any) -> dict[str, Any]:
    row = {"report_id": name, "from_release": source, "to_release": target, "last_dt": DAY}
    return {**row, "evidence_until": None, "created_at": at(23), **changed}


class StoredRows:
    """What is asked of a lake, over rows."""

    def __init__(self, reports: list[dict[str, Any]], brokers: list[dict[str, Any]] | None = None) -> None:
        self._tables = {
            "brokers": BROKERS if brokers is None else brokers,
            "upgrade_reports": reports,
        }

    def rows(self, table: Any, snapshot: int | None = None, **equal: object) -> list[dict[str, Any]]:
        return self._tables[table.name]

    def published_days(self, cluster_id: str, stage: str) -> set[dt.date]:
        return {DAY}

    def published(self, cluster_id: str | None = None) -> dict[str, int]:
        return {"brokers": 1}


def arguments(**changed: Any) -> argparse.Namespace:
    given = {
        "cluster": "c",
        "day": None,
        "window": 2,
        "from_release": None,
        "to_release": None,
        "targets": None,
    }
    return argparse.Namespace(**{**given, "changed_on": None, **changed})


def pairs(found: list[Planned]) -> list[tuple[str, str]]:
    return [(each.from_release, each.to_release) for each in found]


def test_several_upgrades_of_one_day_are_told_apart() -> None:
    found = planned(arguments(changed_on=[DAY]), StoredRows([]))
    assert pairs(found) == [("3.9.1", "4.0.0"), ("4.0.0", "4.3.1")]
    assert len({each.name for each in found}) == 2


def test_on_a_day_without_a_change_there_is_nothing_to_do(tmp_path: Path) -> None:
    one_release = [broker(1, "4.0.0", at(1), at(20))]
    assert planned(arguments(changed_on=[DAY]), StoredRows([], one_release)) == []
    assert idle(arguments(changed_on=[], lake=str(tmp_path))) == "review: no broker changed its release"
    assert idle(arguments(changed_on=None, lake=str(tmp_path))) is None


def test_without_releases_it_is_the_last_change() -> None:
    assert pairs(planned(arguments(), StoredRows([]))) == [("4.0.0", "4.3.1")]
    assert pairs(planned(arguments(to_release="4.0.0"), StoredRows([]))) == [("3.9.1", "4.0.0")]


def life(node: int, release: str, begin: int, end: int) -> dict[str, Any]:
    return {**broker(node, release, at(begin), at(end)), "broker_incarnation": f"{node}@{begin}"}


ROLLED_BACK = [
    life(1, "3.9.1", 1, 20),
    life(3, "3.9.1", 1, 6),
    life(3, "4.0.0", 7, 8),
    life(3, "3.9.1", 9, 20),
]
ROLLED_AGAIN = [*ROLLED_BACK[:3], life(3, "3.9.1", 9, 12), life(3, "4.0.0", 13, 20)]


def test_without_releases_it_is_never_a_way_back() -> None:
    (found,) = planned(arguments(), StoredRows([], ROLLED_BACK))
    assert (found.from_release, found.to_release) == ("3.9.1", "4.0.0")
    (back,) = planned(arguments(from_release="4.0.0", to_release="3.9.1"), StoredRows([], ROLLED_BACK))
    assert back.began == at(8).timestamp()
    only_back = [life(1, "4.0.0", 1, 6), life(1, "3.9.1", 7, 20)]
    with pytest.raises(BadArguments, match=r"only went back in these days, from 4\.0\.0 to 3\.9\.1"):
        planned(arguments(), StoredRows([], only_back))


def test_each_roll_between_the_same_releases_is_an_upgrade_of_its_own() -> None:
    found = planned(arguments(changed_on=[DAY]), StoredRows([], ROLLED_AGAIN))
    assert [(each[:2], each.began) for each in found] == [
        (("3.9.1", "4.0.0"), at(6).timestamp()),
        (("3.9.1", "4.0.0"), at(12).timestamp()),
    ]
    assert len({each.name for each in found}) == 2
    (newest,) = planned(arguments(), StoredRows([], ROLLED_AGAIN))
    assert newest == found[1]


def test_an_upgrade_that_did_not_happen_is_refused() -> None:
    with pytest.raises(BadArguments, match=r"no broker went from 3\.9\.1 to 4\.2\.1"):
        planned(arguments(from_release="3.9.1", to_release="4.2.1"), StoredRows([]))
    with pytest.raises(BadArguments, match="no broker changed its release"):
        planned(arguments(), StoredRows([], [broker(1, "4.0.0", at(1), at(20))]))


def test_a_move_to_brokers_that_were_measured_is_that_to_a_release_that_they_answer_like() -> None:
    moved = [broker(1, "3.9.1", at(1), at(6)), broker(1, "4.0.1", at(7), at(20))]
    asked = {"to_release": "apache-4.0.1", "targets": str(PROBED)}
    rows = [
        report("r", "3.9.1", "measured-a648720e", created_at=at(5)),
        report("s", "3.9.1", "4.0.1", created_at=at(5)),
    ]
    for more in ({}, {"from_release": "3.9.1"}):
        (found,) = planned(arguments(**asked, **more), StoredRows(rows, moved))
        assert found == Planned("3.9.1", "measured-a648720e", at(6).timestamp(), "r")
    with pytest.raises(BadArguments, match=r"no broker went from 3\.9\.1 to measured-"):
        planned(
            arguments(from_release="3.9.1", to_release="librdkafka-mock-2.16.1", targets=str(PROBED)),
            StoredRows([], moved),
        )
    with pytest.raises(BadArguments, match="'msk' is neither a Kafka release nor a measured target"):
        planned(arguments(to_release="msk", targets=str(PROBED)), StoredRows([], moved))


def test_brokers_whose_release_is_not_known_are_named_so() -> None:
    unknown = [{**row, "releases": []} for row in BROKERS]
    with pytest.raises(BadArguments, match="broker 1: an unknown release"):
        planned(arguments(from_release="3.9.1", to_release="4.0.0"), StoredRows([], unknown))
    with pytest.raises(BadArguments, match="no broker changed its release"):
        planned(arguments(), StoredRows([], unknown))


def test_without_a_report_there_is_no_prediction_to_hold_it_against() -> None:
    (found,) = planned(arguments(from_release="3.9.1", to_release="4.0.0"), StoredRows([]))
    assert found.report_id is None


@pytest.mark.parametrize(
    ("case", "changed", "counts"),
    [
        ("made before the first broker changed", {"created_at": at(5)}, True),
        ("made later, from evidence until then", {"evidence_until": at(6)}, True),
        ("made later, from days before", {"last_dt": DAY - dt.timedelta(days=1)}, True),
        ("made later, from evidence of the upgrade too", {"evidence_until": at(9)}, False),
        ("made later, and nothing was left out", {}, False),
        ("of another pair of releases", {"created_at": at(5), "to_release": "4.3.1"}, False),
    ],
)
def test_a_prediction_is_made_from_evidence_before(case: str, changed: dict[str, Any], counts: bool) -> None:
    asked = arguments(from_release="3.9.1", to_release="4.0.0")
    (found,) = planned(asked, StoredRows([{**report("r", "3.9.1", "4.0.0"), **changed}]))
    assert (found.report_id == "r") is counts, case


def test_the_newest_prediction_counts() -> None:
    reports = [report(name, "3.9.1", "4.0.0", created_at=at(hour)) for name, hour in (("new", 5), ("old", 4))]
    (found,) = planned(arguments(from_release="3.9.1", to_release="4.0.0"), StoredRows(reports))
    assert found.report_id == "new"


def test_a_report_that_cannot_be_published_again_fails_the_review(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = lake_with_a_report(tmp_path)
    asked.hosts = str(tmp_path / "missing")
    assert show_in_report(asked) == 2
    said = capsys.readouterr().err
    assert f"publish: there is no file of host names at {tmp_path / 'missing'}" in said
    assert "review: report r does not link to this review yet: it could not be published again" in said

    asked.hosts = None
    assert show_in_report(asked) == 0
    (page,) = tmp_path.glob("published/upgrade_impact/c/r/index.html")
    review = tmp_path / "published/upgrade_review/c/of-it"
    review.mkdir(parents=True)
    summary = {"from_release": "3.9.1", "to_release": "4.0.0", "created_at": "2026"}
    (review / "summary.json").write_text(json.dumps(summary))
    document = page.with_name("report.json")
    document.write_text("as it was")
    assert show_in_report(asked) == 0
    assert "upgrade_review/c/of-it/index.html" in page.read_text()
    assert document.read_text() == "as it was", "a published report is linked in its place"


def lake_with_a_report(folder: Path) -> argparse.Namespace:
    """A lake with the brokers of an upgrade and a report of it, and what a review of it is asked."""
    lake = Lake(None, str(folder / "lake"))
    tables = (BROKERS_TABLE, BROKER_HOURS, CLIENTS, QUALITY_RESULTS)
    answers = (UPGRADE_REPORTS, UPGRADE_VERDICTS, UPGRADE_FINDINGS)
    lake.create([*tables, *answers, PUBLICATIONS])
    where = {"cluster_id": "c", "dt": DAY}
    branch = lake.branch("run", "c", "profile")
    branch.replace_rows(BROKERS_TABLE, [whole(BROKERS_TABLE, **{**where, **row}) for row in BROKERS], **where)
    branch.publish("c", "run", "profile", [DAY])
    question = report("r", "3.9.1", "4.0.0", created_at=at(5), first_dt=DAY, clients=0, connections=0)
    question |= {"cluster_id": "c", "snapshots": lake.published()}
    answer = lake.branch("run", "c", "impact")
    of_report = {"cluster_id": "c", "report_id": "r"}
    answer.replace_rows(UPGRADE_REPORTS, [whole(UPGRADE_REPORTS, **question)], **of_report)
    answer.publish("c", "run", "impact", [DAY])
    places = {"lake": str(folder / "lake"), "publish": str(folder / "published")}
    releases = {"from_release": "3.9.1", "to_release": "4.0.0"}
    return arguments(**places, **releases, run_id="run", cluster_name=None, hosts=None)


def whole(table: Table[Any], **values: object) -> dict[str, Any]:
    return {column.name: values.get(column.name) for column in table.columns}
