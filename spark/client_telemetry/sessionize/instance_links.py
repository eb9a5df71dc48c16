"""Which client instance (KIP-714) a connection belongs to, how sure that is, and by which rule.

tables/client_connections.py has the rules (LINK_RULES). A push names the connection that it came on; a client's other
connections are recognised by identity, address and time. Texts are queries of pipeline/queries.py.
"""

import datetime as dt

from client_telemetry.pipeline.queries import Queries, same
from client_telemetry.sessionize.broker_incarnations import INCARNATION
from client_telemetry.sessionize.look_back import midnight_us
from client_telemetry.tables.client_connections import CLIENT_CONNECTIONS, LINK_RULES, MOST_INSTANCES
from client_telemetry.tables.client_sessions import LARGEST_PUSH_INTERVAL_MS
from client_telemetry.tables.clients import CLIENT_KEY
from client_telemetry.tables.table import listed

LINK_COLUMNS = ("client_instance_id", "link", "link_rule", "link_candidates")

_CLIENTS = ("cluster_id", *CLIENT_KEY, "client_address")
_CLIENT = ", ".join(_CLIENTS)
OF_PUSHES = (
    *(
        "dt",
        *INCARNATION,
        *CLIENT_KEY,
        "client_address",
        "client_port",
        "connection_id",
        "client_instance_id",
    ),
    *("received_at", "push_interval_ms", "flags"),
)
"""Columns of `client_pushes` that the queries need."""
_LONGEST_INTERVAL_US = 3_600_000_000
"""Largest push interval that a subscription can request (Kafka's ClientMetricsConfigs)."""
_CLOSE_US = 1_000_000
"""How much earlier than the last push a close may be dated."""
_SET_UP_US = 5_000_000
"""Allowed time from a client's first connection to its request for a subscription, and between its last push and its
last connection.
"""


def linked(queries: Queries, connections: str, day: dt.date) -> str:
    """The query of the relation `connections` of `day` with LINK_COLUMNS, in the order of the table. Of the relation `client_pushes`
    those of the day and of the hour before it are used."""
    carried = f"carried_{day:%Y%m%d}"
    queries.define(carried, _carried(day))
    columns = {column.name: column.name for column in CLIENT_CONNECTIONS.columns} | _LINK
    return f"""
select {", ".join(f"{text} as {name}" for name, text in columns.items())}
from (
    select *, {_LINK_OF_RULE} as linked, {_CANDIDATES} as candidates
    from (
        select *, {_RULE} as rule
        from (
            select *, {_ids("instances_then")} as at_the_time, {_ids(_filtered("instances_then", _THAT_LONG))} as that_long
            from ({_compared(connections, carried)})
        )
    )
)
"""


def _filtered(instances: str, condition: str) -> str:
    return f"filter({instances}, one -> {condition})"


def _ids(instances: str) -> str:
    return f"array_sort(array_distinct(transform({instances}, one -> one.client_instance_id)))"


def _carried(day: dt.date) -> str:
    """Which instance pushed on which connection (or from which port, if the source has no connection ids), from when to
    when, and how often it was asked to.
    """
    keys = (
        *(*INCARNATION, *CLIENT_KEY, "client_address"),
        *("client_port", "connection_id", "client_instance_id"),
    )
    stored = [name for name in keys if name not in ("client_port", "connection_id")]
    return f"""
select {", ".join(keys)}, min(received_at) as first_at, max(received_at) as last_at, count(*) as pushes,
    max(push_interval_ms) as reported_ms
from (
    select {", ".join(stored)}, received_at, push_interval_ms, coalesce(connection_id, '') as connection_id,
        case when coalesce(connection_id, '') = '' then client_port end as client_port
    from client_pushes
    where dt between date'{day - dt.timedelta(days=1)}' and date'{day}'
        and unix_micros(received_at) >= {midnight_us(day) - _LONGEST_INTERVAL_US}
        and client_instance_id is not null and not array_contains(flags, 'zero_instance_id')
)
group by {", ".join(keys)}
"""


def _compared(connections: str, carried: str) -> str:
    """The connections with the instances that pushed on them or from their port while they were open, and those of their client
    that were there at the time."""
    columns = [column.name for column in CLIENT_CONNECTIONS.columns if column.name not in LINK_COLUMNS]
    incarnation = ", ".join(INCARNATION)
    push = "collect_list(struct(client_instance_id, first_at, last_at))"

    return f"""
select {", ".join(f"connection.{name}" for name in columns)}, number,
    {_ids(_filtered("pushed_on_it", _WHILE_OPEN))} as on_connection,
    case when connection.connection_id <> '' then {_ids(_filtered("pushed_there", _WHILE_OPEN))} end as from_port,
    {_filtered("instances", _AT_THE_TIME)} as instances_then
from {connections} as connection
left join (
    select {incarnation}, connection_id, {push} as pushed_on_it
    from {carried} where connection_id <> '' group by {incarnation}, connection_id
) as on_it on {same((*INCARNATION, "connection_id"), "connection", "on_it")}
left join (
    select {incarnation}, client_address, client_port, {push} as pushed_there
    from {carried} where connection_id = '' and client_port is not null group by {incarnation}, client_address, client_port
) as there on {same((*INCARNATION, "client_address", "client_port"), "connection", "there")}
left join ({_instances(carried)}) as client on {same(_CLIENTS, "connection", "client", "<=>")}
"""


def _instances(carried: str) -> str:
    """Per client and address: `number` of instances, and for at most MOST_INSTANCES the time when each was present. A client
    waits 0.5 to 1.5 intervals before its first push."""
    distance_us = "(unix_micros(max(last_at)) - unix_micros(min(first_at))) / nullif(sum(pushes) - 1, 0)"
    interval_us = f"coalesce(max(reported_ms) * 1000.0D, {distance_us}, cast({LARGEST_PUSH_INTERVAL_MS * 1000} as double))"
    instance = "struct(client_instance_id, first_at, last_at, before_us)"
    return f"""
select {_CLIENT}, count(*) as number,
    case when count(*) <= {MOST_INSTANCES} then collect_list({instance}) end as instances
from (
    select {_CLIENT}, client_instance_id, min(first_at) as first_at, max(last_at) as last_at,
        cast(floor({interval_us} * 1.5D + {_SET_UP_US}) as bigint) as before_us
    from {carried}
    group by {_CLIENT}, client_instance_id
)
group by {_CLIENT}
"""


_CLOSED_US = "case when end_known_by = 'closed_event' then unix_micros(closed_at) end"
_WHILE_OPEN = (
    f"unix_micros(one.last_at) >= unix_micros(opened_at) - {_CLOSE_US} "
    f"and coalesce(unix_micros(one.first_at) <= {_CLOSED_US} + {_CLOSE_US}, true)"
)
_AT_THE_TIME = (
    f"unix_micros(last_seen_at) >= unix_micros(one.first_at) - one.before_us "
    f"and unix_micros(opened_at) <= unix_micros(one.last_at) + {_SET_UP_US}"
)
"""The connection opened before the instance's last push, and was there when the instance may have been."""
_THAT_LONG = (
    "unix_micros(opened_at) >= unix_micros(one.first_at) - one.before_us "
    "and unix_micros(last_seen_at) <= unix_micros(one.last_at) + one.before_us"
)
"""The instance existed as long as the connection, as far as its pushes show."""

_RULE = f"""case
    when size(on_connection) = 1 then 'push_on_connection'
    when size(on_connection) > 1 then 'several_on_connection'
    when size(from_port) = 1 then 'push_from_port'
    when size(from_port) > 1 then 'several_on_connection'
    when array_contains(flags, 'summary') then 'summary'
    when client_id is null and coalesce(principal, '') = '' then 'unknown_client'
    when number is null then 'no_instance'
    when number > {MOST_INSTANCES} then 'too_many_instances'
    when size(at_the_time) = 0 then 'no_instance_at_the_time'
    when size(at_the_time) = 1 then 'only_instance_at_the_time'
    when size(that_long) = 1 then 'only_instance_that_long'
    else 'several_at_the_time'
end"""
"""The first rule that applies. Comparisons with null are not true: a missing list decides nothing."""
_WHEN = " ".join(f"when '{rule}' then '{link}'" for rule, (link, _) in LINK_RULES.items())
_LINK_OF_RULE = f"case rule {_WHEN} end"
_CANDIDATES = f"""case
    when rule = 'push_on_connection' then on_connection
    when rule = 'push_from_port' then from_port
    when rule = 'several_on_connection' then case when size(on_connection) > 1 then on_connection else from_port end
    when rule = 'only_instance_that_long' then that_long
    when rule in ({listed(("only_instance_at_the_time", "several_at_the_time"))}) then at_the_time
end"""
"""The instances that the rule leaves; null if they were not examined individually, or there are none."""
_LINK = {
    "client_instance_id": "case when linked in ('exact', 'likely') then array_min(candidates) end",
    "link": "linked",
    "link_rule": "rule",
    "link_candidates": (
        "cast(coalesce(case when rule = 'too_many_instances' then number end, size(candidates), 0) as bigint)"
    ),
}
