"""Where the data package of a user is kept, and which package is in use.

One file, `knowledge.zip`, in the user's data folder, or where CLIENT_TELEMETRY_KNOWLEDGE says: a folder, a package file,
or an unpacked package. Without it, or if it is older than what ships with the program, the shipped knowledge base is in
use; a package that is named by the environment or a clusters file is used whatever its age.
"""

import os
from pathlib import Path

from client_telemetry import knowledge
from client_telemetry.console.output_file import replace_file
from client_telemetry.knowledge import Package, UnusablePackage
from client_telemetry.knowledge_package import package_files, signatures
from client_telemetry.knowledge_package.package_files import MANIFEST, SIGNATURE, PackageFiles

ENVIRONMENT = "CLIENT_TELEMETRY_KNOWLEDGE"
FILE = "knowledge.zip"
KEYS = "trusted_keys.txt"
"""Beside the file: public keys that an update was told to trust."""


def location() -> Path | None:
    """The file or unpacked folder in use or to be written; None if there is no place for it (no platformdirs)."""
    named = os.environ.get(ENVIRONMENT, "").strip()
    if named:
        path = Path(named).expanduser()
        is_package = path.suffix == ".zip" or path.is_file() or (path / MANIFEST).is_file()
        return path if is_package else path / FILE
    try:
        from platformdirs import user_data_path
    except ModuleNotFoundError:
        return None
    return user_data_path("client-telemetry", appauthor=False) / FILE


def activate(named: str | Path | None = None) -> None:
    """Use the package that is named (by a clusters file), else the kept one, else the shipped knowledge base. Raises
    UnusablePackage or UnusableKey, in which case what was in use stays.
    """
    kept = Path(named) if named else location()
    if kept is None or not (named or kept.exists()):
        if os.environ.get(ENVIRONMENT) and kept is not None and kept.name != FILE:
            raise UnusablePackage(f"{ENVIRONMENT}: {kept}: there is no such file or folder")
        knowledge.use_package(None)
        return
    package = load(kept)
    is_chosen = bool(named or os.environ.get(ENVIRONMENT))
    knowledge.use_package(package if is_chosen or package.built_at >= knowledge.shipped_built_at() else None)


def load(path: Path) -> Package:
    """A package whose signature and digests are right. Raises UnusablePackage or UnusableKey."""
    files = package_files.read(path)
    signatures.verify(files, signatures.trusted(kept_keys(path)))
    return package_files.load(files)


def kept_keys(path: Path) -> list[bytes]:
    """The public keys that were trusted for the package that is kept here."""
    beside = path.parent / KEYS
    return signatures.public_keys(beside.read_text(encoding="utf-8")) if beside.is_file() else []


def install(files: PackageFiles, trust: str | None) -> Path:
    """Put a verified package in the place of the kept one, whole or not at all, and remember the key. Raises
    UnusablePackage if there is no place, and OSError.
    """
    place = location()
    if place is None:
        raise UnusablePackage(
            f"no folder to keep it in: set {ENVIRONMENT}, or pip install 'client-telemetry[knowledge]'"
        )
    if place.is_dir():
        raise UnusablePackage(
            f"{place} is an unpacked package: name a folder or a .zip file in {ENVIRONMENT}"
        )
    place.parent.mkdir(parents=True, exist_ok=True)
    if trust:
        _remember(trust, place.parent / KEYS)
    names = (MANIFEST, SIGNATURE, *files.manifest.sha256)
    replace_file(place, package_files.zip_content({name: files.contents[name] for name in names}))
    return place


def _remember(trust: str, keys: Path) -> None:
    kept = keys.read_text(encoding="utf-8") if keys.is_file() else ""
    new = [signatures.in_base64(key) for key in signatures.keys_of(trust)]
    lines = [*kept.splitlines(), *(key for key in new if key not in kept)]
    replace_file(keys, ("\n".join(lines) + "\n").encode())
