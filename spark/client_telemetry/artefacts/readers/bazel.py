"""Bazel's build files, beside the coordinates of Maven that gradle.py reads: Go modules (`go_repository`, `go_deps.module`) and
modules of the Bazel Central Registry. Literals only; nothing is evaluated.
"""

import re
from collections.abc import Iterator

from client_telemetry.artefacts.packages import Package, declared, only_version
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
                exact = only_version(_RELEASE, version)
                yield declared("generic", "librdkafka", exact, version, line, declared_only=False)
        elif module := arguments.get("importpath") or arguments.get("path"):
            yield of_module(module, version or arguments.get("tag") or arguments.get("commit") or "", line)
