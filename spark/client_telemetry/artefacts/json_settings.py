"""Settings of Kafka clients in JSON as .NET binds them to its classes and Node.js to objects: `"GroupId"`, `"clientId"`."""

import re
from collections.abc import Iterator
from typing import Final

from client_telemetry.artefacts.packages import Unreadable
from client_telemetry.artefacts.readers.json_text import Lines, mapping, objects, parse

_NAMES: Final = {
    "clientid": "client.id",
    "groupid": "group.id",
    "applicationid": "application.id",
    "saslmechanism": "sasl.mechanism",
    "saslusername": "sasl.username",
    "securityprotocol": "security.protocol",
    "groupprotocol": "group.protocol",
}
_MECHANISMS: Final = {
    "scramsha256": "SCRAM-SHA-256",
    "scramsha512": "SCRAM-SHA-512",
    "oauthbearer": "OAUTHBEARER",
    "plain": "PLAIN",
    "gssapi": "GSSAPI",
}
"""SaslMechanism of Confluent.Kafka (Confluent.Kafka/Config_gen.cs)."""
_SERVERS: Final = frozenset(("bootstrapservers", "bootstrap.servers"))
_COMMENT = re.compile(r"^\s*//.*$", re.MULTILINE)


def read(text: str) -> Iterator[tuple[str, str, int]]:
    """Name, value and line: of objects below a key that names Kafka, or with bootstrap servers: client ids of OAuth look the same. Nothing of a file
    that is no JSON. Values are as they are written, so not all are literals.
    """
    try:
        content = parse(_COMMENT.sub("", text))
    except Unreadable:
        return
    yield from _of(content, Lines(text), is_kafka=False)


def _of(value: object, lines: Lines, *, is_kafka: bool) -> Iterator[tuple[str, str, int]]:
    for entry in objects(value) if isinstance(value, list) else [mapping(value)]:
        here = is_kafka or bool({key.lower() for key in entry} & _SERVERS)
        for key, below in entry.items():
            name = _NAMES.get(key.lower())
            if here and name and isinstance(below, str):
                yield _setting(name, key, below, lines)
            elif isinstance(below, dict | list):
                yield from _of(below, lines, is_kafka=here or "kafka" in key.lower())


def _setting(name: str, key: str, value: str, lines: Lines) -> tuple[str, str, int]:
    line = lines.of(f'"{key}": "{value}"', f'"{key}":"{value}"', f'"{key}"') or 1
    if name == "sasl.mechanism":
        value = _MECHANISMS.get(value.lower().replace("-", ""), value)
    return name, value, line
