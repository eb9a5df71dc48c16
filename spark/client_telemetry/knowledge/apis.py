"""Kafka's APIs: their keys and their names.

An API has a key (11), a name (JoinGroup), an enum name as the request log prints it (JOIN_GROUP), and sometimes former
names (GroupCoordinator, now FindCoordinator).
"""

import re
from collections.abc import Hashable
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache, lru_cache
from typing import NamedTuple

from client_telemetry.knowledge import DamagedKnowledge, one_of, rows, whole
from client_telemetry.knowledge.api_key import ApiKey

FILE = "apis.csv"
COLUMNS = ("api_key", "api_name", "enum_name", "former_names", "used_by", "purpose", "source")
USED_BY = ("data", "admin", "connection", "telemetry", "broker")

API_VERSIONS = ApiKey.API_VERSIONS
"""Never refused for its version alone: the broker answers error 35 with its range and the client asks again."""
SET_UP = frozenset((ApiKey.SASL_HANDSHAKE, ApiKey.API_VERSIONS, ApiKey.SASL_AUTHENTICATE))
"""Sent before a library knows what the broker has, and before the broker can know the library."""
MEMBERSHIP = frozenset((ApiKey.JOIN_GROUP, ApiKey.HEARTBEAT, ApiKey.SYNC_GROUP))
"""What keeps a client a member of a classic group."""


class Versions(NamedTuple):
    """Inclusive range of request versions."""

    min: int
    max: int

    def has(self, version: int) -> bool:
        return self.min <= version <= self.max

    def __str__(self) -> str:
        if self.min > self.max:
            return "none"
        return str(self.min) if self.min == self.max else f"{self.min}–{self.max}"


class UnknownApi(ValueError):
    """No such API name, enum name or key."""


@dataclass(frozen=True)
class Api:
    key: int
    name: str
    enum_name: str
    former_names: tuple[str, ...]
    used_by: str
    """data (producers and consumers), admin, connection, telemetry, or broker (brokers among themselves)."""
    purpose: str
    """What a client does with it, for sentences: 'commits offsets'. Empty between brokers."""


@cache
def by_key() -> dict[int, Api]:
    by_number: dict[int, Api] = {}
    for line, (key, name, enum_name, former, used_by, purpose, source) in rows(FILE, COLUMNS):
        api = Api(whole(FILE, line, "api_key", key), name, enum_name, tuple(former.split()), used_by, purpose)
        if api.key in by_number:
            raise DamagedKnowledge(FILE, line, f"api_key {key} occurs twice")
        one_of(FILE, line, "used_by", used_by, USED_BY)
        if not source or (not purpose and used_by != "broker"):
            raise DamagedKnowledge(FILE, line, "purpose and source are required")
        by_number[api.key] = api
    return by_number


def key_of(file: str, line: int, key_text: str, api_name: str) -> int:
    """The key in a row that has the name beside it. Raises DamagedKnowledge."""
    key = whole(file, line, "api_key", key_text)
    if key not in by_key() or by_key()[key].name != api_name:
        raise DamagedKnowledge(file, line, f"api {key} {api_name} is not in {FILE}")
    return key


@cache
def keys_used_by(*users: str) -> frozenset[int]:
    """API keys whose `used_by` is one of these."""
    return frozenset(key for key, api in by_key().items() if api.used_by in users)


@cache
def _by_any_name() -> dict[str, Api]:
    return {
        _folded(name): api
        for api in by_key().values()
        for name in (*api.former_names, api.name, api.enum_name)
    }


def _folded(name: str) -> str:
    return name.replace("_", "").lower()


def find(text: str) -> Api:
    """The API of a name (JoinGroup, JOIN_GROUP, joingroup, GroupCoordinator), of a class of Kafka or of a library
    (OffsetRequest), or of a key (11).
    """
    stripped = text.strip()
    if stripped.isdecimal() and int(stripped) in by_key():
        return by_key()[int(stripped)]
    folded = _folded(stripped)
    api = _by_any_name().get(folded) or _by_any_name().get(folded.removesuffix("request"))
    if api:
        return api
    near = get_close_matches(_folded(stripped), _by_any_name(), n=1)
    hint = f"; did you mean {_by_any_name()[near[0]].name}?" if near else ""
    raise UnknownApi(f"no API {stripped!r}{hint}")


def keys_of(file: str, line: int, names: str) -> frozenset[int]:
    """The keys of the names in a cell, separated by blanks. Raises DamagedKnowledge."""
    try:
        return frozenset(find(name).key for name in names.split())
    except UnknownApi as error:
        raise DamagedKnowledge(file, line, str(error)) from error


def name(key: int) -> str:
    """Kafka's name of an API key; 'api key 200' for an unknown one."""
    api = by_key().get(key)
    return api.name if api else f"api key {key}"


def purpose(key: int) -> str:
    """What a client does with the API: 'commits offsets'; 'uses api key 200' for an unknown one."""
    api = by_key().get(key)
    return (api.purpose if api else "") or f"uses {name(key)}"


@lru_cache(maxsize=4096)
def in_words(versions: Hashable) -> str:
    """Request versions as they appear in a sentence: '0–2, 5' -> 'v0–v2, v5'; 'none' stays."""
    return re.sub(r"\d+", r"v\g<0>", str(versions))


def request(key: int, versions: object) -> str:
    """An API with request versions, as in a sentence: 'Produce v0–v2'."""
    return f"{name(key)} {in_words(versions)}".rstrip()
