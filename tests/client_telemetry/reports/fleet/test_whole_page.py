"""The files of a small fleet that has all that a page can say, as tests/data/reports/whole/fleet/ keeps them: each word,
number and coordinate."""

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from client_telemetry.reports.fleet.build import build_fleet_day
from client_telemetry.reports.fleet.day_curves import FleetCurves, Grid, GroupDay
from client_telemetry.reports.fleet.files import files

PRODUCER = "org.apache.kafka.producer."
UNNAMED = {"name": "unknown", "version": "unknown"}


def clients(day_rows) -> list[dict]:
    kgo = {"client_id": "b", "client_software_name": "kgo", "client_software_version": "v1.15.4"}
    related = [
        {"relation": relation, **kgo, "because": f"because {relation}"}
        for relation in ("two_applications", "doubtful", "same_principal_and_address", "another")
    ]
    guess = {"looks_like": "probably sarama 1.28.0", "looks_like_because": ["its client id", "its requests"]}
    old = [day_rows.use(0, 2, 1500), day_rows.use(1, 3, 1), day_rows.use(11, 1, 5, 2), day_rows.use(3, 5)]
    sarama = [day_rows.use(key, version) for key, version in ((0, 3), (1, 10), (3, 5), (8, 1), (9, 1))]
    return [
        day_rows.client("a", connections=1200, instances=2, application="shop"),
        day_rows.client("a-2", version="3.7.0", application="shop", principal="User:a", owner=None),
        day_rows.client("b", "kgo", "v1.15.4", related=related, addresses=9, address_sample=["10.0.0.2", "::1"]),
        day_rows.client("c", **UNNAMED, **guess, api_uses=old, refusals=3),
        day_rows.client("d", **UNNAMED, **guess, flags=["short_lived"], first_seen_at=None, last_seen_at=None),
        day_rows.client("e", **UNNAMED, api_uses=sarama, owner=None, client_family=None),
        day_rows.client(None, "librdkafka", "2.3.0", principal=None, api_uses=old[:1], instances=0),
        day_rows.client("", "librdkafka", "unknown", last_seen_at=day_rows.AT + timedelta(hours=9)),
        day_rows.client(None, **UNNAMED, principal=None, api_uses=[], refusals=7),
    ]  # fmt: skip


def instances(day_rows) -> list[dict]:
    total, queue = PRODUCER + "connection.creation.total", PRODUCER + "record.queue.time.avg"
    return [
        day_rows.instance([total, queue], client_id="a", number=2),
        day_rows.instance([total], client_id="a", families=["producer", "consumer"]),
        day_rows.instance([], client_id="b", client_software_name="kgo", client_software_version="v1.15.4"),
        day_rows.instance(client_id="x", families=[]),
    ]


def curves() -> FleetCurves:
    grid = Grid.of(1795239560.0, 1795239760.0)
    kgo, none = GroupDay("kgo", "v1.15.4", 1, grid), GroupDay("unknown", "unknown", 3, grid)
    shop = GroupDay("shop <team>", None, 2, grid)
    shop.add_connections(2, 4)
    for slot in range(grid.slots):
        kgo.add_connections(slot, slot % 3)
        for api_key in range(7):
            kgo.add_requests(api_key, 3, slot, 10.0 * api_key + slot, slot // 7)
    none.add_requests(0, 2, 3, 0.0, 5.0)
    none.add_metric("producer.request.latency.avg", 4, 12.54321)
    none.add_metric("producer.request.latency.avg", 6, 1.5)
    return FleetCurves(grid, ((1795239600.0, "broker 3 started on 4.0.1"),), (kgo, none), (shop,))


def fleet(day_rows):
    before, week = day_rows.DAY - timedelta(days=1), day_rows.DAY - timedelta(days=7)
    who = {"principal": "User:a", "client_software_name": "kgo", "client_software_version": "v1.15.4"}
    refused = {"client_id": "b", "instances": 1, "first_at": day_rows.AT, "last_at": day_rows.AT, **who}
    never = {"client_id": "n", "client_addresses": ["10.0.0.1"], "broker_ids": [1], **who}
    never |= {"first_evidence_at": day_rows.AT, "last_evidence_at": day_rows.AT}
    counted = [
        {"api_key": key, "version": version, "requests": 4000} for key, version in ((0, 2), (1, 3), (3, 9))
    ]
    check = {
        "dt": day_rows.DAY,
        "stage": "profile",
        "table_name": "client_connections",
        "severity": "warning",
        "success": False,
        "rows": 50,
        "unexpected_count": None,
        "observed_value": "0.529412",
        "result": None,
    }
    checks = [
        check | {"expectation": "few_unnamed", "description": "clients without a software name, as a share"},
        check
        | {
            "expectation": "b",
            "observed_value": "257",
            "rows": 7541,
            "unexpected_count": 257,
            "description": "b",
            "result": json.dumps(
                {
                    "result": {
                        "partial_unexpected_list": [{"client_id": "<b>orders", "api_uses": [{"api_key": 0}]}]
                    }
                }
            ),
        },
        check
        | {"expectation": "c", "observed_value": "1", "severity": "critical", "description": "as many rows"},
        check | {"expectation": "d", "observed_value": None, "success": True, "description": "held"},
    ]
    found = build_fleet_day(
        day_rows.DAY,
        clients(day_rows),
        instances(day_rows),
        {("User:orders", "a", "apache-kafka-java", "3.9.1"): 7},
        [day_rows.hour(h, counted if h == 5 else None, b) for h in (4, 5, 6) for b in (1, 2)],
        [
            day_rows.broker(subscriptions=[day_rows.subscription(PRODUCER, client_id="a")]),
            day_rows.broker(2, "4.0.0", subscriptions=[day_rows.subscription("*", client_software_name="kgo")]),
        ],
        checks,
        {
            before: [day_rows.client("a"), day_rows.client("gone", version="2.0.0", api_uses=[day_rows.use(0, 2)])],
            week: None,
        },
        with_application_metrics=[
            day_rows.instance(client_id="a", application_metrics=["shop.carts", "shop.visits"]),
            day_rows.instance(client_id="b", application_metrics=["shop.carts"]),
        ],
        of_streams=[
            day_rows.instance(client_id="f-1-StreamThread-1-consumer", application_ids=[], process_ids=["p1"]),
            day_rows.instance(client_id="f-1-admin", application_ids=["fraud"], process_ids=["p1"]),
            day_rows.instance(client_id="g-1-consumer", application_ids=[], process_ids=["p3"]),
        ],
        refused_pushes=[refused | {"error_code": code, "pushes": code % 50} for code in (42, 89, 117, 118, 7)],
        never_pushed=[never | {"client_instance_id": bytes(range(n, n + 16))} for n in (3, 1)],
        cluster_id="fL33tG0ldTruth000000-w",
        cluster_name="fleet",
        snapshots={"clients": 2, "brokers": 1},
        knowledge_version="0123456789abcdef",
        knowledge_built_at=datetime(2026, 11, 18, 4, tzinfo=UTC),
        code_version="0.1.0",
        created_at=day_rows.AT,
    )  # fmt: skip
    return replace(found, curves=curves())


def test_whole_page(day_rows, same_as_kept):
    written = files(fleet(day_rows))
    same_as_kept("reports/whole/fleet", written, is_whole=True)


def test_whole_search_index(day_rows, same_as_kept):
    index = day_rows.index_of(clients(day_rows)[:4], instances(day_rows)[:2])
    same_as_kept("reports/whole/search", {name: "".join(text) for name, text in index.files()}, is_whole=True)
