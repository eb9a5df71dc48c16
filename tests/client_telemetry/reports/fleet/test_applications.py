"""What pushes tell of applications."""

from client_telemetry.reports.fleet.applications import application_metrics, streams_applications
from client_telemetry.reports.fleet.files import files


def test_threads_and_admins_of_a_process_are_one_application(day_rows):
    def instance(client_id: str, applications: list[str], processes: list[str]) -> dict:
        return day_rows.instance(client_id=client_id, application_ids=applications, process_ids=processes)

    found = streams_applications(
        [
            instance("custom-1-StreamThread-1-consumer", [], ["p1"]),
            instance("custom-1-StreamThread-2-consumer", [], ["p1"]),
            instance("custom-1-admin", ["fraud"], ["p1"]),
            instance("other-admin", ["fraud"], ["p2"]),
            instance("no-admin-StreamThread-1-consumer", [], ["p3"]),
            instance("of-neither", [], []),
        ]
    )
    assert [(each.application_id, each.processes, each.instances) for each in found] == [
        (None, 1, 1),
        ("fraud", 2, 4),
    ]


def test_metrics_of_applications_are_listed_by_client(day_rows, build):
    rows = [
        day_rows.instance(client_id="orders", application_metrics=["org.apache.kafka.shop.carts"]),
        day_rows.instance(client_id="orders", application_metrics=["org.apache.kafka.shop.<i>"]),
    ]
    (found,) = application_metrics(rows)
    assert (found.client_id, found.instances) == ("orders", 2)
    assert found.metrics == ("org.apache.kafka.shop.<i>", "org.apache.kafka.shop.carts")
    made = files(build(with_application_metrics=rows))
    assert "shop.carts" in made["index.html"] and "shop.<i>" not in made["index.html"]
    assert "org.apache.kafka.shop.carts" in made["application_metrics.csv"]


def test_applications_with_metrics_are_in_order_of_client_id_and_principal(day_rows):
    clients = [("shop", "User:b"), ("shop", None), ("orders", "User:z"), ("shop", "User:a"), (None, "User:a")]
    found = application_metrics(
        day_rows.instance(client_id=client_id, principal=principal, application_metrics=["carts"])
        for client_id, principal in clients
    )
    assert [(each.client_id, each.principal) for each in found] == [
        (None, "User:a"),
        ("orders", "User:z"),
        ("shop", None),
        ("shop", "User:a"),
        ("shop", "User:b"),
    ]
