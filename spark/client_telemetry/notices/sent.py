"""What has been sent, so that a repeated run sends nothing twice."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from client_telemetry.campaign.report_files import Folder
from client_telemetry.console.output_file import replace_file
from client_telemetry.notices.senders import Notice, NotSent, send
from client_telemetry.notices.settings import BadNotices, Settings


class SentFile(Protocol):
    """Where it is kept: in a folder, or beside pages in an object store. Raises OSError."""

    def read(self) -> bytes:
        """Raises FileNotFoundError if there is no such file."""

    def write(self, content: bytes) -> None:
        """Readers see the old content or the new one."""


@dataclass(frozen=True)
class LocalFile:
    path: Path

    def __str__(self) -> str:
        return str(self.path)

    def read(self) -> bytes:
        return self.path.read_bytes()

    def write(self, content: bytes) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        replace_file(self.path, content)


@dataclass(frozen=True)
class PublishedFile:
    folder: Folder
    name: str

    def __str__(self) -> str:
        return f"{self.folder}/{self.name}"

    def read(self) -> bytes:
        return self.folder.read(self.name)

    def write(self, content: bytes) -> None:
        self.folder.write(self.name, content)


class Sent:
    """Subject matter (`owner:orders-4.0:erp`) to the keys of the last notices about it, in a file of JSON."""

    def __init__(self, file: SentFile) -> None:
        """Raises BadNotices for a file that is something else, and OSError."""
        self._file = file
        self._keys = self._read()

    def _read(self) -> dict[str, str]:
        try:
            found = json.loads(self._file.read())
            return {str(about): str(key) for about, key in found["sent"].items()}
        except FileNotFoundError:
            return {}
        except (ValueError, LookupError, TypeError, AttributeError):
            raise BadNotices(
                f"{self._file} is not a file of sent notices: name another one by --sent"
            ) from None

    def last(self, about: str) -> str:
        """Empty if nothing was sent about it."""
        return self._keys.get(about, "")

    def record(self, about: str, key: str) -> None:
        """Written at once: what is interrupted repeats at most the notice that was on its way. What another run has recorded meanwhile
        stays."""
        self._keys = {**self._read(), about: key}
        content = json.dumps({"sent": dict(sorted(self._keys.items()))}, indent=1) + "\n"
        self._file.write(content.encode())


def send_new(
    notices: Iterable[tuple[str, Notice]], sent: Sent, settings: Settings
) -> Iterator[tuple[Notice, str]]:
    """Pairs of what a notice is about and the notice. Yields each that was sent, or failed, with the reason; those that were sent before
    are skipped. One that failed is tried again by the next run."""
    for about, notice in notices:
        if sent.last(about) == notice.key:
            continue
        try:
            send(notice, settings)
        except NotSent as error:
            yield notice, str(error)
            continue
        sent.record(about, notice.key)
        yield notice, ""
