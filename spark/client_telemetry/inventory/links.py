"""Which artefacts a client that brokers saw may come from, with the certainty of each and why.

certain: it was seen only from addresses of pods whose image is known by its digest. likely: something stands between, or a
client id or group agrees. possible: no more than a principal agrees, or a name that several programs share.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Final

from client_telemetry.identity.hosts import parsed_address
from client_telemetry.inventory.artefact import CLIENT_ID, GROUP, IMAGE, PRINCIPAL, REPOSITORY, Artefact
from client_telemetry.inventory.seen import Client
from client_telemetry.inventory.workloads import Container, Workload, Workloads

CERTAIN, LIKELY, POSSIBLE = "certain", "likely", "possible"
CERTAINTIES: Final = (CERTAIN, LIKELY, POSSIBLE)
MOST_SHARING: Final = 20
"""Artefacts with one name, and workloads at one address, that are listed for a client: what so many have tells none of them."""
_SUFFIX: Final = re.compile(r"-\d+$")
"""What Spring and Kafka Connect put behind the client id that is written: `orders-0`."""


@dataclass(frozen=True)
class Link:
    """`because`: in sentences without a full stop. `workload`: that runs it; empty if the link is by names only."""

    artefact: Artefact
    certainty: str
    because: tuple[str, ...]
    workload: str = ""


@dataclass
class Index:
    """Artefacts by all that may link them to a client. `seen_names`: the first application of the report by each
    of the names that artefacts have, too; `sharing`: all of them where there are several.
    """

    workloads: Workloads
    by_digest: dict[str, list[Artefact]] = field(default_factory=lambda: defaultdict(list))
    by_image: dict[str, list[Artefact]] = field(default_factory=lambda: defaultdict(list))
    by_repository: dict[str, list[Artefact]] = field(default_factory=lambda: defaultdict(list))
    by_name: dict[tuple[str, str], dict[str, Artefact]] = field(default_factory=lambda: defaultdict(dict))
    seen_names: dict[tuple[str, str], tuple[str, str, str]] = field(default_factory=dict)
    sharing: dict[tuple[str, str], set[tuple[str, str, str]]] = field(
        default_factory=lambda: defaultdict(set)
    )


def index(artefacts: Iterable[Artefact], clients: Iterable[Client], workloads: Workloads) -> Index:
    built = Index(workloads)
    for artefact in artefacts:
        for digest in artefact.subject.digests:
            built.by_digest[digest].append(artefact)
        for image in artefact.subject.names:
            built.by_image[image_name(image)].append(artefact)
        if artefact.repository and artefact.kind == REPOSITORY:
            built.by_repository[artefact.repository].append(artefact)
        for name in artefact.names:
            built.by_name[name.kind, name.value][artefact.name] = artefact
    for client in clients:
        for kind, value, _ in _names(client):
            if (kind, value) not in built.by_name:
                continue
            first = built.seen_names.setdefault((kind, value), client.application_key)
            if first != client.application_key:
                built.sharing[kind, value] |= {first, client.application_key}
    return built


def image_name(reference: str) -> str:
    """A reference to an image by tag, as registries complete it.

    >>> image_name("erp"), image_name("docker.io/library/erp:latest"), image_name("ghcr.io/acme/erp:1.2@sha256:ab")
    ('erp:latest', 'erp:latest', 'ghcr.io/acme/erp:1.2')
    """
    name = reference.partition("@")[0].removeprefix("docker.io/").removeprefix("library/")
    return name if ":" in name.rpartition("/")[2] else f"{name}:latest"


def of(client: Client, built: Index) -> tuple[Link, ...]:
    """The surest first; each artefact once."""
    links: dict[str, Link] = {}
    for link in [*_by_place(client, built), *_by_names(client, built)]:
        for each in (link, *_to_repository(link, built)):
            same = links.get(each.artefact.name)
            links[each.artefact.name] = _both(same, each) if same else each
    return tuple(sorted(links.values(), key=lambda link: (_rank(link), link.artefact.name)))


def _rank(link: Link) -> int:
    return CERTAINTIES.index(link.certainty)


def _both(one: Link, other: Link) -> Link:
    because = tuple(dict.fromkeys((*one.because, *other.because)))
    surer = min(one, other, key=_rank)
    return replace(surer, because=because, workload=one.workload or other.workload)


def _to_repository(link: Link, built: Index) -> Iterator[Link]:
    """From an image to what is written in the repository that it was built from."""
    if link.artefact.kind == IMAGE and link.artefact.repository:
        for artefact in built.by_repository.get(link.artefact.repository, ()):
            because = f"{link.artefact.name} was built from {link.artefact.repository}"
            yield replace(link, artefact=artefact, because=(*link.because, because))


def _by_place(client: Client, built: Index) -> Iterator[Link]:
    places = [address for address in client.listed_addresses if not _is_loopback(address)]
    found: dict[str, list[Link]] = defaultdict(list)
    for address in places:
        for link in _at(address, client, built):
            found[link.artefact.name].append(link)
    by_hosts = [workload for host in client.hosts for workload in built.workloads.at_host(host)]
    for workload in {id(each): each for each in by_hosts}.values():
        for link in _of_workload(
            workload, (f"its host name is that of {workload.where}",), built, is_sure=False
        ):
            found[link.artefact.name].append(link)
    for links in found.values():
        best = min(links, key=_rank)
        because = tuple(dict.fromkeys(text for link in links for text in link.because))
        if best.certainty == CERTAIN and (doubt := _doubt_of_places(client, len(places), links)):
            best = replace(best, certainty=LIKELY)
            because = (*because, doubt)
        yield replace(best, because=because)


def _doubt_of_places(client: Client, places: int, links: Sequence[Link]) -> str:
    if any(link.certainty != CERTAIN for link in links) or len(links) < places:
        return "other addresses of the client are of no such pod"
    if client.addresses > places:
        return f"{places} of its {client.addresses} addresses are in the report"
    return ""


def _is_loopback(address: str) -> bool:
    parsed = parsed_address(address)
    return parsed is not None and parsed.is_loopback


def _at(address: str, client: Client, built: Index) -> Iterator[Link]:
    """By the workloads that had an address while the client was seen."""
    there = built.workloads.at_address(address)
    if not there:
        by_host = [
            each for host in built.workloads.hosts_of(address) for each in built.workloads.at_host(host)
        ]
        for workload in {id(each): each for each in by_host}.values():
            host = f"{address} is the host of {workload.where}"
            yield from _of_workload(workload, (host,), built, is_sure=False)
        return
    there = [each for each in there if each.started_at is None or each.started_at <= client.last_seen_at]
    running = [each for each in there if not each.is_over] or there
    for workload in running[:MOST_SHARING]:
        doubts = tuple(_doubts(workload, client, len({each.name for each in running})))
        because = (f"{address} is {workload.where}", *doubts)
        yield from _of_workload(workload, because, built, is_sure=bool(workload.pod) and not doubts)


def _doubts(workload: Workload, client: Client, workloads: int) -> Iterator[str]:
    if workloads > 1:
        yield f"{workloads} workloads have this address"
    if workload.shares_address:
        yield "the pod is in the network of its node and shares the address"
    if workload.is_over:
        yield "the pod is over, and its address may have been given to another"
    if workload.started_at and workload.started_at > client.first_seen_at:
        yield f"the pod started {workload.started_at:%Y-%m-%d %H:%M}, after the client was first seen"


def _of_workload(
    workload: Workload, because: tuple[str, ...], built: Index, *, is_sure: bool
) -> Iterator[Link]:
    unknown = []
    links = []
    images = set()
    for container in workload.containers:
        artefacts, by = _of_container(container, built)
        if not artefacts:
            unknown.append((container, "was not scanned"))
        elif any(artefact.unread and not artefact.clients for artefact in artefacts):
            unknown.append((container, "could not be read whole"))
        if any(artefact.clients for artefact in artefacts):
            images.add(container.digests or container.image)
        for artefact in artefacts:
            if artefact.clients:
                certainty = CERTAIN if is_sure and not by else LIKELY
                text = by or f"it runs {artefact.name}, by digest"
                links.append(Link(artefact, certainty, (*because, text), workload.name))
    doubt = _doubt_of_images(len(images), unknown)
    for link in links:
        yield replace(link, certainty=LIKELY, because=(*link.because, doubt)) if doubt else link
    for artefact in built.by_repository.get(workload.repository, ()) if workload.repository else ():
        text = f"{workload.where} is of {workload.repository}"
        yield Link(artefact, LIKELY, (*because, text), workload.name)


def _of_container(container: Container, built: Index) -> tuple[list[Artefact], str]:
    """The artefacts of its image, and why that is not certain; they are certain by digest only."""
    by_digest = {each.name: each for digest in container.digests for each in built.by_digest.get(digest, ())}
    if by_digest:
        return list(by_digest.values()), ""
    if not container.image or container.image.startswith("sha256:"):
        return [], ""
    named = built.by_image.get(image_name(container.image), [])
    if container.digests:
        named = [each for each in named if not each.subject.digests]
    return named, f"it runs {container.image}, by name only: a tag may be moved"


def _doubt_of_images(images: int, unknown: Sequence[tuple[Container, str]]) -> str:
    """Which of several containers a client is in is known if only one has Kafka clients. `images`: how many have them; `unknown`:
    with what keeps it from being known.
    """
    if images > 1:
        return "several containers of the pod have Kafka clients"
    left = [
        f"the image of container {each.name or each.image} {why}"
        for each, why in unknown
        if each.ended_at is None
    ]
    return "; ".join(left[:3]) if images else ""


def _names(client: Client) -> Iterator[tuple[str, str, str]]:
    """Kind, value as it may be written, and how the report shows it."""
    if client.client_id:
        yield CLIENT_ID, client.client_id, client.client_id
        if (stem := _SUFFIX.sub("", client.client_id)) not in ("", client.client_id):
            yield CLIENT_ID, stem, client.client_id
    for group in client.groups:
        yield GROUP, group, group
    if client.principal:
        yield PRINCIPAL, client.principal.partition(":")[2] or client.principal, client.principal


def _by_names(client: Client, built: Index) -> Iterator[Link]:
    for kind, value, shown in _names(client):
        artefacts = built.by_name.get((kind, value), {})
        applications = len(built.sharing.get((kind, value), ()))
        for artefact in islice(artefacts.values(), MOST_SHARING):
            where = next(n.where for n in artefact.names if (n.kind, n.value) == (kind, value))
            because = [f"{kind} {shown!r} is written in {where}"]
            if len(artefacts) > 1:
                because.append(f"{len(artefacts)} artefacts have it")
            if applications > 1:
                because.append(f"{applications} applications have it")
            is_weak = kind == PRINCIPAL or len(because) > 1
            yield Link(artefact, POSSIBLE if is_weak else LIKELY, tuple(because))
