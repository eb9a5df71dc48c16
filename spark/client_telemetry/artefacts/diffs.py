"""A fix as a diff of the file that names the client: where people write the version on that very line."""

import difflib
import re

from client_telemetry.artefacts.libraries import Client
from client_telemetry.knowledge import edits

_UPGRADE = re.compile(r"upgrade (?P<what>\S+(?: \S+)?) to (?P<version>\d+(?:\.\d+)*)")


def of(client: Client, fix: str, file: str, lines: list[str]) -> str:
    """A unified diff of one line, or nothing: for lock files, which tools write, for fixes that are no upgrade of this
    package, and where the line does not have the version exactly once.

    >>> from client_telemetry.artefacts.packages import Package
    >>> from client_telemetry.knowledge.software import WrittenLibrary
    >>> package = Package("pypi", "kafka-python", "1.3.5", 1, editable=True)
    >>> written = Client(package, "kafka-python", WrittenLibrary("kafka-python", "1.3.5"))
    >>> print(of(written, "upgrade kafka-python to 2.1.3 or later", "requirements.txt", ["kafka-python==1.3.5"]))
    --- a/requirements.txt
    +++ b/requirements.txt
    @@ -1 +1 @@
    -kafka-python==1.3.5
    +kafka-python==2.1.3
    """
    package, line = client.package, client.package.line
    match = _UPGRADE.search(fix)
    if not (package.editable and package.version and line and match and line <= len(lines)):
        return ""
    if not _is_about(client, match["what"]) or not edits.of(match[0]):
        return ""
    old = lines[line - 1]
    version = edits.kafka_release(match["version"]) if match["what"] == "kafka-clients" else match["version"]
    new = _with_version(old, package.version.removeprefix("v"), version)
    if new is None or _is_renamed(client, old, version):
        return ""
    changed = [*lines[: line - 1], new, *lines[line:]]
    hunks = difflib.unified_diff(lines, changed, f"a/{file}", f"b/{file}", n=0, lineterm="")
    return "\n".join(hunks)


def _is_about(client: Client, upgraded: str) -> bool:
    """Whether the fix upgrades the package on the line, not something that is inside it or beside it."""
    binding = client.written.binding if client.written else ""
    return (
        client.itself
        and upgraded.rpartition("/")[2] in (binding or client.library, client.library)
        and (not binding or upgraded == binding)
    )


def _with_version(line: str, old: str, new: str) -> str | None:
    """The line with the other version; None if it does not have the old one exactly once as a whole."""
    places = [
        match.start()
        for match in re.finditer(re.escape(old), line)
        if not re.match(r"[\w.+-]", line[match.end() : match.end() + 1] or " ")
        and not re.search(r"[\d.]$", line[: match.start()])
    ]
    if len(places) != 1:
        return None
    return line[: places[0]] + new + line[places[0] + len(old) :]


def _is_renamed(client: Client, line: str, version: str) -> bool:
    """Whether the package has another name in that version: Shopify's sarama is IBM's since 1.40.0, and Go puts a major
    version from 2 on into the path.
    """
    major = version.partition(".")[0]
    in_path = client.package.type != "golang" or major in ("0", "1") or f"/v{major} " in line
    return not in_path or (client.library == "sarama" and "ibm/sarama" not in line.lower())
