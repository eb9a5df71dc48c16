"""An entry of the request log (kafka.request.logger at DEBUG): one request, logged when it was answered.

There are two formats: JSON since 2.8.0 (KIP-673, RequestConvertToJson), with escaped strings, and text before, where
nothing is escaped: a client id can imitate the header, and a line feed in it splits its entry. Both give the same
RequestEntry.
"""

import json
import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, NamedTuple

import orjson

from client_telemetry.knowledge import apis
from client_telemetry.knowledge.api_key import ApiKey
from client_telemetry.sources.request_log.answers import failure

# Looking up members of an enumeration takes longer than parts of a line.
API_VERSIONS, GET_TELEMETRY_SUBSCRIPTIONS, PUSH_TELEMETRY = (
    ApiKey.API_VERSIONS,
    ApiKey.GET_TELEMETRY_SUBSCRIPTIONS,
    ApiKey.PUSH_TELEMETRY,
)
METADATA, PRODUCE, FETCH = ApiKey.METADATA, ApiKey.PRODUCE, ApiKey.FETCH
FIND_COORDINATOR, DESCRIBE_CLUSTER = ApiKey.FIND_COORDINATOR, ApiKey.DESCRIBE_CLUSTER
READ_WHOLE = (API_VERSIONS, GET_TELEMETRY_SUBSCRIPTIONS, PUSH_TELEMETRY)
"""APIs whose entries say more than who sent them, and when. Their errors are not those of a client's work: ApiVersions' are in
the client of the event, telemetry's do no harm.
"""


class BadEntry(ValueError):
    """Begins like an entry but is not one: cut off, or with a line feed inside. The message says what is wrong."""


_OF_CLIENT = ("groupId", "transactionalId", "replicaId", "replicaState")


class RequestEntry(NamedTuple):
    """`software_name`, `software_version`: as the broker registered them; None = not in the format (text logs up to
    2.4). `request`, `response`: bodies with the names of the JSON format; from the text format only what is read
    here. `total_ms`: from receiving the request to sending the answer. `correlation_id`: the client's own number of
    the request; None = not in the entry. `is_traced`: KafkaApis logged it when it took the request: there is no listener,
    no answer and no duration.
    """

    api_key: int
    api_version: int
    client_id: str | None
    connection_id: str
    listener: str
    security_protocol: str
    principal: str
    software_name: str | None
    software_version: str | None
    total_ms: float
    request: dict[str, Any]
    response: dict[str, Any]
    is_forwarded: bool
    correlation_id: int | None = None
    is_traced: bool = False

    def shortened(self) -> "RequestEntry":
        """With only that of its bodies which says who sent it, and with which error code all of it failed."""
        kept: dict[str, object] = {name: self.request[name] for name in _OF_CLIENT if name in self.request}
        kept["topics"] = [{"name": name} for name in dict.fromkeys(topics_of(self.request))]
        code = failure(self.response)
        return self._replace(request=kept, response={} if code is None else {"errorCode": code})


def parse_entry(message: str) -> RequestEntry:
    """`message`: from "Completed request:" or "Handling request:" to the end of the line. Raises BadEntry."""
    if message.startswith("Handling request:"):
        return _parse_traced(message)
    if message.startswith("{", len("Completed request:")):
        return _parse_json(message)
    return _parse_text(message)


def topics_of(request: Mapping[str, Any]) -> list[str]:
    """Topic names in the body of a request. A client can send invalid names, or anything at all in a damaged body;
    newer Fetch and Produce have ids instead.
    """
    groups = request.get("groups") or ()
    lists = [request.get("topics"), request.get("topicData")]
    lists += [group.get("topics") for group in groups if isinstance(group, dict)]
    topics = (
        topic for topics in lists if isinstance(topics, list) for topic in topics if isinstance(topic, dict)
    )
    names = (topic.get("name") or topic.get("topic") for topic in topics)
    return [name for name in names if isinstance(name, str) and _TOPIC.fullmatch(name)]


def received_nanos(entry: RequestEntry, logged_nanos: int) -> int:
    """When the broker received the request: the entry is written when the answer has been sent."""
    return logged_nanos - round(entry.total_ms * 1_000_000)


_DECODER = json.JSONDecoder()
_TOPIC = re.compile(r"[A-Za-z0-9._-]{1,249}")
"""What Kafka accepts as a name (org.apache.kafka.common.internals.Topic)."""


_TEXTS: dict[int, tuple[str, ...]] = {
    API_VERSIONS: ("clientSoftwareName", "clientSoftwareVersion"),
    PUSH_TELEMETRY: ("clientInstanceId", "metrics"),
}
_NUMBERS: dict[int, tuple[str, ...]] = {PUSH_TELEMETRY: ("compressionType", "subscriptionId")}
"""Fields of requests that are read: damage can leave valid JSON with values of another type."""


def _parse_json(message: str) -> RequestEntry:
    begin = len("Completed request:")
    try:
        fields = orjson.loads(message[begin : message.rfind("}") + 1])
    except ValueError:  # or the layout has a brace after the message
        try:
            fields, _ = _DECODER.raw_decode(message, begin)
            orjson.dumps(fields)  # half of a surrogate pair cannot be stored anywhere
        except (ValueError, TypeError) as error:
            raise BadEntry(f"not whole JSON: {error}") from None
    try:
        header = fields["requestHeader"]
        software = fields.get("clientInformation") or {}
        key, request, response = (
            int(header["requestApiKey"]),
            _body(fields.get("request")),
            _body(fields.get("response")),
        )
        for name in _TEXTS.get(key, ()):
            _text(request.get(name))
        for name in _NUMBERS.get(key, ()):
            _int32(name, request.get(name))
        if key in _TEXTS:
            _int32("errorCode", response.get("errorCode"))
        return RequestEntry(
            key,
            int(header["requestApiVersion"]),
            _text(header.get("clientId")),
            _text(fields["connection"]) or "",
            _text(fields.get("listener")) or "",
            _text(fields.get("securityProtocol")) or "",
            _text(fields.get("principal")) or "",
            _text(software.get("softwareName")),
            _text(software.get("softwareVersion")),
            _millis(fields.get("totalTimeMs") or 0),
            request,
            response,
            bool(fields.get("isForwarded")),
            header.get("correlationId"),
        )
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise BadEntry(f"not an entry of the request log: {type(error).__name__} {error}") from None


def _text(value: object) -> str | None:
    if value is not None and not isinstance(value, str):
        raise TypeError(f"{value!r} is not text")
    return value


def _int32(name: str, value: object) -> None:
    if value is not None and not (isinstance(value, int) and abs(value) < 2**31):
        raise TypeError(f"{name} {value!r}")


def _millis(value: object) -> float:
    millis = float(value)  # type: ignore[arg-type]
    if not 0 <= millis < 10**12:
        raise ValueError(f"{value!r} is not a duration")
    return millis


def _body(value: object) -> dict[str, object]:
    """Bodies are "" if absent."""
    return value if isinstance(value, dict) else {}


_HEADER = (
    r"Completed request:RequestHeader\(apiKey=(?P<api>[A-Z_]+), apiVersion=(?P<version>\d+), clientId=",
    r"(?P<client_id>.*)",
    r", correlationId=(?P<number>-?\d+)\) -- (?=\{)",
)
_BODIES = r"(?P<request>\{.*?),response:(?P<response>.*)"
_END = (
    r" from connection (?P<connection>\S+);totalTime:(?P<total>[0-9.]+),.*?"
    r"securityProtocol:(?P<protocol>[^,]*),principal:(?P<principal>.*),listener:(?P<listener>[^,() ]+)"
    r"(?:,clientInformation:ClientInformation\(softwareName=(?P<name>[^,)]*), softwareVersion=(?P<sv>[^,)]*)\))?"
)
# Anchored at both ends; the client id extends to the last correlation id before the body, because a client id may
# contain anything, even what looks like one.
TEXT = re.compile("".join((*_HEADER, _BODIES, _END)))
_BEGIN_OF_TEXT, _NUMBER_OF_TEXT, _END_OF_TEXT = map(re.compile, (_HEADER[0], _HEADER[2], _END))
_NUMBER, _RESPONSE, _CONNECTION = ", correlationId=", ",response:", " from connection "
_MILLIS = re.compile(r"[0-9]{1,15}(?:\.[0-9]{1,15})?")
_TEXT_FIELDS = [
    (name, f"{field}=", re.compile(rf"(?:^\{{|,){field}=(?P<value>{value})"))
    for name, field, value in (
        ("groupId", "group_id", "[^,}]*"),
        ("transactionalId", "transactional_id", "[^,}]*"),
        ("clientSoftwareName", "client_software_name", "[^,}]*"),
        ("clientSoftwareVersion", "client_software_version", "[^,}]*"),
        ("replicaId", "replica_id", r"-?\d+"),
    )
]
"""Name in JSON, the marker of a body that has the field, and the pattern of the field."""
_TEXT_TOPIC = re.compile(rf"\{{(?:topic|name)=({_TOPIC.pattern})[,}}]")
_ERROR_CODE = re.compile(r"^\{(?:throttle_time_ms=\d+,)?error_code=(-?\d+)")
_ANY_ERROR_CODE = re.compile(r"[{,]error_code=(-?\d+)")
_RANGE = re.compile(r"api_key=(\d+),min_version=(\d+),max_version=(\d+)")
_BROKER = re.compile(r"node_id=(-?\d+),host=([^,}]*),port=(\d+)")
_CLUSTER_ID = re.compile(r",cluster_id=([A-Za-z0-9_-]{10,64})[,}]")


@lru_cache(maxsize=512)
def _api_key(enum_name: str) -> int:
    try:
        return apis.find(enum_name).key
    except apis.UnknownApi:
        raise BadEntry(f"no API {enum_name!r}") from None


def fields_of_text(message: str) -> dict[str, str | Any]:
    """What TEXT matches, by name. If the words that separate fields occur once, they are searched for, which takes a
    tenth of the time.
    """
    number_at, end_at = message.find(_NUMBER), message.find(_CONNECTION)
    if number_at == message.rfind(_NUMBER) and end_at == message.rfind(_CONNECTION) and "\n" not in message:
        begin = _BEGIN_OF_TEXT.match(message, 0, max(number_at, 0))
        number = _NUMBER_OF_TEXT.match(message, number_at) if begin else None
        response_at = message.find(_RESPONSE, number.end(), max(end_at, 0)) if number else -1
        end = _END_OF_TEXT.match(message, end_at) if response_at >= 0 else None
        if begin and number and end:
            return {
                **begin.groupdict(),
                "client_id": message[begin.end() : number_at],
                **number.groupdict(),
                "request": message[number.end() : response_at],
                "response": message[response_at + len(_RESPONSE) : end_at],
                **end.groupdict(),
            }
    match = TEXT.match(message)
    if match is None:
        raise BadEntry("does not read as an entry: cut off, or its client id has a line feed")
    return match.groupdict()


def _parse_text(message: str) -> RequestEntry:
    match = fields_of_text(message)
    key = _api_key(match["api"])
    client_id = match["client_id"]
    if not _MILLIS.fullmatch(match["total"]):
        raise BadEntry(f"no duration: {match['total']}")
    return RequestEntry(
        key,
        int(match["version"]),
        None if client_id == "null" else client_id,
        match["connection"],
        match["listener"],
        match["protocol"],
        match["principal"],
        match["name"],
        match["sv"],
        float(match["total"]),
        _text_request(match["request"]),
        _text_response(key, match["response"]),
        False,
        int(match["number"]),
    )


_TRACED = re.compile(
    r"Handling request:(?P<forwarded>Forwarded request: .*?)?RequestHeader\(apiKey=(?P<api>[A-Z_]+), "
    r"apiVersion=(?P<version>\d+), clientId=(?P<client_id>.*), correlationId=(?P<number>-?\d+)(?:, headerVersion=\d+)?\)"
    r" -- (?P<request>.*) from connection (?P<connection>\S+);securityProtocol:(?P<protocol>[A-Z_]*),"
    r"principal:(?P<principal>.*?)(?: \((?:[\w$]+\.)*KafkaApis(?::\d+)?\).*)?$"
)
"""KafkaApis.handle, RequestChannel.Request.requestDesc, RequestHeader.toString."""
_TRACED_TEXT = re.compile(r"\b(groupId|transactionalId|clientSoftwareName|clientSoftwareVersion)='([^']*)'")
_TRACED_REPLICA = re.compile(r"\breplicaId=(-?\d+)")
_TRACED_TOPIC = re.compile(rf"(?:partitionSizes=\[|, ?)({_TOPIC.pattern})-\d+=\d+")
_TRACED_NAME = re.compile(rf"\b(?:topic|name)='({_TOPIC.pattern})'")


def _parse_traced(message: str) -> RequestEntry:
    match = _TRACED.match(message)
    if match is None:
        raise BadEntry(
            "does not read as a request that KafkaApis took: cut off, or its client id has a line feed"
        )
    client_id, body = match["client_id"], match["request"]
    request = _text_request(body) | dict(_TRACED_TEXT.findall(body))
    if replica := _TRACED_REPLICA.search(body):
        request["replicaId"] = int(replica[1])
    topics = _TRACED_NAME.findall(body) + _TRACED_TOPIC.findall(body)
    if topics:
        request["topics"] = [{"name": name} for name in topics]
    return RequestEntry(
        api_key=_api_key(match["api"]),
        api_version=int(match["version"]),
        client_id=None if client_id == "null" else client_id,
        connection_id=match["connection"],
        listener="",
        security_protocol=match["protocol"],
        principal=match["principal"],
        software_name=None,
        software_version=None,
        total_ms=0.0,
        request=request,
        response={},
        is_forwarded=match["forwarded"] is not None,
        correlation_id=int(match["number"]),
        is_traced=True,
    )


def _text_request(body: str) -> dict[str, object]:
    fields: dict[str, object] = {}
    for name, key, pattern in _TEXT_FIELDS:
        match = pattern.search(body) if key in body else None
        if match and match["value"] not in ("", "null"):
            fields[name] = int(match["value"]) if name == "replicaId" else match["value"]
    if names := _TEXT_TOPIC.findall(body):
        fields["topics"] = [{"name": name} for name in names]
    return fields


def _text_response(key: int, body: str) -> dict[str, object]:
    if key == API_VERSIONS:
        error = _ERROR_CODE.match(body)
        ranges = [
            {"apiKey": int(k), "minVersion": int(low), "maxVersion": int(high)}
            for k, low, high in _RANGE.findall(body)
        ]
        return {"errorCode": int(error[1]) if error else 0, "apiKeys": ranges}
    if key == METADATA:
        cluster = _CLUSTER_ID.search(body)
        brokers = [{"nodeId": int(n), "host": h, "port": int(p)} for n, h, p in _BROKER.findall(body)]
        return {"brokers": brokers, "clusterId": cluster[1] if cluster else None, **_text_errors(body)}
    return _text_errors(body)


def _text_errors(body: str) -> dict[str, object]:
    """The error codes of an answer, by the names of the JSON format; `parts`: those of its topics, partitions or groups."""
    own = _ERROR_CODE.match(body)
    codes = sorted({int(code) for code in _ANY_ERROR_CODE.findall(body)})
    return {"errorCode": int(own[1]) if own else 0, "parts": [{"errorCode": code} for code in codes]}
