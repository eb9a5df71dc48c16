"""Bazel's build files, beside the coordinates of Maven that gradle.py reads: Go modules (`go_repository`, `go_deps.module`) and
modules of the Bazel Central Registry. Literals only; nothing is evaluated.
"""

import re
from collections.abc import Iterator

from client_telemetry.artefacts.packages import NOT_LOCKED, Package
from client_telemetry.artefacts.readers.golang import of_module

_CALL = re.compile(r"\b(go_repository|go_deps\.module|bazel_dep)\s*\(([^()]{0,2000})\)")
_ARGUMENT = re.compile(r"""\b(\w+)\s*=\s*["']([^"']*)["']""")
_COMMENT = re.compile(r"^[ \t]*#.*$", re.MULTILINE)
_RELEASE = re.compile(r"(\d+\.\d+\.\d+)(?:\.bcr\.\d+)?")


def read(text: str) -> Iterator[Package]:
    text = _COMMENT.sub("", text)
    for call in _CALL.finditer(text):
        arguments = dict(_ARGUMENT.findall(call[2]))
        version = arguments.get("version", "")
        written = call.start() + max(call[0].find(f'"{version}"'), 0) if version else call.start()
        line = text.count("\n", 0, written) + 1
        if call[1] == "bazel_dep":
            if arguments.get("name") == "librdkafka":
                yield _librdkafka(version, line)
        elif module := arguments.get("importpath") or arguments.get("path"):
            yield of_module(module, version or arguments.get("tag") or arguments.get("commit") or "", line)


def _librdkafka(version: str, line: int) -> Package:
    exact = _RELEASE.fullmatch(version)
    why = "" if exact else f"{NOT_LOCKED} ({version or 'no version'})"
    return Package("generic", "librdkafka", exact[1] if exact else None, line, why, editable=True)
