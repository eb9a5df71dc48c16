"""Data packages of knowledge as files: a folder, or a zip file with the same content.

    manifest.json   schema, built_at (UTC), sources, and the SHA-256 of every CSV file
    manifest.sig    the Ed25519 signature of manifest.json (signatures.py)
    *.csv           the files of the knowledge base (docs/knowledge-base.md)

The same files, time and key give the same bytes: entries are sorted, stored uncompressed, and dated 1980. Nothing is
extracted: a file is read by its name, and only names without a folder are.
"""

import datetime as dt
import hashlib
import io
import json
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from client_telemetry.knowledge import Package, UnusablePackage

SCHEMA = 2
"""Raised when files or columns change so that an older program would misread them; packages of lower ones are read. Since 2, the rows
that people write say when they were last checked."""
MANIFEST, SIGNATURE = "manifest.json", "manifest.sig"
MOST_BYTES = 64 * 2**20
"""Of a file, and of a whole package: the knowledge base has 0.8 MB."""


@dataclass(frozen=True)
class PackageFiles:
    """What a folder or zip file holds, read but not trusted yet."""

    origin: str
    contents: Mapping[str, bytes] = field(repr=False)
    """File name -> content, manifest and signature included."""

    @property
    def manifest(self) -> "Manifest":
        return Manifest.parse(self.origin, self.contents[MANIFEST])


@dataclass(frozen=True)
class Manifest:
    schema: int
    built_at: dt.datetime
    """UTC, whole seconds."""
    sources: tuple[str, ...]
    """What it was built from, in words: a registry and the day."""
    sha256: Mapping[str, str]
    """CSV file -> hex digest."""

    def content(self) -> bytes:
        """The bytes of manifest.json, which are signed."""
        document = {
            "schema": self.schema,
            "built_at": self.built_at.strftime("%Y-%m-%dT%H:%M:%SZ"),
            "sources": list(self.sources),
            "files": dict(sorted(self.sha256.items())),
        }
        return (json.dumps(document, indent=1, ensure_ascii=False) + "\n").encode()

    @classmethod
    def parse(cls, origin: str, content: bytes) -> "Manifest":
        """Raises UnusablePackage, also for a schema that this program does not read."""
        try:
            document = json.loads(content)
            schema = document["schema"]
            if isinstance(schema, int) and schema > SCHEMA:
                raise UnusablePackage(
                    f"{origin}: made for a newer client-telemetry (schema {schema}, this one reads {SCHEMA}): upgrade the program"
                )
            built_at = dt.datetime.strptime(document["built_at"], "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=dt.UTC)
            sources = tuple(map(str, document["sources"]))
            sha256 = {str(name): str(digest) for name, digest in document["files"].items()}
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
            if isinstance(error, UnusablePackage):
                raise
            raise UnusablePackage(f"{origin}: damaged: {MANIFEST} cannot be read") from error
        are_plain = all(name.endswith(".csv") and not {"/", "\\", ":"} & set(name) for name in sha256)
        if schema not in range(1, SCHEMA + 1) or not sha256 or not are_plain:
            raise UnusablePackage(
                f"{origin}: damaged: {MANIFEST} has no schema up to {SCHEMA} or no list of CSV files"
            )
        return cls(schema, built_at, sources, sha256)


def read(path: Path) -> PackageFiles:
    """The files of a folder or zip file. Raises UnusablePackage; signature and digests are not checked yet."""
    try:
        if path.is_dir():
            names = (MANIFEST, SIGNATURE, *(file.name for file in path.glob("*.csv")))
            paths = [path / name for name in names if (path / name).is_file()]
            if (whole := sum(file.stat().st_size for file in paths)) > MOST_BYTES:
                raise UnusablePackage(f"{path}: {whole:,} bytes are no knowledge package")
            return _checked(str(path), {file.name: file.read_bytes() for file in paths})
        if path.stat().st_size > MOST_BYTES:
            raise UnusablePackage(f"{path}: {path.stat().st_size:,} bytes are no knowledge package")
        return read_zip(str(path), path.read_bytes())
    except OSError as error:
        raise UnusablePackage(f"{path}: cannot be read: {error.strerror}") from error


def read_zip(origin: str, content: bytes) -> PackageFiles:
    """Likewise, of the bytes of a zip file."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            entries = [each for each in archive.infolist() if "/" not in each.filename]
            if sum(each.file_size for each in entries) > MOST_BYTES:
                raise UnusablePackage(f"{origin}: too large for a knowledge package")
            contents = {each.filename: archive.read(each) for each in entries}
    except (zipfile.BadZipFile, EOFError, OSError, NotImplementedError, RuntimeError, ValueError) as error:
        if isinstance(error, UnusablePackage):
            raise
        raise UnusablePackage(
            f"{origin}: damaged: not a zip file, or not all of one ({len(content):,} bytes)"
        ) from error
    return _checked(origin, contents)


def _checked(origin: str, contents: Mapping[str, bytes]) -> PackageFiles:
    if MANIFEST not in contents:
        raise UnusablePackage(f"{origin}: not a knowledge package: it has no {MANIFEST}")
    files = PackageFiles(origin, contents)
    for name, digest in files.manifest.sha256.items():
        if name not in contents:
            raise UnusablePackage(f"{origin}: damaged: it lacks {name}")
        if hashlib.sha256(contents[name]).hexdigest() != digest:
            raise UnusablePackage(f"{origin}: damaged: {name} has another SHA-256 than {MANIFEST} says")
    return files


def load(files: PackageFiles) -> Package:
    """The package in memory: the CSV files that its manifest names."""
    manifest = files.manifest
    try:
        texts = {name: files.contents[name].decode() for name in manifest.sha256}
    except UnicodeDecodeError as error:
        raise UnusablePackage(f"{files.origin}: damaged: a file is not UTF-8") from error
    return Package.of_texts(files.origin, manifest.built_at, texts)


def manifest_of(texts: Mapping[str, str], built_at: dt.datetime, sources: Sequence[str]) -> Manifest:
    digests = {name: hashlib.sha256(text.encode()).hexdigest() for name, text in texts.items()}
    return Manifest(SCHEMA, built_at.replace(microsecond=0), tuple(sources), digests)


def zip_content(contents: Mapping[str, bytes]) -> bytes:
    """The bytes of a zip file with these files: the same for the same files, whatever machine and zlib."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        for name in sorted(contents):
            entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            entry.external_attr = 0o644 << 16
            entry.create_system = 3
            archive.writestr(entry, contents[name])
    return buffer.getvalue()
