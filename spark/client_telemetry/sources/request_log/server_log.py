"""What else a broker's own log contains (server.log, or kafkaServer.out): starts, stops and the release, refused
requests, failed logins, finalized features, settings. The request log has no starts and stops. This is the only reader
of such lines; how events are used is up to the caller.

Wording of brokers from 2.x to 4.4. Starts and stops: Log4jController (the first line of every process), KafkaServer
(ZooKeeper), BrokerServer, ControllerServer and KafkaRaftServer (KRaft), LoggingSignalHandler; the release:
AppInfoParser; features: FeaturesPublisher. Refusals: kafka.network.Processor, two ERROR lines each, of which "Exception
while processing request from" is always present (Processor.processException); the exception is in the lines that
follow. Logins: Selector.pollSelectionKeys. Settings: broker_settings.py. Failed starts: KafkaServer.startup,
BrokerServer.startup, ControllerServer.startup, Kafka.main ("Exiting Kafka due to fatal exception"; the exception is with it since
KAFKA-13804).
"""

import re
from collections.abc import Iterable, Iterator
from typing import Literal, NamedTuple

from client_telemetry.knowledge import apis
from client_telemetry.sources.request_log.broker_settings import HEADER, SettingsBlock
from client_telemetry.sources.request_log.log_line import Line

Kind = Literal[
    "process",
    "starting",
    "started",
    "signal",
    "stopping",
    "release",
    "features",
    "settings",
    "fatal",
    "refused",
    "login_failed",
    "named",
]


class ServerEvent(NamedTuple):
    """`node_id`: if the line names it; a `named` event has nothing else. `text`: for `starting` which line it is (a
    process writes each once), for `release` its number, for `features` the finalized levels as in `feature_levels`,
    for `login_failed` the broker's words, for `fatal` why it did not start, otherwise empty. `connection_id`: of refusals and failed logins; empty in
    releases that do not log it. `address`: of failed logins, numeric. `api`: key and version of a refused request,
    if the exception names them. `label`: of the line. `settings`: of a `settings` event, sorted by name.
    """

    nanos: int
    kind: Kind
    node_id: int | None = None
    text: str = ""
    connection_id: str = ""
    address: str = ""
    api: tuple[int, int] | None = None
    label: str = ""
    settings: tuple[tuple[str, str], ...] = ()


_CLASSES = {
    name.rpartition(".")[2]: name
    for name in (
        "kafka.server.KafkaServer",
        "kafka.server.BrokerServer",
        "kafka.server.ControllerServer",
        "kafka.server.KafkaRaftServer",
        "kafka.server.KafkaConfig",
        "kafka.Kafka$",
        "kafka.utils.Log4jControllerRegistration$",
        "org.apache.kafka.common.utils.AppInfoParser",
        "org.apache.kafka.common.utils.LoggingSignalHandler",
        "org.apache.kafka.image.publisher.FeaturesPublisher",
        "kafka.network.Processor",
        "org.apache.kafka.common.network.Selector",
    )
}
_CLASSES["Kafka"] = _CLASSES["Kafka$"]
_CLASSES["Log4jControllerRegistration"] = _CLASSES["Log4jControllerRegistration$"]
"""Loggers whose lines are read, by the name of the class: layouts shorten the rest (`%c{1}`)."""

_NAME = "|".join(re.escape(name) for name in sorted(_CLASSES, reverse=True))
_WORDS = (
    r"Registered kafka:type=kafka\.Log4jController MBean|Terminating process due to signal|Kafka version ?: \d"
    r"|Exception while processing request from |Failed (?:re-)?authentication with |Unexpected error from /\S+ \(channelId"
    r"|Kafka Server started|Transition from SHUTDOWN to STARTING|Transition from \w+ to SHUTTING_DOWN|finalizedFeatures=\{|KafkaConfig values:"
    r"|Fatal error during \w+ startup|Exiting Kafka due to fatal exception"
)
"""Messages that can be told without their logger."""

_NOTABLE = re.compile(rf"(?:{_NAME}|{_WORDS})".encode())
_SAYS_WORDS = re.compile(_WORDS)
_LOGGER_BEHIND = re.compile(
    rf"\s*\((?:[\w$]+\.)*(?P<name>{_NAME})(?::\d+)?\)(?:\s*[\[(][^\])]*[\])])*[\s\"'}}\]]*(?:\t\d{{10,19}}\s*)?$"
)
"""Behind it stand what a layout adds in brackets, the end of a wrapping that cannot be taken apart (Fluent Bit's
`{"log"=>"…"}`, Python's dicts), or the second time of `aws logs get-log-events --output text`."""
_LOGGER_BEFORE = re.compile(
    rf"^.{{0,300}}?(?<![\w$.-])(?:[\w$]+\.)*(?P<name>{_NAME})(?![\w$.])(?::\d+)?(?:\s*[-:|>\])]+\s*|\s+)"
)
_OF_KAFKA = re.compile(
    rb"^\[?\d{4}-\d\d-\d\d[ T][\d:.,]+\]? +(?:TRACE|DEBUG|INFO|WARN|ERROR|FATAL) .*\((?:kafka|org\.apache|state)[\w.$]*\)\s*$"
)
_NODE_ID = re.compile(r"\b(?:id|nodeId|brokerId)=(\d{1,9})\b")
_EVENTS = (
    ("process", "", "Registered kafka:type=kafka.Log4jController MBean"),
    ("signal", "", "Terminating process due to signal"),
    ("starting", "zookeeper", "starting (kafka.server.KafkaServer)"),
    ("starting", "controller", "Starting controller (kafka.server.ControllerServer)"),
    ("starting", "broker", "Transition from SHUTDOWN to STARTING (kafka.server.BrokerServer)"),
    ("started", "", "started (kafka.server.KafkaServer)"),
    ("started", "", "Kafka Server started (kafka.server.KafkaRaftServer)"),
    ("stopping", "", "shutting down (kafka.server.KafkaServer)"),
    ("stopping", "", "to SHUTTING_DOWN (kafka.server.BrokerServer)"),
)
_FATAL = re.compile(
    r"Fatal error during (?:KafkaServer|broker|controller) startup|Exiting Kafka due to fatal exception.* \(kafka\.Kafka\$\)"
)
_THROWN = re.compile(r"^(?:Caused by: )?(?:(?:[a-z][\w$]*\.)+[A-Z][\w$]*: )+(?P<why>.*)$")
"""An exception; one that wraps another begins its message with the other's name."""
_AT_A_CLIENT = re.compile(r"\[(?!SocketServer\b)[^\[\]]*=[^\[\]]*\] $")
"""A LogContext before the message of a Selector. That of a broker's listeners is SocketServer's, or none (before 1.0); with another,
such as `[AdminClient clientId=…]` or `[ReplicaFetcher replicaId=…]`, this process is the one that could not log in.
"""
_USER_INFO = re.compile(r"(?<=://)[^/@\s]+@")
_LONGEST_REASON = 300
_OF_A_BROKER = re.compile(r"\(kafka\.server\.(?:BrokerServer|KafkaServer)\)\s*$")
"""KafkaRaftServer is the process, which may be a controller alone."""
_RELEASE = re.compile(r"Kafka version ?: (\S+) \(org\.apache\.kafka\.common\.utils\.AppInfoParser\)")
_REFUSED = re.compile(r"Exception while processing request from (\S+) \(kafka\.network\.Processor\)")
_LOGIN = re.compile(
    r"Failed (?:re-)?authentication with (?P<who>\S+)(?: \(channelId=(?P<id>[^)]+)\))? \((?P<why>.*)\) \(org\.apache"
)
_UNEXPECTED = re.compile(
    r"Unexpected error from (?P<who>\S+)(?: \(channelId=(?P<id>[^)]+)\))?; closing connection"
)
_REFUSED_API = re.compile(
    r"api(?: with)? key (?P<key>\d+) \([^)]*\) and unsupported version (?P<version>-?\d+)"  # 4.0 and later
    r"|for apiKey: (?P<name>\w+), apiVersion: (?P<of_name>-?\d+)"  # up to 3.9
)
_BEFORE_LOGIN = "org.apache.kafka.common.errors.InvalidRequestException: "
"""An exception that Selector gets in KafkaChannel.prepare only, before the client has logged in
(SaslServerAuthenticator); since 4.0 it is logged as unexpected and not as a failed login.
"""
_EXCEPTION_LINES = 12
_OF_ANY_KAFKA_PROCESS = frozenset(("process", "release", "signal"))
"""Kinds of events that clients and tools log, too: AppInfoParser logs the version of a client where it is created."""
_ADDRESSES = re.compile(r", connectionId: [^,]+")
_MECHANISM = re.compile(r"SASL mechanism ([A-Z0-9-]+)")
_FEATURES = re.compile(r"finalizedFeatures=\{([^}]*)\}")
_MECHANISM_BY_WORDS = {
    "Authentication failed: Invalid username or password": "PLAIN",  # PlainSaslServer
    '{"status":"invalid_token"}': "OAUTHBEARER",  # OAuthBearerUnsecuredValidatorCallbackHandler
}


def mechanism_of(reason: str) -> str | None:
    """The SASL mechanism that a failed login tried, if the broker's message names it.

    >>> mechanism_of("Authentication failed during authentication due to invalid credentials with SASL mechanism SCRAM-SHA-256")
    'SCRAM-SHA-256'
    """
    named = _MECHANISM.search(reason)
    return named[1] if named else _MECHANISM_BY_WORDS.get(reason)


def feature_levels(text: str) -> dict[str, int]:
    """The levels in the text of a `features` event.

    >>> feature_levels("group.version=1, metadata.version=25")
    {'group.version': 1, 'metadata.version': 25}
    """
    pairs = (part.strip().partition("=") for part in text.split(",") if "=" in part)
    return {name: int(level) for name, _, level in pairs if level.isdecimal()}


def shows_a_broker(kinds: Iterable[str]) -> bool:
    """Whether a log with these kinds of events is that of a broker or controller."""
    return not _OF_ANY_KAFKA_PROCESS.issuperset(kinds)


def is_of_kafka(line: bytes) -> bool:
    """Whether a line is in Kafka's shipped layout, from any of its loggers."""
    return _OF_KAFKA.match(line) is not None


class UnusedLines(NamedTuple):
    """Lines that could not be used for one reason: how many, and one of them."""

    number: int = 0
    example: str = ""

    def and_more(self, number: int, example: str) -> "UnusedLines":
        return UnusedLines(self.number + number, self.example or example)


class ServerLines:
    """Turns lines of other loggers than the request logger into events. An exception follows its line: an event that
    waits for it is returned with a later line, or by `end`. Lines with different labels are of different brokers.
    `unread`: lines that have the words of an event, and whose logger or time cannot be told.
    """

    def __init__(self) -> None:
        self._waiting: dict[str, tuple[ServerEvent, int]] = {}
        self._blocks: dict[str, SettingsBlock] = {}
        self.unread = UnusedLines()

    def is_notable(self, line: bytes) -> bool:
        return bool(self._waiting or self._blocks) or _NOTABLE.search(line) is not None

    def read(self, line: Line) -> Iterator[ServerEvent]:
        """`line`: without a time if it continues the one before, like those of an exception."""
        label = self._open_block(line)
        if label is not None:
            if self._blocks[label].add(line.message):
                return
            yield from self._settings(label)
        if HEADER in line.message:
            yield from self._settings_begin(line)
            return
        head, *thrown = line.message.split("\n")
        if line.label in self._waiting:
            yield from self._exception(line.label, head, is_new=line.nanos is not None)
        words = _SAYS_WORDS.search(head)
        text = canonical(head, line.logger)
        if words is not None and (text is None or words[0] not in text):
            text = None  # what names a logger before the message is within it
        if line.nanos is None or text is None:
            if words is not None and (line.nanos is not None or line.problem):
                self._not_read(line)
            return
        if event := _event(text, line.nanos):
            yield from self._begin(event._replace(label=line.label), line, text, thrown)

    def _begin(self, event: ServerEvent, line: Line, text: str, thrown: list[str]) -> Iterator[ServerEvent]:
        """The event of a line, at once or after its exception, whose lines may follow in the same message (`thrown`)."""
        if event.kind not in ("refused", "fatal") and (event.kind != "login_failed" or event.text):
            yield event
            return
        self._waiting[line.label] = event, _EXCEPTION_LINES
        if event.kind == "refused" and _REFUSED_API.search(text):  # a layout that puts it on one line
            thrown.insert(0, text)
        for following in thrown:
            if line.label in self._waiting:
                yield from self._exception(line.label, following, is_new=False)

    def end(self) -> Iterator[ServerEvent]:
        for label in list(self._blocks):
            yield from self._settings(label)
        for label in list(self._waiting):
            yield from self._give_up(label)

    def _open_block(self, line: Line) -> str | None:
        """The label of the block that a line continues or ends; some shippers' labels show only before the log's own time."""
        if line.label in self._blocks:
            return line.label
        is_only = not line.label and len(self._blocks) == 1 and "\t" in line.message
        return next(iter(self._blocks)) if is_only else None

    def _settings_begin(self, line: Line) -> Iterator[ServerEvent]:
        """A layout without a line for each setting has them all in this one."""
        if line.nanos is None:
            self._not_read(line)
            return
        block = self._blocks[line.label] = SettingsBlock(line.nanos)
        if not block.add(line.message.partition(HEADER)[2]):
            yield from self._settings(line.label)

    def _settings(self, label: str) -> Iterator[ServerEvent]:
        block = self._blocks.pop(label)
        if block.is_of_broker:
            settings = tuple(sorted(block.settings.items()))
            yield ServerEvent(block.nanos, "settings", block.node_id, label=label, settings=settings)

    def _not_read(self, line: Line) -> None:
        head = line.message.partition("\n")[0]
        self.unread = self.unread.and_more(1, head[:200])

    def _exception(self, label: str, text: str, is_new: bool) -> Iterator[ServerEvent]:
        event, left = self._waiting[label]
        if is_new or left == 1:
            yield from self._give_up(label)
            return
        self._waiting[label] = event, left - 1
        if event.kind == "fatal":
            if text.strip():
                del self._waiting[label]
                yield event._replace(text="" if text.lstrip().startswith("at ") else _reason(text))
            return
        if event.kind == "login_failed":
            del self._waiting[label]
            if text.startswith(_BEFORE_LOGIN):
                words = text.removeprefix(_BEFORE_LOGIN).strip()
                yield event._replace(text=_ADDRESSES.sub("", words))
            return
        api = _REFUSED_API.search(text)
        if api:
            del self._waiting[label]
            yield event._replace(api=_api(api))

    def _give_up(self, label: str) -> Iterator[ServerEvent]:
        """A refusal whose request is not named still counts; an unexpected error without its reason says nothing."""
        event, _ = self._waiting.pop(label)
        if event.kind in ("refused", "fatal"):
            yield event


def canonical(text: str, logger: str = "") -> str | None:
    """The message with its logger behind it, as in Kafka's own layout; None if the logger is not one whose lines are
    read. `logger`: if it stands apart from the text.

    >>> canonical("2026-11-22 10:48:26,500 INFO  [main] AppInfoParser:119 - Kafka version: 3.9.1")
    'Kafka version: 3.9.1 (org.apache.kafka.common.utils.AppInfoParser)'
    """
    name = logger.rpartition(".")[2]
    if name in _CLASSES:
        return f"{text} ({_CLASSES[name]})"
    if match := _LOGGER_BEHIND.search(text):
        return f"{text[: match.start()]} ({_CLASSES[match['name']]})"
    if match := _LOGGER_BEFORE.match(text):
        return f"{text[match.end() :].rstrip()} ({_CLASSES[match['name']]})"
    return None


def _event(text: str, nanos: int) -> ServerEvent | None:
    if text.rstrip().endswith("(kafka.network.Processor)"):
        refused = _REFUSED.search(text)
        return ServerEvent(nanos, "refused", connection_id=refused[1]) if refused else None
    node = _NODE_ID.search(text)
    node_id = int(node[1]) if node else None
    if login := _LOGIN.search(text) or _UNEXPECTED.search(text):
        is_at_a_client = _AT_A_CLIENT.search(text, 0, login.start())
        return None if is_at_a_client else _login(nanos, node_id, login)
    release = _RELEASE.search(text)
    if release:
        return ServerEvent(nanos, "release", text=release[1])
    if _FATAL.search(text):
        return ServerEvent(nanos, "fatal", node_id)
    features = _FEATURES.search(text)
    if features:
        return ServerEvent(nanos, "features", node_id, features[1])
    for kind, which, words in _EVENTS:
        if words in text:
            return ServerEvent(nanos, kind, node_id, which)  # type: ignore[arg-type]
    return ServerEvent(nanos, "named", node_id) if node_id is not None and _OF_A_BROKER.search(text) else None


def _reason(thrown: str) -> str:
    """The message of an exception, without users and passwords of URLs; its name if it has none.

    >>> _reason("org.apache.kafka.common.config.ConfigException: Invalid value 4096 for configuration log.segment.bytes")
    'Invalid value 4096 for configuration log.segment.bytes'
    """
    match = _THROWN.match(thrown.strip())
    return _USER_INFO.sub("", match["why"] if match else thrown.strip())[:_LONGEST_REASON]


def _login(nanos: int, node_id: int | None, match: re.Match[str]) -> ServerEvent:
    """`who`: `/10.0.0.1`, or `host.example/10.0.0.1`, maybe with a port. The reason of an unexpected error follows its line."""
    address, why = match["who"].rpartition("/")[2], match.groupdict().get("why", "")
    return ServerEvent(nanos, "login_failed", node_id, why, match["id"] or "", address)


def _api(match: re.Match[str]) -> tuple[int, int] | None:
    if match["key"]:
        return int(match["key"]), int(match["version"])
    try:
        return apis.find(match["name"]).key, int(match["of_name"])
    except apis.UnknownApi:
        return None
