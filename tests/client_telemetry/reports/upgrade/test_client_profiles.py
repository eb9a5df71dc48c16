from datetime import timedelta

import pytest
from client_telemetry.identity.hosts import host_names
from client_telemetry.reports.upgrade.build import build_report
from client_telemetry.reports.upgrade.client_profiles import COLUMNS, USE_COLUMNS
from client_telemetry.reports.upgrade.page import report_page

NOT_DECLARED = {"client_software_name": "unknown", "client_software_version": "unknown"}
SARAMA = {1: 4, 2: 1, 3: 5, 8: 1, 9: 1, 11: 1, 12: 0, 14: 0}


def profile(rows, **changes) -> dict:
    """A row of `clients`, with the columns that a report reads."""
    return {
        "principal": "User:orders",
        "client_id": "orders",
        **NOT_DECLARED,
        "dt": rows.DAY,
        "addresses": 1,
        "address_sample": ["10.1.2.3"],
        "listeners": ["SASL"],
        "group_ids": ["erp"],
        "transactional_ids": [],
        "topics": None,
        "related": [],
        "connections": 4,
        "first_seen_at": rows.START,
        "last_seen_at": rows.END + timedelta(hours=1),
        "api_uses": [{"api_key": key, "version": version, "requests": 9} for key, version in SARAMA.items()],
        **changes,
    }


@pytest.fixture
def report(rows):
    before = {"dt": rows.DAY - timedelta(days=1), "first_seen_at": rows.START - timedelta(days=1)}
    before |= {"last_seen_at": rows.END - timedelta(days=1), "address_sample": ["10.1.2.2"], "addresses": 9}
    related = {
        "relation": "two_applications",
        "client_id": "orders",
        "client_software_name": "apache-kafka-java",
        "client_software_version": "3.9.1",
        "because": "kafka-clients 3.9.1 names every connection",
    }
    given = [
        profile(rows, **before, transactional_ids=["tx-1"]),
        profile(rows, topics=["orders"], related=[related]),
    ]
    fix = "library not identified: if it is sarama: upgrade sarama to 1.41.0 or later; otherwise: upgrade it"
    verdict = rows.verdict("orders", "breaks", fix=fix, **NOT_DECLARED)
    hosts = host_names("10.1.2.3 erp-app-1\n10.1.2.0/24 erp-rack\n")
    return build_report(
        rows.question(1), [verdict], [], [], [], profile_rows=given, use_rows=given, hosts=hosts
    )


def test_what_the_days_say_of_a_client(report, rows):
    (client,) = report.clients
    assert (client.addresses, client.address_sample) == (9, ("10.1.2.2", "10.1.2.3"))
    assert client.hosts == ("erp-rack", "erp-app-1")
    assert (client.group_ids, client.transactional_ids, client.listeners) == (("erp",), ("tx-1",), ("SASL",))
    assert client.topics == ("orders",)
    assert [(day.dt, day.connections) for day in client.days_seen] == [
        (rows.DAY - timedelta(days=1), 4),
        (rows.DAY, 4),
    ]
    assert client.days_seen[1].last_seen_at == rows.END, "what came after the evidence ends does not count"
    assert client.candidates[0].library == "sarama" and client.candidates[0].exact == 8
    assert "sarama" in client.owner_question and "sarama Version" in client.owner_question


def test_what_is_read_of_the_days_is_enough(report, rows):
    """Stages read these columns, and no others."""
    given = [profile(rows)]
    read, used = ([{name: row[name] for name in names} for row in given] for names in (COLUMNS, USE_COLUMNS))
    verdict = rows.verdict("orders", "breaks", **NOT_DECLARED)
    (whole,), (enough,) = (
        build_report(rows.question(1), [verdict], [], [], [], profile_rows=some, use_rows=uses).clients
        for some, uses in ((given, given), (read, used))
    )
    assert enough == whole and enough.group_ids == ("erp",) and enough.candidates


def test_no_more_addresses_and_ids_are_kept_than_a_row_has(rows):
    days = [
        profile(
            rows,
            dt=rows.DAY - timedelta(days=day),
            first_seen_at=rows.START - timedelta(days=day),
            address_sample=[f"10.0.{day}.{n}" for n in range(3)],
            group_ids=[f"g-{day}-{n:02}" for n in range(40)],
            transactional_ids=[f"t-{day}-{n:02}" for n in range(40)],
        )
        for day in (0, 1)
    ]
    (client,) = build_report(
        rows.question(1),
        [rows.verdict("orders", **NOT_DECLARED)],
        [],
        [],
        [],
        profile_rows=days,
        use_rows=days,
    ).clients
    assert client.address_sample == ("10.0.0.0", "10.0.0.1", "10.0.0.2", "10.0.1.0", "10.0.1.1")
    assert len(client.group_ids) == len(client.transactional_ids) == 64
    assert client.group_ids[0] == "g-0-00" and client.transactional_ids[-1] == "t-1-23"


def test_the_panel_says_all_of_it(report):
    card = report_page(report).split('<article class="app"')[1].split("</article>")[0]
    for words in (
        "10.1.2.2, 10.1.2.3 and 7 more",
        "<dt>Hosts</dt><dd>erp-rack, erp-app-1</dd>",
        "<code>erp</code>",
        "<code>tx-1</code>",
        "Not the program that declares itself as",
        "apache-kafka-java 3.9.1",
        "github.com/IBM/sarama v1.41.0",
        "seen on 2 days",
    ):
        assert words in card


def test_every_candidate_has_a_change(report):
    card = report_page(report).split('<article class="app"')[1].split("</article>")[0]
    (client,) = report.clients
    assert len(client.candidates) > 1
    cells = card.split("<tbody>")[1].split("</tbody>")[0].split("<tr>")[1:]
    assert cells and not [cell for cell in cells if "<td></td>" in cell]


def test_a_client_that_came_after_the_evidence_has_no_profile(rows):
    late = profile(rows, first_seen_at=rows.END + timedelta(minutes=1))
    verdict = rows.verdict("orders", "breaks", **NOT_DECLARED)
    report = build_report(rows.question(1), [verdict], [], [], [], profile_rows=[late], use_rows=[late])
    assert report.clients[0].addresses == 0 and not report.clients[0].days_seen
