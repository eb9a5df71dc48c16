"""Host names of client addresses, as a user's file maps them: brokers see addresses only, and this project asks no DNS. Pure.

The file has the form of /etc/hosts: an address and its name, `#` before a comment. In place of an address a network in CIDR notation
may stand; of several that hold an address the smallest counts.
"""

import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass

_Network = ipaddress.IPv4Network | ipaddress.IPv6Network


class NotHosts(ValueError):
    """A line of the file is no address or network with a name."""


@dataclass(frozen=True)
class HostNames:
    """`by_network`: smallest networks first."""

    by_network: Mapping[_Network, str]

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
        return next((name for network, name in self.by_network.items() if found in network), None)


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
    return HostNames(dict(sorted(found.items(), key=lambda pair: -pair[0].prefixlen)))
