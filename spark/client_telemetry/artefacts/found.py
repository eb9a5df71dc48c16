"""What a scan finds: clients with their verdicts, files that could not be read, settings."""

from dataclasses import dataclass, field

from client_telemetry.artefacts.code import NO_CODE, CodeSeen, Setting
from client_telemetry.artefacts.libraries import Client
from client_telemetry.artefacts.named_images import NamedImage
from client_telemetry.artefacts.packages import Place
from client_telemetry.artefacts.tree import File
from client_telemetry.knowledge import vulnerabilities
from client_telemetry.knowledge.vocabulary import PRECEDENCE
from client_telemetry.knowledge.vulnerabilities import Vulnerability


@dataclass(frozen=True)
class Unread:
    """A file of a kind that names packages, and why it could not be read. `of`: the archive or image that it is in; empty: in
    none.
    """

    file: str
    reason: str
    of: str = ""


@dataclass(frozen=True)
class Judged:
    """A verdict for an upgrade, and why."""

    verdict: str
    explanation: str
    fix: str = ""
    confidence: str = "none"
    when: str | None = None
    condition: str = ""
    rules: tuple[str, ...] = ()
    """Of the findings that decide, if the judge's own verdict stands."""
    already_failing: bool = False
    works_again: bool = False
    identified_as: str = ""


@dataclass(frozen=True)
class Found:
    """A client library that an artefact names, with its verdict."""

    place: Place
    client: Client
    judged: Judged
    owner: str = ""
    owner_source: str = ""
    diff: str = ""
    is_connect: bool = False
    """Whether the file names the workers of Kafka Connect, too."""
    code: CodeSeen = NO_CODE
    """What the sources beside it say: the verdict rests on it, too."""

    @property
    def vulnerabilities(self) -> tuple[Vulnerability, ...]:
        """Known ones of the library, whatever the client's role: no part of the verdict."""
        written = self.client.written
        if written is None:
            return ()
        return vulnerabilities.of(written.library, written.version, is_connect=self.is_connect)


@dataclass(frozen=True)
class ForDevelopment:
    """A client library that only tests or development use: the application neither breaks nor is safe because of it."""

    place: Place
    client: Client

    @property
    def said_by(self) -> str:
        """What says so: 'scope test'."""
        return self.client.package.development


def worst_first(found: Found) -> tuple[int, str, int]:
    """Key to sort by."""
    return PRECEDENCE.index(found.judged.verdict), found.place.file, found.place.line or 0


@dataclass
class Result:
    """`files`: those that name packages and were read, whether or not Kafka clients are among them."""

    found: list[Found] = field(default_factory=list)
    development: list[ForDevelopment] = field(default_factory=list)
    """Without a verdict, in the order of files and lines."""
    unread: list[Unread] = field(default_factory=list)
    files: list[File] = field(default_factory=list)
    settings: list[Setting] = field(default_factory=list)
    """Client ids, groups and the like that stand as literals in configuration files."""
    connect: set[str] = field(default_factory=set)
    """Files that name the workers of Kafka Connect."""
    images: list[NamedImage] = field(default_factory=list)
    """Images that deployment files name and of which nothing that was read says what is in them; each name once."""

    @property
    def read(self) -> int:
        return len(self.files)
