"""Known vulnerabilities of client libraries, by application that brokers saw running. They change no verdict and no count."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from client_telemetry.artefacts.found import Found
from client_telemetry.inventory.seen import Client
from client_telemetry.knowledge import vulnerabilities
from client_telemetry.knowledge.vulnerabilities import Vulnerability

DECLARED = "declared"


@dataclass(frozen=True)
class Vulnerable:
    """An application that a vulnerability hits. `library`: with its version, as readers see it; `certainty`: DECLARED by the
    client, or that of the artefact (links.py); `evidence`: where it is written, empty if it is declared.
    """

    vulnerability: Vulnerability
    application: str
    principal: str
    owner: str
    roles: tuple[str, ...]
    """That brokers saw; empty: none could be told."""
    library: str
    certainty: str
    evidence: str
    anchors: tuple[str, ...]
    """Of its clients in the report."""


def seen(rows: Iterable[tuple[Client, Found | None, str]]) -> tuple[Vulnerable, ...]:
    """One row for each vulnerability and application, the newest vulnerabilities first. Of each client: the library that artefacts
    name for it, if any, and with which certainty.
    """
    by_key: dict[tuple[str, str, str, str], Vulnerable] = {}
    for client, found, certainty in rows:
        for each in _of(client, found, certainty):
            key = (each.vulnerability.id, each.principal, each.owner, each.application)
            first = by_key.setdefault(key, each)
            if first is not each:
                roles = tuple(sorted({*first.roles, *each.roles}))
                by_key[key] = replace(first, roles=roles, anchors=(*first.anchors, *each.anchors))
    return tuple(sorted(by_key.values(), key=_newest_first))


def _newest_first(each: Vulnerable) -> tuple[tuple[int, ...], str, str]:
    numbers = tuple(-int(number) for number in re.findall(r"\d+", each.vulnerability.id))
    return numbers, each.vulnerability.id, each.application


def _of(client: Client, found: Found | None, certainty: str) -> Iterator[Vulnerable]:
    """What a client declares of itself comes before what is written."""
    written = found.client.written if found else None
    if client.library:
        hits = vulnerabilities.of(client.library, client.software_version, client.roles)
        text, certainty, evidence = client.identified_as, DECLARED, ""
    elif found and written:
        hits = vulnerabilities.of(written.library, written.version, client.roles)
        text, evidence = found.client.text, str(found.place)
    else:
        return
    for each in hits:
        who = (client.application, client.principal or "", client.owner or "", client.roles)
        yield Vulnerable(each, *who, text, certainty, evidence, (client.anchor,))
