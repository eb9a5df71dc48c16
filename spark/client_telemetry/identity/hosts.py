"""Host names of client addresses, as a user's file maps them: brokers see addresses only, and this project asks no DNS. Pure.

The file has the form of /etc/hosts: an address and its name, `#` before a comment. In place of an address a network in CIDR notation
may stand; of several that hold an address the smallest counts.
"""

import ipaddress
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

_Network = ipaddress.IPv4Network | ipaddress.IPv6Network


class NotHosts(ValueError):
    """A line of the file is no address or network with a name."""


@dataclass(frozen=True)
class HostNames:
    by_network: Mapping[_Network, str]

    @cached_property
    def _by_prefix_length(self) -> dict[tuple[int, int], dict[int, str]]:
        """IP version and prefix length, the smallest networks first, to names by the number of the network's address: a fleet has
        as many addresses as the file may have lines."""
        found: dict[tuple[int, int], dict[int, str]] = {}
        for network, name in sorted(self.by_network.items(), key=lambda pair: -pair[0].prefixlen):
            of_length = found.setdefault((network.version, network.prefixlen), {})
            of_length[int(network.network_address)] = name
        return found

    def of(self, address: str) -> str | None:
        """
        >>> host_names("10.1.2.3 erp-app-1").of("10.1.2.3")
        'erp-app-1'
        """
        try:
            found = ipaddress.ip_address(address)
        except ValueError:
            return None  # a digest, where identifiers are hidden
        found = getattr(found, "ipv4_mapped", None) or found
        for (version, length), names in self._by_prefix_length.items():
            host_bits = found.max_prefixlen - length
            if version == found.version and (name := names.get(int(found) >> host_bits << host_bits)):
                return name
        return None

    def of_all(self, addresses: Iterable[str]) -> list[str]:
        """The names of some addresses, sorted, each once."""
        return sorted({name for name in map(self.of, addresses) if name})


NO_HOSTS = HostNames({})


def host_names(text: str) -> HostNames:
    """Raises NotHosts with the number of the line. Of several names of an address the first counts, as in /etc/hosts."""
    found: dict[_Network, str] = {}
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
        found.setdefault(network, words[1])
    return HostNames(found)
