"""Programs: what compilers leave in them about the packages that they were built of, whatever the format of the program.

Go writes the modules (go_programs.py); `cargo auditable` the crates (rust_programs.py). Other Rust programs have the paths of crates in
the texts of their panics, and a librdkafka that is linked into a program shows by the names of its settings.
"""

import io
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import BinaryIO

from client_telemetry.artefacts.binaries import go_programs, rust_programs
from client_telemetry.artefacts.packages import Package, Unreadable

MAGIC = (b"\x7fELF", b"MZ", b"\xcf\xfa\xed\xfe", b"\xce\xfa\xed\xfe")
LARGEST_BYTES = 512 * 2**20
_PIECE = 8 * 2**20
_OVERLAP = 4096
_SETTING = b"topic.metadata.refresh.sparse\0"
"""A setting that librdkafka alone has (CONFIGURATION.md), in all its releases since 0.8."""
_BINDINGS = ("rdkafka", "rdkafka-sys")
_RELOCATABLE = b"\x01\0"
"""Type of an ELF file that a compiler leaves for the linker (System V ABI, "ELF Header": ET_REL)."""
_PACKED, _PACKED_WITHIN = b"UPX!", 4096
"""Behind the headers of a program that UPX has packed (l_info in its src/stub/src/include/linux.h). Further on, it may be a text."""
_NATIVE_JAVA = b"\0.svm_heap\0"
"""Section of a native image of GraalVM: Java classes, compiled, without the names of their packages' versions."""
_LINKED = "librdkafka is linked into the program, and nothing in it says which version"
_DYNAMIC = "no librdkafka is in the program"


def is_program(beginning: bytes) -> bool:
    return beginning.startswith(MAGIC)


@dataclass
class _Traces:
    """What was met on the way through a program."""

    has_librdkafka: bool = False
    crates: set[tuple[str, str]] = field(default_factory=set)
    """Name and version."""
    begin: io.BytesIO = field(default_factory=io.BytesIO)
    """As much of it as may be needed again."""
    is_auditable: bool = False
    is_native_java: bool = False

    def add(self, window: bytes, piece: bytes) -> None:
        self.has_librdkafka |= _SETTING in window
        self.is_native_java |= _NATIVE_JAVA in window
        self.is_auditable |= rust_programs.SECTION in window
        self.crates |= rust_programs.crates_of_paths(window)
        if self.begin.tell() <= rust_programs.LARGEST_BYTES:
            self.begin.write(piece)


def read(opened: BinaryIO, beginning: bytes = b"", is_library: bool = False) -> Iterator[Package]:
    """The packages of a program; nothing for one that says nothing about them. Raises Unreadable for one that hides them.
    `beginning`: what was read of it already.
    `is_library`: it is loaded by another program, whose package manager says more about it than a librdkafka that shows in it.
    """
    traces, tail, size = _Traces(), b"", 0
    while piece := beginning + opened.read(_PIECE):
        beginning = b""
        size += len(piece)
        if size > LARGEST_BYTES:
            return
        window = tail + piece
        if not tail and _PACKED in window[:_PACKED_WITHIN]:
            raise Unreadable("a program that UPX has packed: scan it as it was built")
        if (text := go_programs.text_in(window, opened)) is not None:
            yield from go_programs.packages(text)
            return
        traces.add(window, piece)
        tail = window[-_OVERLAP:]
    if traces.is_native_java:
        raise Unreadable(
            "a native image of GraalVM, which does not name its packages: scan the lock file or SBOM of its build"
        )
    yield from _rust(traces)
    is_object = traces.begin.getvalue()[16:18] == _RELOCATABLE
    if (
        traces.has_librdkafka
        and not is_library
        and not is_object
        and not any(name in _BINDINGS for name, _ in traces.crates)
    ):
        yield Package("generic", "librdkafka", None, why_unknown=_LINKED)


def _rust(traces: _Traces) -> Iterator[Package]:
    audited = None
    if traces.is_auditable and traces.begin.tell() <= rust_programs.LARGEST_BYTES:
        audited = rust_programs.audited(traces.begin.getvalue())
    packages = audited or list(map(rust_programs.by_path, sorted(traces.crates)))
    traces.crates |= {(package.name, package.version or "") for package in packages}
    names = {package.name for package in packages}
    for package in packages:
        if traces.has_librdkafka or package.name not in _BINDINGS:
            yield package
        elif package.name == "rdkafka" or "rdkafka" not in names:
            yield replace(package, without_librdkafka=_DYNAMIC)
