"""Files of an image that say what is installed in it: databases of distributions, and what package managers leave."""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from io import BytesIO
from typing import BinaryIO

from client_telemetry.artefacts.binaries import archives, librdkafka_files, programs, rpm_database
from client_telemetry.artefacts.packages import UNREAD, Package, Unreadable
from client_telemetry.artefacts.readers import dotnet
from client_telemetry.artefacts.readers.json_text import parse_object
from client_telemetry.knowledge import known_packages

ReadText = Callable[[str], Iterable[Package]]

_RPM = re.compile(
    r"(?:var/lib|usr/lib/sysimage|usr/share)/rpm/(Packages|Packages\.db|rpmdb\.sqlite(?:-wal)?)"
)
_RPM_UNREAD = {
    "Packages": "rpm database in a form that cannot be read here (Berkeley DB): scan an SBOM of the image instead",
    "Packages.db": "rpm database in a form that cannot be read here (ndb): scan an SBOM of the image instead",
    "rpmdb.sqlite-wal": "changes to the rpm database that are not in it yet: scan an SBOM of the image instead",
}
_PROGRAM = re.compile(
    r"(?:(?:.*/)?s?bin/.*|[^/]+|(?:app|opt|srv|home|root|go|work|workspace|ko-app|usr/local)/.*)"
)
"""Where programs are that people put into an image. Libraries have no build information."""
_IN_PACKAGE = re.compile(r"(?:^|/)(?:node_modules|site-packages|dist-packages|gems)/")
LARGEST_TEXT_BYTES = 64 * 2**20


def read_dpkg(text: str) -> Iterator[Package]:
    """`status` of dpkg, or a file of `status.d` (distroless): paragraphs of `Key: value`."""
    for paragraph in re.split(r"\n\s*\n", text):
        fields = dict(re.findall(r"^(Package|Version|Status):[ \t]*(\S.*?)[ \t]*$", paragraph, re.MULTILINE))
        installed = fields.get("Status", "install ok installed").split()[-1] == "installed"
        if installed and "Package" in fields and fields.get("Version"):
            yield Package("deb", fields["Package"], fields["Version"])


def read_apk(text: str) -> Iterator[Package]:
    """apk's `installed`: `P:` is the name, `V:` the version, an empty line ends a package."""
    for paragraph in text.split("\n\n"):
        fields = dict(re.findall(r"^([PV]):(\S+)$", paragraph, re.MULTILINE))
        if len(fields) == 2:
            yield Package("apk", fields["P"], fields["V"])


def _node(text: str) -> Iterator[Package]:
    """package.json of an installed package."""
    try:
        content = parse_object(text)
    except Unreadable:
        return
    name, version = content.get("name"), content.get("version")
    if isinstance(name, str) and isinstance(version, str):
        yield Package("npm", name, version)


_TEXTS: tuple[tuple[re.Pattern[str], ReadText], ...] = (
    (re.compile(r"var/lib/dpkg/status(?:\.d/[^/]+)?"), read_dpkg),
    (re.compile(r"(?:usr/)?lib/apk/db/installed"), read_apk),
    (re.compile(r".*\.dist-info/METADATA"), archives.read_metadata),
    (re.compile(r".*(?:\.egg-info(?:/PKG-INFO)?|\.egg/EGG-INFO/PKG-INFO)"), archives.read_metadata),
    (re.compile(r".*\.deps\.json"), dotnet.read_deps),
    (librdkafka_files.PKG_CONFIG, librdkafka_files.read_pkg_config),
)
_NODE = re.compile(r".*node_modules/((?:@[^/]+/)?[^/]+)/package\.json")
_GEM = re.compile(r".*/specifications/(?:default/)?([\w.-]+?)-(\d[\w.]*)(?:-[\w-]+)?\.gemspec")
_DISTRIBUTION = re.compile(r"(?:.*/)?([^/]+)\.(?:dist-info|egg-info|egg)(?:/.*)?")
_CONDA = re.compile(r"(?:.*/)?conda-meta/([\w.-]+)-([^-/]+)-[^-/]+\.json")
_SHARED_LIBRARY = re.compile(r"(?:.*/)?[^/]+\.(?:so(?:\.\d+)*|dylib|dll|node)")


def may_say_something(path: str, is_executable: bool = False) -> bool:
    """Whether a file at this path of an image is worth opening. Paths have no leading slash. `is_executable`: by its mode."""
    return bool(
        path.lower().endswith((*archives.JAVA, *archives.PYTHON))
        or any(pattern.fullmatch(path) for pattern in (_GEM, _RPM, _CONDA, *librdkafka_files.TRACES))
        or _text_reader(path)
        or _PROGRAM.fullmatch(path)
        or (is_executable and not _SHARED_LIBRARY.fullmatch(path))
    )


def _text_reader(path: str) -> ReadText | None:
    if match := _NODE.fullmatch(path):
        return _node if known_packages.find("npm", match[1]) else None
    for pattern, read in _TEXTS:
        if pattern.fullmatch(path):
            distribution = _DISTRIBUTION.fullmatch(path)
            return read if distribution is None or _may_be_known(distribution[1]) else None
    return None


def _may_be_known(distribution: str) -> bool:
    """Of a folder's name, as in kafka_python-1.3.5-py3.9: the package's name ends at one of the hyphens."""
    words = distribution.split("-")
    return any(known_packages.find("pypi", "-".join(words[:end])) for end in range(1, len(words) + 1))


def read(path: str, opened: BinaryIO, size: int) -> Iterator[Package]:
    """The packages that a file of an image names; `inside` is its path. One that cannot be read is a package of the type
    UNREAD: it hides nothing of the rest.
    """
    rpm = _RPM.fullmatch(path)
    if rpm and (why := _RPM_UNREAD.get(rpm[1])):
        if size:
            yield Package(UNREAD, path, None, why_unknown=why, inside=path)
        return
    try:
        for package in _read(path, opened, size):
            yield replace(package, inside="!".join(filter(None, (path, package.inside))))
    except Unreadable as error:
        yield Package(UNREAD, path, None, why_unknown=str(error), inside=path)


def _read(path: str, opened: BinaryIO, size: int) -> Iterator[Package]:
    if reader := _text_reader(path):
        yield from reader(_bounded(opened, size, LARGEST_TEXT_BYTES).decode("utf-8", "replace"))
    elif _RPM.fullmatch(path):
        yield from rpm_database.read(_bounded(opened, size, rpm_database.LARGEST_BYTES))
    elif match := _GEM.fullmatch(path):
        yield Package("gem", match[1], match[2])
    elif match := _CONDA.fullmatch(path):
        yield Package("conda", match[1].lower(), match[2])
    elif any(pattern.fullmatch(path) for pattern in librdkafka_files.TRACES):
        return
    elif path.lower().endswith(archives.JAVA):
        yield from archives.read_java(BytesIO(_bounded(opened, size, archives.LARGEST_ENTRY_BYTES)), path)
    elif path.lower().endswith(archives.PYTHON):
        yield from archives.read_python(BytesIO(_bounded(opened, size, archives.LARGEST_ENTRY_BYTES)))
    else:
        beginning = opened.read(4)
        if programs.is_program(beginning):
            is_library = bool(_SHARED_LIBRARY.fullmatch(path) or _IN_PACKAGE.search(path))
            yield from programs.read(opened, beginning, is_library)


def _bounded(opened: BinaryIO, size: int, most: int) -> bytes:
    if size > most:
        raise Unreadable(f"more than {most // 2**20} MiB")
    return opened.read(most)
