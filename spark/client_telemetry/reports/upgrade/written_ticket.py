"""What artefacts add to tickets and to the message of an owner: findings, and what no broker saw. Apart from what was seen."""

from collections.abc import Iterator, Sequence
from typing import Final

from client_telemetry.formats.written_file import (
    FINDINGS,
    PROBABLE,
    PROVED,
    Artefact,
    Client,
    Finding,
    Written,
)
from client_telemetry.knowledge.vocabulary import Verdict
from client_telemetry.reports.client_strings import client_label, shown
from client_telemetry.reports.markdown import code, prose
from client_telemetry.reports.upgrade.model import ClientVerdict

HEADING: Final = "## In artefacts, apart from what was seen"
_LONGEST_PLACE: Final = 120


def of_cluster(document: Written | None, most: int) -> list[str]:
    """`most`: rows of each list."""
    if document is None:
        return []
    lines = [HEADING, "", prose(document["sentence"]), ""]
    return [*lines, *_listed(document["clients"], document["written_not_seen"], most)]


def of_owner(document: Written | None, owner: str | None, most: int) -> list[str]:
    """What concerns one owner; nothing if that is nothing."""
    if document is None:
        return []
    clients = [each for each in document["clients"] if each["owner"] == owner and each["findings"]]
    artefacts = [each for each in document["written_not_seen"] if each["owner"] == owner]
    return [HEADING, "", *_listed(clients, artefacts, most)] if clients or artefacts else []


def owners_to_tell(document: Written | None) -> list[str]:
    """Owners of what no broker saw and is not known to be safe."""
    if document is None:
        return []
    lists = document["written_not_seen"]
    return sorted({each["owner"] for each in lists if each["owner"] and each["verdict"] != Verdict.SAFE})


def of_unseen(document: Written | None, owner: str) -> list[str]:
    """All that is written of an owner and was not seen."""
    written = document["written_not_seen"] if document else []
    artefacts = [each for each in written if each["owner"] == owner]
    return _listed((), artefacts, len(artefacts))


def to_confirm(document: Written | None, client: ClientVerdict) -> str:
    """What an owner only has to confirm about the library of a client that declares none; empty if nothing is known."""
    clients = document["clients"] if document else ()
    for each in clients:
        if each["anchor"] == client.anchor:
            for finding in each["findings"]:
                if finding["kind"] in (PROVED, PROBABLE):
                    return f"Confirm that {shown(finding['text'])} ({finding['certainty']}: {shown(finding['evidence'])})"
    return ""


def _listed(clients: Sequence[Client], artefacts: Sequence[Artefact], most: int) -> list[str]:
    lines = []
    for rows in (list(_findings(clients)), list(map(_artefact, artefacts))):
        lines += rows[:most]
        lines += [f"- {len(rows) - most:,} more are in written.json."] if len(rows) > most else []
    return [*lines, ""] if lines else []


def _findings(clients: Sequence[Client]) -> Iterator[str]:
    found = [(client, finding) for client in clients for finding in client["findings"]]
    for client, finding in sorted(found, key=lambda pair: FINDINGS.index(pair[1]["kind"])):
        yield _finding(client, finding)


def _finding(client: Client, finding: Finding) -> str:
    name = code(client_label(client["client_id"]))
    return (
        f"- {name}: {finding['kind']}: {prose(finding['text'])} ({finding['certainty']}; "
        f"{code(finding['evidence'], _LONGEST_PLACE)})"
    )


def _artefact(artefact: Artefact) -> str:
    found = artefact["clients"][0]
    line = f":{found['line']}" if found["line"] else ""
    place = code(f"{found['file']}{line}", _LONGEST_PLACE)
    fix = f" To do: {prose(found['fix'])}." if found["fix"] else ""
    return (
        f"- No broker saw {code(found['client'])} in {place}: "
        f"{artefact['verdict'].replace('_', ' ')}; {prose(artefact['why'])}.{fix}"
    )
