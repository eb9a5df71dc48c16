import csv
import datetime as dt
from collections import defaultdict
from collections.abc import Iterable, Sequence

import pytest
from client_telemetry.identity.owners import load_owner_rules
from client_telemetry.knowledge import apis
from client_telemetry.profile.clients import clients
from client_telemetry.tables.client_connections import CLIENT_CONNECTIONS
from client_telemetry.tables.client_sessions import CLIENT_SESSIONS
from client_telemetry.tables.clients import CLIENTS, MAX_RELATED
from client_telemetry.tables.table import Table
from pyspark.sql import DataFrame, SparkSession

from tests.client_telemetry.conftest import ENGINES, queries_on

DAY = dt.date(2026, 11, 21)
NOON = dt.datetime(2026, 11, 21, 12, tzinfo=dt.UTC)
RULES = load_owner_rules(
    """
    - {name: orders, owner: orders, contact: orders@example.com, principal: 'User:orders'}
    - {name: lab, owner: lab, group_id: 'lab-.*'}
    - {name: far away, owner: operations, client_address: '10\\.9\\..*'}
    """
)


def use(api_key: int, version: int, requests: int, rejected: int = 0, minute: int = 0) -> dict:
    at = NOON + dt.timedelta(minutes=minute)
    return {
        "api_key": api_key,
        "version": version,
        "requests": requests,
        "rejected": rejected,
        "first_request_at": at,
        "last_request_at": at,
    }


def frame(spark: SparkSession, table: Table, rows: Iterable[dict]) -> DataFrame:
    names = [column.name for column in table.columns]
    assert all(row.keys() <= set(names) for row in rows)
    return spark.createDataFrame(
        [tuple(row.get(name) for name in names) for row in rows], _nullable(table.schema)
    )


def connection(number: int, **columns) -> dict:
    return {
        "cluster_id": "c",
        "dt": DAY,
        "broker_id": 1,
        "broker_incarnation": "0f" * 16,
        "opened_at": NOON,
        "first_seen_at": NOON + dt.timedelta(minutes=number),
        "last_seen_at": NOON + dt.timedelta(minutes=number + 1),
        "end_known_by": "still_open",
        "client_id": "app",
        "principal": "User:orders",
        "client_address": f"10.0.0.{number}",
        "listener_name": "CLIENTS",
        "security_protocol": "SASL_SSL",
        "connection_id": str(number),
        "client_software_name": "kgo",
        "client_software_version": "v1.22.2",
        "broker_software_version": "3.9.1",
        "api_uses": [],
        "group_ids": [],
        "transactional_ids": [],
        "topics": None,
        "events": 1,
        "source_objects": ["x"],
        "first_sequence": number,
        "last_sequence": number,
        "flags": [],
    } | columns


def session(number: int, **columns) -> dict:
    return {
        "cluster_id": "c",
        "dt": DAY,
        "client_instance_id": bytes([number] * 16),
        "first_evidence_at": NOON - dt.timedelta(hours=1),
        "last_evidence_at": NOON,
        "end_reason": "still_open",
        "client_id": "app",
        "principal": "User:orders",
        "client_software_name": "kgo",
        "client_software_version": "v1.22.2",
        "client_addresses": ["10.0.0.1", "10.0.0.77"],
        "flags": [],
    } | columns


CASES: dict[str, tuple[list[dict], list[dict]]] = {}


def case(connections: list[dict], sessions: Sequence[dict] = ()) -> str:
    """Rows of a cluster of its own, whose id this returns: `profiled` has its clients. One run serves all cases."""
    cluster = f"cluster {len(CASES)}"
    CASES[cluster] = tuple(
        [row | {"cluster_id": cluster} for row in rows] for rows in (connections, sessions)
    )
    return cluster


@pytest.fixture(scope="module", params=ENGINES)
def profiled(request: pytest.FixtureRequest, spark: SparkSession) -> dict[str, list[dict]]:
    """Rows of `clients` of each case, by its cluster id."""
    connections, sessions = (
        [row for rows in each for row in rows] for each in zip(*CASES.values(), strict=True)
    )
    by_cluster = defaultdict(list)
    for client in found(spark, request.param, connections, sessions):
        by_cluster[client["cluster_id"]].append(client)
    return by_cluster


def found(
    spark: SparkSession, engine: str, connections: Iterable[dict], sessions: Iterable[dict]
) -> list[dict]:
    frames = frame(spark, CLIENT_CONNECTIONS, connections), frame(spark, CLIENT_SESSIONS, sessions)
    return of_frames(engine, *frames, RULES)


def of_frames(engine: str, connections: DataFrame, sessions: DataFrame, rules: tuple) -> list[dict]:
    frames = {CLIENT_CONNECTIONS.name: connections, CLIENT_SESSIONS.name: sessions}
    with queries_on(engine, frames) as of_day:
        rows = list(of_day.answers({"clients": clients(of_day, rules, "fleet")})["clients"])
    assert all(list(row) == [column.name for column in CLIENTS.columns] for row in rows)
    return rows


def _nullable(schema):
    for field in schema:
        field.nullable = True
    return schema


@pytest.fixture(scope="module", params=ENGINES)
def fleet_clients(request: pytest.FixtureRequest, fleet) -> list[dict]:
    rules = load_owner_rules((fleet.folder.parent / "owners.yaml").read_text())
    return of_frames(request.param, fleet.connections, fleet.sessions, rules)


def test_clusters_and_requests_have_names(fleet_clients):
    assert {client["cluster_name"] for client in fleet_clients} == {"fleet"}
    for client in fleet_clients:
        named = [f"{apis.name(use['api_key'])} v{use['version']}" for use in client["api_uses"]]
        assert client["request_versions"] == named
    assert any("JoinGroup v" in named for client in fleet_clients for named in client["request_versions"])


USES = [
    [use(0, 9, 10), use(18, 4, 1)],
    [use(0, 9, 5, minute=3), use(1, 12, 7, rejected=1)],
]
ONE_CLIENT = case(
    [
        connection(1, api_uses=USES[0], topics=["t2"], group_ids=["b"], listener_name="B"),
        connection(2, api_uses=USES[1], topics=["t1", "t2"], group_ids=["a", "b"], listener_name="A"),
        connection(3, broker_software_version=None, listener_name=""),
    ],
    [session(1), session(2)],
)


def test_connections_and_sessions_of_one_client(profiled):
    (client,) = profiled[ONE_CLIENT]
    assert (client["connections"], client["refusals"], client["instances"]) == (3, 0, 2)
    assert client["addresses"] == 4
    assert client["address_sample"] == ["10.0.0.1", "10.0.0.2", "10.0.0.3", "10.0.0.77"]
    assert client["listeners"] == ["A", "B"]
    assert client["group_ids"] == ["a", "b"]
    assert client["topics"] == ["t1", "t2"]
    assert client["broker_software_versions"] == ["3.9.1"]
    assert [(u["api_key"], u["version"], u["requests"], u["rejected"]) for u in client["api_uses"]] == [
        (0, 9, 15, 0),
        (1, 12, 7, 1),
        (18, 4, 1, 0),
    ]
    produce = client["api_uses"][0]
    assert produce["last_request_at"] - produce["first_request_at"] == dt.timedelta(minutes=3)
    assert client["first_seen_at"] == NOON - dt.timedelta(hours=1)
    assert client["last_seen_at"] == NOON + dt.timedelta(minutes=4)
    assert (client["owner"], client["owner_contact"], client["owner_rule"]) == (
        "orders",
        "orders@example.com",
        "orders",
    )
    assert client["flags"] == []


NULL_EMPTY_UNKNOWN = case(
    [
        connection(1, client_id=None),
        connection(2, client_id=""),
        connection(3),
        connection(4, client_software_name="unknown", client_software_version="unknown"),
        connection(5, client_software_name="", client_software_version=""),
        connection(6, principal=""),
        connection(7, client_id=None, api_uses=[use(0, 9, 1)]),
    ],
    [session(1, client_id=None)],
)


def test_null_empty_and_unknown_are_different_clients(profiled):
    rows = profiled[NULL_EMPTY_UNKNOWN]
    by_key = {(r["principal"], r["client_id"], r["client_software_name"]): r for r in rows}
    assert len(rows) == len(by_key) == 6
    nameless = by_key["User:orders", None, "kgo"]
    assert (nameless["connections"], nameless["instances"], len(nameless["api_uses"])) == (2, 1, 1)
    assert nameless["flags"] == ["no_client_id"]
    assert (nameless["client_id_sanitized"], nameless["client_id_jmx"]) == (None, None)
    assert "shared_client_id" in by_key["User:orders", "app", "kgo"]["flags"]
    assert {"shared_client_id", "software_unknown"} <= set(by_key["User:orders", "app", "unknown"]["flags"])
    assert by_key["", "app", "kgo"]["related"] == [], "nothing is known of the principal"
    assert by_key["", "app", "kgo"]["owner"] is None


WITHOUT_NAMES = {
    "client_id": None,
    "principal": "",
    "client_software_name": "",
    "client_software_version": "",
}
REFUSED = [use(0, 2, 0, rejected=1)]
NOBODY = case(
    [
        connection(1, **WITHOUT_NAMES, api_uses=REFUSED),
        connection(2, **WITHOUT_NAMES, connection_id="", api_uses=REFUSED, flags=["no_connection"]),
    ],
)


def test_refusals_without_anybody(profiled):
    (client,) = profiled[NOBODY]
    assert (client["connections"], client["refusals"], client["instances"]) == (1, 1, 0)
    assert client["api_uses"][0]["rejected"] == 2
    assert client["flags"] == ["no_client_id", "software_unknown", "unidentified"]


FAR = [
    *(connection(n, principal="User:x", client_address=f"10.1.0.{n}") for n in range(1, 9)),
    connection(9, principal="User:x", client_address="10.9.0.1"),
]
BY_ADDRESS = case(FAR)
BY_GROUP = case([*FAR, connection(10, principal="User:x", group_ids=["lab-7"])])


def test_owner_by_any_group_or_address_however_many(profiled):
    (client,) = profiled[BY_ADDRESS]
    assert client["owner"] == "operations", "the address is not in the sample of five"
    (client,) = profiled[BY_GROUP]
    assert client["owner"] == "lab"


TOMORROW = {"dt": DAY + dt.timedelta(days=1)}
TWO_DAYS = case([connection(1), connection(2, **TOMORROW)], [session(1, **TOMORROW)])


def test_days_are_apart(profiled):
    by_day = {client["dt"]: (client["connections"], client["instances"]) for client in profiled[TWO_DAYS]}
    assert by_day == {DAY: (1, 0), TOMORROW["dt"]: (1, 1)}


REFUSED_NAME = case([connection(1, flags=["name_refused"]), connection(2)])


OLD_SARAMA = [
    use(key, version, 9) for key, version in ((0, 3), (1, 4), (2, 1), (3, 4), (8, 1), (9, 1), (10, 0))
]
ON_A_PLATFORM = case(
    [
        connection(
            1,
            client_id="sarama",
            client_software_name="unknown",
            broker_software_version=release,
            api_uses=OLD_SARAMA,
        )
        for release in ("7.6.1-ccs", "7.6.2-ccs")
    ]
)
ELSEWHERE = case(
    [
        connection(
            1,
            client_id="sarama",
            client_software_name="unknown",
            broker_software_version="automq 3.6.1",
            api_uses=OLD_SARAMA,
        )
    ]
)


def test_brokers_of_a_platform_answer_as_their_kafka_does(profiled):
    (client,) = profiled[ON_A_PLATFORM]
    assert client["looks_like"] and "sarama" in client["looks_like"]
    (client,) = profiled[ELSEWHERE]
    assert client["looks_like"] is None


def test_names_that_the_broker_refused(profiled):
    (client,) = profiled[REFUSED_NAME]
    assert client["flags"] == ["name_refused"]


SPELLINGS = case([connection(1, client_id='=HYPERLINK("http://x")<b>')])


def test_kafkas_spellings_of_the_client_id(profiled):
    (client,) = profiled[SPELLINGS]
    assert client["client_id_sanitized"] == "%3DHYPERLINK%28%22http%3A%2F%2Fx%22%29%3Cb%3E"
    assert client["client_id_jmx"] == '"=HYPERLINK(\\"http://x\\")<b>"'


DEFAULT_CLIENT_IDS = {
    "edge-gateway": "sarama",
    "adhoc-notebook": "rdkafka",
    "erp-audit": "kafka-python-1.4.7",
    "erp-pyk": "pykafka",
}
"""What the libraries send when the application sets no client id (README of the fleet)."""


OWNERS = {"edge": None, "adhoc": None, "monthly": "platform"}
"""Teams of apps.csv that the sample's owner rules do not name; the monthly script runs as User:platform."""


def test_every_application_of_the_fleet_is_a_client(fleet, fleet_clients: list[dict]):
    with (fleet.folder / "apps.csv").open(newline="") as file:
        apps = list(csv.DictReader(file))
    assert len(apps) == 44
    for app in apps:
        client_id = DEFAULT_CLIENT_IDS.get(app["app"], app["client_id"])
        same = [
            c
            for c in fleet_clients
            if (c["principal"], c["client_id"]) == (f"User:{app['principal']}", client_id)
        ]
        assert same, app["app"]
        assert {listener for c in same for listener in c["listeners"]} == {app["listener"]}
        # kafka-node joins the group of erp-orders under a client id of its own.
        if app["group"] and app["app"] != "erp-orders":
            assert app["group"] in {group for c in same for group in c["group_ids"]}
        assert {c["owner"] for c in same} == {OWNERS.get(app["team"], app["team"])}, app["app"]


def test_nothing_of_the_fleet_is_lost(fleet, fleet_clients: list[dict]):
    assert sum(c["connections"] for c in fleet_clients) == fleet.connections.count()
    assert sum(c["instances"] for c in fleet_clients) == fleet.sessions.count()
    requests = "aggregate(api_uses, 0L, (n, use) -> n + use.requests + use.rejected)"
    counted = fleet.connections.selectExpr(f"sum({requests})").first()[0]
    assert sum(u["requests"] + u["rejected"] for c in fleet_clients for u in c["api_uses"]) == counted


def relations(client: dict) -> list[tuple]:
    return [(o["relation"], o["client_id"], o["client_software_name"]) for o in client["related"]]


def test_applications_of_the_fleet_that_share_or_split_a_client_id(fleet_clients: list[dict]):
    """What apps.csv and the README of the fleet say of them; nobody else is related to anybody."""
    by_key = {(c["client_id"], c["client_software_name"]): relations(c) for c in fleet_clients}
    related = {key: found for key, found in by_key.items() if found}
    form = '=HYPERLINK("http://x")<b>'
    one, two, beside = "one_application", "two_applications", "same_principal_and_address"
    assert related == {
        ("search-feed", "kafka-python"): [(one, "search-feed", "unknown")],
        ("search-feed", "unknown"): [(one, "search-feed", "kafka-python")],
        (form, "kgo"): [(one, form, "unknown")],
        (form, "unknown"): [(one, form, "kgo")],
        ("orders-service", "apache-kafka-java"): [(two, "orders-service", "unknown")],
        ("orders-service", "unknown"): [(two, "orders-service", "apache-kafka-java")],
        ("erp-orders", "unknown"): [(beside, "kafka-node-client", "unknown")],
        ("kafka-node-client", "unknown"): [(beside, "erp-orders", "unknown")],
    }


def test_applications_of_the_fleet(fleet, fleet_clients: list[dict]):
    """apps.csv lists 44, two of them later deployments; beside the scripts that ran the cluster nothing else is one."""
    with (fleet.folder / "apps.csv").open(newline="") as file:
        apps = {row["app"]: row for row in csv.DictReader(file)}
    found = {(c["principal"], c["application"]) for c in fleet_clients if c["principal"]}
    found = {each for each in found if not each[1].startswith(("lab-admin", "ops-admin"))}
    assert len(found) == len(apps) == 44
    parts = defaultdict(set)
    for client in fleet_clients:
        parts[client["application"]].add(client["client_id"])
    assert parts["erp-orders"] == {"erp-orders", "kafka-node-client"}
    shared = {c["application"] for c in fleet_clients if c["client_id"] == "orders-service"}
    assert shared == {"orders-service (apache-kafka-java 3.9.1)", "orders-service (not declared)"}


LIBRARIES = {
    "segmentio/kafka-go": "kafka-go",
    "confluent-kafka": "librdkafka",
    "confluent-kafka-go": "librdkafka",
    "confluent-kafka-python": "librdkafka",
}
"""As the knowledge base calls what apps.csv names by its package."""


def test_libraries_and_roles_of_the_fleet(fleet, fleet_clients: list[dict]):
    """A declared library is right, and a guess names no other library than the one that it is."""
    guessed = 0
    with (fleet.folder / "apps.csv").open(newline="") as file:
        for app in csv.DictReader(file):
            client_id = DEFAULT_CLIENT_IDS.get(app["app"], app["client_id"])
            library = LIBRARIES.get(app["library"], app["library"])
            for client in fleet_clients:
                if (client["principal"], client["client_id"]) != (f"User:{app['principal']}", client_id):
                    continue
                if client_id == "orders-service" and (app["version"] == "3.9.1") != bool(client["library"]):
                    continue
                assert client["library"] in (None, library), app["app"]
                guess = client["looks_like"] or library
                assert library in guess, app["app"]
                if guess.startswith("probably"):
                    assert guess.startswith(f"probably {library}"), app["app"]
                guessed += client["looks_like"] is not None and guess.startswith("probably")
                if app["role"] == "group" and client["roles"]:
                    assert client["roles"] == ["group_consumer"], app["app"]
    assert guessed >= 5


CLOSED = {"end_known_by": "closed_event"}
SHORT_LIVES = case(
    [
        connection(1, **CLOSED),
        connection(2, **CLOSED, last_seen_at=NOON + dt.timedelta(seconds=59)),
        connection(3),
        connection(4, connection_id="", flags=["no_connection"], **CLOSED),
    ],
    [
        session(1),
        session(2, end_reason="gap_timeout", first_evidence_at=NOON - dt.timedelta(seconds=30)),
        session(3, started_at=NOON - dt.timedelta(days=2)),
    ],
)


def test_short_sessions_and_medians(profiled):
    (client,) = profiled[SHORT_LIVES]
    assert (client["connections"], client["short_lived_connections"]) == (3, 1)
    assert client["median_connection_seconds"] == 120
    assert (client["instances"], client["short_lived_instances"]) == (3, 1)
    assert client["median_instance_seconds"] == 3600


MANY_VERSIONS = case(
    [
        *(connection(n, client_software_version=f"v1.{n}.0") for n in range(40)),
        connection(50, client_software_name="unknown", client_software_version="unknown"),
    ]
)


def test_one_client_id_with_many_software_versions_stays_bounded(profiled):
    clients_ = profiled[MANY_VERSIONS]
    (unnamed,) = [c for c in clients_ if c["client_software_name"] == "unknown"]
    assert len(clients_) == 41
    assert len(unnamed["related"]) == MAX_RELATED - 1


def test_one_client_id_with_two_softwares_stays_two_clients(fleet_clients: list[dict]):
    """`orders-service` is kafka-clients 0.10.2.2, which sends no name, and 3.9.1."""
    services = [c for c in fleet_clients if c["client_id"] == "orders-service"]
    assert {c["client_software_name"] for c in services} == {"apache-kafka-java", "unknown"}
    assert all("shared_client_id" in c["flags"] for c in services)
    produced = {
        c["client_software_name"]: [u["version"] for u in c["api_uses"] if u["api_key"] == 0]
        for c in services
    }
    assert produced["unknown"] == [2] and 2 not in produced["apache-kafka-java"]


def test_owners_are_the_same_with_one_batch_and_with_many(spark: SparkSession):
    rows = [connection(n, client_id=f"app-{n}", principal=f"User:{n % 3}") for n in range(200)]
    spark.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", "7")
    try:
        small = found(spark, ENGINES[0], rows, [])
    finally:
        spark.conf.unset("spark.sql.execution.arrow.maxRecordsPerBatch")
    key = lambda row: row["client_id"]  # noqa: E731
    assert sorted(small, key=key) == sorted(found(spark, ENGINES[1], rows, []), key=key)
    assert len(small) == 200


def test_both_engines_give_the_same_rows(spark: SparkSession):
    connections, sessions = (
        [row for rows in each for row in rows] for each in zip(*CASES.values(), strict=True)
    )
    one, other = (sorted(map(repr, found(spark, engine, connections, sessions))) for engine in ENGINES)
    assert one == other


@pytest.mark.parametrize("engine", ENGINES)
def test_frames_need_no_order(spark: SparkSession, engine: str):
    """Arrays are sorted and samples are the smallest, whatever the partitions."""
    rows = [connection(n % 50, client_address=f"10.0.{n}.1", group_ids=[f"g{n % 7}"]) for n in range(100)]

    def computed(parts: int, rows: list[dict]) -> list[str]:
        connections = frame(spark, CLIENT_CONNECTIONS, rows).repartition(parts)
        return sorted(map(str, of_frames(engine, connections, frame(spark, CLIENT_SESSIONS, []), RULES)))

    assert computed(1, rows) == computed(9, rows[::-1])
