import csv
import datetime as dt

from client_telemetry.cli.history import OF_CLIENTS, STATES, histories, main

FIRST = dt.date(2026, 11, 1)
DAYS = [FIRST + dt.timedelta(days=n) for n in range(10) if n != 6]
"""Nine days were published; the seventh was not."""


def seen(number: int, **columns) -> dict:
    at = dt.datetime.combine(FIRST, dt.time(12), dt.UTC) + dt.timedelta(days=number)
    return {
        "cluster_id": "c",
        "dt": at.date(),
        "principal": "User:app",
        "client_family": "app-{n}",
        "application": "app-1",
        "client_software_name": "kgo",
        "client_id": "app-1",
        "client_software_version": "v1.21.0",
        "instances": 2,
        "connections": 4,
        "first_seen_at": at,
        "last_seen_at": at + dt.timedelta(hours=1),
    } | columns


def history(*rows: dict):
    (found,) = histories(rows, {"c": DAYS})
    return found


def test_here():
    found = history(*(seen(n) for n in range(10)))
    assert (found.state, found.days_seen, found.silent_days, found.longest_silence_days) == ("here", 9, 0, 0)
    assert found.gone_since is None
    assert found.first_seen_at.date() == FIRST


def test_gone_since_its_last_request():
    found = history(seen(0), seen(1), seen(2))
    assert (found.state, found.silent_days) == ("gone", 6)
    assert found.gone_since == seen(2)["last_seen_at"]


def test_no_longer_silent_than_before():
    found = history(seen(0), seen(5))
    assert (found.state, found.longest_silence_days, found.silent_days) == ("silent", 4, 3)
    assert found.gone_since is None


def test_days_that_were_not_published_are_no_silence():
    found = history(*(seen(n) for n in (4, 5, 7, 8, 9)))
    assert found.longest_silence_days == 0
    assert history(seen(6), seen(9)).days_seen == 1


def test_a_family_survives_new_ids_and_upgrades():
    found = history(
        seen(8, client_id="app-1", client_software_version="v1.21.0"),
        seen(9, client_id="app-2", client_software_version="v1.22.2"),
        seen(9, client_id="app-3", client_software_version="v1.22.2"),
    )
    assert (found.client_ids, found.software_versions) == (3, ("v1.21.0", "v1.22.2"))
    assert (found.instances_per_day, found.connections_per_day) == (3, 6)


def test_families_are_distinguished():
    rows = [
        seen(9),
        seen(9, principal="User:b"),
        seen(9, client_family=None),
        seen(9, client_software_name="unknown"),
    ]
    assert len(histories(rows, {"c": DAYS}, OF_CLIENTS)) == 4
    assert histories([seen(9, cluster_id="d")], {"c": DAYS}) == []


def test_clients_of_one_application_are_one_row():
    """Of a Connect worker whose connectors come and go, as long as one of them is there."""
    worker = {"application": "connect-sinks", "client_software_name": "apache-kafka-java"}
    connectors = [
        seen(0, client_id="connector-consumer-a-0", client_family="connector-consumer-a-{n}", **worker),
        seen(9, client_id="connector-consumer-b-0", client_family="connector-consumer-b-{n}", **worker),
    ]
    found = history(*connectors)
    assert (found.application_family, found.state, found.client_ids) == ("connect-sinks", "here", 2)
    assert [each.state for each in histories(connectors, {"c": DAYS}, OF_CLIENTS)] == ["gone", "here"]


def test_an_application_that_is_named_by_its_pod_is_one_row():
    pods = [
        seen(8, application="orders-7d9f8b6c54-x2x7k"),
        seen(9, application="orders-6c4b9f7d8c-q9w2z"),
    ]
    assert history(*pods).application_family == "orders-{pod}"


def test_every_state_is_explained():
    assert set(STATES) == {"here", "silent", "gone"}


def test_the_sample_as_csv(sample_run, capsys):
    asked = ["--lake", str(sample_run.folder / "lake"), "--cluster", "fL33tG0ldTruth000000-w"]
    assert main(asked) == 0
    applications = list(csv.DictReader(capsys.readouterr().out.splitlines()))
    assert main([*asked, "--clients"]) == 0
    rows = list(csv.DictReader(capsys.readouterr().out.splitlines()))
    assert {row["state"] for row in (*rows, *applications)} == {"here"}, "there is one day"
    assert len({row["application_family"] for row in applications}) <= len(applications) < len(rows)
    (form,) = [
        row for row in rows if "HYPERLINK" in row["client_family"] and row["software_versions"] == "v1.15.4"
    ]
    assert form["client_family"].startswith("'="), "no spreadsheet takes it for a formula"


def test_an_empty_lake_is_reported(tmp_path, capsys):
    assert main(["--lake", str(tmp_path)]) == 2
    assert "no lake at" in capsys.readouterr().err


def test_a_database_that_does_not_answer_is_one_line(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("PYICEBERG_CATALOG__LAKE__TYPE", "sql")
    monkeypatch.setenv("PYICEBERG_CATALOG__LAKE__URI", "postgresql+psycopg2://nobody@127.0.0.1:1/none")
    assert main([f"--lake={tmp_path}"]) == 1
    error = capsys.readouterr().err
    assert error.startswith("client-telemetry history: the catalog's database: ") and error.count("\n") == 1
