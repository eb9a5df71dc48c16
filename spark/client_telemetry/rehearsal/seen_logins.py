"""How the clients of a report log in, from the tables that it was made from."""

import datetime as dt
from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from client_telemetry.knowledge.logins import mechanisms_in
from client_telemetry.lake.lake import Lake
from client_telemetry.tables.client_connections import CLIENT_CONNECTIONS
from client_telemetry.tables.clients import CLIENT_KEY

ClientKey = tuple[str | None, ...]
"""Values of CLIENT_KEY."""
MECHANISMS = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512")
"""With which a rehearsal can log in."""


def seen_logins(lake: str, question: Mapping[str, Any]) -> dict[ClientKey, str]:
    """Client -> the mechanism with which all of its connections log in, of MECHANISMS. `question`: of a report.json."""
    first, last = (dt.date.fromisoformat(question[name]) for name in ("first_dt", "last_dt"))
    days = [first + dt.timedelta(days=number) for number in range((last - first).days + 1)]
    columns = (*CLIENT_KEY, "sasl_mechanism")
    seen: dict[ClientKey, set[str]] = defaultdict(set)
    rows = Lake(None, lake).each_row(
        CLIENT_CONNECTIONS, None, columns, cluster_id=question["cluster_id"], dt=days
    )
    for row in rows:
        seen[key_of(row)] |= mechanisms_in(row["sasl_mechanism"])
    return {
        key: name for key, names in seen.items() if len(names) == 1 for name in names if name in MECHANISMS
    }


def key_of(client: Mapping[str, Any]) -> ClientKey:
    return tuple(client[name] for name in CLIENT_KEY)
