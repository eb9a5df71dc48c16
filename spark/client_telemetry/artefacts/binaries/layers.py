"""The packages of container images: layers are tar files, each of which adds, replaces and removes files of those below it."""

import gzip
import io
import posixpath
import tarfile
import zlib
from collections.abc import Iterator, Mapping, Set
from typing import Any, BinaryIO

import zstandard

from client_telemetry.artefacts.binaries import archives, images, installed, librdkafka_files
from client_telemetry.artefacts.packages import Package, Unreadable

MOST_LAYER_BYTES = 8 * 2**30
MOST_MEMBERS = 2_000_000
_GZIP, _ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
_LARGEST_LINKED = archives.LARGEST_ENTRY_BYTES


def read_tar(opened: BinaryIO) -> Iterator[Package]:
    with images.opened_tar(opened) as open_member:
        yield from read(open_member)


def read(open_file: images.Open) -> Iterator[Package]:
    """The packages of every image that the layout or the saved file has."""
    manifests = images.manifests(open_file)
    for manifest in manifests:
        files: dict[str, list[Package]] = {}
        for layer in manifest.layers:
            opened = open_file(layer)
            if opened is None:
                raise Unreadable(f"the layer {layer} is not there")
            try:
                with opened:
                    apply(layer, opened, files)
            except (tarfile.TarError, EOFError, OSError, zlib.error, zstandard.ZstdError) as error:
                raise Unreadable(f"the layer {layer} cannot be read: {error}") from None
        yield from librdkafka_files.told_apart(files)
    if not manifests:
        raise images.NoImage("no image: neither manifest.json of docker save nor index.json of an OCI layout")


def apply(name: str, opened: BinaryIO, files: dict[str, list[Package]]) -> None:
    """What a layer, `opened`, makes of the packages by the path of the file that names them. Raises Unreadable and the errors of the
    libraries that read archives.
    """
    layer = _Layer(files)
    for number, (archive, member) in enumerate(_members(name, opened)):
        if number > MOST_MEMBERS:
            raise Unreadable(f"the layer {name} has more than {MOST_MEMBERS:,} files")
        layer.add(archive, member)
    if targets := layer.unread_targets():
        for archive, member in _members(name, opened):
            layer.add_target(archive, member, targets)
    layer.finish()


class _Bounded(io.RawIOBase):
    """A stream that ends with Unreadable after so many bytes: a small layer may unpack to any size."""

    def __init__(self, opened: BinaryIO, name: str) -> None:
        self._opened, self._name, self._left = opened, name, MOST_LAYER_BYTES

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        content = self._opened.read(size)
        self._left -= len(content)
        if self._left < 0:
            raise Unreadable(f"{self._name} unpacks to more than {MOST_LAYER_BYTES // 2**30} GiB: refused")
        return content


def _members(name: str, opened: BinaryIO) -> Iterator[tuple[tarfile.TarFile, tarfile.TarInfo]]:
    """The entries of a layer from its beginning, whatever it is compressed with."""
    opened.seek(0)
    beginning = opened.read(4)
    opened.seek(0)
    stream: Any = opened
    if beginning == _ZSTD:
        stream = zstandard.ZstdDecompressor().stream_reader(opened, read_across_frames=True, closefd=False)
    elif beginning[:2] == _GZIP:
        stream = gzip.GzipFile(fileobj=opened)
    with tarfile.open(fileobj=_Bounded(stream, name), mode="r|") as archive:
        for member in archive:
            yield archive, member


class _Layer:
    """What a layer does to the files of the layers below it. Whiteouts hide files of those alone, never its own, in whatever order
    they stand (image-spec/layer.md, "Whiteouts").
    """

    def __init__(self, files: dict[str, list[Package]]) -> None:
        self._files = files
        self._folders_below = {folder for path in files for folder in _above(path)}
        self._own: dict[str, list[Package]] = {}
        self._gone: set[str] = set()
        self._emptied: set[str] = set()
        self._links: dict[str, str] = {}
        """Hard links: path to the path whose content it has."""

    def add(self, archive: tarfile.TarFile, member: tarfile.TarInfo) -> None:
        path = _normal(member.name)
        folder, base = posixpath.split(path)
        if base == ".wh..wh..opq":
            self._emptied.add(folder)
        elif base.startswith(".wh."):
            self._gone.add(posixpath.join(folder, base.removeprefix(".wh.")))
        elif not member.isdir():
            if path in self._files or path in self._folders_below:
                self._gone.add(path)
            if member.islnk():
                self._links[path] = _normal(member.linkname)
            elif member.isfile() and installed.may_say_something(path, bool(member.mode & 0o111)):
                self._read(archive, member, path)

    def unread_targets(self) -> dict[str, list[str]]:
        """Paths of files that were not read under their own name, to those of hard links to them that may say something."""
        targets: dict[str, list[str]] = {}
        for path, target in self._links.items():
            if installed.may_say_something(path):
                targets.setdefault(target, []).append(path)
        return targets

    def add_target(
        self, archive: tarfile.TarFile, member: tarfile.TarInfo, targets: Mapping[str, list[str]]
    ) -> None:
        if member.isfile() and (paths := targets.get(_normal(member.name))):
            content = archive.extractfile(member)
            data = content.read(_LARGEST_LINKED + 1) if content else b""
            for path in paths:
                self._own[path] = list(installed.read(path, io.BytesIO(data), member.size))

    def finish(self) -> None:
        if self._gone or self._emptied:
            for path in [path for path in self._files if _is_removed(path, self._gone, self._emptied)]:
                del self._files[path]
        self._files.update(self._own)

    def _read(self, archive: tarfile.TarFile, member: tarfile.TarInfo, path: str) -> None:
        if content := archive.extractfile(member):
            self._own[path] = list(installed.read(path, content, member.size))  # type: ignore[arg-type]


def _normal(path: str) -> str:
    return posixpath.normpath(path).lstrip("/")


def _above(path: str) -> Iterator[str]:
    """The folders that a file is in, the empty name of the root last."""
    while path:
        path = posixpath.dirname(path)
        yield path


def _is_removed(path: str, gone: Set[str], emptied: Set[str]) -> bool:
    folders = list(_above(path))
    return path in gone or not gone.isdisjoint(folders) or not emptied.isdisjoint(folders)
