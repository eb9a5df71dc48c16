"""What the fleet page needs of a day in addition to the tables' own rows: which standard metrics each client instance
delivered, and for each client its addresses and the sessions that ended before a push. reports/fleet/ explains them.

Each text is a query of pipeline/queries.py; `define_instances` names those that others build on.
"""

from collections.abc import Collection, Mapping, Sequence

from client_telemetry.knowledge.api_key import ApiKey
from client_telemetry.pipeline.queries import Queries
from client_telemetry.tables.client_connections import CLIENT_CONNECTIONS
from client_telemetry.tables.client_metric_histograms import CLIENT_METRIC_HISTOGRAMS
from client_telemetry.tables.client_metrics import CLIENT_METRICS
from client_telemetry.tables.client_pushes import CLIENT_PUSHES
from client_telemetry.tables.client_sessions import CLIENT_SESSIONS
from client_telemetry.tables.clients import CLIENT_KEY
from client_telemetry.tables.table import Table, listed

LABELS = {"racks": "client_rack", "group_ids": "group_id", "transactional_ids": "transactional_id"}
"""What people search for an instance by -> the resource attribute of its pushes that has it (KIP-714)."""

PREFIX = "org.apache.kafka."
SHARE_CONSUMER = "org.apache.kafka.consumer.share."
"""Groups consumer-share-metrics and those like it (CONSUMER_SHARE_METRIC_GROUP_PREFIX in ConsumerUtils)."""
KAFKAS_FAMILIES = ("producer", "consumer", "admin", "app", "kafka", "stream")
"""Words after `org.apache.kafka.` of the groups that Kafka's own clients register, Streams among them (KIP-1076). An
application's metrics (registerMetricForSubscription) have the name of their own group there."""
STREAMS = "org.apache.kafka.stream."
NOTHING_PUSHED = ("no_instance", "no_instance_at_the_time")
"""Rules of client_connections.link_rule: the client is known, but no instance of it pushed at that time."""

READ: Mapping[Table, Sequence[str]] = {
    CLIENT_SESSIONS: (
        *("client_instance_id", *CLIENT_KEY, "client_addresses", "broker_ids"),
        *("pushes", "first_evidence_at", "last_evidence_at", "end_reason"),
    ),
    CLIENT_METRICS: ("client_instance_id", "metric", "attributes"),
    CLIENT_METRIC_HISTOGRAMS: ("client_instance_id", "metric"),
    CLIENT_PUSHES: ("client_instance_id", *CLIENT_KEY, "resources", "error_code", "received_at"),
    CLIENT_CONNECTIONS: (
        *(*CLIENT_KEY, "client_address", "broker_id", "first_seen_at", "last_seen_at"),
        *("given_instance_ids", "api_uses", "link_rule"),
    ),
}
"""Columns that the queries need."""

KEY = ", ".join(CLIENT_KEY)


_FAMILY = "split_part(metric, '.', 4)"
METRICS = """
select client_instance_id, metric from client_metrics where client_instance_id is not null
union all
select client_instance_id, metric from client_metric_histograms where client_instance_id is not null
"""
"""The metrics that instances pushed."""


def delivered_metrics(standard: Collection[str]) -> str:
    """One row per client instance: `metrics`, those of `standard` that it delivered, and `metric_families`, the word after
    `org.apache.kafka.` of any metric (`share_consumer` for what only share consumers have, KIP-932)."""
    return f"""
select client_instance_id,
    collect_set(case when metric in ({listed(standard)}) then metric end) as metrics,
    collect_set(case when startswith(metric, '{SHARE_CONSUMER}') then 'share_consumer' else {_FAMILY} end) as metric_families
from metrics
where startswith(metric, '{PREFIX}')
group by client_instance_id
"""


def alike(is_each_its_own: bool) -> str:
    """Instances with their metrics, one row for those of a client that delivered the same: input of
    metrics_of_libraries. `is_each_its_own`: instances that differ in id and addresses stay separate."""
    who = ("client_instance_id", "client_addresses")
    same = (*CLIENT_KEY, *(who if is_each_its_own else ()), "metrics", "metric_families")
    columns = [*same, "count(*) as number"]
    if not is_each_its_own:
        columns += [f"min({name}) as {name}" for name in who]
    delivered = ", ".join(
        f"array_sort(coalesce({name}, cast(array() as array<string>))) as {name}"
        for name in ("metrics", "metric_families")
    )
    return f"""
select {", ".join(columns)}
from (
    select session.*, {delivered}
    from client_sessions as session
    left join delivered_metrics as delivered on delivered.client_instance_id = session.client_instance_id
)
group by {", ".join(same)}
"""


WITH_APPLICATION_METRICS = f"""
select {KEY}, application_metrics
from client_sessions as session
join (
    select client_instance_id as pushed_by, array_sort(collect_set(metric)) as application_metrics
    from metrics
    where not (startswith(metric, '{PREFIX}') and {_FAMILY} in ({listed(KAFKAS_FAMILIES)}))
    group by client_instance_id
) as own on own.pushed_by = session.client_instance_id
"""
"""Sessions of instances that pushed metrics of their application (KIP-1076): `application_metrics`, their names."""

OF_STREAMS = f"""
select client_id, application_ids, process_ids
from client_sessions as session
join (
    select client_instance_id as pushed_by,
        array_sort(collect_set(attributes['application_id'])) as application_ids,
        array_sort(collect_set(attributes['process_id'])) as process_ids
    from client_metrics
    where client_instance_id is not null and startswith(metric, '{STREAMS}')
    group by client_instance_id
) as streams on streams.pushed_by = session.client_instance_id
"""
"""Sessions of instances that pushed metrics of Kafka Streams: labels of these metrics (KIP-1091)."""

OF_CLIENTS = f"""
select {KEY},
    collect_set(client_address) as addresses,
    count_if(
        size(filter(api_uses, use -> use.api_key = {int(ApiKey.GET_TELEMETRY_SUBSCRIPTIONS)} and use.requests > 0)) > 0
        and link_rule in ({listed(NOTHING_PUSHED)})
    ) as asked_without_push
from client_connections
group by {KEY}
"""
"""One row per client: `addresses`; `asked_without_push`, connections on which it was given a subscription but no instance
pushed."""

GIVEN_INSTANCES = f"""
select client_instance_id, {", ".join(f"who.{name} as {name}" for name in CLIENT_KEY)},
    client_addresses, broker_ids, first_evidence_at, last_evidence_at
from (
    select given as client_instance_id,
        min_by(struct({KEY}), struct(first_seen_at, {", ".join(f"coalesce({name}, '')" for name in CLIENT_KEY)})) as who,
        array_sort(collect_set(client_address)) as client_addresses,
        array_sort(collect_set(broker_id)) as broker_ids,
        min(first_seen_at) as first_evidence_at,
        max(last_seen_at) as last_evidence_at
    from (select *, explode(given_instance_ids) as given from client_connections)
    group by given
)
"""
"""One row per client instance id that brokers assigned in answers to GetTelemetrySubscriptions; only request logs have the
answers."""

NEVER_PUSHED = f"""
select * from ({GIVEN_INSTANCES}) as assigned
left anti join client_sessions as session on session.client_instance_id = assigned.client_instance_id
"""
"""Those of them that did not push."""

RESOURCE_LABELS = f"""
select client_instance_id, {", ".join(f"array_sort(collect_set(resource['{label}'])) as {name}" for name, label in LABELS.items())}
from (
    select client_instance_id, explode(resources) as resource from client_pushes where client_instance_id is not null
)
where {" or ".join(f"resource['{label}'] is not null" for label in LABELS.values())}
group by client_instance_id
"""
"""One row per client instance that has any: the values of LABELS in its pushes, sorted."""

REFUSED_PUSHES = f"""
select {KEY}, error_code,
    count(*) as pushes,
    count(distinct client_instance_id) as instances,
    min(received_at) as first_at,
    max(received_at) as last_at
from client_pushes
where error_code <> 0
group by {KEY}, error_code
"""
"""One row per client and error code: pushes answered with it, instances, first and last; error codes are present if the source
has them."""


def define_instances(queries: Queries, standard: Collection[str]) -> None:
    """`metrics`, `delivered_metrics`, `of_clients`, `never_pushed` and `resource_labels`. `standard`: see delivered_metrics."""
    queries.define("metrics", METRICS)
    queries.define("delivered_metrics", delivered_metrics(standard))
    queries.define("resource_labels", RESOURCE_LABELS)
    for name, text in (("of_clients", OF_CLIENTS), ("never_pushed", NEVER_PUSHED)):
        queries.define(name, text)
        queries.keep(name)
