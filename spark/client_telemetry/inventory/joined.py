"""What follows from artefacts and clients together: libraries of clients that declare none, contradictions, what is written and
not seen, and what is seen and not written. What was observed and what is written are never counted as one.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

from client_telemetry.artefacts.found import Found
from client_telemetry.console.counted import counted, first_of
from client_telemetry.console.grouped import grouped
from client_telemetry.formats.written_file import (
    CONTRADICTION,
    NOT_DEPLOYED,
    NOT_WRITTEN,
    PROBABLE,
    PROVED,
    TWO_VERSIONS,
)
from client_telemetry.inventory import links, vulnerable
from client_telemetry.inventory.artefact import CLIENT_ID, GROUP, IMAGE, REPOSITORY, Artefact, Written
from client_telemetry.inventory.client_rows import ClientRow, ClientRows, Finding, Tally
from client_telemetry.inventory.links import CERTAIN, LIKELY, POSSIBLE, Index, Link
from client_telemetry.inventory.seen import Client, Seen
from client_telemetry.inventory.vulnerable import Vulnerable
from client_telemetry.inventory.workloads import Workloads
from client_telemetry.knowledge import client_versions
from client_telemetry.knowledge.vocabulary import PRECEDENCE, Verdict


@dataclass(frozen=True)
class ArtefactRow:
    """An artefact that no client comes from, as far as is known, and why. `verdict`: the worst of its clients."""

    artefact: Artefact
    verdict: str
    why: str


@dataclass(frozen=True)
class Joined:
    """`not_seen`: brokers should have seen it and did not. `not_comparable`: it has nothing by which a client could be told."""

    seen: Seen
    rows: ClientRows
    tally: Tally
    not_seen: tuple[ArtefactRow, ...]
    not_comparable: tuple[ArtefactRow, ...]
    not_written: tuple[Client, ...]
    vulnerable: tuple[Vulnerable, ...] = ()


def join(written: Written, seen: Seen, workloads: Workloads) -> Joined:
    built = links.index(written.artefacts, seen.clients, workloads)
    rows, tally = ClientRows(seen.clients, partial(_client_row, built)), Tally()
    vulnerabilities = vulnerable.seen(_libraries(tally.of(rows)))
    are_listed = all(client.addresses <= len(client.listed_addresses) for client in seen.clients)
    placed = [
        (artefact, _why_not_seen(artefact, built, all_addresses_are_listed=are_listed))
        for artefact in _not_linked(written.artefacts, tally, built)
    ]
    return Joined(
        seen,
        rows,
        tally,
        tuple(sorted((_row(artefact, why) for artefact, why in placed if why), key=_worst_first)),
        tuple(sorted((_row(artefact, _NO_NAMES) for artefact, why in placed if not why), key=_worst_first)),
        tuple(tally.unlinked),
        vulnerabilities,
    )


def _client_row(built: Index, client: Client) -> ClientRow:
    of_client = links.of(client, built)
    return ClientRow(client, of_client, tuple(_findings(client, of_client)))


def _libraries(rows: Iterable[ClientRow]) -> Iterator[tuple[Client, Found | None, str]]:
    for row in rows:
        named = _of_artefacts(row.client, row.links)
        yield row.client, named[1] if named else None, named[0].certainty if named else ""


_NO_NAMES: Final = (
    "neither a client id nor a group of its own is written with it, and where its image runs is not known"
)


def _row(artefact: Artefact, why: str) -> ArtefactRow:
    return ArtefactRow(artefact, artefact.clients[0].judged.verdict, why)


def _worst_first(row: ArtefactRow) -> tuple[int, str]:
    return PRECEDENCE.index(row.verdict), row.artefact.name


def _findings(client: Client, of_client: Sequence[Link]) -> Iterator[Finding]:
    """From the surest links alone: what several possible ones say contradicts each other for other reasons."""
    images, repositories = _usable(of_client, IMAGE), _usable(of_client, REPOSITORY)
    runs = _single(client, images)
    for link in images:
        yield from _two_versions(link)
    if runs is not None:
        yield from _library(client, *runs)
    elif not images and (declared := _single(client, repositories)):
        yield from _library(client, *declared)
    yield from _against_repository(client, runs, repositories)


def _usable(of_client: Sequence[Link], kind: str) -> list[Link]:
    return [
        link
        for link in of_client
        if link.certainty != POSSIBLE and link.artefact.kind == kind and link.artefact.clients
    ]


def _of_artefacts(client: Client, of_client: Sequence[Link]) -> tuple[Link, Found] | None:
    """The one library that artefacts name for a client: its image or else its repository; None if that is not one."""
    images = _usable(of_client, IMAGE)
    return _single(client, images or _usable(of_client, REPOSITORY))


def _named(artefact: Artefact) -> list[Found]:
    """Its clients whose library and version are known."""
    return [found for found in artefact.clients if found.client.written]


def _single(client: Client, of_client: Sequence[Link]) -> tuple[Link, Found] | None:
    """The one library and version that links name for a client: of several libraries, the only one that it declares or its requests
    fit. None if that is not one, or its version is not known.
    """
    written = [(link, found) for link in of_client for found in link.artefact.clients]
    fitting = [(link, found) for link, found in written if not found.client.library or _fits(client, found)]
    for choice in (fitting, written):
        if choice and len({(found.client.library, _version(found)) for _, found in choice}) == 1:
            link, found = choice[0]
            if not found.client.written:
                return None
            if len(choice) < len(written) and not client.library:
                because = "it has other libraries too, and the requests fit this one only"
                link = replace(link, certainty=LIKELY, because=(*link.because, because))
            return link, found
    return None


def _fits(client: Client, found: Found) -> bool:
    """Whether a library may be that of a client, as far as brokers saw."""
    if client.library:
        return found.client.library == client.library
    return not client.candidates or found.client.library in client.candidates


def _version(found: Found) -> tuple[int, ...]:
    return client_versions.parse(found.client.written.version) if found.client.written else ()


def _library(client: Client, link: Link, found: Found) -> Iterator[Finding]:
    evidence, text = str(found.place), found.client.text
    if not _fits(client, found):
        shown = f"declares {client.identified_as}" if client.library else f"is {client.identified_as}"
        what = f"{link.artefact.name} names {text}, and the client {shown} by its requests"
        yield Finding(CONTRADICTION, what, link.certainty, evidence)
    elif client.library:
        if (
            client.version
            and client_versions.parse(client.version) != _version(found)
            and link.artefact.kind == IMAGE
        ):
            what = f"{link.artefact.name} has {text}, and the client declares {client.identified_as}"
            yield Finding(CONTRADICTION, what, link.certainty, evidence)
    else:
        is_proved = link.certainty == CERTAIN and link.artefact.kind == IMAGE
        is_image = link.artefact.kind == IMAGE
        named = f"its image has {text}" if is_image else f"its repository names {text}, which may not run yet"
        what = f"{named}; by its requests: {client.identified_as or 'not identified'}"
        yield Finding(PROVED if is_proved else PROBABLE, what, link.certainty, evidence)


def _two_versions(link: Link) -> Iterator[Finding]:
    for of_library in grouped(_named(link.artefact), lambda found: found.client.library).values():
        if len({_version(found) for found in of_library}) > 1:
            texts = " and ".join(sorted({f"{found.client.text} ({found.place})" for found in of_library}))
            what = f"{link.artefact.name} has {texts}: which of them the client uses is not known"
            yield Finding(TWO_VERSIONS, what, link.certainty, str(of_library[0].place))


def _against_repository(
    client: Client, runs: tuple[Link, Found] | None, repositories: Sequence[Link]
) -> Iterator[Finding]:
    """What runs, by the image or by what the client declares, against what is written in its repository."""
    by_repository = grouped(repositories, lambda link: link.artefact.repository or link.artefact.name)
    for name, of_one in by_repository.items():
        written = [found for link in of_one for found in link.artefact.clients]
        library = runs[1].client.library if runs else client.library
        same = (
            [found for found in written if found.client.library == library]
            if library
            else [found for found in written if _fits(client, found)]
        )
        certainty = of_one[0].certainty
        if library and not same and all(found.client.library for found in written):
            running = runs[1].client.text if runs else client.identified_as
            names = first_of(sorted({found.client.text for found in written}), 3)
            what = f"{running} runs, and the files that were read of {name} name {names} only"
            yield Finding(NOT_WRITTEN, what, certainty, str(written[0].place))
        elif same and _is_fixed(client, runs, same):
            runs_now = f"{runs[1].client.text} runs" if runs else client.explanation.rstrip(".")
            what = f"{name} has {first_of(sorted({each.client.text for each in same}), 3)}, which is {same[0].judged.verdict}; {runs_now}"
            yield Finding(NOT_DEPLOYED, what, certainty, str(same[0].place))


def _is_fixed(client: Client, runs: tuple[Link, Found] | None, written: Sequence[Found]) -> bool:
    """Whether what was seen or runs breaks, and nothing that is written does or leaves it open."""
    breaks_now = client.verdict == Verdict.BREAKS or bool(runs and runs[1].judged.verdict == Verdict.BREAKS)
    return breaks_now and all(
        found.judged.verdict not in (Verdict.BREAKS, Verdict.INSUFFICIENT_EVIDENCE) for found in written
    )


def _not_linked(artefacts: Iterable[Artefact], tally: Tally, built: Index) -> Iterator[Artefact]:
    """Artefacts with clients that no seen client may come from. An image stands for its repository, and a repository with one
    artefact for its images.
    """
    for artefact in artefacts:
        if not artefact.clients or artefact.name in tally.linked:
            continue
        of_repository = built.by_repository.get(artefact.repository, []) if artefact.repository else []
        is_version_of_seen = artefact.kind == IMAGE or len(of_repository) == 1
        if not (artefact.repository in tally.repositories and is_version_of_seen):
            yield artefact


def _why_not_seen(artefact: Artefact, built: Index, *, all_addresses_are_listed: bool) -> str:
    """How it is known that brokers did not see it; empty if that is not known, as for a name that was seen and that many have."""
    names = [name for name in artefact.names if name.kind in (CLIENT_ID, GROUP)]
    if any((name.kind, name.value) in built.seen_names for name in names):
        return ""
    if names:
        written = first_of([f"{name.kind} {name.value!r} ({name.where})" for name in names], 3)
        return f"no broker saw {written}"
    running = [
        each for digest in artefact.subject.digests for each in built.workloads.by_digest.get(digest, ())
    ]
    if all_addresses_are_listed and any(each.addresses and not each.shares_address for each in running):
        where = first_of(sorted({each.name for each in running}), 3)
        return f"it runs as {where}, from where no broker saw a client"
    return ""


def sentence(joined: Joined) -> str:
    """What was observed first; what is only written is counted apart."""
    verdicts: dict[tuple[str, str, str], str] = {}
    for client in joined.seen.clients:
        key = client.application_key
        verdicts[key] = min(verdicts.get(key, Verdict.SAFE), client.verdict, key=PRECEDENCE.index)
    breaking = sum(verdict == Verdict.BREAKS for verdict in verdicts.values())
    silent = sum(not client.library for client in joined.seen.clients)
    proved, probable = joined.tally.findings[PROVED], joined.tally.findings[PROBABLE]
    counts = Counter(row.verdict for row in joined.not_seen)
    lacking = counts[Verdict.INSUFFICIENT_EVIDENCE]
    return (
        f"Seen on {joined.seen.cluster}: {breaking or 'none'} of {counted(len(verdicts), 'application')} "
        f"{'breaks' if breaking == 1 else 'break'} with {joined.seen.target}; of {counted(silent, 'client')} that "
        f"{'declares' if silent == 1 else 'declare'} no library, images prove that of {proved}, and that of {probable} is likely. "
        f"Written, and seen by no broker: {counted(len(joined.not_seen), 'artefact')}, of which {counts[Verdict.BREAKS]} would break"
        + (f" and {lacking} cannot be told" if lacking else "")
        + f". {_left_over(joined)}"
    )


def _left_over(joined: Joined) -> str:
    artefacts, clients = len(joined.not_comparable), len(joined.not_written)
    compared = (
        f"{counted(artefacts, 'artefact')} cannot be compared with what was seen; " if artefacts else ""
    )
    return f"{compared}{counted(clients, 'client')} that brokers saw {'is' if clients == 1 else 'are'} in no artefact that was read."


def unlinked_verdicts(joined: Joined) -> Counter[str]:
    """Verdicts of the artefacts that no seen client comes from."""
    return Counter(row.verdict for row in (*joined.not_seen, *joined.not_comparable))
