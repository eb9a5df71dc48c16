"""Both ends of a connection, and where a request arrived, from Kafka's connection id."""

import ipaddress
import re
from functools import lru_cache
from typing import NamedTuple

from client_telemetry.sources.request_log.request_entry import (
    RequestEntry,
)

NO_CONNECTION = "no id of a connection"
_CONNECTION = re.compile(r"(?P<local>.+):(?P<local_port>\d+)-(?P<remote>.+):(?P<remote_port>\d+)-[\d-]+")
_MASKED_LOCAL = re.compile(r"(?P<local>[^-\s]+)-(?P<remote>[^\s-]+):(?P<remote_port>\d+)-[\d-]+")
_MASKED = re.compile(r"(?=.*(?:[*#<>\[\]{}Xx]|[A-Z_]{4,}))[^\s\"]{1,200}")
_NUMBERED = re.compile(r":\d+-\d+(?:-\d+)?$|-\d+$")


class Endpoint(NamedTuple):
    """Where connections arrive. `stream`: the family of log files, and the label if lines carry one."""

    stream: tuple[str, str]
    host: str
    port: int
    listener: str


class Remote(NamedTuple):
    local_host: str
    local_port: int
    host: str
    port: int


@lru_cache(maxsize=4096)
def addresses(connection_id: str) -> Remote | None:
    """Both ends of a connection, from Kafka's connection id: `LOCAL:PORT-REMOTE:PORT-INDEX`, since 4.0
    `…-PROCESSOR-INDEX` (ServerConnectionId); IPv6 without brackets. Amazon MSK and scrubbers of logs mask addresses: what
    is masked is empty or 0, except for the local side, which keeps the mask. None for anything else.
    """
    match = _CONNECTION.fullmatch(connection_id)
    if match is not None:
        host = match["remote"] if _is_address(match["remote"]) else ""
        return Remote(match["local"], int(match["local_port"]), host, int(match["remote_port"]))
    masked = _MASKED_LOCAL.fullmatch(connection_id)
    if masked is not None:
        host = masked["remote"] if _is_address(masked["remote"]) else ""
        return Remote(masked["local"], 0, host, int(masked["remote_port"]))
    return Remote("", 0, "", 0) if _MASKED.fullmatch(connection_id) else None


def endpoint_of(stream: tuple[str, str], connection_id: str, listener: str) -> Endpoint | None:
    """Where a request arrived; None if its connection id is not one."""
    ends = addresses(connection_id)
    return None if ends is None else Endpoint(stream, ends.local_host, ends.local_port, listener)


def is_numbered(connection_id: str) -> bool:
    """Whether a mask, if there is one, left by which connections differ."""
    return _NUMBERED.search(connection_id) is not None


def id_told_apart(connection_id: str, entry: RequestEntry) -> str:
    """Where a mask left nothing in a connection's id by which connections differ, with what else identifies the client in
    it.
    """
    if is_numbered(connection_id):
        return connection_id
    return f"{connection_id} {entry.client_id} {entry.principal}"


@lru_cache(maxsize=4096)
def _is_address(host: str) -> bool:
    """Whether a mask left the address: Kafka logs addresses as numbers (InetAddress.getHostAddress)."""
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True
