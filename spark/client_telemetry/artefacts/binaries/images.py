"""Container images: `docker save` files and OCI layouts, as a folder or a tar file. Layers are applied in order: a later one
replaces and removes (whiteouts) what an earlier one has.
"""

import gzip
import io
import json
import posixpath
import re
import tarfile
import zlib
from collections.abc import Callable, Iterator, Mapping, Set
from contextlib import contextmanager
from typing import Any, BinaryIO, NamedTuple

import zstandard

from client_telemetry.artefacts.binaries import archives, installed, librdkafka_files
from client_telemetry.artefacts.packages import Package, Unreadable

MOST_LAYER_BYTES = 8 * 2**30
MOST_MEMBERS = 2_000_000
_GZIP, _ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
_LARGEST_JSON = 16 * 2**20
_LARGEST_LINKED = archives.LARGEST_ENTRY_BYTES
_NAME_ANNOTATIONS = ("io.containerd.image.name", "org.opencontainers.image.ref.name")
_DIGEST = re.compile(r"sha(?:256|512):[0-9a-f]{32,128}")


class NoImage(Unreadable):
    """A tar file or folder that has no image in it."""


Open = Callable[[str], BinaryIO | None]
"""A file of the image by its path; None if it is not there."""


class Manifest(NamedTuple):
    """Where an image's layers and configuration are in the layout or saved file, and what names the image: digests of it and
    of the indexes above it, references.
    """

    layers: list[str]
    config: str
    digests: tuple[str, ...]
    names: tuple[str, ...]


class Described(NamedTuple):
    """`digests`: "sha256:…", of manifests, of indexes above them and of the configuration (the image id)."""

    digests: tuple[str, ...]
    names: tuple[str, ...]
    labels: Mapping[str, str]


@contextmanager
def opened_tar(opened: BinaryIO) -> Iterator[Open]:
    """The files of a tar file by `docker save`, `podman save`, `skopeo copy … oci-archive:` or `buildx -o type=oci`. Raises
    Unreadable.
    """
    try:
        with tarfile.open(fileobj=opened, mode="r:") as archive:
            members = {posixpath.normpath(member.name): member for member in archive if member.isfile()}

            def open_member(path: str) -> BinaryIO | None:
                member = members.get(posixpath.normpath(path))
                return archive.extractfile(member) if member else None  # type: ignore[return-value]

            yield open_member
    except (tarfile.TarError, EOFError, zlib.error) as error:
        raise NoImage(f"not a tar file: {error}") from None


def read_tar(opened: BinaryIO) -> Iterator[Package]:
    with opened_tar(opened) as open_member:
        yield from read(open_member)


def read(open_file: Open) -> Iterator[Package]:
    """The packages of every image that the layout or the saved file has."""
    manifests = _manifests(open_file)
    for manifest in manifests:
        files: dict[str, list[Package]] = {}
        for layer in manifest.layers:
            opened = open_file(layer)
            if opened is None:
                raise Unreadable(f"the layer {layer} is not there")
            try:
                with opened:
                    _apply(layer, opened, files)
            except (tarfile.TarError, EOFError, OSError, zlib.error, zstandard.ZstdError) as error:
                raise Unreadable(f"the layer {layer} cannot be read: {error}") from None
        yield from librdkafka_files.told_apart(files)
    if not manifests:
        raise NoImage("no image: neither manifest.json of docker save nor index.json of an OCI layout")


def described(open_file: Open) -> Iterator[Described]:
    """What names each image, and its labels, without reading its layers."""
    for manifest in _manifests(open_file):
        image = _json(open_file(manifest.config)) if manifest.config else None
        config = image.get("config") if isinstance(image, dict) else None
        labels = config.get("Labels") if isinstance(config, dict) else None
        texts = {str(name): str(value) for name, value in labels.items()} if isinstance(labels, dict) else {}
        own = re.search(r"([0-9a-f]{64})(?:\.json)?$", manifest.config)
        image_id = (f"sha256:{own[1]}",) if own else ()
        yield Described((*manifest.digests, *image_id), manifest.names, texts)


def _manifests(open_file: Open) -> list[Manifest]:
    """Docker 25 and later save an OCI layout, too, which alone has the digests by which registries and Kubernetes know the image."""
    saved, of_layout = [*_saved(open_file)], [*_oci(open_file)]
    by_config = {manifest.config: manifest for manifest in of_layout if manifest.config}
    return [
        manifest._replace(digests=by_config[manifest.config].digests)
        if manifest.config in by_config
        else manifest
        for manifest in saved
    ] or of_layout


def _json(opened: BinaryIO | None) -> object:
    if opened is None:
        return None
    with opened:
        content = opened.read(_LARGEST_JSON + 1)
    try:
        return json.loads(content) if len(content) <= _LARGEST_JSON else None
    except (ValueError, RecursionError):
        return None


def _texts(value: object) -> list[str]:
    """The texts of a list; empty if it is something else."""
    return [each for each in value if isinstance(each, str)] if isinstance(value, list) else []


def _saved(open_file: Open) -> Iterator[Manifest]:
    manifests = _json(open_file("manifest.json"))
    for manifest in manifests if isinstance(manifests, list) else ():
        layers = manifest.get("Layers") if isinstance(manifest, dict) else None
        if isinstance(layers, list) and all(isinstance(layer, str) for layer in layers):
            config = manifest.get("Config")
            names = tuple(_texts(manifest.get("RepoTags")))
            yield Manifest(layers, config if isinstance(config, str) else "", (), names)


def _oci(
    open_file: Open, descriptor: object = None, digests: tuple[str, ...] = (), names: tuple[str, ...] = ()
) -> Iterator[Manifest]:
    """Indexes may name further indexes: one for each platform."""
    content = _json(open_file("index.json" if descriptor is None else _blob(descriptor)))
    if not isinstance(content, dict) or len(digests) > 4:
        return
    if isinstance(content.get("layers"), list):
        config = content.get("config")
        yield Manifest(
            [_blob(layer) for layer in content["layers"]], _blob(config) if config else "", digests, names
        )
    for further in content.get("manifests") or ():
        annotations = further.get("annotations") if isinstance(further, dict) else None
        annotations = annotations if isinstance(annotations, dict) else {}
        if "vnd.docker.reference.type" not in annotations:
            _blob(further)
            own = [annotations.get(key) for key in _NAME_ANNOTATIONS]
            named = tuple(name for name in own if isinstance(name, str))
            yield from _oci(open_file, further, (*digests, further["digest"]), (*names, *named))


def _blob(descriptor: object) -> str:
    digest = descriptor.get("digest") if isinstance(descriptor, dict) else None
    if not isinstance(digest, str) or not _DIGEST.fullmatch(digest):
        raise Unreadable("a manifest names a blob without a digest")
    return f"blobs/{digest.replace(':', '/')}"


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


def _apply(name: str, opened: BinaryIO, files: dict[str, list[Package]]) -> None:
    layer = _Layer(files)
    for number, (archive, member) in enumerate(_members(name, opened)):
        if number > MOST_MEMBERS:
            raise Unreadable(f"the layer {name} has more than {MOST_MEMBERS:,} files")
        layer.add(archive, member)
    if targets := layer.unread_targets():
        for archive, member in _members(name, opened):
            layer.add_target(archive, member, targets)
    layer.finish()


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
