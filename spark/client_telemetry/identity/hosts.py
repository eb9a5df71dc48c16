"""Host names of client addresses, from a user's file: brokers see addresses only, and this project makes no DNS
lookups. Pure.

The file has the form of /etc/hosts: an address and its name, `#` before a comment. A network in CIDR notation may stand
for an address; of several networks that contain an address the smallest counts.
"""

import ipaddress
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

from client_telemetry import Unusable

_Network = ipaddress.IPv4Network | ipaddress.IPv6Network


class NotHosts(Unusable):
    """A line of the file is not an address or network with a name."""


@dataclass(frozen=True)
class HostNames:
    by_network: Mapping[_Network, str]

    @cached_property
    def _by_prefix_length(self) -> dict[tuple[int, int], dict[int, str]]:
        """IP version and prefix length, smallest networks first -> name by network address as a number: a fleet can
        have as many addresses as the file has lines.
        """
        by_length: dict[tuple[int, int], dict[int, str]] = {}
        for network, name in sorted(self.by_network.items(), key=lambda pair: -pair[0].prefixlen):
            of_length = by_length.setdefault((network.version, network.prefixlen), {})
            of_length[int(network.network_address)] = name
        return by_length

    def of(self, address: str) -> str | None:
        """
        >>> host_names("10.1.2.3 erp-app-1").of("10.1.2.3")
        'erp-app-1'
        """
        parsed = parsed_address(address)
        if parsed is None:
            return None  # a digest if identifiers are hidden
        for (version, length), names in self._by_prefix_length.items():
            host_bits = parsed.max_prefixlen - length
            if version == parsed.version and (name := names.get(int(parsed) >> host_bits << host_bits)):
                return name
        return None

    def of_all(self, addresses: Iterable[str]) -> list[str]:
        """The names of these addresses, sorted, without duplicates."""
        return sorted({name for name in map(self.of, addresses) if name})


NO_HOSTS = HostNames({})


def parsed_address(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """IPv4 also for those mapped into IPv6; None if the text is no address."""
    try:
        parsed = ipaddress.ip_address(text)
    except ValueError:
        return None
    return getattr(parsed, "ipv4_mapped", None) or parsed


def host_names(text: str) -> HostNames:
    """Raises NotHosts with the line number. If an address has several names, the first counts, as in /etc/hosts."""
    names: dict[_Network, str] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        words = line.partition("#")[0].split()
        if not words:
            continue
        try:
            network = ipaddress.ip_network(words[0], strict=False)
        except ValueError:
            raise NotHosts(f"line {number}: {words[0]!r} is neither an address nor a network") from None
        if len(words) == 1:
            raise NotHosts(f"line {number}: {words[0]} has no name")
        names.setdefault(network, words[1])
    return HostNames(names)
