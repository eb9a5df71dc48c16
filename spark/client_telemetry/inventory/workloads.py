"""What runs where: workloads with their addresses and images."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime

from client_telemetry import Unusable
from client_telemetry.identity.hosts import HostNames, parsed_address


class UnusableWorkloads(Unusable):
    """A file does not say what runs where; the message names it, the reason and what to do."""


@dataclass(frozen=True)
class Container:
    """`digests`: of the image as it runs; none if the file does not say. `ended_at`: when it ended for good."""

    name: str
    image: str
    digests: frozenset[str] = frozenset()
    ended_at: datetime | None = None


@dataclass(frozen=True)
class Workload:
    """`name`: what people call it (namespace/Deployment/orders). `pod`: one run of it. `shares_address`: others have the address
    too, as pods in the network of their node have. `is_over`: the address may belong to another by now.
    """

    name: str
    where: str
    pod: str = ""
    addresses: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    containers: tuple[Container, ...] = ()
    started_at: datetime | None = None
    shares_address: bool = False
    is_over: bool = False
    repository: str = ""
    owner: str = ""


@dataclass
class Workloads:
    """All of them, with the places at which they run. `files`: names of what was read."""

    all: list[Workload] = field(default_factory=list)
    files: list[str] = field(default_factory=list)
    host_names: list[HostNames] = field(default_factory=list)
    by_digest: dict[str, list[Workload]] = field(default_factory=lambda: defaultdict(list))
    _at: dict[str, list[Workload]] = field(default_factory=lambda: defaultdict(list))

    def add(self, workloads: Iterable[Workload]) -> None:
        for workload in workloads:
            self.all.append(workload)
            for address in workload.addresses:
                self._at[address].append(workload)
            for host in {name for each in workload.hosts for name in names_of_host(each)}:
                self._at[host].append(workload)
            for digest in {each for container in workload.containers for each in container.digests}:
                self.by_digest[digest].append(workload)

    def at_address(self, address: str) -> list[Workload]:
        return self._at.get(plain_address(address) or address, [])

    def at_host(self, host: str) -> list[Workload]:
        """By the whole name or, if one of both has no domain, by the first part."""
        return self._at.get(host.lower().rstrip("."), []) or self._at.get(host.partition(".")[0].lower(), [])

    def hosts_of(self, address: str) -> list[str]:
        """Names of an address in the hosts files."""
        return [name for names in self.host_names if (name := names.of(address))]


def names_of_host(host: str) -> set[str]:
    """Names under which a host is looked up.

    >>> sorted(names_of_host("Erp-1.corp.example."))
    ['erp-1', 'erp-1.corp.example']
    """
    whole = host.lower().rstrip(".")
    return {whole, whole.partition(".")[0]}


def plain_address(text: str) -> str | None:
    """An address as the reports write it: IPv4 also for those mapped into IPv6; None if the text is none.

    >>> plain_address("::ffff:10.1.2.3"), plain_address("FD00::0:1"), plain_address("erp-1")
    ('10.1.2.3', 'fd00::1', None)
    """
    parsed = parsed_address(text.strip().strip("[]"))
    return None if parsed is None else str(parsed)
