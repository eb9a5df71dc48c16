"""Random configurations, clients and requests, with the answers that client_telemetry.subscriptions expects, to be held
against those of Kafka's own classes (KafkaClasses.java).

Lines of the input, fields separated by blanks, texts as `=` and base64, `-` for null:

    manager MAX_BYTES                                    a new broker; no answer
    configure NAME [KEY VALUE ...]                       configured, or refused EXCEPTION MESSAGE
    get CLIENT_ID NAME VERSION ADDRESS PORT CONNECTION INSTANCE_ID
                                                         got ERROR SUBSCRIPTION_ID INTERVAL INSTANCE_ID [METRIC ...]
    push (the same fields) SUBSCRIPTION_ID TERMINATING COMPRESSION PAYLOAD      pushed ERROR
    wait MS, disconnect CONNECTION                       no answer
"""

import base64
import gzip
import random
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from client_telemetry.subscriptions.answers import Answer, ConfiguredSubscriptions
from client_telemetry.subscriptions.configuration import RefusedByKafka, Subscription, parse
from client_telemetry.subscriptions.instances import ClientInstance, instance_id_of, kafka_uuid
from client_telemetry.subscriptions.java_runtime import JavaRuntime

from tests import broker_memory
from tests.broker_memory import BrokerMemory, Push

ROOT = Path(__file__).parents[3]
JARS = ROOT / "var" / "kafka_classes"
RELEASES = ("3.7.1", "3.9.1", "4.0.1", "4.3.1", "4.4.0")
MAX_BYTES = 300
START = 1_000_000_000_000

_CLIENT_IDS = (
    "orders-producer",
    "orders-consumer-7",
    "billing",
    "fast-1",
    "",
    None,
    "zażółć-注文-😀",
    "two\nlines",
    "A_B.c-1",
    "producer-1",
    "STREAMS-9f-StreamThread-1-consumer",
    "a" * 60,
    "x\u2028y",
    "café\u0085",
    " blank ",
    "(a|b)",
    "٣٤",
)
_SOFTWARE = (
    ("apache-kafka-java", "4.3.1"),
    ("apache-kafka-java", "3.7.2"),
    ("librdkafka", "2.5.0"),
    ("unknown", "unknown"),
    ("confluent-kafka-python", "2.16.1-rdkafka-2.16.0"),
    ("kgo", "v1.22.2"),
    ("", ""),
)
_ADDRESSES = ("127.0.0.1", "10.20.30.40", "::1", "fe80:0:0:0:0:0:12ab:1", "2001:db8::7", None)
_PREFIXES = (
    "org.apache.kafka.producer.",
    "org.apache.kafka.consumer.",
    "org.apache.kafka.producer.connection.",
    "org.apache.kafka.consumer.fetch.manager.",
    "org.apache.kafka.producer.record.",
    "org.apache.kafka.admin.",
    "*",
    "org.apache.kafka.consumer.coordinator.rebalance.latency.max",
    "Aa",
    "BB",
    "AaBB",
    "BBAa",
    "zażółć",
    "a b",
    "",
)
_ATTRIBUTES = (
    "client_instance_id",
    "client_id",
    "client_software_name",
    "client_software_version",
    "client_source_address",
    "client_source_port",
    "client.id",
    "CLIENT_ID",
    "principal",
)
_REGEXES = (
    ".*", ".+", "", "orders.*", "(orders|billing).*", "[a-z&&[^x]]+", "\\d+", "\\w+", "\\w+-\\w+", "[^-]++-.*", ".*+a",
    "(?i)ORDERS.*", "(?iu)ZAŻÓŁĆ.*", "\\p{L}+.*", "\\p{Alpha}+", "[[:alpha:]]+", "\\Qa.b\\E", "\\QA_B.c\\E.*", "4\\..*",
    "[34]\\.[0-9.]+", "apache-kafka-java", "confluent-kafka.*|librdkafka", "kgo|franz-go", "2\\.5\\.[0-2]", "*", "+a", "[",
    "(", ")", "a)", "\\", "a\\", "{", "a{2}", "a{60}", "a{", "(?P<n>a)", "(?<n>a)\\k<n>", "\\x2C", "a\\x3Db", "\\bfoo\\b", ".*\\b1",
    "^orders.*$", "(?<!x)orders.*", "(?!x).*", "(?>or|orders).*", "127\\.0\\.0\\.1", "10\\..*", "0:.*", "fe80:.*", "[0-9]+", "1.*",
    "(?s).*", "(?m)^two$.*", "(?s)two.lines", "\\R", ".*\\R.*", "\\h.*", "[\\h\\S]+", "(?x) o r d e r s .*", "(\\w+-?)+", "[a-", "[]a]+",
    "[^]a]+", "\\y", "\\p{Foo}", "\\p{IsLatin}.*", "\\X+", "(a)\\1", "\\1", "[A-Za-z0-9_-]{22}", "[A-M].*", "unknown", "|", "a||b",
)  # fmt: skip
_ODD_CHARACTERS = "ab1-.*+?()[]{}|\\^$&=, :zZżA"
_INTERVALS = (
    "100", "99", "3600000", "3600001", "1000", "60000", "300001", "+5000", " 5000 ", "5s", "", "-1", "٥٠٠٠", "007000", "1e3",
    "99999999999", "5000.0",
)  # fmt: skip


def text(value: str | None) -> str:
    return "-" if value is None else "=" + base64.b64encode(value.encode()).decode()


@dataclass
class Expected:
    """`line` is what the classes should answer. `instance`: the one that asked for a new id, whose answer can be known
    only with the id that it got."""

    request: str
    line: str
    instance: ClientInstance | None = None
    configured: ConfiguredSubscriptions | None = None


@dataclass
class Play:
    """One broker of one release after the other, fed with random requests."""

    release: str
    random: random.Random
    java: JavaRuntime
    lines: list[str] = field(default_factory=list)
    expected: list[Expected] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.version = tuple(map(int, self.release.split(".")))
        self.now = START

    def broker(self, changes: int, requests: int) -> None:
        """A new broker: `changes` of its subscriptions, after each `requests` of 12 instances."""
        self.lines.append(f"manager {MAX_BYTES}")
        self.configured: dict[str, Subscription] = {}
        self.table = self.java.concurrent_map()
        self.memory = BrokerMemory(self.version, MAX_BYTES, self._answer_of)
        # Up to two sets of attributes of an instance: the first that a broker sees count.
        self.instances = [
            each
            for one in (self._instance() for _ in range(12))
            for each in (one, replace(one, client_id="later", source_port=1))
        ]
        names = [
            self.random.choice(("a", "Aa", "BB", "orders", "ż", "AaBB", "BBAa")) + str(n % 7)
            for n in range(9)
        ]
        for _ in range(changes):
            self._configure(self.random.choice(names))
            for _ in range(requests):
                self._request()

    def full_cache(self) -> None:
        """More instances than a broker remembers: the one longest without a request is forgotten."""
        self.lines.append(f"manager {MAX_BYTES}")
        self.memory = BrokerMemory(self.version, MAX_BYTES, lambda _: answer)
        self.configured = {}
        answer = Answer((), 300_000, (), 0)
        for number in (*range(1, 16_400), 1, 16_399, 17, 16, 15, 14):
            instance = ClientInstance((number << 40).to_bytes(16), "a", "b", "1", None, None)
            self._get(instance, f"c{number}", only_error=True)

    def _configure(self, name: str) -> None:
        properties = self._properties()
        self.lines.append(
            " ".join(["configure", text(name), *(text(each) for pair in properties.items() for each in pair)])
        )
        if not properties:
            if name in self.configured:
                del self.configured[name]
                self.table.remove(name)
                self.memory.changed()
            line = "configured"
        else:
            try:
                self.configured[name] = parse(name, properties, self.version, self.java)
                self.table.put(name, name)
                self.memory.changed()
                line = "configured"
            except RefusedByKafka as refused:
                line = f"refused {refused.error} {text(refused.message)}"
        self.expected.append(Expected(f"configure {name!r} {dict(properties)!r}", line))
        order = self.java.order_of(self.table)
        self.state = ConfiguredSubscriptions(
            [self.configured[each] for each in order], self.version, self.java, order
        )
        self.answers = dict(zip(self.instances, self.state.answers(self.instances), strict=True))

    def _properties(self) -> Mapping[str, str]:
        pick = self.random
        properties = {}
        if pick.random() < 0.9:
            separator = pick.choice((",", ",", " , ", ",\n"))
            metrics = pick.choices(_PREFIXES[:-1], k=pick.choice((0, 1, 1, 2, 3, 5)))
            metrics += [f"m{pick.randrange(99)}" for _ in range(pick.choice((0, 0, 1, 15)))]
            metrics += [""] * (pick.random() < 0.02)
            pick.shuffle(metrics)
            properties["metrics"] = separator.join(metrics)
        if pick.random() < 0.7:
            properties["interval.ms"] = (
                pick.choice(_INTERVALS)
                if pick.random() < 0.15
                else str(pick.choice((100, 1000, 2500, 60000)))
            )
        if pick.random() < 0.75:
            items = [self._item() for _ in range(pick.choice((1, 1, 1, 2, 3)))]
            properties["match"] = pick.choice((",", ",", " , ")).join(items)
        if pick.random() < 0.02:
            properties[pick.choice(("interval", "Metrics", "match "))] = "1"
        return {} if pick.random() < 0.05 else properties

    def _item(self) -> str:
        pick = self.random
        attribute = pick.choice(_ATTRIBUTES if pick.random() < 0.05 else _ATTRIBUTES[:6])
        chance = pick.random()
        if chance < 0.15:
            regex = "".join(pick.choices(_ODD_CHARACTERS, k=pick.randrange(7)))
        elif chance < 0.4:
            value = pick.choice(self.instances).attributes(self.version)[
                _ATTRIBUTES.index(attribute) if attribute in _ATTRIBUTES[:6] else 1
            ]
            regex = (value or "")[: pick.choice((3, 8, 99))] + pick.choice(("", ".*", "[^x]*", "?.*"))
        else:
            regex = pick.choice(_REGEXES)
        return (
            f"{attribute}{pick.choice(('=', '=', '=', ' = ', '=='))}{regex}"
            if pick.random() < 0.98
            else regex
        )

    def _instance(self) -> ClientInstance:
        pick = self.random
        name, version = pick.choice(_SOFTWARE)
        port = pick.choice((None, pick.randrange(1, 65536)))
        instance_id = pick.randbytes(16) if pick.random() < 0.98 else bytes(15) + b"\1"
        return ClientInstance(
            instance_id, pick.choice(_CLIENT_IDS), name, version, pick.choice(_ADDRESSES), port
        )

    def _request(self) -> None:
        pick = self.random
        chance = pick.random()
        instance = pick.choice(self.instances)
        connection = f"c{pick.randrange(20)}"
        if chance < 0.15:
            wait = pick.choice((1, 50, 99, 100, 999, 1000, 2500, 60_000, 300_000, 400_000))
            self.lines.append(f"wait {wait}")
            self.now += wait
        elif chance < 0.2:
            self.lines.append(f"disconnect {connection}")
            self.memory.disconnect(connection)
        elif chance < 0.21:
            new = replace(instance, instance_id=bytes(16))
            request = f"get {self._context(new, connection + 'new')}"
            self.lines.append(request)
            self.expected.append(Expected(request, "", new, self.state))
        elif chance < 0.6:
            self._get(instance, connection)
        else:
            self._push(instance, connection)

    def _get(self, instance: ClientInstance, connection: str, only_error: bool = False) -> None:
        request = f"get {self._context(instance, connection)}"
        error, answer = self.memory.get_subscriptions(instance, connection, self.now)
        self.lines.append(request)
        if answer is None:
            line = f"got {error} 0 0 AAAAAAAAAAAAAAAAAAAAAA"
        else:
            line = "got 0" if only_error else got(answer, instance)
        self.expected.append(Expected(request, line))

    def _push(self, instance: ClientInstance, connection: str) -> None:
        pick = self.random
        if pick.random() < 0.01:
            instance = replace(instance, instance_id=bytes(16))
        answer = self.answers.get(instance)
        subscription_id = (
            answer.subscription_id
            if answer is not None and pick.random() < 0.8
            else pick.randrange(-(2**31), 2**31)
        )
        compression = pick.choice((0, 0, 0, 1, 1, 2, 3, 4, 5, 9, -1))
        plain = pick.choice(
            (b"", b"a" * 20, b"fail", b"a" * (MAX_BYTES + 1), b"a" * MAX_BYTES, b"f" * (MAX_BYTES + 1))
        )
        payload, decompressed = plain, len(plain)
        handed_over = plain
        if compression == 1 and plain:
            if pick.random() < 0.7:
                payload = gzip.compress(plain, mtime=0)
            else:
                payload, decompressed = b"a" * 30, None
            handed_over = plain if broker_memory.decompresses(self.version) else payload
        elif compression in (2, 3, 4):
            payload, handed_over = b"", b""  # their codecs are not among the jars
        terminating = pick.random() < 0.05
        request = (
            f"push {self._context(instance, connection)} {subscription_id} {str(terminating).lower()} {compression} "
            f"={base64.b64encode(payload).decode()}"
        )
        push = Push(
            instance.instance_id,
            subscription_id,
            terminating,
            compression,
            len(payload),
            decompressed,
            handed_over[:1] == b"f",
        )
        error = self.memory.push(instance, push, connection, self.now)
        self.lines.append(request)
        self.expected.append(Expected(request, f"pushed {error}"))

    def _answer_of(self, instance: ClientInstance) -> Answer:
        return self.answers[instance]

    def _context(self, instance: ClientInstance, connection: str) -> str:
        port = None if instance.source_port is None else str(instance.source_port)
        fields = (
            instance.client_id,
            instance.software_name,
            instance.software_version,
            instance.source_address,
            port,
        )
        return " ".join([*map(text, fields), connection, instance.instance_id.hex()])


def got(answer: Answer, instance: ClientInstance) -> str:
    metrics = [text(each) for each in answer.metrics]
    return " ".join(
        [
            "got 0",
            str(answer.subscription_id),
            str(answer.push_interval_ms),
            kafka_uuid(instance.instance_id),
            *metrics,
        ]
    )


def kafkas_answers(plays: Sequence[Play], folder: Path) -> list[list[str]]:
    """What Kafka's classes answer to the lines of each play; all in one Java machine."""
    arguments = []
    for number, play in enumerate(plays):
        (folder / f"{number}.requests").write_text("\n".join(play.lines) + "\n", encoding="utf-8")
        arguments += [
            play.release,
            str(JARS / play.release),
            str(folder / f"{number}.requests"),
            str(folder / f"{number}.answers"),
        ]
    classes = str(JARS / "classes") + "/"
    # The launcher alone sees no Kafka: each release has a class loader of its own.
    subprocess.run(
        ["java", "-Xmx1g", "-cp", classes, "KafkaClasses", classes, *arguments], check=True, timeout=500
    )
    return [
        (folder / f"{number}.answers").read_text(encoding="utf-8").splitlines()
        for number in range(len(plays))
    ]


def differences(play: Play, answers: Sequence[str]) -> Iterator[str]:
    if len(answers) != len(play.expected):
        yield f"{play.release}: {len(answers)} answers to {len(play.expected)} requests"
    for expected, answer in zip(play.expected, answers, strict=False):
        line = expected.line
        if expected.instance is not None and expected.configured is not None:
            instance = replace(expected.instance, instance_id=instance_id_of(answer.split(" ")[4]))
            line = got(next(expected.configured.answers([instance])), instance)
        if answer != line and not (line == "got 0" and answer.startswith("got 0 ")):
            yield f"{play.release}: {expected.request}\n  Kafka: {answer}\n  here:  {line}"
