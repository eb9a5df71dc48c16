"""From a day's connections and sessions to clients: who is out there, what they use, who owns them.

tables/clients.py has the rules; client_identity.py reads a client's strings and requests, related_clients.py relates it
to others. Texts are queries of pipeline/queries.py.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import cast

import pyarrow as pa
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StructType

from client_telemetry import knowledge
from client_telemetry.identity.application_rows import READ as OF_AN_APPLICATION
from client_telemetry.identity.application_rows import Row, application_columns
from client_telemetry.identity.owners import OwnerRule
from client_telemetry.knowledge import kip511
from client_telemetry.pipeline.queries import Queries, same
from client_telemetry.profile.client_identity import OF_RELATIVES, WITH_IDENTITY, fields, identifier
from client_telemetry.profile.related_clients import ProfiledClient, related
from client_telemetry.tables.client_connections import CLIENT_CONNECTIONS
from client_telemetry.tables.client_sessions import CLIENT_SESSIONS
from client_telemetry.tables.clients import CLIENT_KEY, CLIENTS, SHORT_LIFE_SECONDS
from client_telemetry.tables.row_flags import flags
from client_telemetry.tables.table import LONG, Table

_KEY = ("cluster_id", "dt", *CLIENT_KEY)
KEY = ", ".join(_KEY)
READ: Mapping[Table, Sequence[str]] = {
    CLIENT_CONNECTIONS: (
        *(*_KEY, "flags", "connections", "client_address", "listener_name", "security_protocol"),
        *("group_ids", "transactional_ids", "topics", "broker_software_version", "first_seen_at"),
        *("last_seen_at", "opened_at", "end_known_by", "api_uses"),
    ),
    CLIENT_SESSIONS: (
        *(*_KEY, "client_instance_id", "client_addresses", "first_evidence_at", "last_evidence_at"),
        *("started_at", "end_reason"),
    ),
}
"""Columns that the queries need."""
_MAX_IDS = 64
_ADDRESS_SAMPLE = 5


def _seconds(name: str) -> str:
    """Whole seconds: the median is then over at most a day's worth of distinct values, however many connections there are."""
    return f"floor(unix_micros({name}) / 1000000)"


_NO_TEXT, _NO_TEXTS = "cast(null as string)", "cast(array() as array<string>)"
_EVIDENCE = f"""
select {KEY},
    cast(null as binary) as instance,
    not array_contains(flags, 'no_connection') as is_connection,
    coalesce(connections, 1) as stands_for,
    array_contains(flags, 'summary') as is_summary,
    array(client_address) as client_addresses,
    listener_name, security_protocol, group_ids, transactional_ids, topics, broker_software_version,
    first_seen_at as first_at,
    last_seen_at as last_at,
    cast({_seconds("last_seen_at")} - {_seconds("opened_at")} as double) as duration_seconds,
    end_known_by = 'closed_event' as ended,
    array_contains(flags, 'name_refused') as name_refused,
    array_contains(flags, 'crowded_address') as crowded_address
from client_connections
union all
select {KEY}, client_instance_id, cast(null as boolean), cast(1 as bigint), false, client_addresses,
    {_NO_TEXT}, {_NO_TEXT}, {_NO_TEXTS}, {_NO_TEXTS}, {_NO_TEXTS}, {_NO_TEXT},
    first_evidence_at, last_evidence_at,
    cast({_seconds("last_evidence_at")} - {_seconds("coalesce(started_at, first_evidence_at)")} as double),
    end_reason <> 'still_open', false, false
from client_sessions
"""
"""Connections, and sessions as if they were connections; what a session does not have is null or empty."""


def _number_of(which: str, alias: str) -> str:
    """Number of sessions or connections; a summary stands for several."""
    return f"cast(coalesce(sum(case when {which} then stands_for end), 0) as bigint) as {alias}"


def _durations(which: str, what: str) -> str:
    """How many of them were short, and their median duration. The durations of the single connections of a summary are unknown."""
    soon = f"(ended and (is_summary or duration_seconds < {SHORT_LIFE_SECONDS}))"
    known = f"case when {which} and not is_summary then duration_seconds end"
    return f"{_number_of(f'{which} and {soon}', f'short_lived_{what}s')}, median({known}) as median_{what}_seconds"


def _distinct(name: str, alias: str) -> str:
    return f"array_sort(collect_set(case when {name} <> '' then {name} end)) as {alias}"


def _distinct_of_arrays(name: str) -> str:
    values = f"array_distinct(flatten(collect_set({name})))"
    return f"array_sort(filter({values}, value -> value <> '')) as {name}"


# A session is one instance and day, so none occurs twice.
_CLIENTS = f"""
select {KEY},
    count(instance) as instances, {_durations("instance is not null", "instance")},
    {_number_of("is_connection", "connections")}, {_durations("is_connection", "connection")},
    count_if(not is_connection) as refusals,
    {_distinct_of_arrays("client_addresses")},
    {_distinct("listener_name", "listeners")},
    {_distinct("security_protocol", "security_protocols")},
    {_distinct_of_arrays("group_ids")},
    {_distinct_of_arrays("transactional_ids")},
    {_distinct_of_arrays("topics")},
    {_distinct("broker_software_version", "broker_software_versions")},
    min(first_at) as first_seen_at,
    max(last_at) as last_seen_at,
    bool_or(name_refused) as name_refused,
    bool_or(crowded_address) as crowded_address
from ({_EVIDENCE})
group by {KEY}
"""


# First only numbers: a set among the values would make Spark sort a row for each connection and pair.
_USES = f"""
select {KEY},
    array_sort(collect_list(struct(api_key, version, requests, rejected, first_request_at, last_request_at))) as api_uses,
    collect_list(case when requests > 0 then struct(api_key, version, releases) end) as answered
from (
    select {KEY}, api_key, version, cast(sum(asked) as bigint) as requests, cast(sum(refused) as bigint) as rejected,
        min(first_at) as first_request_at, max(last_at) as last_request_at,
        array_sort(collect_set(case when asked > 0 then broker_software_version end)) as releases
    from (
        select {KEY}, each.api_key as api_key, each.version as version, broker_software_version,
            sum(each.requests) as asked, sum(each.rejected) as refused,
            min(each.first_request_at) as first_at, max(each.last_request_at) as last_at
        from (select {KEY}, broker_software_version, explode(api_uses) as each from client_connections)
        group by {KEY}, each.api_key, each.version, broker_software_version
    )
    group by {KEY}, api_key, version
)
group by {KEY}
"""
"""`api_uses`, and `answered`: the pairs that a broker answered, with the releases of those brokers."""

_KNOWN = f"""
select client.*, coalesce(used.api_uses, array()) as api_uses, coalesce(used.answered, array()) as answered
from clients_seen as client
left join uses as used on {same(_KEY, "client", "used", "<=>")}
"""


_ADDED = to_arrow_schema(StructType(fields(*OF_RELATIVES, softwares=LONG)))
WITH_APPLICATIONS = pa.schema([*WITH_IDENTITY, *_ADDED])
_RELATED = tuple(ProfiledClient.__annotations__)


def applications_of(cluster_name: str) -> Callable[[pa.Table], pa.Table]:
    """Adds to all clients of a principal and day: the columns of WITH_APPLICATIONS that client_identity.py does not know."""
    own = knowledge.in_use()

    def add(table: pa.Table) -> pa.Table:
        knowledge.use(own)
        softwares, relations = related(cast("list[ProfiledClient]", table.select(_RELATED).to_pylist()))
        columns: dict[str, Sequence[object]] = {
            "softwares": softwares,
            "related": relations,
            "cluster_name": [cluster_name] * len(table),
        }
        read = (
            table.column(name).to_pylist() if name != "related" else relations for name in OF_AN_APPLICATION
        )
        rows = (
            cast("Row", dict(zip(OF_AN_APPLICATION, row, strict=True))) for row in zip(*read, strict=True)
        )
        columns |= application_columns(rows)
        for field in _ADDED:
            table = table.append_column(field, pa.array(columns[field.name], field.type))
        return table.select(WITH_APPLICATIONS.names).cast(WITH_APPLICATIONS)

    return add


def clients(queries: Queries, owner_rules: tuple[OwnerRule, ...], cluster_name: str) -> str:
    """The query of rows of `clients`, of the days of `client_connections` and `client_sessions`."""
    queries.define("clients_seen", _CLIENTS)
    queries.define("uses", _USES)
    queries.work("identified", _KNOWN, identifier(owner_rules), WITH_IDENTITY)
    queries.work_groups(
        "profiled",
        "select * from identified",
        ("cluster_id", "dt", "principal"),
        applications_of(cluster_name),
        WITH_APPLICATIONS,
    )
    return _PARTITION


_NAMED = kip511.is_declared("client_software_name")
_COMPUTED = {
    "addresses": "size(client_addresses)",
    "address_sample": f"slice(client_addresses, 1, {_ADDRESS_SAMPLE})",
    **{name: f"slice({name}, 1, {_MAX_IDS})" for name in ("group_ids", "transactional_ids", "topics")},
    "flags": flags(
        CLIENTS,
        {
            "name_refused": "name_refused",
            "crowded_address": "crowded_address",
            "software_unknown": f"not {_NAMED}",
            "shared_client_id": "client_id is not null and softwares > 1",
            "one_application": "size(filter(related, other -> other.relation = 'one_application')) > 0",
            "doubtful_application": "size(filter(related, other -> other.relation = 'doubtful')) > 0",
            "no_client_id": "client_id is null",
            "unidentified": f"client_id is null and coalesce(principal, '') = '' and not {_NAMED}",
        },
    ),
}
_PARTITION = f"""
select {", ".join(f"{_COMPUTED[c.name]} as {c.name}" if c.name in _COMPUTED else c.name for c in CLIENTS.columns)}
from profiled
"""
