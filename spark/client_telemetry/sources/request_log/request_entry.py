"""An entry of the request log (kafka.request.logger at DEBUG): one request, logged when it was answered.

Two formats. JSON since 2.8.0 (KIP-673, RequestConvertToJson), where strings are escaped. Text before, where nothing is:
a client id can imitate the header, and one with a line feed splits its entry. Both give the same RequestEntry.
"""

import json
import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, NamedTuple

import orjson

from client_telemetry.compatibility import apis

API_VERSIONS, GET_TELEMETRY_SUBSCRIPTIONS, PUSH_TELEMETRY, METADATA, PRODUCE, FETCH = 18, 71, 72, 3, 0, 1


class BadEntry(ValueError):
    """Begins like an entry and is none: cut off, or with a line feed inside. The message says what is wrong."""


class RequestEntry(NamedTuple):
    """`software_name`, `software_version`: as the broker registered them; None = the format does not tell (text logs
    up to 2.4). `request`, `response`: bodies with the names of the JSON format; of the text format only what is read
    here. `total_ms`: from receiving the request to sending the answer. `correlation_id`: the client's own number of the
    request; None = the entry does not have it."""

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


def parse_entry(message: str) -> RequestEntry:
    """`message`: from "Completed request:" to the end of the line. Raises BadEntry."""
    if message.startswith("{", len("Completed request:")):
        return _parse_json(message)
    return _parse_text(message)


def topics_of(request: Mapping[str, Any]) -> list[str]:
    """Names in the body of a request. A client can send what is no name of a topic, or anything at all where its body is
    damaged; newer Fetch and Produce have ids instead."""
    groups = request.get("groups") or ()
    lists = [request.get("topics"), request.get("topicData")]
    lists += [group.get("topics") for group in groups if isinstance(group, dict)]
    topics = (topic for each in lists if isinstance(each, list) for topic in each if isinstance(topic, dict))
    names = (topic.get("name") or topic.get("topic") for topic in topics)
    return [name for name in names if isinstance(name, str) and _TOPIC.fullmatch(name)]


def received_nanos(entry: RequestEntry, logged_nanos: int) -> int:
    """When the broker received the request: the entry is written when the answer has been sent."""
    return logged_nanos - round(entry.total_ms * 1_000_000)


_DECODER = json.JSONDecoder()
_TOPIC = re.compile(r"[A-Za-z0-9._-]{1,249}")
"""What Kafka takes for a name (org.apache.kafka.common.internals.Topic)."""


# As RequestConvertToJson writes it, all releases since 2.8. A quote inside of a JSON string is escaped, so no client can
# imitate the key after it.
_TAIL = re.compile(
    rb',"connection":"([^"\\]+)","totalTimeMs":[^"]+(?:"\w+Ms":[^"]+)+"securityProtocol":"([A-Z_]*)",'
    rb'"principal":"(?:[^"\\]|\\.)*","listener":"([^"\\]*)"'
)


def head_of(message: bytes) -> tuple[str, str, str] | None:
    """Connection, listener and security protocol of an entry that the compiled reader took, without parsing it; None if its end is
    not as expected. `message`: as for `parse_entry`."""
    if message.startswith(b"{", len("Completed request:")):
        tail = _TAIL.match(message, max(message.rfind(b',"connection":"'), 0))
        return (_decoded(tail[1]), _decoded(tail[3]), _decoded(tail[2])) if tail else None
    end = _END_OF_TEXT.match(_decoded(message[message.rfind(_CONNECTION.encode()) :]))
    return (end["connection"], end["listener"], end["protocol"]) if end else None


def _decoded(text: bytes) -> str:
    return text.decode("utf-8", "replace")


_TEXTS = {
    API_VERSIONS: ("clientSoftwareName", "clientSoftwareVersion"),
    PUSH_TELEMETRY: ("clientInstanceId", "metrics"),
}
_NUMBERS = {PUSH_TELEMETRY: ("compressionType", "subscriptionId")}
"""Fields of requests that are read: damage can leave valid JSON with another kind of value."""


def _parse_json(message: str) -> RequestEntry:
    begin = len("Completed request:")
    try:
        fields = orjson.loads(message[begin : message.rfind("}") + 1])
    except ValueError:  # or the layout has a brace after the message
        try:
            fields, _ = _DECODER.raw_decode(message, begin)
            orjson.dumps(fields)  # half of a surrogate pair cannot be written anywhere
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
        raise TypeError(f"{value!r} is no text")
    return value


def _int32(name: str, value: object) -> None:
    if value is not None and not (isinstance(value, int) and abs(value) < 2**31):
        raise TypeError(f"{name} {value!r}")


def _millis(value: object) -> float:
    millis = float(value)  # type: ignore[arg-type]
    if not 0 <= millis < 10**12:
        raise ValueError(f"{value!r} is no duration")
    return millis


def _body(value: object) -> dict[str, Any]:
    """Bodies are "" when absent."""
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
# Anchored at both ends; the client id reaches up to the last correlation id before the body, because a client id may
# hold anything, also what looks like one.
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
"""Name in JSON, what a body has that has the field, and the field."""
_TEXT_TOPIC = re.compile(rf"\{{(?:topic|name)=({_TOPIC.pattern})[,}}]")
_ERROR_CODE = re.compile(r"^\{(?:throttle_time_ms=\d+,)?error_code=(-?\d+)")
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
    """What TEXT finds, by name. Where the words that tell fields apart stand once, they are looked for, which takes a tenth of the
    time."""
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
    found = TEXT.match(message)
    if found is None:
        raise BadEntry("does not read as an entry: cut off, or its client id has a line feed")
    return found.groupdict()


def _parse_text(message: str) -> RequestEntry:
    found = fields_of_text(message)
    key = _api_key(found["api"])
    client_id = found["client_id"]
    if not _MILLIS.fullmatch(found["total"]):
        raise BadEntry(f"no duration: {found['total']}")
    return RequestEntry(
        key,
        int(found["version"]),
        None if client_id == "null" else client_id,
        found["connection"],
        found["listener"],
        found["protocol"],
        found["principal"],
        found["name"],
        found["sv"],
        float(found["total"]),
        _text_request(found["request"]),
        _text_response(key, found["response"]),
        False,
        int(found["number"]),
    )


def _text_request(body: str) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    for name, key, pattern in _TEXT_FIELDS:
        match = pattern.search(body) if key in body else None
        if match and match["value"] not in ("", "null"):
            fields[name] = int(match["value"]) if name == "replicaId" else match["value"]
    if names := _TEXT_TOPIC.findall(body):
        fields["topics"] = [{"name": name} for name in names]
    return fields


def _text_response(key: int, body: str) -> dict[str, Any]:
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
        return {"brokers": brokers, "clusterId": cluster[1] if cluster else None}
    return {}
