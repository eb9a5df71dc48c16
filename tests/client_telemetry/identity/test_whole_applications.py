"""Many clients that share principals, addresses and times, and the application of each, as tests/data/identity/applications.csv
keeps them: how ids of products, default ids, generated parts and several versions go together."""

import csv
import datetime as dt
import io
import random

from client_telemetry.identity.applications import Client, applications
from client_telemetry.identity.programs import Seen, may_be_several, programs

NOON = dt.datetime(2026, 11, 21, 12, tzinfo=dt.UTC)
PROCESSES = ("4efc20b4-55db-4613-a647-74511e0162b8", "5efc20b4-55db-4613-a647-74511e0162b8")
IDS = [
    *(f"shop-{process}-StreamThread-{n}-{role}" for process in PROCESSES for n, role in ((1, "consumer"), (2, "producer"))),
    *(f"shop-{PROCESSES[0]}-{end}" for end in ("admin", "StreamThread-1-0_1-producer")),
    *(f"{prefix}-{end}" for prefix in ("pipes", "lone") for end in ("configs", "offsets", "statuses", "shared-admin")),
    *("connect-10.0.0.1:8083", "connect-1", "connector-consumer-sink-0", "connector-producer-source-1"),
    *("connector-producer-MirrorSourceConnector-0", "consumer-null-7", "adminclient-1", "admin-1"),
    *("producer-1", "producer-2", "consumer-1", "consumer-reports-1", "rdkafka", "sarama", "kgo", "kafkajs"),
    *("kafka-python-1.4.5", "kafka-python-1.0.2", "kafka-python", "kafka-python-producer-1", "aiokafka-0.8.1"),
    *("orders-7f9c4d5b6-abcde", "orders-7f9c4d5b6-fghij", "orders-1", "orders-2", "orders-10.1.2.3", "orders"),
    *("console-producer", "console-consumer", "perf-producer-client", "burrow-lagchecker", "telegraf"),
    *("", None),
]  # fmt: skip
SOFTWARE = (
    ("unknown", "unknown"),
    ("apache-kafka-java", "3.9.1"),
    ("apache-kafka-java", "3.1.2"),
    ("librdkafka", "2.3.0"),
    ("confluent-kafka-python", "2.3.0-rdkafka-2.3.0"),
    ("kgo", "v1.15.4"),
)


def clients(seed: int, number: int) -> list[Client]:
    chance = random.Random(seed)
    found = []
    for _ in range(number):
        start = NOON + dt.timedelta(seconds=chance.choice((0, 0, 0, 30, 3659, 3661, 7200)))
        others = [each for each in SOFTWARE[1:] if chance.random() < 0.1]
        found.append(
            Client(
                principal=chance.choice(("User:a", "User:b")),
                client_id=chance.choice(IDS),
                software_name=(software := chance.choice((*SOFTWARE, *SOFTWARE[:2])))[0],
                software_version=software[1],
                owner=chance.choice((None, None, "team")),
                first_seen_at=start,
                last_seen_at=start + dt.timedelta(hours=1),
                addresses=frozenset(chance.sample(("10.0.0.1", "10.0.0.2", "10.0.0.3"), chance.choice((1, 1, 2)))),
                groups=frozenset(chance.sample(("reports", "pipes"), chance.choice((0, 0, 1, 2)))),
                versions={
                    key: frozenset(chance.sample((1, 2, 9), chance.choice((1, 1, 1, 2))))
                    for key in (0, 2, 3, 10, 11)
                    if chance.random() < 0.4
                },
                same_as=frozenset(others[:1]),
                not_same_as=frozenset(others[1:2]),
                doubtful=frozenset(others[2:]),
                beside=frozenset(each for each in chance.sample(IDS[:-2], 1) if chance.random() < 0.1 and each),
                on_one_release=chance.random() < 0.8,
                program=chance.choice(("", "", "", "", "Produce v2", "Produce v3")),
            )
        )  # fmt: skip
    return found


def test_whole_applications(same_as_kept):
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(("seed", "client_id", "application", "kind", "product", "notes"))
    for seed in range(6):
        given = clients(seed, 50)
        for client, application in sorted(
            zip(given, applications(given), strict=True), key=lambda pair: (pair[1].name, repr(pair[0]))
        ):
            own = (application.name, application.kind, application.product, "; ".join(application.notes))
            table.writerow((seed, client.client_id, *own))
    same_as_kept("identity", {"applications.csv": text.getvalue()})


def test_the_order_of_many_clients_decides_nothing():
    for seed in range(30):
        of_row = {(c.principal, c.owner, c.client_id, c.software, c.program): c for c in clients(seed, 60)}
        given = list(of_row.values())
        expected = dict(zip(of_row, applications(given), strict=True))
        rows = random.Random(seed).sample(list(of_row), len(of_row))
        found = dict(zip(rows, applications([of_row[row] for row in rows]), strict=True))
        assert found == expected, seed


def connections(seed: int) -> list[Seen]:
    """Of two to four programs, each with versions of its own and some that it shares, one after the other or at once."""
    chance = random.Random(seed)
    found = []
    for program in range(chance.randint(2, 4)):
        own = {
            key: chance.choice((program, program, 9))
            for key in chance.sample((0, 1, 2, 3, 8, 9, 10, 11, 18, 22), 5)
        }
        start = chance.choice((0, 1_900_000, 2_100_000, 59_000_000, 61_000_000, 300_000_000)) * program
        for _ in range(chance.randint(1, 4)):
            uses = frozenset((key, own[key]) for key in chance.sample(sorted(own), chance.randint(1, 4)))
            last = start + chance.choice((0, 1_000_000, 90_000_000))
            found.append(Seen(chance.choice(("10.0.0.1", "10.0.0.1", "10.0.0.2")), start, last, uses))
            start += chance.choice((1_000_000, 1_999_999, 2_000_001, 59_999_999, 60_000_001))
    return found


def test_whole_programs(same_as_kept):
    lines = []
    for seed, client_id in enumerate(
        ("console-producer", "sarama", "rdkafka", "orders", "consumer-1", "admin-1") * 5
    ):
        given = connections(seed)
        versions: dict[int, set[int]] = {}
        for key, version in (use for each in given for use in each.uses):
            versions.setdefault(key, set()).add(version)
        lines.append(f"# {seed}: {client_id}, may be several: {may_be_several(client_id, versions)}")
        for each, found in zip(given, programs(client_id, given), strict=True):
            uses = " ".join(f"{key}:{version}" for key, version in sorted(each.uses))
            lines.append(
                f"{each.address} {each.first / 1e6:g}-{each.last / 1e6:g} {uses}: {' or '.join(found) or 'one'}"
            )
    same_as_kept("identity", {"programs.txt": "\n".join(lines) + "\n"})
