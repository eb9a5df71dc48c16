"""Which librdkafka runs in an image: the one that a wheel of confluent-kafka carries, or a build of node-rdkafka, or the one of the
system.

A wheel has librdkafka beside its modules (auditwheel: `confluent_kafka.libs`, `confluent_kafka/.libs` in old ones). Where pip
built the binding itself, or a distribution packaged it, it is linked to the librdkafka of the system, whose version is another.
node-rdkafka has its own in `build/deps`, unless it was built with BUILD_LIBRDKAFKA=0 (its binding.gyp).
"""

import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from client_telemetry.artefacts.packages import Package

NODE_ADDON = re.compile(r"(?:.*/)?node_modules/node-rdkafka/build/Release/node-librdkafka\.node")
LIBRARY = re.compile(r"(?:.*/)?(?:lib)?rdkafka[^/]*\.(?:so(?:\.\d+)*|dll|dylib)", re.IGNORECASE)
TRACES = (LIBRARY, NODE_ADDON)
"""Files that count by their path alone."""
PKG_CONFIG = re.compile(r"(?:.*/)?pkgconfig/rdkafka(?:-static)?\.pc")
_OF_SYSTEM = re.compile(r"((?:usr/|usr/local/|opt/(?:[^/]+/)*)?lib(?:64)?/(?:[\w-]+-linux-[\w]+/)?)[^/]+")
_PACKAGED = ("deb", "apk", "rpm")
_BINDING = "confluent-kafka"


def read_pkg_config(text: str) -> Iterator[Package]:
    """rdkafka.pc, as `make install` of librdkafka leaves it."""
    version = re.search(r"^Version:\s*v?(\d+(?:\.\d+)+)\s*$", text, re.MULTILINE)
    why = "" if version else "its rdkafka.pc has no version of a release"
    yield Package("generic", "librdkafka", version[1] if version else None, why_unknown=why)


def told_apart(files: Mapping[str, Sequence[Package]]) -> Iterator[Package]:
    """The packages of an image by the path of the file that names them; bindings without a librdkafka of their own say so, and a
    librdkafka of the system that nothing names is one of unknown version.
    """
    libraries = [path for path in files if LIBRARY.fullmatch(path)]
    for path, packages in files.items():
        for package in packages:
            if why := _without_own(package, path, files, libraries):
                package = replace(package, without_librdkafka=why)
            yield package
    yield from _unnamed(files, libraries)


def _without_own(
    package: Package, path: str, files: Mapping[str, Sequence[Package]], libraries: Sequence[str]
) -> str:
    """How it shows that a binding has no librdkafka of its own; empty if it has one, or is another package."""
    if (package.type, package.name) == ("pypi", _BINDING) and not _has_own(path, libraries):
        return "no librdkafka is beside its modules"
    if (package.type, package.name) == ("npm", "node-rdkafka"):
        build = posixpath.join(posixpath.dirname(path), "build")
        is_built = f"{build}/Release/node-librdkafka.node" in files
        if is_built and not any(library.startswith(f"{build}/deps/") for library in libraries):
            return "no librdkafka is in its build/deps"
    return ""


def _has_own(metadata: str, libraries: Sequence[str]) -> bool:
    """`metadata`: path of METADATA or PKG-INFO."""
    folder = re.split(r"[^/]+\.(?:dist-info|egg-info)(?:/|$)|EGG-INFO/", metadata)[0]
    return any(re.match(rf"{re.escape(folder)}confluent_kafka(?:\.libs)?/", path) for path in libraries)


def _unnamed(files: Mapping[str, Sequence[Package]], libraries: Sequence[str]) -> Iterator[Package]:
    """Libraries where linkers look for them, of which neither a package of the distribution nor rdkafka.pc says the version."""
    named = [package for packages in files.values() for package in packages if "librdkafka" in package.name]
    is_packaged = any(package.type in _PACKAGED for package in named)
    for folder in dict.fromkeys(match[1] for path in libraries if (match := _OF_SYSTEM.fullmatch(path))):
        if is_packaged and "local/" not in folder and not folder.startswith("opt/"):
            continue
        if any(posixpath.join(folder, "pkgconfig") == posixpath.dirname(path) for path in files):
            continue
        inside = min(path for path in libraries if path.startswith(folder))
        why = "a library file that no package and no rdkafka.pc names"
        yield Package("generic", "librdkafka", None, why_unknown=why, inside=inside)
