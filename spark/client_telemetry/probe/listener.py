"""A listener of a broker and how clients connect to it, from a client.properties file."""

import re
import ssl
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, NamedTuple

from client_telemetry import Unusable
from client_telemetry.compatibility import java_properties
from client_telemetry.compatibility.java_properties import UnreadableProperties
from client_telemetry.probe.connection import Address, Connection, connect

Login = Callable[[Connection, Address], None]
"""Logs in on a new connection. Raises BrokenConnection."""

CONNECT_TIMEOUT_S: Final = 10.0
PROTOCOLS: Final = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")


class ScramCredentials(NamedTuple):
    mechanism: str
    username: str
    password: str


class UnusableSettings(Unusable):
    """A client.properties file or an address that cannot be used; the message says what to write instead."""


@dataclass(frozen=True)
class Listener:
    address: Address
    security_protocol: str
    tls: ssl.SSLContext | None = None
    login: Login | None = None
    new_tls: Callable[[], ssl.SSLContext] | None = None
    """A context like `tls`, which may be changed."""
    scram: ScramCredentials | None = None

    def at(self, address: Address) -> "Listener":
        """The same way in at another address."""
        return replace(self, address=address)

    @property
    def uses_sasl(self) -> bool:
        return self.security_protocol.startswith("SASL")

    def connect(self) -> Connection:
        """Without a login. Raises Unreachable."""
        return connect(self.address, self.tls, None, CONNECT_TIMEOUT_S)

    def open(self) -> Connection:
        """Logged in. Raises BrokenConnection."""
        opened = self.connect()
        if self.login:
            try:
                self.login(opened, self.address)
            except BaseException:
                opened.close()
                raise
        return opened


def addresses(text: str) -> tuple[Address, ...]:
    """`host:9092,[::1]:9093` -> addresses. Raises UnusableSettings.

    >>> addresses("kafka-1:9092, [::1]:9093")
    (Address(host='kafka-1', port=9092), Address(host='::1', port=9093))
    """
    found = tuple(_address(part.strip()) for part in text.split(",") if part.strip())
    if not found:
        raise UnusableSettings("no address: write HOST:PORT, such as kafka-1.example.com:9092")
    return found


def _address(text: str) -> Address:
    match = re.fullmatch(r"(?:[A-Z_]+://)?(?:\[([0-9A-Fa-f:.%]+)\]|([^\s:/\[\]]+)):(\d{1,5})", text)
    if not match or not 0 < int(match[3]) < 65536:
        raise UnusableSettings(f"{text!r} is not HOST:PORT: write it as kafka-1.example.com:9092")
    return Address(match[1] or match[2], int(match[3]))


def read_properties(path: Path) -> dict[str, str]:
    """A Java properties file: comments, continued lines, `=` or `:` or blanks between key and value. Raises UnusableSettings."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise UnusableSettings(f"{path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise UnusableSettings(
            f"{path}: not UTF-8: it is to be a text file such as client.properties"
        ) from error
    try:
        return {each.key: each.value for each in java_properties.parse(text)}
    except UnreadableProperties as error:
        raise UnusableSettings(f"{path} {error}") from error


def security_protocol(settings: Mapping[str, str]) -> str:
    """PLAINTEXT if none is set, as in Kafka's clients. Raises UnusableSettings."""
    protocol = settings.get("security.protocol", PROTOCOLS[0]).strip().upper()
    if protocol not in PROTOCOLS:
        raise UnusableSettings(f"security.protocol={protocol} is not one of {', '.join(PROTOCOLS)}")
    return protocol
