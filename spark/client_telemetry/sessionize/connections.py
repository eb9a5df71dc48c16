"""Connections from the events of the registry: one row per connection and day. Sessions of instances: sessions.py.

tables/client_connections.py has the rules. Events carry counts since the connection opened; a day's share is the
highest count of the day minus the highest before it. Texts are queries of pipeline/queries.py.
"""

import datetime as dt
from collections.abc import Collection, Iterable, Mapping, Sequence

import pyarrow as pa

from client_telemetry.identity.broker_clients import ASKED, CLIENT_IDS, CLIENTS_ONLY, api_keys
from client_telemetry.knowledge import apis, kip511
from client_telemetry.knowledge.error_codes import KafkaError
from client_telemetry.pipeline.queries import Queries, same
from client_telemetry.sessionize.broker_incarnations import INCARNATION, incarnations
from client_telemetry.sessionize.earlier_events import EARLIER, may_have_earlier_events
from client_telemetry.sessionize.instance_links import LINK_COLUMNS, OF_PUSHES, linked
from client_telemetry.sessionize.look_back import first_day, midnight_us
from client_telemetry.tables.client_connections import (
    CLIENT_CONNECTIONS,
    IDLE_LIMIT_MINUTES,
    MANY_CLIENT_IDS,
    MANY_SOFTWARES,
)
from client_telemetry.tables.client_pushes import CLIENT_PUSHES
from client_telemetry.tables.connection_events import CONNECTION_EVENTS
from client_telemetry.tables.row_flags import flags
from client_telemetry.tables.rows import BrokerRow
from client_telemetry.tables.table import Table, listed

_MAX_IDS = 16
_KEYS = (*INCARNATION, "connection_key", "refused_address", "opened_at")
_KEY = ", ".join(_KEYS)
_INCARNATION = ", ".join(INCARNATION)
_TEXTS = ("principal", "client_address", "listener_name", "security_protocol")
"""Empty if the source does not record it."""
_LAST_KNOWN = ("client_id", "client_port", "sasl_mechanism", "api_versions_error")
_IDS = ("group_ids", "transactional_ids", "given_instance_ids", "topics")
_SOFTWARE = "client_software_name, client_software_version"
_SENT = "sent_software_name, sent_software_version"
_COUNTS = "api_uses, api_errors, source_object, sequence"
_OF_EVENTS = (
    *(*INCARNATION, "sequence", "observed_at", "kind", "connection_id", *_TEXTS, *_LAST_KNOWN),
    *("client_software_name", "client_software_version", "sent_software_name", "sent_software_version"),
    *("opened_at", "last_request_at", "api_uses", *_IDS, "connections", "api_errors", "source_object"),
)
READ: Mapping[Table, Sequence[str]] = {CONNECTION_EVENTS: ("dt", *_OF_EVENTS), CLIENT_PUSHES: OF_PUSHES}
"""Columns that the queries need."""
_UUID_OR_NUMBER = "[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}|[0-9]+"
_EVIDENCE = f"kind in ({listed(('opened', 'active', 'closed', 'summary'))})"
"""Kinds of events that are about connections. A failed login never was one to a known client."""


def client_connections(queries: Queries, brokers: Iterable[BrokerRow], day: dt.date, is_first: bool) -> str:
    """The query of the partition `day` of `client_connections`, from rows of `connection_events`, EARLIER, `client_pushes`
    and `brokers`.

    Of brokers, events and pushes, rows of the day and of the HISTORY_DAYS before it are used, by `dt`; others are ignored.
    `is_first`: `connection_events` has no days before it, which would be planned, compiled and scheduled for nothing.
    """
    of = f"{day:%Y%m%d}"
    queries.define(f"keyed_{of}", _keyed(day, is_first))
    _connections(queries, f"connections_{of}", f"keyed_{of}", day)
    queries.rows_of(f"releases_{of}", _releases(brokers, day))
    queries.define(f"day_{of}", _with_surroundings(of, day))
    queries.define(f"slice_{of}", _slice(f"day_{of}", day))
    return linked(queries, f"slice_{of}", day)


def events_left_out(queries: Queries, days: Sequence[dt.date]) -> int:
    """How many events of the days `client_connections`, which was called for each before, leaves out: those of the brokers' own
    connections, and those that are not about a connection.
    """
    of_brokers = " union all ".join(_events_of_brokers(f"keyed_{day:%Y%m%d}") for day in days)
    none = f"select count(*) as events from connection_events where not {_EVIDENCE}"
    found = queries.answers({"left_out": f"{none} union all {of_brokers}"})["left_out"]
    return sum(int(row["events"] or 0) for row in found)


def _releases(brokers: Iterable[BrokerRow], day: dt.date) -> pa.Table:
    """The release of each incarnation, and when the next one of its broker started."""
    found = incarnations(brokers, day)
    columns = {
        "cluster_id": pa.array([each.cluster_id for each in found], pa.string()),
        "broker_id": pa.array([each.broker_id for each in found], pa.int32()),
        "broker_incarnation": pa.array([each.broker_incarnation for each in found], pa.string()),
        "broker_software_version": pa.array([each.broker_software_version for each in found], pa.string()),
        "is_replaced": pa.array([each.replaced_at is not None for each in found], pa.bool_()),
    }
    return pa.table(columns)


def _keyed(day: dt.date, is_first: bool) -> str:
    """Events of the day, and earlier ones of the same connections, with what identifies a connection, and what each
    event says by itself. Most connections of earlier days are over: their events are dropped before anything is
    sorted.
    """
    columns = ", ".join(_OF_EVENTS)
    today = f"dt = date'{day}' and {_EVIDENCE}"
    older = f"select opened_at from connection_events where {today} and {may_have_earlier_events(day)}"
    earlier = f"dt between date'{first_day(day)}' and date'{day - dt.timedelta(days=1)}' and {_EVIDENCE}"
    # Others that opened in the same microsecond come with them, and are dropped later: they have no event of the day.
    parts = [f"select {columns}, true as of_the_day from connection_events where {today}"] + [
        f"select {columns}, false from {before} where {earlier} and opened_at in ({older})"
        for before in ((EARLIER,) if is_first else (EARLIER, "connection_events"))
    ]
    # A refusal that is tied to no connection is identified by its address alone.
    return f"""
select *,
    case when connection_key = '' then coalesce(client_address, '') end as refused_address,
    {_is_called(CLIENT_IDS)} or {_answered(api_keys())} as acts_as_a_broker,
    {_answered(CLIENTS_ONLY)} or ({_is_called(CLIENT_IDS)} and {_asks_more_than_a_broker()}) as acts_as_a_client,
    aggregate(api_uses, cast(0 as bigint), (sum, use) -> sum + coalesce(use.requests, 0) + coalesce(use.rejected, 0))
        as total
from (
    select *,
        case when kind = 'summary' then concat('summary-', cast(sequence as string)) else coalesce(connection_id, '') end
            as connection_key
    from ({" union all ".join(parts)})
)
"""


def _answered(keys: Collection[int], beyond: bool = False) -> str:
    """Whether any of these APIs, or `beyond` these, was answered."""
    which = f"use.api_key {'not ' if beyond else ''}in ({', '.join(str(int(key)) for key in sorted(keys))})"
    return f"coalesce(size(filter(api_uses, use -> {which} and use.requests > 0)), 0) > 0"


def _asks_more_than_a_broker() -> str:
    """Whether a connection with a broker's client id sends what the broker's own client of that id does not."""
    more = " ".join(
        f"when {_is_called(client_ids)} then case when coalesce(security_protocol, '') like 'SASL%' "
        f"then {_answered(keys | apis.SET_UP, beyond=True)} else {_answered(keys, beyond=True)} end"
        for client_ids, keys in ASKED.items()
    )
    return f"case {more} else false end"


def _is_called(client_ids: str) -> str:
    return f"coalesce(client_id, '') rlike {_whole(client_ids)}"


def _whole(pattern: str) -> str:
    """A literal of Spark's SQL, in which backslashes are doubled."""
    doubled = pattern.replace("\\", "\\\\")
    return rf"'\\A(?:{doubled})\\z'"


_HOW_IT_ACTS = {name: f"bool_or({name})" for name in ("acts_as_a_broker", "acts_as_a_client")}
"""Over all events of a connection."""
_OF_A_BROKER = "acts_as_a_broker and not acts_as_a_client"
"""It acts like a broker, unless it acts like a client (identity/broker_clients.py)."""


def _events_of_brokers(keyed: str) -> str:
    how_it_acts = ", ".join(f"{text} as {name}" for name, text in _HOW_IT_ACTS.items())
    return f"""
select sum(events) as events
from (select {how_it_acts}, count_if(of_the_day) as events from {keyed} group by {_KEY})
where {_OF_A_BROKER}
"""


def _connections(queries: Queries, name: str, keyed: str, day: dt.date) -> None:
    """Define the relation of one row per connection with an event of the day: its last known identity, the times and sources of the
    day, and the highest counts of the day and before it.
    """
    aggregates = {**_identity(), **_of_the_day(day), **_counts(), **_HOW_IT_ACTS}
    queries.define_aggregates(f"all_{name}", keyed, _KEYS, aggregates, "sequence")
    queries.define(name, f"select * from all_{name} where events > 0 and not ({_OF_A_BROKER})")


def _last(value: str, condition: str = "") -> str:
    """The value of the last event that has one and meets the condition; null if there is none."""
    value = f"case when {condition} then {value} end" if condition else value
    return f"max_by({value}, case when {value} is not null then sequence end)"


def _identity() -> dict[str, str]:
    """The last known values over all events: an event without a value does not erase it."""
    tells = "coalesce(client_software_name, '') <> ''"
    named = kip511.is_declared("client_software_name")
    refused = f"coalesce(api_versions_error = {KafkaError.INVALID_REQUEST.value}, false)"
    return {
        **{name: _last(name, f"{name} <> ''") for name in _TEXTS},
        # An empty client id is an id: only an absent one means unknown.
        **{name: _last(name) for name in _LAST_KNOWN},
        "named": _last(f"struct({_SOFTWARE})", named),
        "declared": _last(f"struct({_SOFTWARE})", tells),
        "any_software": _last(f"struct({_SOFTWARE})"),
        "named_at_last": _last(named, tells),
        "sent": _last(f"struct({_SENT})", "sent_software_name <> ''"),
        "refused_name": f"bool_or({refused})",
    }


def _today(name: str) -> str:
    return f"case when of_the_day then {name} end"


def _of_the_day(day: dt.date) -> dict[str, str]:
    """Times, sources and ids of the day's events. `opened_at` and `last_request_at` count if they are of the day:
    events report earlier days too.
    """
    times = [_today("observed_at")] + [
        f"case when of_the_day and unix_micros({name}) >= {midnight_us(day)} then {name} end"
        for name in ("opened_at", "last_request_at")
    ]
    return {
        "first_seen_at": f"min(least({', '.join(times)}))",
        "last_seen_at": f"max(greatest({', '.join(times)}))",
        "closed_event_at": "max(case when kind in ('closed', 'summary') then observed_at end)",
        "connections": "max(case when kind = 'summary' then connections else 1 end)",
        "is_summary": "bool_or(kind = 'summary')",
        "opened_today": "bool_or(of_the_day and kind = 'opened')",
        "events": "count_if(of_the_day)",
        "source_objects": f"collect_set({_today('source_object')})",
        "first_sequence": f"min({_today('sequence')})",
        "last_sequence": f"max({_today('sequence')})",
        **{name: f"collect_set({_today(name)})" for name in _IDS},
    }


def _counts() -> dict[str, str]:
    """The highest counts, which are the last ones unless counts went down."""
    fullest = f"max_by(struct({_COUNTS}), case when %s then struct(total, sequence) end)"
    return {
        "fullest": fullest % "of_the_day",
        "fullest_before": fullest % "not of_the_day",
        "most": f"max({_today('total')})",
        "most_at_last": _last("total", "of_the_day"),
        "most_before": "max(case when not of_the_day then total end)",
    }


def _with_surroundings(of: str, day: dt.date) -> str:
    """The connections of the day, with what others of the same broker and address say."""
    # When the next connection came from the same address and port, this one had ended. Refusals and sources without ports say
    # nothing of that: each stays alone.
    alone = "case when client_port is null or connection_key = '' then opened_at end"
    return f"""
select /*+ broadcast(release), broadcast(reported) */ connection.*, broker_software_version,
    coalesce(is_replaced, false) as is_replaced, reported_until, coalesce(crowded, false) as crowded,
    min(connection.opened_at) over (
        partition by {", ".join(f"connection.{name}" for name in INCARNATION)},
            listener_name, connection.client_address, client_port, {alone}
        order by unix_micros(opened_at) range between 1 following and unbounded following
    ) is not null as is_port_reused
from connections_{of} as connection
left join releases_{of} as release on {same(INCARNATION, "connection", "release")}
left join ({_reported_until(day)}) as reported on {same(INCARNATION, "connection", "reported")}
left join ({_crowded_addresses(day)}) as crowded_one
    on {same(("cluster_id", "client_address"), "connection", "crowded_one")}
"""


def _reported_until(day: dt.date) -> str:
    """One row per incarnation: until when it reported connections on the day."""
    return f"""
select {_INCARNATION}, max(observed_at) as reported_until
from connection_events where dt = date'{day}' and {_EVIDENCE} group by {_INCARNATION}
"""


def _crowded_addresses(day: dt.date) -> str:
    """Addresses with more clients than one host is expected to have. Client ids that differ only in a number or UUID
    are threads of one application: a host of Kafka Streams has dozens.
    """
    return f"""
select cluster_id, client_address, true as crowded
from (
    select distinct cluster_id, client_address, regexp_replace(client_id, '{_UUID_OR_NUMBER}', '#') as client_id,
        case when {kip511.is_declared("client_software_name")} then struct({_SOFTWARE}) end as software
    from connection_events
    where dt = date'{day}' and {_EVIDENCE} and coalesce(client_address, '') <> ''
)
group by cluster_id, client_address
having count(distinct client_id) > {MANY_CLIENT_IDS} or count(distinct software) > {MANY_SOFTWARES}
"""


def _slice(connections: str, day: dt.date) -> str:
    silent_us = "(unix_micros(reported_until) - unix_micros(last_seen_at))"
    columns = {
        "dt": f"date'{day}'",
        "closed_at": "coalesce(closed_event_at, case when end_known_by <> 'still_open' then last_seen_at end)",
        "connection_id": "connection_key",
        **{name: f"coalesce({name}, '')" for name in _TEXTS},
        "client_software_name": "software.client_software_name",
        "client_software_version": "software.client_software_version",
        "sent_software_name": "sent_name",
        "sent_software_version": "sent_version",
        "api_uses": _uses_of_the_day(),
        "api_errors": _errors_of_the_day(),
        "uses_object": "fullest.source_object",
        "uses_sequence": "fullest.sequence",
        "source_objects": "array_sort(source_objects)",
        **{name: _smallest(name) for name in _IDS},
        "flags": flags(CLIENT_CONNECTIONS, _flags(day)),
    }
    selected = ",\n    ".join(
        f"{columns.get(column.name, column.name)} as {column.name}"
        for column in CLIENT_CONNECTIONS.columns
        if column.name not in LINK_COLUMNS
    )
    return f"""
select {selected}
from (
    select *, coalesce(named, declared, any_software) as software,
        coalesce(sent.sent_software_name, '') as sent_name, coalesce(sent.sent_software_version, '') as sent_version,
        coalesce(fullest_before.api_uses, array()) as uses_before,
        coalesce(fullest_before.api_errors, array()) as errors_before,
        case
            when closed_event_at is not null then 'closed_event'
            when is_port_reused then 'port_reused'
            when is_replaced then 'broker_restart'
            when {silent_us} > {IDLE_LIMIT_MINUTES * 60_000_000} then 'idle_limit'
            else 'still_open'
        end as end_known_by
    from {connections}
)
"""


def _flags(day: dt.date) -> dict[str, str]:
    set_up = ", ".join(str(int(key)) for key in sorted(apis.SET_UP))
    used_beyond_naming = (
        f"size(filter(fullest.api_uses, use -> use.api_key not in ({set_up}) and use.requests > 0)) > 0"
    )
    return {
        "no_connection": "connection_key = ''",
        "summary": "is_summary",
        "name_invalid": f"{_is_invalid('sent_name')} or {_is_invalid('sent_version')}",
        "name_refused": "refused_name",
        "crowded_address": "crowded",
        "name_reset": "named is not null and not named_at_last",
        "never_named": f"software.client_software_name = '{kip511.UNKNOWN}' and {used_beyond_naming}",
        "counts_reset": "most_at_last < most or coalesce(most < most_before, false)",
        "counts_from_before": (
            f"fullest_before is null and not opened_today and unix_micros(opened_at) < {midnight_us(day)}"
        ),
    }


def _is_invalid(sent: str) -> str:
    """Sent, but invalid according to KIP-511."""
    return f"({sent} <> '' and not {sent} rlike {_whole(kip511.PATTERN)})"


def _smallest(arrays: str) -> str:
    return f"slice(array_sort(array_distinct(flatten({arrays}))), 1, {_MAX_IDS})"


def _increase(name: str, of: str, before: str) -> str:
    """The count of the day minus that before it, in the same pair."""
    earlier = f"coalesce(array_max(transform({before}, earlier -> earlier.{name})), 0)"
    return f"cast(greatest(coalesce({of}.{name}, 0) - {earlier}, 0) as bigint) as {name}"


def _uses_of_the_day() -> str:
    """The day's highest counts minus those before it, without APIs that the day did not use."""
    before = "filter(uses_before, before -> before.api_key = use.api_key and before.version = use.version)"
    of_the_day = f"""struct(
            use.api_key as api_key, use.version as version,
            {_increase("requests", "use", before)}, {_increase("rejected", "use", before)},
            case when size({before}) = 0 then use.first_request_at end as first_request_at,
            use.last_request_at as last_request_at)"""
    used = f"filter(transform(fullest.api_uses, use -> {of_the_day}), use -> use.requests + use.rejected > 0)"
    return f"array_sort({used})"


def _errors_of_the_day() -> str:
    """As `_uses_of_the_day`; null if the source has none."""
    before = (
        "filter(errors_before, before -> before.api_key = error.api_key and before.version = error.version "
        "and before.error_code = error.error_code)"
    )
    of_the_day = f"""struct(
            error.api_key as api_key, error.version as version, error.error_code as error_code,
            {_increase("requests", "error", before)})"""
    return f"array_sort(filter(transform(fullest.api_errors, error -> {of_the_day}), error -> error.requests > 0))"
