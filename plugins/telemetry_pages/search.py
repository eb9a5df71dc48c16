"""Finds client instances and clients of published days by any form of an instance id, by client id, application, principal,
group, transactional id, rack, host name, or by address."""

import base64
import binascii
import ipaddress
import re
import string
import uuid
from dataclasses import dataclass, field
from typing import Any

from telemetry_pages.published import FLEET, File, NotPublished, Published

SHOWN = 200
"""Client instances, and applications, that are listed."""
LONGEST_QUERY = 1024
ID_BYTES = 23
"""Of search.instances.txt for an instance: 22 characters and a line feed."""
ID_WINDOW = 1000
"""Ids before and behind the expected place that are read first: about 46 kB."""

_SIGNS = {sign: place for place, sign in enumerate(sorted(string.ascii_letters + string.digits + "-_"))}
"""Of URL-safe base64, in the order of text."""
_PLACED_BY = 5
"""First characters of an id that say where it lies among the others."""
_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{22}(==)?")
_LABEL = re.compile(r"(?:client)?[ ._]?(?:instance)?[ ._]?id\s*[=:]\s*", re.IGNORECASE)
_AROUND = " \t\r\n\"'`,;"
"""What stands around a value in a log line or in JSON."""
_PORT = re.compile(r"(.+?):\d{1,5}")


@dataclass
class Hits:
    """What was found in one cluster, on the latest of the searched days that has anything. Of these days, published by older
    versions or damaged: `without_groups` have neither groups nor transactional ids nor racks nor applications to be found
    by, `not_covered` nothing at all."""

    cluster: str
    day: str | None = None
    searched: list[str] = field(default_factory=list)
    without_groups: list[str] = field(default_factory=list)
    not_covered: list[str] = field(default_factory=list)
    instances: list[dict[str, Any]] = field(default_factory=list)
    clients: list[dict[str, Any]] = field(default_factory=list)

    def applications(self) -> list[tuple[str, list[dict[str, Any]]]]:
        """Name and clients of each application that was found; of pages of older days each client by itself."""
        found: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
        for number, each in enumerate(self.clients):
            key = (
                (each["principal"], each["owner"], each["application"])
                if "application" in each
                else (number,)
            )
            found.setdefault(key, []).append(each)
        return [
            (group[0].get("application_shown", group[0]["client_id_shown"]), group)
            for group in found.values()
        ]


def instance_id(text: str) -> str | None:
    """A client instance id as Kafka writes it, from any form in which people meet it; None for what is none.

    Kafka prints URL-safe base64 (org.apache.kafka.common.Uuid), librdkafka standard base64, other tools a UUID or hex,
    plain, with 0x before it or colons in it. With its quotes and its name (`clientInstanceId=`) as copied from a log.

    >>> instance_id("AAECAwQFBgcICQoLDA0ODw"), instance_id("00010203-0405-0607-0809-0a0b0c0d0e0f")
    ('AAECAwQFBgcICQoLDA0ODw', 'AAECAwQFBgcICQoLDA0ODw')
    """
    text = text.strip(_AROUND)
    text = _LABEL.sub("", text, count=1).strip(_AROUND) if _LABEL.match(text) else text
    if _BASE64.fullmatch(text):
        try:
            standard = text.rstrip("=").replace("-", "+").replace("_", "/")
            return _kafka(base64.b64decode(standard + "==", validate=True))
        except binascii.Error:
            return None
    try:
        return _kafka(
            uuid.UUID(text.removeprefix("0x").replace(":", "") if "urn" not in text else text).bytes
        )
    except ValueError:
        return None


def _kafka(raw: bytes) -> str:
    """Uuid.toString: URL-safe base64 without padding."""
    return base64.urlsafe_b64encode(raw).decode().rstrip("=")


def address(text: str) -> str | None:
    """An address in its shortest form, from what logs print: `10.0.0.1`, `host/10.0.0.1:9092`, `[::1]:9092`."""
    text = text.strip(_AROUND).rpartition("/")[2]
    with_port = _PORT.fullmatch(text)
    for candidate in (text, with_port[1] if with_port else text):
        try:
            found = ipaddress.ip_address(candidate.strip("[]"))
            return str(getattr(found, "ipv4_mapped", None) or found)
        except ValueError:
            continue
    return None


def search(published: Published, query: str, clusters: list[str], days: int) -> list[Hits]:
    """For each cluster: the latest of its last `days` published days on which anything matches. Client id, principal,
    groups, transactional ids, rack and host names match where they contain the query, upper and lower case alike; instance id and
    address match as a whole."""
    query = query[:LONGEST_QUERY]
    wanted = (instance_id(query), address(query), query.strip().casefold())
    found = []
    for cluster in clusters:
        hits = Hits(cluster)
        for day in published.days(cluster)[:days]:
            if not may_match(published, cluster, day, *wanted):
                hits.searched.append(day)
                continue
            try:
                document = published.document(FLEET, cluster, day, "search.json")
            except NotPublished:
                hits.not_covered.append(day)
                continue
            hits.searched.append(day)
            if any(
                "group_ids" not in entry for kind in ("clients", "instances") for entry in document[kind][:1]
            ):
                hits.without_groups.append(day)
            hits.instances = [each for each in document["instances"] if _matches(each, *wanted)]
            hits.clients = [each for each in document["clients"] if _matches(each, *wanted)]
            if hits.instances or hits.clients:
                hits.day = day
                break
        found.append(hits)
    return found


def may_match(
    published: Published, cluster: str, day: str, id_: str | None, address_: str | None, text: str
) -> bool:
    """Whether search.json of the day is worth reading, by a part of the sorted ids and by the names, a few megabytes where
    search.json has a hundred. Without these files: True."""
    index = published.search_index(cluster, day)
    if index is None:
        return True
    ids, names = index
    if id_ and has_id(ids, id_):
        return True
    content = names.read_bytes()
    if address_ and f"\n{address_}\n".encode() in content:
        return True
    return bool(text) and text.encode() in content


def has_id(ids: File, id_: str) -> bool:
    """Ids are random, so that one lies about where its first characters say; the part is widened until it is enclosed."""
    count = ids.size() // ID_BYTES
    place = 0
    for sign in id_[:_PLACED_BY]:
        place = place * len(_SIGNS) + _SIGNS[sign]
    expected = place * count // len(_SIGNS) ** _PLACED_BY
    width = ID_WINDOW
    while True:
        first, end = max(expected - width, 0), min(expected + width, count)
        part = ids.part(first * ID_BYTES, end * ID_BYTES).decode().split()
        if id_ in part or not part:
            return bool(part)
        if (first == 0 or part[0] < id_) and (end == count or part[-1] > id_):
            return False
        width *= 8


def _matches(entry: dict[str, Any], id_: str | None, address_: str | None, text: str) -> bool:
    # Older versions published hex digits.
    if id_ and "client_instance_id" in entry and instance_id(entry["client_instance_id"]) == id_:
        return True
    if address_ and any(address(each) == address_ for each in entry["addresses"] if each):
        return True
    return bool(text) and any(text in name.casefold() for name in _names(entry))


def _names(entry: dict[str, Any]) -> list[str]:
    """What KIP-714's reactive workflow starts from; pages of older days have the client id and the principal only."""
    lists = (entry.get(name, ()) for name in ("group_ids", "transactional_ids", "racks", "hosts"))
    single = (entry.get("client_id"), entry.get("application"), entry.get("principal"))
    return [name for name in (*single, *(each for names in lists for each in names)) if name]


def forms(id_: str) -> dict[str, str]:
    """The forms in which an instance id is met, from one of them."""
    kafka = instance_id(id_) or id_
    raw = base64.urlsafe_b64decode(f"{kafka}==")
    return {
        "Kafka": kafka,
        "librdkafka": base64.b64encode(raw).decode(),
        "UUID": str(uuid.UUID(bytes=raw)),
    }
