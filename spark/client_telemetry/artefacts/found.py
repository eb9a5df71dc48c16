"""What a scan finds: clients with their verdicts, files that could not be read, settings."""

from dataclasses import dataclass, field

from client_telemetry.artefacts.code import Setting
from client_telemetry.artefacts.judged import Judged
from client_telemetry.artefacts.libraries import Client
from client_telemetry.artefacts.packages import Place


@dataclass(frozen=True)
class Unread:
    """A file of a kind that names packages, and why it could not be read."""

    file: str
    reason: str


@dataclass(frozen=True)
class Found:
    """A client library that an artefact names, with its verdict."""

    place: Place
    client: Client
    judged: Judged
    owner: str = ""
    owner_source: str = ""
    diff: str = ""


@dataclass
class Result:
    """`read`: how many files that name packages were read."""

    found: list[Found] = field(default_factory=list)
    unread: list[Unread] = field(default_factory=list)
    read: int = 0
    settings: list[Setting] = field(default_factory=list)
    """Client ids, groups and the like that stand as literals in configuration files."""
