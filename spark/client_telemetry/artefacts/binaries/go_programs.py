"""Go programs: the modules that the linker writes into every binary (runtime/debug.BuildInfo).

The text stands between two fixed sequences of 16 bytes (cmd/go/internal/modload/build.go, infoStart and infoEnd), in
every version of Go since 1.13, whatever the format of the program.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import BinaryIO

from client_telemetry.artefacts.packages import Package
from client_telemetry.artefacts.readers import golang

_START = bytes.fromhex("3077af0c9274080241e1c107e6d618e6")
_END = bytes.fromhex("f932433186182072008242104116d8f2")
_LONGEST = 4 * 2**20
_LINKED_DYNAMICALLY = re.compile(r"build\t-tags=(?:.*,)?dynamic(?:,.*)?$")
"""confluent-kafka-go/README.md, "Building with dynamic linking"; Go 1.18 and later write the tags."""
_CONFLUENT = re.compile(
    r"(?:github\.com/confluentinc/confluent-kafka-go(?:/v\d+)?|gopkg\.in/confluentinc/confluent-kafka-go\.v\d+)"
)


def text_in(window: bytes, rest: BinaryIO) -> bytes | None:
    """What stands between the marks, if the first one is in the window; of the `rest` of the program no more is read than needed."""
    start = window.find(_START)
    if start < 0:
        return None
    text = window[start + len(_START) :]
    if _END not in text:
        text += rest.read(_LONGEST)
    return text.partition(_END)[0][:_LONGEST] if _END in text else b""


def packages(text: bytes) -> Iterator[Package]:
    """The modules of a Go program by that text; nothing for one whose information was stripped."""
    lines = text.decode("utf-8", "replace").splitlines()
    is_dynamic = any(map(_LINKED_DYNAMICALLY.match, lines))
    for package in _modules(lines):
        if is_dynamic and _CONFLUENT.fullmatch(package.name):
            package = replace(package, without_librdkafka="built with -tags dynamic")
        yield package


def _modules(lines: Iterable[str]) -> Iterator[Package]:
    last: Package | None = None
    for line in lines:
        words = line.split("\t")
        if words[0] in ("dep", "mod") and len(words) >= 3:
            if last:
                yield last
            last = _package(words[1], words[2])
        elif words[0] == "=>" and len(words) >= 3 and last:
            last = _replaced(last, words[1], words[2])
    if last:
        yield last


def _package(module: str, version: str) -> Package:
    if not re.fullmatch(r"v\d+\.\d+\.\d+\S*", version):
        return Package("golang", module.lower(), None, why_unknown=f"its version is {version}")
    (package,) = golang.read_mod(f"require {module} {version}\n")
    return replace(package, line=None, editable=False)


def _replaced(package: Package, other: str, version: str) -> Package:
    if other.lower() == package.name:
        return _package(other, version)
    why = f"replaced by {other} {version}, another module".replace("  ", " ")
    return Package("golang", package.name, None, why_unknown=why)
