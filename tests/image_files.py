"""Container images as files, as builders and registries write them: layers from folders, OCI layouts, `docker save` archives."""

import gzip
import hashlib
import io
import json
import tarfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import zstandard

OCI_MANIFEST = "application/vnd.oci.image.manifest.v1+json"
OCI_INDEX = "application/vnd.oci.image.index.v1+json"
COMPRESSIONS: dict[str, Callable[[bytes], bytes]] = {
    "tar": bytes,
    "tar+gzip": lambda content: gzip.compress(content, 1, mtime=0),
    "tar+zstd": lambda content: zstandard.compress(content, 1),
}


def layer(
    folders: Mapping[str, Path] | None = None,
    files: Mapping[str, str | bytes] | None = None,
    links: Mapping[str, str] | None = None,
) -> bytes:
    """A layer's tar file. `folders`: path in the image to a folder whose content goes there, hard links of one file among them
    as such; `files`: path to content, whiteouts (`.wh.name`, `.wh..wh..opq`) too; `links`: path to the path of the file that it
    is a hard link to.
    """
    written = io.BytesIO()
    with tarfile.open(fileobj=written, mode="w") as archive:
        for path, folder in (folders or {}).items():
            archive.add(folder, path, filter=_without_times)
        for path, content in (files or {}).items():
            data = content.encode() if isinstance(content, str) else content
            member = tarfile.TarInfo(path)
            member.size = len(data)
            member.mode = 0o755
            archive.addfile(member, io.BytesIO(data))
        for path, target in (links or {}).items():
            member = tarfile.TarInfo(path)
            member.type, member.linkname = tarfile.LNKTYPE, target
            archive.addfile(member)
    return written.getvalue()


def _without_times(member: tarfile.TarInfo) -> tarfile.TarInfo:
    member.mtime = member.uid = member.gid = 0
    return member


def digest(content: bytes) -> str:
    return f"sha256:{hashlib.sha256(content).hexdigest()}"


@dataclass(frozen=True)
class Image:
    """`blobs`: digest to content. `manifest`, `config`: digests; `layers`: of the compressed layers, in order."""

    blobs: Mapping[str, bytes]
    manifest: str
    config: str
    layers: tuple[str, ...]

    def descriptor(self, **more: Any) -> dict[str, Any]:
        return {
            "mediaType": OCI_MANIFEST,
            "digest": self.manifest,
            "size": len(self.blobs[self.manifest]),
            **more,
        }


def image(
    layers: Sequence[bytes], compressions: Iterable[str] = (), architecture: str = "amd64", **labels: str
) -> Image:
    """`compressions`: of each layer, the first ones; the others are not compressed."""
    blobs: dict[str, bytes] = {}

    def blob(content: bytes, media_type: str) -> dict[str, Any]:
        blobs[digest(content)] = content
        return {"mediaType": media_type, "digest": digest(content), "size": len(content)}

    given = [*compressions, *["tar"] * len(layers)]
    packed = [
        blob(COMPRESSIONS[compression](content), f"application/vnd.oci.image.layer.v1.{compression}")
        for content, compression in zip(layers, given, strict=False)
    ]
    config = {
        "architecture": architecture,
        "os": "linux",
        "config": {"Labels": labels},
        "rootfs": {"type": "layers", "diff_ids": [digest(content) for content in layers]},
    }
    of_config = blob(json.dumps(config).encode(), "application/vnd.oci.image.config.v1+json")
    manifest = {"schemaVersion": 2, "mediaType": OCI_MANIFEST, "config": of_config, "layers": packed}
    of_manifest = blob(json.dumps(manifest).encode(), OCI_MANIFEST)
    return Image(blobs, of_manifest["digest"], of_config["digest"], tuple(each["digest"] for each in packed))


def attestation(of: Image) -> Image:
    """What `docker buildx` puts beside an image: a manifest whose only layer is a statement about it."""
    statement = json.dumps(
        {"_type": "https://in-toto.io/Statement/v0.1", "subject": [{"digest": of.manifest}]}
    )
    return image([statement.encode()], architecture="unknown")


def oci_files(images: Sequence[Image], name: str, attested: bool = False) -> tuple[dict[str, bytes], str]:
    """The files of an OCI layout, and the digest by which a registry knows the image: of its manifest, or of the index above several
    platforms.
    """
    blobs = {key: content for each in images for key, content in each.blobs.items()}
    descriptors = [
        each.descriptor(
            platform={"os": "linux", "architecture": json.loads(each.blobs[each.config])["architecture"]}
        )
        for each in images
    ]
    for each in images if attested else ():
        statement = attestation(each)
        blobs |= statement.blobs
        annotations = {
            "vnd.docker.reference.type": "attestation-manifest",
            "vnd.docker.reference.digest": each.manifest,
        }
        descriptors.append(statement.descriptor(annotations=annotations))
    known_as = images[0].manifest
    if len(descriptors) > 1:
        index = json.dumps({"schemaVersion": 2, "mediaType": OCI_INDEX, "manifests": descriptors}).encode()
        known_as = digest(index)
        blobs[known_as] = index
        descriptors = [{"mediaType": OCI_INDEX, "digest": known_as, "size": len(index)}]
    for each in descriptors:
        each["annotations"] = {"io.containerd.image.name": name}
    outer = {"schemaVersion": 2, "mediaType": OCI_INDEX, "manifests": descriptors}
    files = {"oci-layout": b'{"imageLayoutVersion": "1.0.0"}', "index.json": json.dumps(outer).encode()}
    return files | {f"blobs/{key.replace(':', '/')}": content for key, content in blobs.items()}, known_as


def saved_files(saved: Image, name: str) -> tuple[dict[str, bytes], str]:
    """The files of a `docker save` archive before Docker 25, whose layers are not compressed, and the image id."""
    identity = saved.config.removeprefix("sha256:")
    files = {f"{identity}.json": saved.blobs[saved.config]}
    for each in saved.layers:
        files[f"{each.removeprefix('sha256:')}/layer.tar"] = saved.blobs[each]
    entry = {"Config": f"{identity}.json", "RepoTags": [name], "Layers": list(files)[1:]}
    return files | {"manifest.json": json.dumps([entry]).encode()}, saved.config


def saved_with_layout(saved: Image, name: str) -> tuple[dict[str, bytes], str]:
    """As Docker 25 and later save: an OCI layout with a manifest.json of the old form beside it."""
    files, known_as = oci_files([saved], name)
    entry = {
        "Config": f"blobs/{saved.config.replace(':', '/')}",
        "RepoTags": [name],
        "Layers": [f"blobs/{each.replace(':', '/')}" for each in saved.layers],
    }
    return files | {"manifest.json": json.dumps([entry]).encode()}, known_as


def write_tar(path: Path, files: Mapping[str, bytes]) -> None:
    path.write_bytes(layer(files=files))


def write_folder(path: Path, files: Mapping[str, bytes]) -> None:
    for name, content in files.items():
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_bytes(content)
