"""How the clients of a report log in, from the tables that it was made from."""

from collections import defaultdict
from collections.abc import Iterable

from client_telemetry.formats.report_file import Question, days
from client_telemetry.identity.client_key import CLIENT_KEY, ClientKey, client_key
from client_telemetry.knowledge.logins import mechanisms_in
from client_telemetry.lake.lake import Lake
from client_telemetry.rehearsal.subjects import WayIn
from client_telemetry.tables.client_connections import CLIENT_CONNECTIONS

MECHANISMS = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER", "GSSAPI")
"""With which a rehearsal can log in."""
_COLUMNS = ("security_protocol", "sasl_mechanism")


def seen_logins(lake: str, question: Question) -> dict[ClientKey, WayIn]:
    """Client -> how all of its connections log in: with one of MECHANISMS or with TLS alone. `question`: of a report.json."""
    seen: dict[ClientKey, set[tuple[str, str]]] = defaultdict(set)
    rows = Lake(None, lake).each_row(
        CLIENT_CONNECTIONS,
        None,
        (*CLIENT_KEY, *_COLUMNS),
        cluster_id=question["cluster_id"],
        dt=days(question),
    )
    for row in rows:
        seen[client_key(row)].add((row["security_protocol"] or "", row["sasl_mechanism"] or ""))
    found = {key: _way_in(logins) for key, logins in seen.items()}
    return {key: way_in for key, way_in in found.items() if way_in is not None}


def _way_in(logins: Iterable[tuple[str, str]]) -> WayIn | None:
    """None: they differ, or a rehearsal cannot. `logins`: security protocol and mechanism of connections, as the table has them.

    >>> _way_in([("SASL_SSL", "PLAIN"), ("SASL_SSL", "")]), _way_in([("SSL", "")])
    (WayIn(mechanism='PLAIN', tls=True), WayIn(mechanism='', tls=True))
    >>> _way_in([("SASL_SSL", "PLAIN"), ("SASL_PLAINTEXT", "PLAIN")])
    """
    protocols = {protocol.upper() for protocol, _ in logins if protocol}
    mechanisms = {name for _, text in logins for name in mechanisms_in(text)}
    if len(protocols) > 1 or len(mechanisms) > 1 or not mechanisms <= {*MECHANISMS}:
        return None
    way_in = WayIn(next(iter(mechanisms), ""), any(protocol.endswith("SSL") for protocol in protocols))
    logs_in = any(protocol.startswith("SASL") for protocol in protocols)
    return None if way_in == WayIn() or (logs_in and not way_in.mechanism) else way_in
