"""Files that people export about what runs where, known by what they hold: JSON of `kubectl get pods -o json`, lines of a hosts
file, otherwise a CSV with a header.
"""

import argparse
import ipaddress
import re
from collections.abc import Sequence
from pathlib import Path

from client_telemetry.artefacts.packages import Unreadable
from client_telemetry.artefacts.tree import as_text
from client_telemetry.identity.hosts import NotHosts, host_names
from client_telemetry.inventory import kubernetes, spreadsheet
from client_telemetry.inventory.workloads import UnusableWorkloads, Workloads

LARGEST_BYTES = 256 * 2**20
_KUBERNETES = re.compile(
    r"(?:---\s+)?(?:#.*\n)*(?:apiVersion:|kind:|items:|NAMESPACE\s+NAME\s|NAME\s+READY\s)"
)
"""How kubectl's YAML and its tables begin: neither is read."""


def add_workloads(parser: argparse.ArgumentParser) -> None:
    """The option --workloads, for `read`."""
    parser.add_argument(
        "--workloads",
        action="append",
        default=[],
        type=Path,
        metavar="FILE",
        help="what runs where: pods as JSON, a CSV of hosts with applications, or a hosts file; may be given several times",
    )


def read(paths: Sequence[Path]) -> Workloads:
    """Raises UnusableWorkloads, and OSError for a file that cannot be opened."""
    workloads = Workloads()
    for path in paths:
        _add(workloads, _text(path), str(path))
    return workloads


def parse(text: str, name: str) -> Workloads:
    """The same from the text of one file. Raises UnusableWorkloads."""
    workloads = Workloads()
    _add(workloads, text, name)
    return workloads


def _add(workloads: Workloads, text: str, name: str) -> None:
    workloads.files.append(name)
    try:
        if text.lstrip()[:1] in ("{", "["):
            workloads.add(kubernetes.read(text, name))
        elif _KUBERNETES.match(text):
            raise UnusableWorkloads("not JSON: write it with `kubectl get pods --all-namespaces -o json`")
        elif _is_hosts(text):
            workloads.host_names.append(host_names(text))
        else:
            workloads.add(spreadsheet.read(text, name))
    except (NotHosts, Unreadable, UnusableWorkloads) as error:
        raise UnusableWorkloads(f"{name}: {error}") from None


def _text(path: Path) -> str:
    if path.is_dir():
        raise UnusableWorkloads(f"{path}: is a folder: name the file in it")
    with path.open("rb") as opened:
        content = opened.read(LARGEST_BYTES + 1)
    if len(content) > LARGEST_BYTES:
        raise UnusableWorkloads(
            f"{path}: larger than {LARGEST_BYTES // 2**20} MiB: export one namespace a file, and name several files"
        )
    try:
        return as_text(content)
    except Unreadable as error:
        raise UnusableWorkloads(f"{path}: {error}") from None


def _is_hosts(text: str) -> bool:
    """Whether the first line that is not a comment begins with an address or a network, and a blank."""
    lines = (line.partition("#")[0].split() for line in text.splitlines())
    first = next((words for words in lines if words), [])
    try:
        return len(first) > 1 and bool(ipaddress.ip_network(first[0], strict=False))
    except ValueError:
        return False
