"""What stands beside an artefact in the tree that is scanned: the code that uses a library, settings, and owners."""

import posixpath
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from client_telemetry.artefacts import code, owners, tree
from client_telemetry.artefacts.code import Code, CodeSeen, Pin, Setting
from client_telemetry.artefacts.owners import CodeOwners, Owner
from client_telemetry.artefacts.packages import Unreadable
from client_telemetry.identity.owners import OwnerRule, first_match

_MARKS = (b"kafka", b"sarama", b"bootstrap", b"sasl", b"franz-go", b"connector.class", b"inter.broker")


@dataclass
class Surroundings:
    """Of one path that is scanned. Files are named as they are shown."""

    codes: list[Code] = field(default_factory=list)
    catalogs: dict[str, Owner] = field(default_factory=dict)
    """Folder -> owner by the catalogue in it."""
    code_owners: dict[str, CodeOwners] = field(default_factory=dict)
    """What stands before the paths that it is about -> CODEOWNERS."""

    def add(self, file: tree.File) -> None:
        """Takes from a file what belongs here; one that cannot be read says nothing."""
        name = posixpath.basename(file.path)
        try:
            if (repository := owners.repository_of(file.path)) is not None:
                root = file.shown.removesuffix(file.path) + repository
                self.code_owners.setdefault(root, owners.read_codeowners(file.shown, file.text()))
            elif name in owners.CATALOG and (owner := owners.read_catalog(file.shown, file.text())):
                self.catalogs.setdefault(posixpath.dirname(file.shown), owner)
            elif code.is_read(file.path) and file.size <= code.LARGEST_BYTES:
                self._add_code(file)
        except Unreadable:
            return

    def _add_code(self, file: tree.File) -> None:
        content = file.content()
        lowered = content.lower()
        if any(mark in lowered for mark in _MARKS) and (
            found := code.read(file.path, file.shown, tree.as_text(content))
        ):
            self.codes.append(found)

    @property
    def settings(self) -> Iterator[Setting]:
        return (setting for found in self.codes for setting in found.settings)

    def code_seen(self, file: str, library: str) -> CodeSeen:
        """What the code says that uses a library: that below the file's folder or, if none of it does, all that was scanned."""
        users = [found for found in self.codes if library in found.uses]
        near = _below(users, file) or users
        pins = [
            Pin(library, pin.value, code.release_of(pin), f"{pin.file}:{pin.line}")
            for found in near
            for pin in found.pins
            if not code.pins_nothing(pin)
        ]
        settings = [setting for found in _below(self.codes, file) for setting in found.settings]
        mechanisms = {
            setting.value.upper(): f"{setting.file}:{setting.line}"
            for setting in reversed(settings)
            if setting.name == "sasl.mechanism"
        }
        return CodeSeen(
            frozenset((library,)) if users else frozenset(), tuple(pins), tuple(sorted(mechanisms.items()))
        )

    def owner(self, file: str, rules: Sequence[OwnerRule]) -> Owner | None:
        """By the user's rules on client ids and groups that are written in the file's folder or below, by CODEOWNERS, by the
        nearest catalogue.
        """
        if by_rule := self._by_rules(file, rules):
            return by_rule
        # Within a repository only the file at its root counts (GitHub, GitLab); a folder of several repositories has none.
        repository = min((root for root in self.code_owners if file.startswith(root)), key=len, default=None)
        if repository is not None and (
            by_path := self.code_owners[repository].owner(file.removeprefix(repository))
        ):
            return by_path
        return next((self.catalogs[folder] for folder in folders(file) if folder in self.catalogs), None)

    def _by_rules(self, file: str, rules: Sequence[OwnerRule]) -> Owner | None:
        settings = [setting for found in _below(self.codes, file) for setting in found.settings]
        groups = [setting.value for setting in settings if setting.name == "group.id"]
        ids = [setting.value for setting in settings if setting.name == "client.id"]
        matches = [first_match(rules, None, client_id, groups) for client_id in (*ids, None)]
        return owners.all_of_one(Owner(rule.owner, f"rule {rule.name}") for rule in matches if rule)


def _below(codes: Iterable[Code], file: str) -> list[Code]:
    folder = posixpath.dirname(file)
    return [found for found in codes if not folder or found.file.startswith(f"{folder}/")]


def folders(file: str) -> Iterator[str]:
    """The folder of a file and those above it, nearest first, as far as its path goes."""
    folder = posixpath.dirname(file)
    yield folder
    while folder and folder != "/":
        folder = posixpath.dirname(folder)
        yield folder
