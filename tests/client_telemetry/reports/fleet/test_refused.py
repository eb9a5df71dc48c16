"""Pushes that brokers refused are on the page, with what each error means."""

from client_telemetry.reports.fleet.files import files
from client_telemetry.reports.fleet.refused import refused_pushes


def row(day_rows, error_code: int, pushes: int = 1, client_id: str = "orders") -> dict:
    return {
        "principal": "User:orders",
        "client_id": client_id,
        "client_software_name": "apache-kafka-java",
        "client_software_version": "4.3.1",
        "error_code": error_code,
        "pushes": pushes,
        "instances": 1,
        "first_at": day_rows.AT,
        "last_at": day_rows.AT,
    }


def test_every_error_of_a_broker_has_a_name_and_a_consequence(day_rows):
    found = refused_pushes(row(day_rows, code) for code in (42, 76, 87, 89, 117, 118, 7))
    names = {each.error_code: each.error for each in found}
    assert names[89] == "THROTTLING_QUOTA_EXCEEDED" and names[7] == "error 7"
    assert all("delta values" in each.consequence for each in found)
    assert "never pushes again" in next(each.consequence for each in found if each.error_code == 87)


def test_they_are_on_the_page_and_in_a_table(build, day_rows):
    fleet = build(refused=[row(day_rows, 117, 3), row(day_rows, 89, 12, "=x")])
    made = files(fleet)
    assert [each.pushes for each in fleet.refused_pushes] == [12, 3]
    assert "Pushes that brokers refused" in made["index.html"]
    assert made["refused.csv"].count("\r\n") == 3 and "'=x" in made["refused.csv"]


def test_instances_that_asked_and_did_not_push_are_named_and_found(build, day_rows):
    row = {
        "principal": "User:orders",
        "client_id": "<orders>",
        "client_software_name": "apache-kafka-java",
        "client_software_version": "4.3.1",
        "client_instance_id": bytes(range(16)),
        "client_addresses": ["10.0.0.1"],
        "broker_ids": [1],
        "first_evidence_at": day_rows.AT,
        "last_evidence_at": day_rows.AT,
    }
    fleet = build(never_pushed=[row], asked={("User:orders", "<orders>", "apache-kafka-java", "4.3.1"): 1})
    made = files(fleet)
    for name in ("index.html", "never_pushed.csv", "fleet.json"):
        assert "AAECAwQFBgcICQoLDA0ODw" in made[name]
    assert "<orders>" not in made["index.html"]


def test_the_search_index_has_groups_transactional_ids_and_racks(day_rows):
    instance = day_rows.instance(racks=["eu-1"], group_ids=["g"], transactional_ids=["tx"])
    client = day_rows.client(group_ids=["g"], transactional_ids=["tx"])
    document = day_rows.text_of(day_rows.index_of([client], [instance]), "search.json")
    assert '"group_ids":["g"],"transactional_ids":["tx"]' in document and '"racks":["eu-1"]' in document
