"""Hosts and applications of a configuration database, as a CSV with a header: of ServiceNow, NetBox, a cloud's console or a
spreadsheet. Columns are known by the names that people give them.
"""

import csv
import re
from collections.abc import Iterator, Mapping, Sequence

from client_telemetry.artefacts.subjects import digests, repository
from client_telemetry.inventory.workloads import Container, UnusableWorkloads, Workload, plain_address

MOST_ROWS = 2_000_000
_COLUMNS: Mapping[str, tuple[str, ...]] = {
    "address": (
        "ip", "ips", "ip_address", "ip_addresses", "ipaddress", "ip_addr", "address", "addresses", "ipv4", "ipv6", "ipv4_address",
        "ipv6_address", "private_ip", "private_ips", "private_ip_address", "private_ipv4_address", "privateipaddress", "primary_ip",
        "primary_ip4", "primary_ip6", "primary_ip_address", "internal_ip", "host_ip", "pod_ip", "client_ip", "client_address",
    ),
    "host": (
        "host", "hostname", "host_name", "fqdn", "dns", "dns_name", "private_dns", "private_dns_name", "server", "servername", "node",
        "node_name", "computer", "computername", "vm", "vm_name", "machine", "ci", "name", "instance_name", "display_name",
    ),
    "digest": ("digest", "image_digest", "sha256", "image_sha", "image_sha256", "image_id", "imageid"),
    "image": ("image", "container_image", "docker_image", "image_tag", "image_uri"),
    "application": (
        "application", "app", "app_id", "application_id", "appname", "service", "business_service", "business_application",
        "application_service", "primary_application", "used_for", "system", "workload", "component", "project", "product", "tag_application",
    ),
    "repository": (
        "repository", "repo", "repository_url", "repo_url", "git", "git_url", "git_repo", "git_repository", "scm", "scm_url", "source",
        "source_repository", "source_code", "sourcecode", "vcs_url",
    ),
    "owner": (
        "owner", "owned_by", "team", "owner_team", "owning_team", "support_group", "assignment_group", "managed_by", "contact",
        "technical_owner", "business_owner", "responsible",
    ),
}  # fmt: skip
_NAMES = {name: column for column, names in _COLUMNS.items() for name in names}
_EMPTY = frozenset(("", "-", "n/a", "na", "none", "null", "nan", "unknown", "(empty)", "tbd"))
_SEVERAL = re.compile(r"[\s,;|]+")


def read(text: str, file: str) -> Iterator[Workload]:
    """Raises UnusableWorkloads."""
    lines = text.splitlines(keepends=True)
    separator = re.match(r"sep=(.)\s*$", lines[0].strip()) if lines else None
    first = 1 if separator else 0
    header = next((line for line in lines[first:] if line.strip()), "")
    delimiter = separator[1] if separator else max(",;\t|", key=header.count)
    reader = csv.reader(iter(lines[first:]), delimiter=delimiter)
    try:
        columns = _columns(next((row for row in reader if any(row)), []))
        for number, row in enumerate(reader):
            if number >= MOST_ROWS:
                raise UnusableWorkloads(
                    f"more than {MOST_ROWS:,} rows: leave out those that are no clients of Kafka"
                )
            if workload := _workload(columns, row, f"{file}:{reader.line_num + first}"):
                yield workload
    except csv.Error as error:
        raise UnusableWorkloads(f"line {reader.line_num + first}: not CSV: {error}") from None


def normal_name(header: str) -> str:
    """
    >>> normal_name("IP Address"), normal_name("u_application.name"), normal_name("privateIpAddress")
    ('ip_address', 'application', 'private_ip_address')
    """
    text = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", header.strip())
    name = re.sub(r"[^a-z0-9]+", "_", text.lower()).strip("_").removeprefix("u_")
    return name if name in _NAMES else name.removesuffix("_name")


def _columns(header: Sequence[str]) -> dict[int, str]:
    """Place in a row to what it is. An address or a host has to be among them, and something to say about it."""
    columns = {
        place: column for place, name in enumerate(header) if (column := _NAMES.get(normal_name(name)))
    }
    kinds = set(columns.values())
    found = ", ".join(name.strip() for name in header if name.strip())[:200] or "nothing"
    if not kinds & {"address", "host"}:
        raise UnusableWorkloads(
            f"no column with addresses or hosts: name one `ip_address` or `hostname` in the first line, which has {found}"
        )
    if not kinds & {"digest", "image", "application", "repository"}:
        raise UnusableWorkloads(
            f"no column that says what runs there: name one `application`, `repository`, `image` or `digest` in the first line, which has {found}"
        )
    return columns


def _workload(columns: Mapping[int, str], row: Sequence[str], where: str) -> Workload | None:
    """None for a row without a place, or with nothing about it."""
    cells: dict[str, list[str]] = {}
    for place, cell in enumerate(row):
        column = columns.get(place)
        if column and cell.strip().lower() not in _EMPTY:
            cells.setdefault(column, []).append(cell.strip())
    texts = _SEVERAL.split(" ".join(cells.get("address", ())))
    addresses = tuple(dict.fromkeys(address for text in texts if (address := plain_address(text))))
    hosts = tuple(cells.get("host", ()))
    image = next(iter(cells.get("image", ())), "")
    image_digests = digests(image, *cells.get("digest", ()))
    name = next(iter(cells.get("application", ())), "") or image or (hosts[0] if hosts else "")
    linked = next((found for text in cells.get("repository", ()) if (found := repository(text))), "")
    if not (addresses or hosts) or not (image or image_digests or linked or "application" in cells):
        return None
    containers = (Container("", image, image_digests),) if image or image_digests else ()
    owner = next(iter(cells.get("owner", ())), "")
    return Workload(name, where, "", addresses, hosts, containers, repository=linked, owner=owner)
