"""What a broker knows about a client instance and matches selectors against.

Source: ClientMetricsInstanceMetadata, RequestContext, ClientInformation. Attributes are those of the instance's first
telemetry request to a broker, and stay for as long as the broker remembers it.
"""

import base64
import binascii
import ipaddress
import re
import uuid
from dataclasses import dataclass

from client_telemetry.knowledge import kip511

NO_INSTANCE_ID = bytes(16)
"""Uuid.ZERO_UUID, which a client sends until a broker has assigned it an id."""

_PORTS_SINCE = (3, 8)
_UUID = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")


class BadInstanceId(ValueError):
    """Not a UUID in any of the usual forms."""


@dataclass(frozen=True)
class ClientInstance:
    """None: the broker does not have it. `instance_id`: 16 bytes; None if unknown."""

    instance_id: bytes | None
    client_id: str | None
    software_name: str | None
    software_version: str | None
    source_address: str | None
    source_port: int | None

    def attributes(self, release: tuple[int, ...]) -> tuple[str | None, ...]:
        """Values of configuration.SELECTORS, in order. A broker uses `unknown` if a client declared no software. Up to
        3.7 the port is filled with the address.
        """
        address = host_address(self.source_address) if self.source_address is not None else None
        if release[:2] < _PORTS_SINCE:
            port = address
        else:
            port = str(self.source_port) if self.source_port is not None else None
        return (
            None if self.instance_id is None else kafka_uuid(self.instance_id),
            self.client_id,
            kip511.registered(self.software_name),
            kip511.registered(self.software_version),
            address,
            port,
        )


def kafka_uuid(instance_id: bytes) -> str:
    """Uuid.toString: 22 characters of URL-safe base64."""
    return base64.urlsafe_b64encode(instance_id).decode().rstrip("=")


def instance_id_of(text: str) -> bytes:
    """16 bytes from Kafka's form, from standard base64 (librdkafka's logs) or from a UUID with dashes."""
    try:
        if _UUID.fullmatch(text):
            return uuid.UUID(text).bytes
        plain = text.rstrip("=").replace("+", "-").replace("/", "_")
        if len(plain) == 22:
            decoded = base64.b64decode(plain + "==", altchars=b"-_", validate=True)
            if len(decoded) == 16:
                return decoded
    except (ValueError, binascii.Error):
        pass
    raise BadInstanceId(f"{text!r} is not a client instance id; one looks like vbIwPY8MTDqgVD2pmFLUQw")


def is_address(text: str) -> bool:
    """Whether the text is an IP address in any form."""
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


def host_address(address: str) -> str:
    """InetAddress.getHostAddress: IPv6 is written out, without leading zeros; IPv4 in IPv6 is IPv4.

    >>> host_address("::1"), host_address("::ffff:10.0.0.1"), host_address("10.0.0.1")
    ('0:0:0:0:0:0:0:1', '10.0.0.1', '10.0.0.1')
    """
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return address
    if isinstance(parsed, ipaddress.IPv4Address):
        return str(parsed)
    if parsed.ipv4_mapped is not None:
        return str(parsed.ipv4_mapped)
    groups = ":".join(
        f"{int(group, 16):x}" for group in ipaddress.IPv6Address(int(parsed)).exploded.split(":")
    )
    return f"{groups}%{parsed.scope_id}" if parsed.scope_id else groups
