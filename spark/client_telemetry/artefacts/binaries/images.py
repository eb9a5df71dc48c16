"""Container images: `docker save` files and OCI layouts, as a folder or a tar file. Layers are applied in order: a later one
replaces and removes (whiteouts) what an earlier one has.
"""

import json
import posixpath
import re
import tarfile
import tempfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import BinaryIO, NamedTuple

from client_telemetry.artefacts.packages import Unreadable
from client_telemetry.artefacts.readers.json_text import elements, mapping, objects
from client_telemetry.sources.compression import BLOCK_BYTES, CutOff, open_decompressed

SAVED = (".tar", ".tar.gz", ".tgz", ".tar.zst", ".tar.xz", ".tar.bz2")
"""What names of images as one file end with."""
MOST_BYTES = 16 * 2**30
"""Of one that is compressed, unpacked into a temporary file."""
_OF_AN_IMAGE = re.compile(
    r"(?:\./)?(?:blobs|oci-layout|(?:index|manifest|config)\.json|repositories|(?:sha256:)?[0-9a-f]{64})(?:$|[./])"
)
"""Names that Docker, Podman, skopeo, kaniko, Jib and others write."""
_NAMES_LOOKED_AT = 8
_LARGEST_JSON = 16 * 2**20
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
    """The files of a tar file by `docker save`, `podman save`, `skopeo copy … oci-archive:` or `buildx -o type=oci`, perhaps
    compressed. Raises Unreadable.
    """
    try:
        with _decompressed(opened) as stored, tarfile.open(fileobj=stored, mode="r:") as archive:
            members = {posixpath.normpath(member.name): member for member in archive if member.isfile()}

            def open_member(path: str) -> BinaryIO | None:
                member = members.get(posixpath.normpath(path))
                return archive.extractfile(member) if member else None  # type: ignore[return-value]

            yield open_member
    except (tarfile.TarError, EOFError, zlib.error) as error:
        raise NoImage(f"not a tar file: {error}") from None


@contextmanager
def _decompressed(opened: BinaryIO) -> Iterator[BinaryIO]:
    """A tar file that can be read in any order. Of others that are compressed (sources, charts) only the first files are read."""
    cut = CutOff()
    contents = open_decompressed(opened, cut)
    if contents is opened:
        yield opened
        return
    if not any(map(_OF_AN_IMAGE.match, _first_names(contents))):
        raise NoImage("no image: its first files are none of an image")
    opened.seek(0)
    contents = open_decompressed(opened, cut)
    with tempfile.TemporaryFile() as unpacked:
        while block := contents.read(BLOCK_BYTES):
            if unpacked.tell() + len(block) > MOST_BYTES:
                raise Unreadable(f"unpacks to more than {MOST_BYTES // 2**30} GiB: refused")
            try:
                unpacked.write(block)
            except OSError as error:
                place = tempfile.gettempdir()
                raise Unreadable(f"no room in {place} to unpack it ({error.strerror}): set TMPDIR") from None
        if cut.reason:
            raise Unreadable(cut.reason)
        unpacked.seek(0)
        yield unpacked


def _first_names(contents: BinaryIO) -> Iterator[str]:
    """Of a tar file; fewer if it ends early."""
    with tarfile.open(fileobj=contents, mode="r|") as archive, suppress(tarfile.TarError):
        for _ in range(_NAMES_LOOKED_AT):
            if (member := archive.next()) is None:
                return
            yield member.name


def described(open_file: Open) -> Iterator[Described]:
    """What names each image, and its labels, without reading its layers."""
    for manifest in manifests(open_file):
        image = mapping(_json(open_file(manifest.config)) if manifest.config else None)
        labels = mapping(mapping(image.get("config")).get("Labels"))
        texts = {name: str(value) for name, value in labels.items()}
        own = re.search(r"([0-9a-f]{64})(?:\.json)?$", manifest.config)
        image_id = (f"sha256:{own[1]}",) if own else ()
        yield Described((*manifest.digests, *image_id), manifest.names, texts)


def manifests(open_file: Open) -> list[Manifest]:
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


def _saved(open_file: Open) -> Iterator[Manifest]:
    for manifest in objects(_json(open_file("manifest.json"))):
        layers, config = manifest.get("Layers"), manifest.get("Config")
        if isinstance(layers, list) and all(isinstance(layer, str) for layer in layers):
            names = tuple(name for name in elements(manifest.get("RepoTags")) if isinstance(name, str))
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
        annotations = mapping(mapping(further).get("annotations"))
        if "vnd.docker.reference.type" not in annotations:
            _blob(further)
            own = [annotations.get(key) for key in _NAME_ANNOTATIONS]
            named = tuple(name for name in own if isinstance(name, str))
            yield from _oci(open_file, further, (*digests, further["digest"]), (*names, *named))


def _blob(descriptor: object) -> str:
    digest = mapping(descriptor).get("digest")
    if not isinstance(digest, str) or not _DIGEST.fullmatch(digest):
        raise Unreadable("a manifest names a blob without a digest")
    return f"blobs/{digest.replace(':', '/')}"
