"""Artefacts that come back from rows of the table are those that were read, with the same verdicts."""

import datetime as dt
from dataclasses import replace
from pathlib import Path

import pytest
from client_telemetry.inventory import stored
from client_telemetry.inventory.rows import rows
from client_telemetry.inventory.written import collect, relative
from client_telemetry.tables.artefacts import ARTEFACTS

DATA = Path(__file__).parents[2] / "data/artefacts"
DAY = dt.date(2026, 11, 21)


def read(folder, source="3.9.1", target="4.0.0"):
    return relative(collect([folder], source, target), f"{folder}/")


def back(written, source="3.9.1", target="4.0.0"):
    return stored.written(rows(written.artefacts, "c", DAY, None), source, target)


def known(artefact):
    """What a join and its page take of an artefact; files may name one library several times in a place."""
    clients = {
        (
            str(found.place),
            found.client.text,
            found.client.library,
            found.client.written,
            found.client.why_unknown if not found.client.written else "",
            found.client.may_differ,
            found.judged,
        )
        for found in artefact.clients
    }
    worst = artefact.clients[0].judged.verdict if artefact.clients else None
    return artefact.kind, artefact.subject.digests, artefact.repository, artefact.names, worst, clients


@pytest.mark.parametrize("folder", ["public", "by_tools", "fleet", "fleet_images"])
def test_rows_give_the_artefacts_back(folder):
    written = read(DATA / folder)
    read_again = {each.name: known(each) for each in back(written).artefacts}
    assert len(read_again) == len(written.artefacts) > 1
    assert read_again == {each.name: known(each) for each in written.artefacts}


def test_they_are_judged_for_the_question_that_is_asked(tmp_path):
    (tmp_path / "requirements.txt").write_text("kafka-python==1.3.5\n")
    written = read(tmp_path, "2.8.0", "3.9.1")
    (of_then,), (of_now,) = back(written, "2.8.0", "3.9.1").artefacts, back(written).artefacts
    assert of_then.clients[0].judged.verdict != "breaks"
    assert of_now.clients[0].judged.verdict == "breaks"


def test_code_beside_it_decides_as_it_did(tmp_path):
    (tmp_path / "go.mod").write_text("module x\n\nrequire github.com/IBM/sarama v1.45.0\n")
    (tmp_path / "main.go").write_text(
        'package main\n\nimport "github.com/IBM/sarama"\n\nfunc main() {\n\tc := sarama.NewConfig()\n'
        "\tc.Version = sarama.V0_10_0_0\n}\n"
    )
    written = read(tmp_path)
    (found,) = back(written).artefacts[0].clients
    assert found.judged.verdict == "breaks"
    assert "main.go:7" in found.judged.explanation and str(tmp_path) not in found.judged.explanation


def test_rows_of_before_settings_were_kept_make_nothing_safe(tmp_path):
    (tmp_path / "go.mod").write_text("module x\n\nrequire github.com/IBM/sarama v1.45.0\n")
    (tmp_path / "main.go").write_text('package main\n\nimport "github.com/IBM/sarama"\n')
    (tmp_path / "app.properties").write_text("kafka.client.id=orders\n")
    whole = list(rows(read(tmp_path).artefacts, "c", DAY, None))
    assert stored.written(whole, "3.9.1", "4.0.0").artefacts[0].clients[0].judged.verdict == "safe"
    new = ("version_from", "names", "code_was_read", "pinned_versions", "sasl_mechanisms")
    old = [row | dict.fromkeys(new) for row in whole]
    (artefact,) = stored.written(old, "3.9.1", "4.0.0").artefacts
    assert artefact.clients[0].judged.verdict == "insufficient_evidence"
    assert [(name.kind, name.value) for name in artefact.names] == [("client id", "orders")]


def test_a_package_that_is_not_known_any_more_is_what_its_row_says(tmp_path):
    (tmp_path / "requirements.txt").write_text("kafka-python==1.3.5\n")
    (row,) = rows(read(tmp_path).artefacts, "c", DAY, None)
    (artefact,) = stored.written([row | {"purl": "pkg:pypi/acme-kafka@9"}], "3.9.1", "4.0.0").artefacts
    (found,) = artefact.clients
    assert (found.client.library, found.client.written.version, found.judged.verdict) == (
        "kafka-python",
        "1.3.5",
        "breaks",
    )


def test_every_column_is_in_every_row(tmp_path):
    (tmp_path / "requirements.txt").write_text("kafka-python==1.3.5\n")
    written = read(tmp_path)
    empty = [replace(each, clients=()) for each in written.artefacts]
    names = {column.name for column in ARTEFACTS.columns}
    assert all(set(row) == names for of in (written.artefacts, empty) for row in rows(of, "c", DAY, None))
