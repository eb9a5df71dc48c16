"""Rust programs: crates by what `cargo auditable` writes into them, or by the paths of their sources in texts of panics.

The section `.dep-v0` of an ELF file is JSON, compressed with zlib (cargo-auditable/PARSING.md): `packages` with name, version and
source of each crate.
"""

import json
import re
import struct
import zlib
from typing import Final

from client_telemetry.artefacts.packages import Package, locked_to
from client_telemetry.knowledge import known_packages

SECTION: Final = b".dep-v0\0"
LARGEST_BYTES: Final = 96 * 2**20
"""Of a program whose sections are read."""
_LARGEST_JSON: Final = 16 * 2**20
_MOST_SECTIONS: Final = 10_000
_PATHS: Final = b"registry/src/"
_CRATE: Final = re.compile(
    rb"registry/src/[\w.-]{1,100}/([A-Za-z][\w-]*?)-(\d+\.\d+\.\d+(?:[-+][\w.+-]+)?)/", re.ASCII
)


def crates_of_paths(window: bytes) -> set[tuple[str, str]]:
    """Name and version of crates that the table of packages knows, by paths such as registry/src/index…/rskafka-0.5.0/src/lib.rs."""
    if _PATHS not in window:
        return set()
    crates = {(match[1].decode(), match[2].decode()) for match in _CRATE.finditer(window)}
    return {(name, version) for name, version in crates if known_packages.find("cargo", name)}


def by_path(crate: tuple[str, str]) -> Package:
    """rdkafka takes any later rdkafka-sys of the same major version: its own says nothing about the librdkafka in it."""
    name, version = crate
    if name == "rdkafka":
        why = f"{name} {version} is in the program; which librdkafka it was built with does not show"
        return Package("cargo", name, None, why_unknown=why)
    return Package("cargo", name, version)


def audited(content: bytes) -> list[Package] | None:
    """The crates that `cargo auditable` wrote into an ELF file; None if it cannot be read."""
    try:
        unpacked = zlib.decompressobj().decompress(_section(content), _LARGEST_JSON)
        document = json.loads(unpacked)
        crates = [
            (crate["name"], crate["version"], crate.get("source", "")) for crate in document["packages"]
        ]
    except (struct.error, zlib.error, ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return None
    return [
        Package("cargo", name, version)
        if source in ("crates.io", "registry")
        else Package("cargo", name, None, why_unknown=locked_to(str(source) or "a source of its own"))
        for name, version, source in crates
        if isinstance(name, str) and isinstance(version, str) and known_packages.find("cargo", name)
    ]


def _section(content: bytes) -> bytes:
    """The content of `.dep-v0` (System V ABI, "Sections": 64-bit ELF, little-endian). Raises LookupError or struct.error."""
    if content[4:6] != b"\x02\x01":
        raise LookupError("not a 64-bit little-endian ELF file")
    (table,) = struct.unpack_from("<Q", content, 0x28)
    size, count, names_index = struct.unpack_from("<HHH", content, 0x3A)
    headers = [
        struct.unpack_from("<I4xQQQQ", content, table + size * number)
        for number in range(min(count, _MOST_SECTIONS))
    ]
    names_at = headers[names_index][3]
    for name, _, _, offset, length in headers:
        if content.startswith(SECTION, names_at + name):
            return content[offset : offset + length]
    raise LookupError("no section .dep-v0")
