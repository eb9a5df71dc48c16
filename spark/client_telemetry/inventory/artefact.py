"""Artefacts: what one folder of a repository, one SBOM or one image says about clients."""

from dataclasses import dataclass
from typing import Final

from client_telemetry.artefacts.found import Found, Unread
from client_telemetry.artefacts.subjects import Subject

REPOSITORY: Final = "repository"
IMAGE: Final = "image"
CLIENT_ID, GROUP, PRINCIPAL = "client id", "group", "principal"


@dataclass(frozen=True)
class Name:
    """A literal by which brokers see a client. `where`: file and line."""

    kind: str
    value: str
    where: str


@dataclass(frozen=True)
class Artefact:
    """`name`: folder or file, as it was given. `kind`: image if a digest is known. `repository`: host/path, empty if not known.
    `clients`: the Kafka clients that it names, worst first; none for an image in which none was found. `unread`: why parts
    of it say nothing about clients, in which there may be some.
    """

    name: str
    kind: str
    subject: Subject
    repository: str
    clients: tuple[Found, ...] = ()
    names: tuple[Name, ...] = ()
    unread: tuple[str, ...] = ()

    @property
    def owner(self) -> str:
        owners = {found.owner for found in self.clients if found.owner}
        return owners.pop() if len(owners) == 1 else ""


@dataclass(frozen=True)
class Written:
    """`loose`: names that belong to none of the artefacts for certain."""

    artefacts: tuple[Artefact, ...]
    unread: tuple[Unread, ...]
    files_read: int
    loose: tuple[Name, ...] = ()

    @property
    def counts(self) -> dict[str, int]:
        return {
            "artefacts": len(self.artefacts),
            "artefacts_with_clients": sum(bool(artefact.clients) for artefact in self.artefacts),
            "images": sum(artefact.kind == IMAGE for artefact in self.artefacts),
            "files_read": self.files_read,
        }
