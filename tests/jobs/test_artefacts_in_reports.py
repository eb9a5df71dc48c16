"""What the lake knows of artefacts, on the report of a question: through the real stages."""

import datetime as dt
import io
import json
from contextlib import redirect_stdout

import pytest
from client_telemetry.cli import gate
from client_telemetry.formats.raw.writer import DumpWriter

from tests.client_telemetry.cli.test_join import OTHER, pod, sbom, write
from tests.jobs.conftest import CLUSTER, DAY, INCARNATION, NOON, connection, event

OLD = ((0, 2, 50), (3, 0, 5))
"""Produce v2 and Metadata v0, which 4.x refuses."""
NEW = ((0, 7, 50), (3, 5, 5))


@pytest.fixture
def day(pipeline):
    """A client that declares nothing and sends old requests, one that declares nothing and sends newer ones."""
    with DumpWriter(
        pipeline.raw, CLUSTER, 1, INCARNATION, broker_started_at=NOON, broker_software_version="3.9.1"
    ) as out:
        for client_id, address, uses in (("erp", "10.1.2.3", OLD), ("billing", "10.1.2.4", NEW)):
            client = connection(
                client_id=client_id,
                principal=f"User:{client_id}",
                client_address=address,
                connection_id=client_id,
                client_software_name="unknown",
                client_software_version="unknown",
            )
            closed = NOON + dt.timedelta(minutes=5)
            out.append_connection_event(event(2, closed, uses=uses, client=client))
    pipeline.run_day()
    return pipeline


def asked(pipeline, report_id="q", to="4.0.1", **arguments):
    pipeline.done("impact", to=to, report_id=report_id, day=DAY)
    published = pipeline.folder / "published"
    done = pipeline.done("publish", report_id=report_id, publish=published, cluster_name="east", **arguments)
    (folder,) = (published / "upgrade_impact/east").glob(f"{report_id}*")
    return folder, done


def inventory(pipeline):
    """The image of erp, built from a repository that has a newer library; a job that nobody saw; an image with two versions."""
    write(
        pipeline.folder / "w",
        sboms__erp_dot_json=sbom("1.3.5", source="https://github.com/acme/erp"),
        sboms__billing_dot_json=sbom("2.0.2", "2.2.0", digest=OTHER),
        erp___dot_git__config='[remote "origin"]\n\turl = git@github.com:acme/erp.git\n',
        erp__requirements_dot_txt="kafka-python==2.2.0\n",
        erp__app_dot_properties="kafka.client.id=erp\n",
        erp__main_dot_py="import kafka\n",
        monthly__requirements_dot_txt="kafka-python==1.3.5\n",
        monthly__app_dot_properties="kafka.client.id=monthly\n",
        CODEOWNERS="monthly/ @batch\n",
    )
    pods = pipeline.folder / "pods.json"
    there = [pod(), pod(digest=OTHER, address="10.1.2.4", name="billing-0")]
    pods.write_text(json.dumps({"kind": "List", "items": there}))
    pipeline.done("artefact_inventory", day=DAY, artefacts=pipeline.folder / "w", workloads=pods)
    return pods


def kinds(document, client_id):
    client = next(each for each in document["clients"] if each["client_id"] == client_id)
    return {each["kind"]: each for each in client["findings"]}


def test_a_question_says_what_artefacts_prove_and_what_nobody_saw(day):
    before, _ = asked(day, "before")
    assert not (before / "written.json").exists()
    assert "artefact" not in (before / "index.html").read_text().replace("written-", "")
    assert "artefacts" not in (before / "report.md").read_text()
    pods = inventory(day)
    folder, _ = asked(day, workloads=pods)
    written = json.loads((folder / "written.json").read_text())
    assert (written["inventory"], written["to"]) == (DAY.isoformat(), "4.0.1")
    erp = kinds(written, "erp")
    assert erp["library proved"]["text"].startswith("its image has kafka-python 1.3.5")
    assert "2.2.0" in erp["fixed in the repository, not deployed"]["text"]
    assert set(kinds(written, "billing")) == {"image has two versions"}
    unseen = "Written, and seen by no broker: 1 artefact would break"
    assert f"{unseen}." in json.loads((folder / "report.json").read_text())["for_management"]
    summary, answer = (json.loads((folder / name).read_text()) for name in ("summary.json", "answer.json"))
    assert summary["written_not_seen"] == answer["written_not_seen"] == {"breaks": 1}
    assert json.loads((before / "summary.json").read_text())["written_not_seen"] is None
    (monthly,) = written["written_not_seen"]
    assert (monthly["artefact"], monthly["verdict"], monthly["owner"]) == ("monthly", "breaks", "@batch")

    page = (folder / "index.html").read_text()
    assert f"In artefacts of {DAY}, apart from what was seen:" in page
    assert 'id="written-not-seen"' in page and "kafka-python 1.3.5" in page
    report = json.loads((folder / "report.json").read_text())
    assert len(report["applications"]) == 2 and "written" not in report
    assert "artefacts" in report["question"]["snapshots"]

    # Tickets, messages and the gate say the same.
    ticket = (folder / "report.md").read_text()
    assert "## In artefacts, apart from what was seen" in ticket
    assert "fixed in the repository, not deployed" in ticket and "monthly/requirements.txt:1" in ticket
    assert "image has two versions" in ticket
    message = (folder / "owners/_no-owner/message.txt").read_text()
    assert "Confirm that its image has kafka-python 1.3.5" in message
    (batch,) = (folder / "owners").glob("*batch*/report.md")
    assert "No broker saw `kafka-python 1.3.5`" in batch.read_text()
    assert len(list((before / "owners").iterdir())) == 1
    gate_says(
        folder,
        3,
        "seen: no-go: 1 application with the verdict breaks; written, not seen: no-go: 1 artefact with",
    )
    gate_says(before, 3, "no-go: 1 application with the verdict breaks")
    gate_says(
        folder,
        3,
        "seen: go; written, not seen: no-go: 1 artefact",
        "--fail-on=degrades,breaks",
        only_safe=True,
    )


def gate_says(folder, code, sentence, *arguments, only_safe=False):
    """`only_safe`: of a copy of the report without the applications that break."""
    if only_safe:
        report = json.loads((folder / "report.json").read_text())
        places = {n for n, client in enumerate(report["clients"]) if client["verdict"] == "safe"}
        report["applications"] = [each for each in report["applications"] if set(each["clients"]) <= places]
        (folder / "report.json").write_text(json.dumps(report))
    with redirect_stdout(io.StringIO()) as out:
        ended = gate.main([str(folder), *arguments])
    assert (ended, out.getvalue().splitlines()[-1].startswith(sentence)) == (code, True), out.getvalue()
