"""One push as rows: the slow path, record by record, whose result every faster one must equal."""

from collections.abc import Sequence

from client_telemetry.formats.otlp.codecs import decompress
from client_telemetry.formats.otlp.parts import checked
from client_telemetry.formats.otlp.points import DecodedPayload, HistogramPoint, NumberPoint
from client_telemetry.formats.otlp.reference import decode
from client_telemetry.formats.raw.errors import UndecodableRecord
from client_telemetry.formats.raw.object_key import ObjectKey
from client_telemetry.formats.raw.raw_dump_v1_pb2 import ClientConnection, ClientPush
from client_telemetry.subscriptions.instances import kafka_uuid


def decode_push(push: ClientPush) -> DecodedPayload:
    """The contents of its payload, empty if the broker refused the push. Raises `UndecodableRecord`."""
    if _is_rejected(push):
        return DecodedPayload()
    try:
        return decode(checked(decompress(push.payload, push.compression_type)))
    except UndecodableRecord as error:
        error.sequence, error.client_instance_id = push.sequence, push.client_instance_id
        raise


def push_row(
    key: ObjectKey, offset: int, push: ClientPush, payload: DecodedPayload, is_other_day: bool
) -> tuple[object, ...]:
    """A row of client_pushes without cluster_id and dt."""
    latest = max(
        (p.time_ns for kind in (payload.numbers, payload.histograms) for p in kind if p.time_ns),
        default=None,
    )
    return (
        push.broker_id,
        push.incarnation.hex(),
        push.sequence,
        push.received_at_nanos // 1000,
        push.client_instance_id or None,
        kafka_uuid(push.client_instance_id) if push.client_instance_id else None,
        *connection_columns(push.client),
        push.terminating,
        push.content_type or None,
        push.compression_type,
        len(push.payload),
        len(payload.numbers),
        len(payload.histograms),
        [list(resource.items()) for resource in payload.resources],
        payload.scope_name,
        payload.scope_version,
        _optional(push, "push_interval_ms"),
        _optional(push, "subscription_id"),
        _optional(push, "error_code"),
        None if latest is None else (push.received_at_nanos - latest) // 1_000_000,
        _flags(push, payload, is_other_day),
        str(key),
        offset,
    )


def _flags(push: ClientPush, payload: DecodedPayload, is_other_day: bool) -> list[str]:
    flags = []
    if not push.client_instance_id:
        flags.append("no_instance_id")
    elif not any(push.client_instance_id):
        flags.append("zero_instance_id")
    if _is_rejected(push):
        flags.append("rejected")
    elif not payload.points:
        flags.append("no_points")
    if payload.identity_labels:
        flags.append("identity_in_payload")
    if is_other_day:
        flags.append("other_day")
    return sorted(flags)


def point_rows(
    push: ClientPush, points: Sequence[NumberPoint] | Sequence[HistogramPoint]
) -> list[tuple[object, ...]]:
    """Rows of client_metrics or client_metric_histograms without cluster_id and dt: after the push's own columns and the metric, a
    point's fields are theirs, in their order.
    """
    key = push.broker_id, push.incarnation.hex(), push.sequence
    instance, received_at = push.client_instance_id or None, push.received_at_nanos // 1000
    metric_at = NumberPoint._fields.index("metric")
    attributes_at = points[0]._fields.index("attributes") if points else 0
    return [
        (
            *key,
            p.point_index,
            instance,
            received_at,
            *p[metric_at:attributes_at],
            list(p.attributes.items()),
            _micros(p.start_time_ns),
            _micros(p.time_ns),
            *p[attributes_at + 3 :],
            p.resource_index,
        )
        for p in points
    ]


def connection_columns(client: ClientConnection) -> tuple[object, ...]:
    """The columns that tables of pushes and of connection events share."""
    return (
        client.client_id if client.HasField("client_id") else None,
        client.principal,
        client.client_address,
        client.client_port if client.HasField("client_port") else None,
        client.listener_name,
        client.security_protocol,
        client.connection_id,
        client.client_software_name,
        client.client_software_version,
        client.sent_software_name,
        client.sent_software_version,
        client.api_versions_error if client.HasField("api_versions_error") else None,
    )


def _is_rejected(push: ClientPush) -> bool:
    return push.HasField("error_code") and push.error_code != 0


def _optional(message: ClientPush | ClientConnection, name: str) -> object:
    return getattr(message, name) if message.HasField(name) else None


def _micros(nanos: int | None) -> int | None:
    return None if nanos is None else nanos // 1000
