"""Who read what: rows of Airflow's own audit log (Browse, Audit Log; table `log`), which also has who started which run with which
parameters. `airflow db clean --tables log` ends their retention (docs/airflow.md)."""

import json
from typing import Any

from airflow.models.log import Log
from airflow.utils.session import create_session
from fastapi import Request

READ, REFUSED = "client_telemetry.read", "client_telemetry.refused"
"""Events of the log."""


def record(user: Any, request: Request, dag_id: str, *, is_refused: bool) -> None:
    """One row; `extra` has the page and its query, as JSON. Raises what the database raises: no page without its row."""
    page = request.url.path.removeprefix(request.scope.get("root_path", ""))
    extra = json.dumps({"page": page, "query": request.url.query})
    name = user.get_name()
    event = REFUSED if is_refused else READ
    with create_session() as session:
        session.add(Log(event=event, dag_id=dag_id, owner=name, owner_display_name=name, extra=extra))
