"""Credentials of the object store and of the catalog from Airflow connections, for those who keep them there.

Belongs here: which field of a connection is which environment variable. What reads the variables are Amazon's tools,
PostgreSQL's library and pyiceberg, in Airflow's processes and in the jobs that they start.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager

from airflow.sdk import BaseHook, Connection
from airflow.sdk.exceptions import AirflowFailException, AirflowNotFoundException

STORE = "client_telemetry_store"
"""Id of the connection with the object store's keys, in the fields of an `aws` connection."""

CATALOG = "client_telemetry_catalog"
"""Id of the connection with the password of the catalog's database, or with its OAuth client or token."""

_CATALOG_TYPE = "PYICEBERG_CATALOG__LAKE__TYPE"

_EXTRAS_OF_STORE = {
    "aws_session_token": "AWS_SESSION_TOKEN",
    "region_name": "AWS_REGION",
    "endpoint_url": "AWS_ENDPOINT_URL",
}
_EXTRA_KEYS = {"aws_access_key_id": "AWS_ACCESS_KEY_ID", "aws_secret_access_key": "AWS_SECRET_ACCESS_KEY"}


class UnusableConnection(AirflowFailException):
    """A connection has what stages cannot use; another attempt would end the same way."""


def from_connections() -> dict[str, str]:
    """Environment variables, from the connections that exist. Raises UnusableConnection."""
    store, catalog = _connection(STORE), _connection(CATALOG)
    return (_of_store(store) if store else {}) | (_of_catalog(catalog) if catalog else {})


@contextmanager
def in_environment() -> Iterator[None]:
    """Puts them into the environment of this process, which jobs inherit, in place of what was there."""
    variables = from_connections()
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def _connection(conn_id: str) -> Connection | None:
    try:
        return BaseHook.get_connection(conn_id)
    except AirflowNotFoundException:
        return None


def _of_store(connection: Connection) -> dict[str, str]:
    known = _EXTRAS_OF_STORE | _EXTRA_KEYS
    extras = connection.extra_dejson
    unknown = sorted(name for name, value in extras.items() if value and name not in known)
    if unknown:
        raise UnusableConnection(
            f"The connection {STORE!r} has {unknown[0]!r}, which stages cannot use. Give it a login (access key id) and a password "
            f"(secret access key), and as extra only {', '.join(_EXTRAS_OF_STORE)}; or delete it, and set up a role or profile in the "
            "environment of Airflow's workers."
        )
    of_extras = {variable: extras.get(name) for name, variable in known.items()}
    own = {"AWS_ACCESS_KEY_ID": connection.login, "AWS_SECRET_ACCESS_KEY": connection.password}
    return {name: str(value) for source in (of_extras, own) for name, value in source.items() if value}


def _of_catalog(connection: Connection) -> dict[str, str]:
    if not connection.password:
        raise UnusableConnection(
            f"The connection {CATALOG!r} has no password. Set one, or delete the connection."
        )
    # `airflow connections add` makes a `generic` one of a type whose provider is not installed.
    if connection.conn_type == "postgres" or os.environ.get(_CATALOG_TYPE) == "sql":
        return {"PGPASSWORD": connection.password}
    if connection.login:
        return {"PYICEBERG_CATALOG__LAKE__CREDENTIAL": f"{connection.login}:{connection.password}"}
    return {"PYICEBERG_CATALOG__LAKE__TOKEN": connection.password}
