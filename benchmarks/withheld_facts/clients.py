"""Clients drawn at random from clients.csv, and what a broker's log or a person says of each: some facts are withheld.

What is said is always true. A window shows the requests that belong together: a member of a group sends heartbeats and
fetches as soon as it has joined, offsets are looked up at a reset, administrative calls come when somebody makes them.
"""

import csv
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from random import Random

from benchmarks.withheld_facts.protocol import (
    API_VERSIONS,
    HERE,
    SCRAM,
    Client,
    Cluster,
    brokers,
    chosen_version,
    default_levels,
    falls_back,
    harm,
    parse,
)

GREETING, START, STEADY, NOW_AND_THEN, RARE = "greeting", "start", "steady", "now and then", "rare"


@dataclass(frozen=True)
class Program:
    """API keys by when they are sent."""

    name: str
    start: tuple[int, ...]
    steady: tuple[int, ...]
    now_and_then: tuple[int, ...] = ()
    rare: tuple[int, ...] = ()

    @property
    def is_administrative(self) -> bool:
        return not {0, 1} & set(self.steady)

    @property
    def apis(self) -> tuple[int, ...]:
        return (*self.start, *self.steady, *self.now_and_then, *self.rare)


PROGRAMS = (
    Program("producer", (3,), (0,)),
    Program("idempotent producer", (3, 22), (0,)),
    Program("transactional producer", (3, 10, 22), (0, 24, 26)),
    Program("read, process, write", (3, 10, 11, 14, 9, 22), (1, 12, 0, 24, 25, 28, 26), rare=(2,)),
    Program("group consumer", (3, 10, 11, 14, 9), (1, 12), (8,), (2,)),
    Program("group consumer of the new protocol", (3, 10, 9), (1, 68), (8,), (2,)),
    Program("share consumer", (3, 10), (76, 78), (79,)),
    Program("Streams application of the new protocol", (3, 10, 9), (1, 88, 0), (8,), (2,)),
    Program("consumer of assigned partitions", (3, 2), (1,)),
    Program("lag exporter", (3, 10), (2, 9, 16, 15)),
    Program("creates topics", (3,), (), (), (19,)),
    Program("administers topics", (3,), (), (), (19, 20, 32, 33, 37)),
    Program("administers groups", (3, 10), (), (16, 15, 9), (8, 42)),
    Program("administers access", (3,), (), (), (29, 31, 38)),
    Program("describes logs and partitions", (3,), (), (), (35, 32, 60, 61)),
)


@dataclass(frozen=True)
class Said:
    """What is known of a client. None and empty: withheld, or nothing that a record shows."""

    software_name: str | None
    software_version: str | None
    also_declared: tuple[tuple[str, str], ...]
    client_id: str | None
    requests: tuple[tuple[int, int, int, int], ...]
    """API key, version, answered, refused."""
    mechanism: str | None
    security_protocol: str | None
    offered_mechanisms: tuple[str, ...] | None
    has_scram: bool | None
    vendor: str | None
    window: str
    other_logins: tuple[tuple[str | None, str | None, tuple[str, ...] | None], ...] = ()
    """Security protocol, mechanism and what the listener offers, of connections that differ from the first ones."""
    source_features: tuple[tuple[str, int], ...] | None = None


@dataclass(frozen=True)
class Case:
    client: Client
    program: str
    source: Cluster
    target: Cluster
    said: Said
    beside: Client | None = None
    """Another program with the same principal and client id, of which brokers keep the same name or none: what is said
    is said of both at once."""

    @property
    def clients(self) -> tuple[Client, ...]:
        return (self.client, self.beside) if self.beside else (self.client,)


@dataclass(frozen=True)
class _Row:
    library: str
    versions: tuple[str, ...]
    configuration: str
    negotiates: bool
    requests: tuple[tuple[int, tuple[tuple[int, int], ...]], ...]
    """API key and its ranges, of which a client has one."""


@cache
def _rows() -> tuple[_Row, ...]:
    with (HERE / "clients.csv").open(encoding="utf-8", newline="") as opened:
        return tuple(
            _Row(
                row["library"],
                tuple(row["versions"].split()),
                row["configuration"],
                row["sends"] == "negotiated",
                tuple(_request(word) for word in row["requests"].split()),
            )
            for row in csv.DictReader(opened)
        )


def _request(word: str) -> tuple[int, tuple[tuple[int, int], ...]]:
    """'9:1|2' -> (9, ((1, 1), (2, 2)))."""
    key, _, alternatives = word.partition(":")
    ranges = [part.partition("-") for part in alternatives.split("|")]
    return int(key), tuple((int(low), int(high or low)) for low, _, high in ranges)


@cache
def _libraries() -> dict[str, tuple[_Row, ...]]:
    by_library: dict[str, tuple[_Row, ...]] = {}
    for row in _rows():
        by_library[row.library] = (*by_library.get(row.library, ()), row)
    return by_library


def draw(random: Random) -> Case:
    """A client that works on its source, and a question about it."""
    while True:
        source, target = _clusters(random)
        client, program = _client(random)
        if client.apis and not harm(client, source):
            client, said = _seen(random, client, program, source, target)
            case = Case(client, program.name, source, target, said)
            case = _with_another(random, case) if random.random() < 0.15 else case
            return replace(case, said=_with_more(random, case))


def _seen(
    random: Random, client: Client, program: Program, source: Cluster, target: Cluster
) -> tuple[Client, Said]:
    """A client and what is said of it; of an administrator only what was seen: nobody can know what it does next."""
    window, visible = _window(random, client, program)
    said = _said(random, client, program, source, target, window, visible)
    return replace(client, apis=frozenset(visible)) if program.is_administrative else client, said


def _with_another(random: Random, case: Case) -> Case:
    """The case with a second program behind the same principal and client id, if brokers take both for one client and a record
    shows that there are two: an API in two versions, or two ways to log in.
    """
    client, program = _client(random)
    if not client.apis or harm(client, case.source):
        return case
    client, said = _seen(random, client, program, case.source, case.target)
    first = case.said
    if _shown_name(first) != _shown_name(said):
        return case
    login = _login(said)
    both = replace(
        first,
        client_id=random.choice((None, f"app-{random.randrange(10**6)}")),
        requests=_together(first.requests, said.requests),
        other_logins=() if login == _login(first) else (login,),
        has_scram=None if client.mechanism != case.client.mechanism else first.has_scram,
        window=f"{first.window}; beside it {client.library} {client.version}, {program.name}, {client.mechanism}",
    )
    return replace(case, beside=client, said=both) if _shows_two(both) else case


_METADATA = 3
_METADATA_OF_ONE = ({0, 1}, {1, 5}, {0, 1, 5}, {1, 6}, {5, 7}, {6, 7}, {5, 6, 7})
"""Versions of Metadata that one process sends to brokers of one release (benchmarks/matrix): they do not show that there are two."""


def _shows_two(said: Said) -> bool:
    versions: dict[int, set[int]] = {}
    for key, version, *_ in said.requests:
        if key != API_VERSIONS:
            versions.setdefault(key, set()).add(version)
    several = {key: of_api for key, of_api in versions.items() if len(of_api) > 1}
    protocols = {said.security_protocol, *(protocol for protocol, *_ in said.other_logins)} - {None}
    return len(protocols) > 1 or any(
        key != _METADATA or of_api not in _METADATA_OF_ONE for key, of_api in several.items()
    )


def _shown_name(said: Said) -> tuple[str | None, str | None, tuple[tuple[str, str], ...]]:
    return said.software_name, said.software_version, said.also_declared


def _login(said: Said) -> tuple[str | None, str | None, tuple[str, ...] | None]:
    return said.security_protocol, said.mechanism, said.offered_mechanisms


def _together(*of_clients: Sequence[tuple[int, int, int, int]]) -> tuple[tuple[int, int, int, int], ...]:
    """Requests of several clients, by API and version."""
    counts: dict[tuple[int, int], list[int]] = {}
    for key, version, answered, refused in (request for requests in of_clients for request in requests):
        counted = counts.setdefault((key, version), [0, 0])
        counted[0] += answered
        counted[1] += refused
    return tuple((key, version, *counted) for (key, version), counted in sorted(counts.items()))


def _with_more(random: Random, case: Case) -> Said:
    """What is said of the case, perhaps with connections of which nothing is known, and with the source's features."""
    said, login = case.said, (case.said.security_protocol, None, None)
    if random.random() < 0.2 and login != _login(said) and login not in said.other_logins:
        said = replace(said, other_logins=(*said.other_logins, login))
    if case.source.number >= (3, 3) and random.random() < 0.4:
        said = replace(said, source_features=tuple(sorted(case.source.levels.items())))
    return said


def _clusters(random: Random) -> tuple[Cluster, Cluster]:
    """Brokers of two releases; the target's levels are those of a new cluster. What the vendor's build of the target
    lacks, the source's did not.
    """
    releases = sorted(brokers(), key=parse)
    since = [release for release in releases if parse(release) >= (2, 1)]
    kind = random.random()
    if kind < 0.65:
        source = random.choice([release for release in since if parse(release) < (4, 0)])
        target = random.choice([release for release in since if parse(release) >= (4, 0)])
    else:
        source, target = random.sample(releases if kind < 0.75 else since, 2)
    vendor = random.choices(
        ("apache-kafka", "confluent", "amazon-msk", "redpanda", "azure-event-hubs"), (80, 5, 5, 5, 5)
    )[0]
    levels = default_levels(source)
    if random.random() < 0.3:  # upgraded in place and not finalized
        first = min(
            (3, 6), parse(source)
        )  # before, brokers with delegation tokens ran on ZooKeeper, which has no levels
        former = [release for release in releases if max(first, (3, 3)) <= parse(release) <= parse(source)]
        levels = default_levels(random.choice(former)) if former else {}
    elif parse(source) >= (4, 1) and random.random() < 0.5:  # a preview that somebody enabled
        levels["share.version"] = 1
    static, master_key = random.random() < 0.3, random.random() < 0.3
    return (
        Cluster(source, levels, "apache-kafka", master_key, static),
        Cluster(target, default_levels(target), vendor, master_key, static),
    )


def not_finalized(source: Cluster, target: Cluster) -> Cluster:
    """The target's brokers while the source's features are still finalized."""
    return Cluster(
        target.release,
        source.levels,
        target.vendor,
        target.token_secret_by_master_key,
        target.has_static_members,
    )


def _client(random: Random) -> tuple[Client, Program]:
    library = random.choice(tuple(_libraries()))
    row = random.choice(_libraries()[library])
    program = random.choice(PROGRAMS)
    requests = {key: random.choice(ranges) for key, ranges in row.requests}
    if not row.negotiates:
        versions = {key: random.randint(low, high) for key, (low, high) in requests.items()}
        requests = {key: (version, version) for key, version in versions.items()}
    apis = {key for key in program.apis if key in requests}
    if program.rare and not program.steady:
        apis -= {key for key in program.rare if random.random() < 0.4}
    can_do_it = set(program.steady) <= apis and bool(apis - {3, 10})
    if API_VERSIONS in requests and (row.negotiates or row.library in ("sarama", "ruby-kafka")):
        apis.add(API_VERSIONS)
    mechanism = random.choice(_mechanisms(library, parse(row.versions[0])))
    client = Client(
        library.partition(" ")[0],
        random.choice(row.versions),
        row.configuration,
        row.negotiates,
        requests,
        frozenset(apis) if can_do_it else frozenset(),
        mechanism,
        delegation_token=mechanism in SCRAM and library == "kafka-clients" and random.random() < 0.2,
        builds_offset_commit=library == "franz-go" and program.name == "administers groups",
    )
    return client, program


def _mechanisms(library: str, number: tuple[int, ...]) -> Sequence[str | None]:
    """What a client of the library can log in with, None (no login) included."""
    if library == "kafka-clients" and number < (0, 10):
        return (None, "GSSAPI") if number >= (0, 9) else (None,)
    if library in ("kafka-rust", "kafka-node"):
        return (None,)
    mechanisms: list[str | None] = [None, "PLAIN", *SCRAM]
    if library in ("kafka-clients", "librdkafka", "sarama", "kafka-python", "aiokafka", "franz-go"):
        mechanisms += ["OAUTHBEARER", "GSSAPI"]
    return mechanisms


# --- what is said ----------------------------------------------------------------------------------------------------


def _said(
    random: Random,
    client: Client,
    program: Program,
    source: Cluster,
    target: Cluster,
    window: str,
    visible: set[int],
) -> Said:
    name, version = _declares(random, client, source)
    also: tuple[tuple[str, str], ...] = ()
    if name and _names_a_part_of_its_connections(client) and random.random() < 0.6:
        also = ((name, version or ""),) if random.random() < 0.5 else ()
        name = version = None
    if random.random() < 0.1:
        version = None if random.random() < 0.3 else version
    protocol = _protocol(random, client)
    offered = {client.mechanism} if client.mechanism else set()
    offered |= {one for one in ("PLAIN", "GSSAPI", *SCRAM) if random.random() < 0.3}
    has_scram = client.mechanism in SCRAM or random.random() < 0.2
    return Said(
        name,
        version,
        also,
        random.choice((None, f"app-{random.randrange(10**6)}", _default_client_id(client, program))),
        tuple(_request_counts(random, client, visible, source)),
        client.mechanism if random.random() < 0.3 else None,
        protocol if random.random() < 0.8 else None,
        tuple(sorted(one for one in offered if one))
        if protocol.startswith("SASL") and random.random() < 0.3
        else None,
        has_scram
        if protocol.startswith("SASL") and not client.delegation_token and random.random() < 0.3
        else None,
        target.vendor if random.random() < 0.8 else None,
        window,
    )


def _protocol(random: Random, client: Client) -> str:
    return random.choice(("SASL_PLAINTEXT", "SASL_SSL") if client.mechanism else ("PLAINTEXT", "SSL"))


def _window(random: Random, client: Client, program: Program) -> tuple[str, set[int]]:
    """What the window shows, and the APIs in it."""
    greeting = {API_VERSIONS, 3} & client.apis
    parts = {
        START: program.start,
        STEADY: program.steady,
        NOW_AND_THEN: program.now_and_then,
        RARE: program.rare,
    }
    kind = random.random()
    if kind < 0.1:
        return GREETING, greeting
    if kind < 0.3:
        return "all", set(client.apis)
    if kind < 0.4:
        return "a random part", {key for key in client.apis if random.random() < 0.6 or key in program.steady}
    shown = [STEADY] if program.steady else [RARE]
    shown += [part for part in (START, NOW_AND_THEN, RARE) if random.random() < 0.5 and part not in shown]
    visible = {key for part in shown for key in parts[part]} & client.apis
    if START in shown or random.random() < 0.3:
        visible |= greeting
    return " and ".join(shown), visible


def _request_counts(
    random: Random, client: Client, visible: set[int], source: Cluster
) -> list[tuple[int, int, int, int]]:
    counts = []
    for key in sorted(visible):
        answered = random.choice((1, 2, 5, 40, 400))
        if key != API_VERSIONS:
            version = chosen_version(client, key, source)
            if falls_back(client, key, version):
                continue
            assert version is not None, "it works on the source"
            counts.append((key, version, answered, 0))
            continue
        high, offered = client.requests[key][1], brokers()[source.release][key].high
        if high <= offered:
            counts.append((key, high, answered, 0))
            continue
        # KIP-511: error 35, and once more in version 0, or, by Java, in the highest that brokers have.
        counts.append((key, offered if client.library == "kafka-clients" else 0, answered, 0))
        if random.random() < 0.5:
            counts.append((key, high, 0, answered))
    return counts


_BINDINGS = ("librdkafka", "confluent-kafka-python", "confluent-kafka-go", "confluent-kafka-dotnet")


def _declares(random: Random, client: Client, source: Cluster) -> tuple[str | None, str | None]:
    """Name and version as brokers register them (KIP-511, since 2.5): from ApiVersions 3 on."""
    sent = client.requests.get(API_VERSIONS, (0, 0))[1]
    if source.number < (2, 5) or sent < 3 or API_VERSIONS not in client.apis:
        return None, None
    if client.library == "librdkafka":
        name = random.choice((*_BINDINGS, "orders-service"))
        if name == "orders-service":  # client.software.name
            return name, "1.4.0"
        return name, f"{client.version}-rdkafka-{client.version}" if name.endswith(
            "python"
        ) else client.version
    return {
        "kafka-clients": ("apache-kafka-java", client.version),
        "franz-go": ("kgo", f"v{client.version}"),
        "kafka-python": ("kafka-python", client.version),
        "platformatic-kafka": ("platformatic-kafka", client.version),
        "rskafka": ("rskafka", client.version),
        "sarama": ("sarama", f"v{client.version}" if client.number >= (1, 47) else "dev"),
    }.get(client.library, (None, None))


def _names_a_part_of_its_connections(client: Client) -> bool:
    """franz-go before 1.21 names its first connection to each broker, kafka-python 2.x the one that asks for versions."""
    return (client.library == "franz-go" and client.number < (1, 21)) or (
        client.library == "kafka-python" and client.number < (3,)
    )


def _default_client_id(client: Client, program: Program) -> str:
    kind = "producer" if 0 in program.steady else "consumer" if 1 in program.steady else "adminclient"
    return {
        "kafka-clients": f"{kind}-1",
        "librdkafka": "rdkafka",
        "franz-go": "kgo",
        "sarama": "sarama",
        "kafkajs": "kafkajs",
        "kafka-node": "kafka-node-client",
        "ruby-kafka": "ruby-kafka",
        "kafka-python": "kafka-python-producer-1" if kind == "producer" else f"kafka-python-{client.version}",
        "aiokafka": "aiokafka-producer-1" if kind == "producer" else f"aiokafka-{client.version}",
        "kafka-go": "app@host (github.com/segmentio/kafka-go)",
    }.get(client.library, "app")
