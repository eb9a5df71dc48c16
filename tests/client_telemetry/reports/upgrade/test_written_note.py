"""What artefacts add to a page that is published: apart from the answer, never twice, and nothing that a name could inject."""

import json
import re

import pytest
from client_telemetry.formats import written_file
from client_telemetry.formats.written_file import NotWritten
from client_telemetry.reports.upgrade.publish import publish
from client_telemetry.reports.upgrade.written_note import add_written

HOSTILE = "</dd><script>alert(1)</script>\u202e"


def document(report, **changes):
    client = next(client for client in report.clients if client.is_unidentified)
    because = {
        "artefact": f"sboms/{HOSTILE}.json",
        "repository": None,
        "workload": None,
        "certainty": "certain",
        "because": ["10.1.2.3 is pods.json: pod 1"],
    }
    finding = {
        "kind": "library proved",
        "text": f"its image has kafka-python 1.3.5{HOSTILE}",
        "certainty": "certain",
        "evidence": "sboms/erp.json",
    }
    seen = {
        "client_id": client.client_id,
        "principal": client.principal,
        "application": client.application,
        "owner": client.owner,
        "verdict": client.verdict,
        "identified_as": client.identified_as or "",
        "anchor": client.anchor,
    }
    other = next(other for other in report.clients if other is not client)
    found = {
        "library": "sarama",
        "library_version": "1.30.0",
        "client": f"sarama 1.30.0{HOSTILE}",
        "verdict": "breaks",
        "explanation": "",
        "fix": None,
        "file": "monthly/go.mod",
        "line": 5,
        "inside": None,
    }
    artefact = {
        "artefact": "monthly",
        "kind": "repository",
        "digests": [],
        "repository": None,
        "owner": None,
        "names": [],
        "clients": [found],
        "verdict": "breaks",
        "why": "no broker saw client id 'monthly-close'",
    }
    return {
        "format": written_file.FORMAT,
        "report_id": report.question.report_id,
        "to": "4.0.0",
        "clients": [
            {**seen, "artefacts": [because], "findings": [finding]},
            {
                **seen,
                "client_id": other.client_id,
                "anchor": other.anchor,
                "owner": other.owner,
                "artefacts": [],
                "findings": [],
            },
        ],
        "written_not_seen": [artefact],
        "written_not_comparable": [],
        "seen_not_written": [other.anchor],
        "not_read": [],
        **changes,
    }


def test_the_page_says_it_apart_from_the_answer_and_keeps_it(fleet_report, tmp_path):
    folder = publish(fleet_report, tmp_path)
    before = (folder / "index.html").read_text()
    assert add_written(folder, document(fleet_report))
    page = (folder / "index.html").read_text()
    assert re.search(r"<h1>(.*?)</h1>", page)[1] == re.search(r"<h1>(.*?)</h1>", before)[1]
    assert "1 artefact</a> that no broker saw, of which 1 would break with 4.0.0" in page
    for key in ("written-findings", "written-not-seen", "seen-not-written"):
        assert page.count(f'<section id="{key}"') == 1
    assert "written-not-comparable" not in page
    client = next(client for client in fleet_report.clients if client.is_unidentified)
    panel = page.split(f'id="{client.anchor}"')[1].split("</article>")[0]
    assert "library proved: its image has kafka-python 1.3.5" in panel
    assert "certain: 10.1.2.3 is pods.json: pod 1; sboms/erp.json" in panel
    assert page.count("<dt>Written</dt>") == 1
    assert "<script>alert" not in page
    assert "\u202e" not in page
    publish(fleet_report, tmp_path)
    assert (folder / "index.html").read_text() == page


def test_a_later_join_takes_the_place_of_an_earlier_one(fleet_report, tmp_path):
    folder = publish(fleet_report, tmp_path)
    before = (folder / "index.html").read_text()
    nothing = {"clients": [], "written_not_seen": [], "seen_not_written": []}
    assert add_written(folder, document(fleet_report, **nothing))
    empty = (folder / "index.html").read_text()
    assert add_written(folder, document(fleet_report))
    assert add_written(folder, document(fleet_report, **nothing))
    assert (folder / "index.html").read_text() == empty
    assert len(empty) - len(before) < 200


@pytest.mark.parametrize("content", ["no", "[]", "{}", '{"format": 9, "report_id": "x"}'])
def test_what_is_not_a_join_is_refused_in_one_line(tmp_path, content):
    file = tmp_path / "written.json"
    file.write_text(content)
    with pytest.raises(NotWritten) as refused:
        written_file.read(file, "x")
    assert len(str(refused.value).splitlines()) == 1


def test_of_another_report_nothing_is_taken_over(fleet_report, tmp_path):
    folder = publish(fleet_report, tmp_path)
    before = (folder / "index.html").read_text()
    (folder / "written.json").write_text(json.dumps(document(fleet_report, report_id="another")))
    publish(fleet_report, tmp_path)
    assert (folder / "index.html").read_text() == before


def test_a_page_of_an_older_version_has_no_place_for_it(fleet_report, tmp_path):
    (tmp_path / "index.html").write_text("<html></html>")
    assert not add_written(tmp_path, document(fleet_report))
    assert not (tmp_path / "written.json").exists()
