"""What is published about one client beside its curves: whose it is, from where it connects, what the newest upgrade report says of it."""

import json
from collections.abc import Iterable
from functools import lru_cache
from typing import Any, Final

from telemetry_pages.published import FLEET, REPORTS, File, NotPublished, Published

LARGEST_READ: Final = 128 * 2**20
"""Bytes of a file that is read for one client: some 15,000 clients in a report, 100,000 in an index."""
NAMED: Final = 10
_OF_CLIENT: Final = (
    "outcome", "verdict", "confidence", "explanation", "fix", "owner", "owner_contact", "application", "identified_as", "missing", "days_seen",
)  # fmt: skip

Key = tuple[str | None, str]
"""Client id and principal."""


def of_day(published: Published, cluster: str, day: str, key: Key) -> dict[str, list[str]]:
    """What search.json of the day tells: owners, applications, addresses, hosts, groups and transactional ids; nothing where it cannot be
    read or is too large."""
    try:
        index = published.file(FLEET, cluster, day, "search.json")
        entries = _by_key(index, index.version(), "clients").get(key, []) if _is_small(index) else []
    except (NotPublished, ValueError):
        entries = []
    single = {name: _distinct([each.get(name)] for each in entries) for name in ("owner", "application")}
    lists = ("addresses", "hosts", "group_ids", "transactional_ids")
    return {**single, **{name: _distinct(each.get(name) or () for each in entries) for name in lists}}


def verdicts(published: Published, cluster: str, key: Key) -> dict[str, Any] | None:
    """The newest upgrade report (`report`, its summary) with the rows of the client as `rows`, one for each software and version that it
    declares, the worst first as in the report; None where there is no report. `too_large`: the report was not read."""
    summaries = [each for each in published.reports(cluster) if "to_release" in each]
    if not summaries:
        return None
    found: dict[str, Any] = {"report": summaries[0], "rows": [], "too_large": False, "damaged": ""}
    try:
        file = published.file(REPORTS, cluster, summaries[0]["folder"], "report.json")
        if not _is_small(file):
            return found | {"too_large": True}
        rows = _by_key(file, file.version(), "clients").get(key, [])
    except NotPublished as error:
        return found | {"damaged": str(error)}
    except ValueError:
        return found | {"damaged": "report.json of the report is damaged"}
    return found | {"rows": [{name: row.get(name) for name in (*_OF_CLIENT, "anchor")} for row in rows]}


def _is_small(file: File) -> bool:
    return file.size() <= LARGEST_READ


@lru_cache(maxsize=2)
def _by_key(file: File, _version: str, name: str) -> dict[Key, list[dict[str, Any]]]:
    """The rows of a document by client, as they are on one page after the other. Raises ValueError."""
    found: dict[Key, list[dict[str, Any]]] = {}
    document = json.loads(file.read_bytes())
    for row in document.get(name, ()) if isinstance(document, dict) else ():
        found.setdefault((row.get("client_id"), row.get("principal") or ""), []).append(row)
    return found


def _distinct(lists: Iterable[Iterable[str | None]]) -> list[str]:
    return list(dict.fromkeys(each for values in lists for each in values if each))
