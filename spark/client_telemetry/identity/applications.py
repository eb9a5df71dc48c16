"""Which clients belong to one application: what an owner would call one program. Pure; docs/clients.md has the rules.

A Connect worker, MirrorMaker 2 and a Kafka Streams application have many client ids, so does a deployment whose pods
put their names into client ids, and several programs can share one id. Clients are grouped by what only one program can
cause: common parts of client ids, an id of which only some connections declare a name, default ids next to the product
that brings them. Where that is a guess, a note says so; clients of different principals or owners are never grouped.
"""

import datetime as dt
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise, permutations

from client_telemetry.compatibility import fingerprints
from client_telemetry.identity.broker_clients import REPLICA_FETCHER
from client_telemetry.identity.client_families import family
from client_telemetry.identity.programs import sends_two_versions
from client_telemetry.knowledge import apis, kip511, products, software
from client_telemetry.knowledge.api_key import ApiKey

SHARED_ID = "another program has the same principal and client id"
SEVERAL_VERSIONS = (
    "its clients run several versions: a deployment that is changing, or two programs with one client id"
)
MAYBE_TWO = "whether all connections of this client id are of one program cannot be told"
BY_PLACE = "default client ids put here by principal, address, time and library"
OF_THE_TOOL = (
    "put here by principal, address, time and requests: kafka-consumer-groups asks for the ends of partitions "
    "under the client id of its command config"
)
OF_A_MIRROR = (
    "may be one program, such as MirrorMaker 1, which names its consumers after their group: put together by principal, "
    "address, and when they came and went"
)
DEFAULT_ID = "a default client id: several programs can hide behind it"
CALLED_AS_A_BROKER = "has the client id of a broker's replica fetcher; counted as a client, since the records do not show a replica id"
SEVERAL_PROGRAMS = "several programs send under this client id: their request versions tell them apart"

GENERATED = frozenset(("host", "spark", "uuid", "kafka_uuid", "ulid", "pod", "time", "address", "hash"))
"""Masks of client_families.py that hide what varies by start or host. A counter or a version in an id, on the other
hand, may distinguish two programs.
"""
TOGETHER = dt.timedelta(minutes=1)
AT_ONCE = dt.timedelta(seconds=10)
"""A process opens its clients one after the other, and closes them the same way."""


@dataclass(frozen=True)
class Client:
    """The columns of a `clients` row that matter for grouping. `versions`: API key -> versions that a broker answered.
    `same_as`, `not_same_as`, `doubtful`: software name and version of other rows with the same principal and client
    id, from `related`; `beside`: client ids that `related` places at the same address.
    """

    principal: str | None
    client_id: str | None
    software_name: str | None
    software_version: str | None
    owner: str | None
    first_seen_at: dt.datetime
    last_seen_at: dt.datetime
    addresses: frozenset[str] = frozenset()
    groups: frozenset[str] = frozenset()
    versions: Mapping[int, frozenset[int]] = field(default_factory=dict)
    same_as: frozenset[tuple[str | None, str | None]] = frozenset()
    not_same_as: frozenset[tuple[str | None, str | None]] = frozenset()
    doubtful: frozenset[tuple[str | None, str | None]] = frozenset()
    beside: frozenset[str | None] = frozenset()
    on_one_release: bool = True
    """Whether all brokers that answered run one release: with several, a library chooses several versions."""
    program: str = ""
    """If several programs share the client id (programs.py): what distinguishes this one. All other fields then
    describe it alone.
    """

    @property
    def is_named(self) -> bool:
        return kip511.is_known(self.software_name)

    @property
    def software(self) -> tuple[str | None, str | None]:
        return self.software_name, self.software_version


@dataclass(frozen=True)
class Application:
    """`name` is unique within a principal and owner. `product`: the product or framework, None if it is not known to be
    one.
    """

    name: str
    kind: str
    product: str | None
    notes: tuple[str, ...]


def applications(clients: Sequence[Client]) -> list[Application]:
    """The application of each client, in client order; the order does not affect the result."""
    by_place: dict[Hashable, list[int]] = defaultdict(list)
    for place in sorted(range(len(clients)), key=lambda place: _order(clients[place])):
        by_place[clients[place].principal, clients[place].owner].append(place)
    by_client: dict[int, Application] = {}
    for places in by_place.values():
        parts = _Parts([clients[place] for place in places])
        for place, application in zip(places, parts.applications(), strict=True):
            by_client[place] = application
    return [by_client[place] for place in range(len(clients))]


def _order(client: Client) -> tuple[str, str, str, str]:
    return client.client_id or "", client.software_name or "", client.software_version or "", client.program


class _Parts:
    """Clients of one principal and owner, grouped step by step."""

    def __init__(self, clients: list[Client]) -> None:
        self._clients = clients
        self._products = [products.by_client_id(client.client_id) for client in clients]
        self._defaults = [_default_id_of(client) for client in clients]
        self._above = list(range(len(clients)))
        self._notes: dict[int, set[str]] = defaultdict(set)
        self._id_version = [
            fingerprints.by_client_id(client.client_id)[1] if library else None
            for client, library in zip(clients, self._defaults, strict=True)
        ]
        self._id_versions: dict[int, set[tuple[int, ...]]] = defaultdict(set)
        for place, version in enumerate(self._id_version):
            if version:
                self._id_versions[place] = {version}
        self._drop_doubtful_workers()

    def applications(self) -> list[Application]:
        self._one_client_id()
        self._ids_of_products()
        self._generated_parts()
        self._default_ids_of_products()
        self._consumers_of_group_tools()
        self._mirrors()
        self._beside()
        self._default_ids()
        return self._named()

    def _drop_doubtful_workers(self) -> None:
        """`X-offsets` belongs to a Connect worker if other ids of the worker begin with X too; otherwise it can be
        anyone's.
        """
        ends: dict[str, set[str]] = defaultdict(set)
        for client, product in zip(self._clients, self._products, strict=True):
            if product and product.kind == "connect" and product.application and client.client_id:
                ends[product.application].add(client.client_id)
        for place, product in enumerate(self._products):
            if (
                product
                and product.kind == "connect"
                and product.application
                and len(ends[product.application]) < 2
            ):
                self._products[place] = None

    def _root(self, place: int) -> int:
        while self._above[place] != place:
            self._above[place] = self._above[self._above[place]]
            place = self._above[place]
        return place

    def _join(self, one: int, other: int, note: str | None = None) -> None:
        first, second = sorted((self._root(one), self._root(other)))
        if first != second:
            self._above[second] = first
            self._id_versions[first] |= self._id_versions.pop(second, set())
        if note:
            self._notes[first].add(note)

    def _one_client_id(self) -> None:
        """Rows that differ in software only. Two declared names of one library are one program; so are the connections
        that a library leaves unnamed; two libraries under one id are two.
        """
        of_id: dict[str | None, list[int]] = defaultdict(list)
        for place, client in enumerate(self._clients):
            if client.client_id is not None:
                of_id[client.client_id].append(place)
        for places in of_id.values():
            product = self._products[places[0]]
            anybodys = self._defaults[places[0]] is not None or (
                product is not None and product.kind != "product" and product.application is None
            )
            for one, other in _pairs(places):
                note = self._two_rows(self._clients[one], self._clients[other])
                if anybodys and note in (MAYBE_TWO, SEVERAL_VERSIONS):
                    note = SHARED_ID
                if note == SHARED_ID and self._clients[one].program == self._clients[other].program:
                    self._notes[one].add(note)
                    self._notes[other].add(note)
                elif note not in (None, SHARED_ID):
                    self._join(one, other, note or None)

    @staticmethod
    def _two_rows(one: Client, other: Client) -> str | None:
        """SHARED_ID for two programs; otherwise a note, empty if there is nothing to note."""
        if one.program != other.program:
            return SHARED_ID
        if other.software in one.same_as or one.software in other.same_as:
            return ""
        if other.software in one.not_same_as or one.software in other.not_same_as:
            return SHARED_ID
        if one.is_named != other.is_named:
            return MAYBE_TWO
        libraries = [
            identity.library if identity else None
            for identity in (
                software.identify_name(each.software_name or "", each.software_version or "")
                for each in (one, other)
            )
        ]
        if not one.is_named or one.software_name == other.software_name:
            return SEVERAL_VERSIONS
        if None in libraries:
            return MAYBE_TWO
        return "" if libraries[0] == libraries[1] else SHARED_ID

    def _ids_of_products(self) -> None:
        """Client ids that contain one application's name; consumers of Kafka Streams, whose group is the
        application.id, whatever `client.id` each instance has; and the clients of a Connect worker, which have no
        part in common.
        """
        first: dict[Hashable, int] = {}
        for place, product in enumerate(self._products):
            if product is None or product.kind in ("tool", "product"):
                continue
            if product.application is not None:
                key: Hashable = (product.kind, product.application)
                self._join(first.setdefault(key, place), place)
            if application_id := self._application_id(place):
                self._join(first.setdefault(("application.id", application_id), place), place)
        workers = [
            place
            for place, product in enumerate(self._products)
            if product and product.kind in ("connect", "mirrormaker")
        ]
        for one, other in _pairs_by(workers, lambda place: self._clients[place].software):
            if self._at_one_place(self._clients[one], self._clients[other]):
                self._join(one, other)
        for product_name in {
            p.name for p in self._products if p and p.kind == "product" and p.brings_default_ids
        }:
            places = [place for place, p in enumerate(self._products) if p and p.name == product_name]
            for one, other in _pairs(places):
                if self._may_be_one(one, other):
                    self._join(one, other, BY_PLACE)

    def _generated_parts(self) -> None:
        """Ids that differ in what varies by start or host; ids that differ in counters, if they send the same versions."""
        strong: dict[str, list[int]] = defaultdict(list)
        weak: dict[Hashable, list[int]] = defaultdict(list)
        for place, client in enumerate(self._clients):
            if client.client_id is None or self._products[place] or self._defaults[place]:
                continue
            masked = family(client.client_id)
            if masked.masks and GENERATED.issuperset(masked.masks):
                strong[masked.text].append(place)
            elif masked.masks:
                weak[masked.text, client.software].append(place)
        for places in strong.values():
            declared = {self._clients[place].software for place in places if self._clients[place].is_named}
            for place in places[1:]:
                self._join(places[0], place, SEVERAL_VERSIONS if len(declared) > 1 else None)
        for places in weak.values():
            heads: list[int] = []
            for place in places:
                like = next((h for h in heads if _could_be_one(self._clients[h], self._clients[place])), None)
                if like is None:
                    heads.append(place)
                else:
                    self._join(like, place)

    def _default_ids_of_products(self) -> None:
        """Default ids next to the only product at that address that brings them."""
        bringing = [
            place
            for place, product in enumerate(self._products)
            if product and product.brings_default_ids and product.kind != "tool"
        ]
        if not bringing:
            return
        windows = self._windows(bringing)
        at: dict[str, list[int]] = defaultdict(list)
        for place in bringing:
            for address in self._clients[place].addresses:
                at[address].append(place)
        for place, library in enumerate(self._defaults):
            client = self._clients[place]
            if self._products[place] or (library is None and client.client_id != ""):
                continue
            if self._sends_two_versions(place):  # shared by several programs: each is judged by itself
                continue
            near = {other for address in client.addresses for other in at.get(address, ())}
            fitting = set()
            for other in near if len(near) <= MOST_DEFAULT_IDS else ():
                product = self._products[other]
                fits = product is not None and library in (None, product.library)
                if fits and _within(client, windows[other]) and _could_be_one(client, self._clients[other]):
                    fitting.add(self._root(other))
            if len(fitting) == 1:
                self._join(fitting.pop(), place, BY_PLACE)

    def _consumers_of_group_tools(self) -> None:
        """kafka-consumer-groups up to 1.1 has an admin client named admin-<n>, whatever is configured, and to look up
        the ends of partitions a consumer under the client id of its command config
        (kafka.admin.ConsumerGroupCommand, KafkaConsumerGroupService).
        """
        tools = [
            place
            for place, client in enumerate(self._clients)
            if (product := self._products[place])
            and product.name == products.ADMIN_CLIENT_TOOLS
            and ApiKey.FIND_COORDINATOR in client.versions
            and not self._sends_two_versions(place)
        ]
        if len(tools) > MOST_DEFAULT_IDS:
            return
        for place, client in enumerate(self._clients):
            requested = client.versions.keys() - apis.SET_UP
            is_own = not self._products[place] and not client.is_named
            if (
                not is_own
                or ApiKey.LIST_OFFSETS not in requested
                or not requested <= {ApiKey.LIST_OFFSETS, ApiKey.METADATA}
            ):
                continue
            fitting = {self._root(tool) for tool in tools if self._may_be_one(place, tool)}
            if len(fitting) == 1:
                self._join(fitting.pop(), place, OF_THE_TOOL)

    def _mirrors(self) -> None:
        """MirrorMaker 1 has consumers named <group>-<n> and one producer with a configured id; all open and close with
        the process (kafka.tools.MirrorMaker, createConsumers).
        """
        consumers = [
            place
            for place, client in enumerate(self._clients)
            if not self._products[place]
            and self._is_java(place)
            and any(_is_numbered(client.client_id, group) for group in client.groups)
        ]
        if len(consumers) > MOST_DEFAULT_IDS:
            return
        producers = [
            place
            for place, client in enumerate(self._clients)
            if not self._products[place]
            and self._is_java(place)
            and ApiKey.PRODUCE in client.versions
            and client.versions.keys() <= _OF_PRODUCERS
        ]
        for consumer in consumers:
            fitting = [place for place in producers if self._at_one_time(consumer, place)]
            if len(fitting) == 1:
                self._join(consumer, fitting[0], OF_A_MIRROR)

    def _at_one_time(self, one: int, other: int) -> bool:
        """Whether two clients at one address came and went together."""
        first, second = self._clients[one], self._clients[other]
        return (
            abs(first.first_seen_at - second.first_seen_at) <= AT_ONCE
            and abs(first.last_seen_at - second.last_seen_at) <= AT_ONCE
            and self._may_be_one(one, other)
        )

    def _is_java(self, place: int) -> bool:
        """Whether nothing shows that a client uses another library than kafka-clients."""
        client = self._clients[place]
        library = self._defaults[place]
        return client.software_name == _JAVA if client.is_named else library in (None, "kafka-clients")

    def _windows(self, places: Sequence[int]) -> dict[int, tuple[dt.datetime, dt.datetime]]:
        """When the application of each of these clients was active, before default ids are added to it."""
        roots = {self._root(place) for place in places}
        windows: dict[int, tuple[dt.datetime, dt.datetime]] = {}
        for place, client in enumerate(self._clients):
            root = self._root(place)
            if root in roots:
                first, last = windows.get(root, (client.first_seen_at, client.last_seen_at))
                windows[root] = min(first, client.first_seen_at), max(last, client.last_seen_at)
        return {place: windows[self._root(place)] for place in places}

    def _beside(self) -> None:
        """A library's default id next to the only configured id that it can belong to (`related`)."""
        by_id: dict[str | None, list[int]] = defaultdict(list)
        for place, client in enumerate(self._clients):
            by_id[client.client_id].append(place)
        for place, client in enumerate(self._clients):
            if self._defaults[place] is None or len(client.beside) != 1:
                continue
            configured = by_id.get(next(iter(client.beside)), [])
            if len(configured) == 1 and self._at_one_place(client, self._clients[configured[0]]):
                self._join(configured[0], place, BY_PLACE)

    def _default_ids(self) -> None:
        """Different default ids of one library at one address and time: a consumer's, a producer's, an admin client's."""
        groups: dict[Hashable, list[int]] = defaultdict(list)
        for place, library in enumerate(self._defaults):
            client = self._clients[place]
            is_one = not self._sends_two_versions(place)
            if library is not None and self._products[place] is None and is_one:
                for address in sorted(client.addresses)[:1]:
                    groups[library, client.software if client.is_named else None, address].append(place)
        for places in groups.values():
            if len(places) > MOST_DEFAULT_IDS:
                continue
            places.sort(key=lambda place: self._clients[place].first_seen_at)
            for one, other in _pairs(self._of_one_version(places)):
                if (
                    self._clients[one].client_id != self._clients[other].client_id
                    and self._root(one) != self._root(other)
                    and self._one_version(one, other)
                    and self._may_be_one(one, other)
                    and self._in_each_others_time(one, other)
                ):
                    self._join(one, other, BY_PLACE)

    def _in_each_others_time(self, one: int, other: int) -> bool:
        """A program behind a shared client id that ran before or after the other can still be one of several."""
        return all(
            not client.program or _within(client, (beside.first_seen_at, beside.last_seen_at))
            for client, beside in permutations((self._clients[one], self._clients[other]))
        )

    def _of_one_version(self, places: Sequence[int]) -> Sequence[int]:
        """Leaves out ids that could belong to either of two versions that other ids name: `kafka-python` next to
        `kafka-python-1.4.5` and `kafka-python-1.0.2`.
        """
        named = [place for place in places if self._id_version[place]]
        if len({self._id_version[place] for place in named}) < 2:
            return places

        def versions(place: int) -> set[tuple[int, ...] | None]:
            return {self._id_version[other] for other in named if self._may_be_one(place, other)}

        return [place for place in places if self._id_version[place] or len(versions(place)) < 2]

    def _one_version(self, one: int, other: int) -> bool:
        """Whether the versions named by default ids do not differ, as in `kafka-python-1.4.5` and `kafka-python-1.0.2`."""
        return len(self._id_versions[self._root(one)] | self._id_versions[self._root(other)]) <= 1

    def _may_be_one(self, one: int, other: int) -> bool:
        """Whether two clients are at one place, and nothing rules out one process."""
        first, second = self._clients[one], self._clients[other]
        return self._at_one_place(first, second) and _could_be_one(first, second)

    @staticmethod
    def _at_one_place(one: Client, other: Client) -> bool:
        return (
            not one.addresses.isdisjoint(other.addresses)
            and one.first_seen_at <= other.last_seen_at + TOGETHER
            and other.first_seen_at <= one.last_seen_at + TOGETHER
        )

    def _named(self) -> list[Application]:
        members: dict[int, list[int]] = defaultdict(list)
        for place in range(len(self._clients)):
            members[self._root(place)].append(place)
        notes: dict[int, set[str]] = defaultdict(set)
        for place, texts in self._notes.items():
            notes[self._root(place)] |= texts
        by_place: dict[int, Application] = {}
        names: dict[str, list[int]] = defaultdict(list)
        for root, places in members.items():
            kind, product = self._kind(places)
            if kind == "default_client_id":
                notes[root].add(DEFAULT_ID)
            if any(self._clients[place].program or self._sends_two_versions(place) for place in places):
                notes[root].add(SEVERAL_PROGRAMS)
            if any(re.fullmatch(REPLICA_FETCHER, self._clients[place].client_id or "") for place in places):
                notes[root].add(CALLED_AS_A_BROKER)
            name = self._name(kind, places)
            names[name].append(root)
            by_place[root] = Application(name, kind, product, tuple(sorted(notes[root])))
        for name, roots in names.items():
            name_counts: Counter[str] = Counter()
            for root in roots if len(roots) > 1 else ():
                each = (self._clients[place] for place in members[root])
                declared = {kip511.software(client.software_name, client.software_version) for client in each}
                text = f"{name} ({', '.join(sorted(declared))})"
                name_counts[text] += 1
                number = f" {name_counts[text]}" if name_counts[text] > 1 else ""
                by_place[root] = replace(by_place[root], name=text + number)
        return [by_place[self._root(place)] for place in range(len(self._clients))]

    def _sends_two_versions(self, place: int) -> bool:
        """Whether one client row sends what no single process sends: two versions of a consumer group API, or of almost
        any API if its library always takes the highest that the broker has.
        """
        client, product = self._clients[place], self._products[place]
        chooses = "kafka-clients" in (self._defaults[place], product.library if product else None)
        return client.on_one_release and sends_two_versions(client.versions, chooses)

    def _kind(self, places: Sequence[int]) -> tuple[str, str | None]:
        products = [product for place in places if (product := self._products[place])]
        for kind in ("mirrormaker", "connect", "streams", "product", "tool"):
            for product in products:
                if product.kind == kind:
                    return kind, product.name
        if places and all(self._defaults[place] for place in places):
            return "default_client_id", None
        return "application", None

    def _application_id(self, place: int) -> str | None:
        """The application.id of Kafka Streams: the group of a thread's main consumer."""
        product, client = self._products[place], self._clients[place]
        is_main = product and product.kind == "streams" and _MAIN_CONSUMER.fullmatch(client.client_id or "")
        return next(iter(client.groups)) if is_main and len(client.groups) == 1 else None

    def _name(self, kind: str, places: Sequence[int]) -> str:
        """The name its owners know it by: application.id, the worker's group, the product's or the client's own id."""
        application_ids = {self._application_id(place) for place in places} - {None}
        if kind == "streams" and len(application_ids) == 1:
            return str(application_ids.pop())
        application_names = sorted(
            {p.application for place in places if (p := self._products[place]) and p.application}
        )
        if application_names:
            return application_names[0]
        if kind in ("connect", "mirrormaker"):
            groups = sorted(
                {
                    group
                    for place in places
                    if (product := self._products[place])
                    and product.name == "Kafka Connect"
                    and (self._clients[place].client_id or "").startswith("connect-")
                    for group in self._clients[place].groups
                }
            )
            return groups[0] if groups else {"connect": "Kafka Connect", "mirrormaker": "MirrorMaker 2"}[kind]
        own = [place for place in places if not self._defaults[place]] or list(places)
        if kind == "tool":
            own = [place for place in places if self._products[place]]
        client = self._clients[own[0]]
        if client.client_id is None:
            return NO_CLIENT_ID
        if len({self._clients[place].client_id for place in own}) == 1:
            programs = {self._clients[place].program for place in own} - {""}
            return f"{client.client_id} ({'; '.join(sorted(programs))})" if programs else client.client_id
        families = {family(self._clients[place].client_id or "").text for place in own}
        if len(families) == 1:
            return families.pop()
        groups = sorted({group for place in places for group in self._clients[place].groups})
        if kind == "default_client_id" and len(groups) == 1:
            return groups[0]
        return min(
            (self._clients[place].client_id or "" for place in own), key=lambda text: (len(text), text)
        )


NO_CLIENT_ID = "(no client id)"
"""Of the tools with an admin client of that name only kafka-consumer-groups sends FindCoordinator."""
_OF_PRODUCERS = apis.SET_UP | {
    ApiKey.PRODUCE,
    ApiKey.METADATA,
    ApiKey.INIT_PRODUCER_ID,
    ApiKey.GET_TELEMETRY_SUBSCRIPTIONS,
    ApiKey.PUSH_TELEMETRY,
}
"""What a producer without transactions sends: also InitProducerId, and GetTelemetrySubscriptions and PushTelemetry for
its own metrics.
"""
_JAVA = "apache-kafka-java"
_MAIN_CONSUMER = re.compile(r".+-StreamThread-[0-9]+-consumer")
_CONSUMER_OF_GROUP = re.compile(r"consumer-.+-[0-9]+")
MOST_DEFAULT_IDS = 200
"""Default ids of one library at one address that are compared: more indicate a host shared by many programs."""


def _default_id_of(client: Client) -> str | None:
    """The library whose default the client id is. Java's consumers include their group in it since 2.4, which is also
    when they began to declare their name: only a declared name shows that it is a default (KafkaConsumer,
    ConsumerConfig).
    """
    if client.software_name == _JAVA and client.client_id and _CONSUMER_OF_GROUP.fullmatch(client.client_id):
        return "kafka-clients"
    return fingerprints.by_client_id(client.client_id)[0]


def _is_numbered(client_id: str | None, group: str) -> bool:
    return bool(
        group and client_id and client_id.startswith(f"{group}-") and client_id[len(group) + 1 :].isdecimal()
    )


def _pairs(places: Sequence[int]) -> Iterable[tuple[int, int]]:
    """The first place paired with each other, and all neighbours: enough to join a group, linear in its size."""
    for before, place in pairwise(places):
        yield places[0], place
        yield before, place


def _pairs_by(places: Sequence[int], key: Callable[[int], Hashable]) -> Iterable[tuple[int, int]]:
    groups: dict[Hashable, list[int]] = defaultdict(list)
    for place in places:
        groups[key(place)].append(place)
    for group in groups.values():
        yield from _pairs(group)


def _within(client: Client, window: tuple[dt.datetime, dt.datetime]) -> bool:
    return client.first_seen_at >= window[0] - TOGETHER and client.last_seen_at <= window[1] + TOGETHER


def _could_be_one(one: Client, other: Client) -> bool:
    """Whether nothing rules out one process: the same software, if both declare one, and a common version of each API
    that both used.
    """
    declare_two = one.is_named and other.is_named and one.software != other.software
    shared = one.versions.keys() & other.versions.keys() - apis.SET_UP
    return not declare_two and all(not one.versions[key].isdisjoint(other.versions[key]) for key in shared)
