import csv
import json
import re
import shutil
from collections import Counter
from dataclasses import replace
from datetime import date, timedelta

import pytest
from client_telemetry.campaign.answers import from_report
from client_telemetry.campaign.plan import Campaign
from client_telemetry.campaign.report_files import LocalFolder, report_files
from client_telemetry.formats.report_file import NotAReport
from client_telemetry.reports.upgrade import publish as publishing
from client_telemetry.reports.upgrade.build import build_report
from client_telemetry.reports.upgrade.publish import link_again, publish

from tests.client_telemetry.reports.conftest import texts


def published(root) -> set[str]:
    return {str(path.relative_to(root)) for path in root.rglob("*") if path.is_file()}


def test_layout(fleet_report, tmp_path):
    folder = publish(fleet_report, tmp_path)
    assert folder == tmp_path / "upgrade_impact/fleet/manual__2026-11-21T05-00-00-00-00-9bbbb20a"
    names = published(folder)
    packs = {name for name in names if name.startswith("owners/")}
    texts = {"index.html", "report.md", "clients.csv", "findings.csv"}
    assert names - packs == texts | {"report.json", "answer.json", "summary.json"}
    assert packs == {
        f"owners/{o.folder}/{name}"
        for o in fleet_report.owners
        if o.has_pack
        for name in (
            "report.md",
            "clients.csv",
            "clients_full.csv",
            "message.md",
            "message.txt",
            "message.html",
        )
    }


def test_campaigns_read_the_same_of_the_small_file(fleet_report, tmp_path):
    folder = publish(fleet_report, tmp_path)
    whole, part = (json.loads((folder / name).read_text()) for name in ("report.json", "answer.json"))
    assert from_report(part) == from_report(whole)
    assert 5 * (folder / "answer.json").stat().st_size < (folder / "report.json").stat().st_size
    campaign = Campaign("a", ("fleet",), "4.0.0", date(2027, 2, 1), "a@example.com")
    (folder / "report.json").write_text("not read")
    [file] = report_files(LocalFolder(tmp_path), campaign)
    assert file.answer() == from_report(whole)
    (folder / "answer.json").unlink()
    with pytest.raises(NotAReport, match="not valid JSON"):
        file.answer()


def test_all_renderings_have_the_same_numbers(fleet_report, tmp_path):
    folder = publish(fleet_report, tmp_path)
    document = json.loads((folder / "report.json").read_text())
    rows = list(csv.DictReader((folder / "clients.csv").read_text("utf-8-sig").splitlines()))
    counted = Counter(row["outcome"] for row in rows)
    nonzero = {outcome: count for outcome, count in document["client_counts"].items() if count}
    applications = {outcome: count for outcome, count in document["counts"].items() if count}
    assert applications == Counter(each["outcome"] for each in document["applications"])
    assert counted == nonzero == Counter(client["outcome"] for client in document["clients"])
    packs = [
        list(csv.DictReader(path.read_text("utf-8-sig").splitlines()))
        for path in folder.glob("owners/*/clients_full.csv")
    ]
    of_packs = Counter(row["outcome"] for pack in packs for row in pack)
    assert {**of_packs, "safe": 0} == {**nonzero, "safe": 0}
    assert document["sentence"] in (folder / "report.md").read_text()
    assert f"<b>{document['counts']['safe']}</b>" in (folder / "index.html").read_text()


def test_latest_names_the_report(fleet_report, tmp_path):
    folder = publish(fleet_report, tmp_path)
    latest = json.loads((folder.parent / "latest.json").read_text())
    assert (folder.parent / latest.pop("path")) == folder / "index.html"
    assert latest == json.loads((folder / "summary.json").read_text())
    assert latest["report_id"] == "manual__2026-11-21T05:00:00+00:00"
    assert latest["sentence"] == fleet_report.sentence
    assert latest["counts"] == fleet_report.counts
    assert latest["created_at"] == "2026-11-22T02:10:00.000000Z"


def test_a_second_run_replaces_the_first(fleet_report, rows, tmp_path):
    folder = publish(fleet_report, tmp_path)
    (folder / "owners/erp/note.txt").write_text("left by the first run")
    smaller = build_report(rows.question(1), [rows.verdict()], [], [], [], cluster_name="fleet")
    assert publish(smaller, tmp_path) == folder
    assert not {name for name in published(folder) if "/" in name}, "nobody has anything to do"
    assert published(folder.parent) == {f"{folder.name}/{name}" for name in published(folder)} | {
        "latest.json",
        "latest_3.9.1_4.0.0.json",
    }


def test_the_same_report_gives_the_same_bytes(fleet_report, tmp_path):
    first, second = (publish(fleet_report, tmp_path / name) for name in "ab")
    assert published(first) == published(second)
    assert all((first / name).read_bytes() == (second / name).read_bytes() for name in published(first))


def test_a_run_that_fails_leaves_the_report_that_is_there(fleet_report, tmp_path, monkeypatch):
    folder = publish(fleet_report, tmp_path)
    before = {name: (tmp_path / name).read_bytes() for name in published(tmp_path)}
    contents = {"written-before-it-failed": "new", "broken": 1}
    monkeypatch.setattr(publishing, "files", lambda *_: contents)
    with pytest.raises(TypeError):
        publish(fleet_report, tmp_path)
    there = {name: (tmp_path / name).read_bytes() for name in published(tmp_path) if "/." not in name}
    assert there == before
    monkeypatch.undo()
    publish(fleet_report, tmp_path)
    assert published(tmp_path) == before.keys(), "and the next run clears what was left"
    assert folder.is_dir()


@pytest.mark.parametrize("name", ["../../etc", "a/b", "", ".", "\ud800", "x" * 300])
def test_no_name_leads_out_of_the_folder(fleet_report, tmp_path, name):
    question = replace(fleet_report.question, report_id=name, cluster_name=name)
    folder = publish(replace(fleet_report, question=question), tmp_path)
    assert folder.parent.parent == tmp_path / "upgrade_impact"
    assert (folder / "index.html").is_file()


def test_an_older_report_that_is_published_again_links_to_its_review_and_is_not_the_latest(
    fleet_report, tmp_path
):
    question = fleet_report.question
    later = replace(question, report_id="later", created_at=question.created_at + timedelta(hours=1))
    publish(replace(fleet_report, question=later), tmp_path)
    review = {"from_release": question.from_release, "to_release": question.to_release, "created_at": "2026"}
    folder = tmp_path / "upgrade_review/fleet/first"
    folder.mkdir(parents=True)
    (folder / "summary.json").write_text(json.dumps(review))
    report = publish(fleet_report, tmp_path)
    assert "../../../upgrade_review/fleet/first/index.html" in (report / "index.html").read_text()
    assert json.loads((report.parent / "latest.json").read_text())["report_id"] == "later"


def test_the_review_of_the_upgrade_is_linked_and_its_messages_are_in_the_owners_packs(fleet_report, tmp_path):
    question = fleet_report.question
    releases = {"from_release": question.from_release, "to_release": question.to_release}
    for name, at, of in (
        ("old", "2026-11-22T03", releases),
        ("new", "2026-11-22T04", releases),
        ("other", "2026-11-22T05", {**releases, "to_release": "4.9.9"}),
    ):
        folder = tmp_path / "upgrade_review/fleet" / name
        (folder / "owners/an-owner").mkdir(parents=True)
        (folder / "owners/an-owner/review.md").write_text(f"# {name}")
        (folder / "summary.json").write_text(json.dumps({"created_at": at, **of}))

    folder = publish(fleet_report, tmp_path)

    assert (folder / "owners/an-owner/review.md").read_text() == "# new"
    assert "../../../upgrade_review/fleet/new/index.html" in (folder / "index.html").read_text()


def test_a_report_that_links_again_is_as_if_it_were_published_again(fleet_report, tmp_path):
    question = fleet_report.question
    assert not link_again(question, tmp_path), "it is not there"
    folder = publish(fleet_report, tmp_path)
    plain = (folder / "index.html").read_text()
    assert link_again(question, tmp_path)
    assert (folder / "index.html").read_text() == plain

    def reviewed(owner: str) -> dict[str, str]:
        review = tmp_path / "upgrade_review/fleet/<of it>"
        shutil.rmtree(review, ignore_errors=True)
        (review / "owners" / owner).mkdir(parents=True)
        (review / "owners" / owner / "review.md").write_text("# what happened")
        of_it = {"from_release": question.from_release, "to_release": question.to_release}
        (review / "summary.json").write_text(json.dumps({"created_at": "2026-11-22", **of_it}))
        assert link_again(question, tmp_path)
        return {name: (folder / name).read_text() for name in published(folder)}

    reviewed("first-owner")
    linked = reviewed("second-owner")
    assert "upgrade_review/fleet/&lt;of it&gt;/index.html" in linked["index.html"]
    publish(fleet_report, tmp_path)
    assert linked == {name: (folder / name).read_text() for name in published(folder)}
    files_of_it = linked["index.html"].split('<nav aria-label="Files"')[1].split("</nav>")[0]
    assert "Messages to owners after the upgrade: 1" in files_of_it
    assert '<a href="owners/second-owner/review.md" download>second-owner</a>' in files_of_it
    assert "first-owner" not in linked["index.html"]

    (folder / "index.html").write_text("a page of an earlier version")
    assert not link_again(question, tmp_path)


def test_a_review_tells_owners_who_had_nothing_to_do_too(rows, tmp_path):
    """Of a report without packs."""
    report = build_report(rows.question(1), [rows.verdict()], [], [], [], cluster_name="fleet")
    folder = publish(report, tmp_path)
    assert not (folder / "owners").exists()
    question = report.question
    owner = tmp_path / "upgrade_review/fleet/review/owners/orders"
    owner.mkdir(parents=True)
    (owner / "review.md").write_text("# what happened")
    review = {"from_release": question.from_release, "to_release": question.to_release, "created_at": "2026"}
    (owner.parents[1] / "summary.json").write_text(json.dumps(review))
    assert link_again(question, tmp_path)
    assert (folder / "owners/orders/review.md").read_text() == "# what happened"


@pytest.mark.parametrize(
    ("planned_for", "asked_by", "said"),
    [
        (date(2026, 12, 5), "kafka@example.com", "Planned for 2026-12-05; answers to kafka@example.com."),
        (date(2026, 12, 5), None, "Planned for 2026-12-05."),
        (None, "the platform team", "Upgrade date not set; answers to the platform team."),
        (None, None, "Upgrade date not set."),
    ],
)
def test_by_when_and_who_asks_is_in_every_format(rows, planned_for, asked_by, said):
    given = [rows.verdict("a", "breaks")]
    made = texts(
        build_report(rows.question(1), given, [], [], [], planned_for=planned_for, asked_by=asked_by)
    )
    first_screen = made["index.html"].split("</header>")[0]
    assert said in re.sub(r"<[^>]+>", "", first_screen)
    assert ('<a href="mailto:kafka@example.com"' in first_screen) == (asked_by == "kafka@example.com")
    assert f"\n{said}\n" in made["report.md"]
    day = planned_for and planned_for.isoformat()
    for name in ("report.json", "summary.json"):
        document = json.loads(made[name])
        assert (document["planned_for"], document["asked_by"]) == (day, asked_by)
    words = f"upgrade planned for {day}" if day else "upgrade date not set"
    assert f"- **Date:** 2026-11-22; {words}\n" in made["owners/orders/report.md"]


def rehearsal_of(report, outcome: str) -> dict:
    safe = next(each for each in report.applications if each.outcome == "safe")
    application = {
        **{"anchor": safe.anchor, "name": safe.name, "safe_so_far": safe.safe_so_far, "said": "group: EOF"},
        **{"outcome": outcome, "ran": ["kafka-clients 3.6.2"], "contradicts": outcome == "refused"},
    }
    return {
        "schema_version": 1,
        "report_id": report.question.report_id,
        "target": "4.0.0",
        "applications": [application],
    }


def test_a_rehearsal_is_on_the_page_and_stays_when_the_report_is_published_again(fleet_report, tmp_path):
    folder = publish(fleet_report, tmp_path)
    report_id = fleet_report.question.report_id
    assert "rehearsed" not in (folder / "index.html").read_text()
    (folder / "rehearsal.json").write_text(json.dumps(rehearsal_of(fleet_report, "works")))
    assert publishing.add_trials(folder, report_id)
    page = (folder / "index.html").read_text()
    assert "; rehearsed on 4.0.0: works</dd>" in page and "of them rehearsed on 4.0.0." in page
    publish(fleet_report, tmp_path)
    assert (folder / "index.html").read_text() == page
    (folder / "rehearsal.json").write_text(json.dumps(rehearsal_of(fleet_report, "refused")))
    assert publishing.add_trials(folder, report_id)
    page = (folder / "index.html").read_text()
    assert "rehearsed on 4.0.0: works" not in page
    assert "; rehearsed on 4.0.0: refused, which contradicts the rule</dd>" in page
    assert "Contradicts its verdict: <a " in page and "group: EOF" in page


def test_a_rehearsal_stands_beside_the_measured_target(fleet_report, tmp_path):
    report = replace(fleet_report, known_by=("rule", "measured_target"))
    folder = publish(report, tmp_path)
    for outcome in ("works", "refused"):
        (folder / "rehearsal.json").write_text(json.dumps(rehearsal_of(report, outcome)))
        assert publishing.add_trials(folder, report.question.report_id)
        page = (folder / "index.html").read_text()
        assert page.count("rehearsed on 4.0.0: ") == 1
        assert re.search(f">by a rule, measured target; [^;<]*; rehearsed on 4.0.0: {outcome}", page)


def test_a_rehearsal_of_another_report_is_not_taken_over(fleet_report, tmp_path):
    folder = publish(fleet_report, tmp_path)
    (folder / "rehearsal.json").write_text(
        json.dumps(rehearsal_of(fleet_report, "works") | {"report_id": "x"})
    )
    publish(fleet_report, tmp_path)
    assert not (folder / "rehearsal.json").exists()
    assert "rehearsed" not in (folder / "index.html").read_text()


def test_a_replay_stands_beside_the_rehearsal(fleet_report, tmp_path):
    folder = publish(fleet_report, tmp_path)
    report_id = fleet_report.question.report_id
    (folder / "rehearsal.json").write_text(json.dumps(rehearsal_of(fleet_report, "works")))
    replay = rehearsal_of(fleet_report, "answered") | {"target": "b1<:9092"}
    replay["applications"][0]["ran"] = []
    (folder / "replay.json").write_text(json.dumps(replay))
    for _ in range(2):
        assert publishing.add_trials(folder, report_id)
        page = (folder / "index.html").read_text()
        assert (
            page.count("; rehearsed on 4.0.0: works; replayed on b1&lt;:9092: all requests answered</dd>")
            == 1
        )
        assert "of them rehearsed on 4.0.0, 1 replayed on b1&lt;:9092." in page
    publish(fleet_report, tmp_path)
    assert (folder / "index.html").read_text() == page
    (folder / "rehearsal.json").unlink()
    replay["applications"][0] |= {"outcome": "refused", "contradicts": True, "said": "refused: JoinGroup v1"}
    (folder / "replay.json").write_text(json.dumps(replay))
    assert publishing.add_trials(folder, report_id)
    page = (folder / "index.html").read_text()
    assert "rehearsed" not in page and "1 of them replayed on b1&lt;:9092." in page
    assert "</a>, requests refused on b1&lt;:9092: refused: JoinGroup v1</p>" in page
