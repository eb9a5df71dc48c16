"""How clients log in is read from the tables that a report was made from."""

import datetime as dt
from pathlib import Path
from typing import Any

from client_telemetry.identity.client_key import client_key
from client_telemetry.lake.lake import Lake
from client_telemetry.rehearsal import subjects
from client_telemetry.rehearsal.seen_logins import seen_logins
from client_telemetry.rehearsal.subjects import WayIn
from client_telemetry.tables.client_connections import CLIENT_CONNECTIONS
from client_telemetry.tables.publications import PUBLICATIONS

DAY = dt.date(2026, 11, 21)
QUESTION = {"cluster_id": "c", "first_dt": "2026-11-20", "last_dt": "2026-11-21"}


def client(name: str) -> dict[str, Any]:
    return {
        "principal": None,
        "client_id": name,
        "client_software_name": "apache-kafka-java",
        "client_software_version": "3.6.2",
    }


def test_a_mechanism_counts_if_all_connections_have_it_and_a_rehearsal_can(tmp_path: Path) -> None:
    seen = [
        ("scram", "SASL_SSL", "SCRAM-SHA-512"),
        ("scram", "SASL_SSL", "SCRAM-SHA-512"),
        ("plain", None, "PLAIN"),
        ("either", "SASL_PLAINTEXT", "SCRAM-SHA-256|SCRAM-SHA-512"),
        ("both", "SASL_PLAINTEXT", "PLAIN"),
        ("both", "SASL_PLAINTEXT", "SCRAM-SHA-512"),
        ("moved", "SASL_PLAINTEXT", "PLAIN"),
        ("moved", "SASL_SSL", "PLAIN"),
        ("token", "SASL_PLAINTEXT", "OAUTHBEARER"),
        ("kerberos", "SASL_PLAINTEXT", "GSSAPI"),
        ("certificate", "SSL", None),
        ("any", "SASL_SSL", None),
        ("none", None, None),
    ]
    lake = Lake(None, str(tmp_path))
    lake.create([CLIENT_CONNECTIONS, PUBLICATIONS])
    where = {"cluster_id": "c", "dt": DAY}
    rows = [
        {column.name: None for column in CLIENT_CONNECTIONS.columns}
        | {
            **where,
            **client(name),
            "security_protocol": protocol,
            "sasl_mechanism": mechanism,
            "connection_id": str(number),
        }
        for number, (name, protocol, mechanism) in enumerate(seen)
    ]
    branch = lake.branch("run", "c", "sessionize")
    branch.replace_rows(CLIENT_CONNECTIONS, rows, **where)
    branch.publish("c", "run", "sessionize", [DAY])
    found = seen_logins(str(tmp_path), QUESTION)
    logins = {
        "scram": WayIn("SCRAM-SHA-512", tls=True),
        "plain": WayIn("PLAIN"),
        "token": WayIn("OAUTHBEARER"),
        "kerberos": WayIn("GSSAPI"),
        "certificate": WayIn(tls=True),
    }
    assert found == {client_key(client(name)): way_in for name, way_in in logins.items()}
    assert seen_logins(str(tmp_path), QUESTION | {"cluster_id": "other"}) == {}


def test_a_program_that_cannot_log_in_runs_without() -> None:
    pinned = {"client_software_name": "unknown", "client_software_version": "", "findings": []}
    wanted = subjects.of_client(
        pinned | {"identified_as": "probably kafka-node 5.0.0"}, "3.9.1", WayIn("PLAIN")
    )
    assert {each.mechanism for ends in wanted.subjects for each in ends} == {""}
