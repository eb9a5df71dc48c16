"""How the clients of a report log in, from the tables that it was made from."""

import datetime as dt
from collections import defaultdict

from client_telemetry.formats.report_file import Question
from client_telemetry.identity.client_key import CLIENT_KEY, ClientKey, client_key
from client_telemetry.knowledge.logins import mechanisms_in
from client_telemetry.lake.lake import Lake
from client_telemetry.tables.client_connections import CLIENT_CONNECTIONS

MECHANISMS = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER")
"""With which a rehearsal can log in."""


def seen_logins(lake: str, question: Question) -> dict[ClientKey, str]:
    """Client -> the mechanism with which all of its connections log in, of MECHANISMS. `question`: of a report.json."""
    first, last = map(dt.date.fromisoformat, (question["first_dt"], question["last_dt"]))
    days = [first + dt.timedelta(days=number) for number in range((last - first).days + 1)]
    columns = (*CLIENT_KEY, "sasl_mechanism")
    seen: dict[ClientKey, set[str]] = defaultdict(set)
    rows = Lake(None, lake).each_row(
        CLIENT_CONNECTIONS, None, columns, cluster_id=question["cluster_id"], dt=days
    )
    for row in rows:
        seen[client_key(row)] |= mechanisms_in(row["sasl_mechanism"])
    return {
        key: name for key, names in seen.items() if len(names) == 1 for name in names if name in MECHANISMS
    }
