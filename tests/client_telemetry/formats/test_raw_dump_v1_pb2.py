import subprocess
import sys
from pathlib import Path

import client_telemetry.formats.raw
from client_telemetry.formats.raw.raw_dump_v1_pb2 import ClientPush, ConnectionEvent

CONTRACTS = Path(__file__).parents[3] / "include/contracts"
GENERATED = Path(client_telemetry.formats.raw.__file__).parent


def test_field_numbers_of_a_push_on_the_wire():
    push = ClientPush.FromString(
        b"\x0a\x01c"  # 1 cluster_id
        b"\x10\x03"  # 2 broker_id
        b"\x1a\x01i"  # 3 incarnation
        b"\x20\x05"  # 4 sequence
        b"\x29\x01\x00\x00\x00\x00\x00\x00\x00"  # 5 received_at_nanos, fixed64
        b"\x32\x05\x0a\x00\x20\x90\x4e"  # 6 client { 1 client_id = "", 4 client_port = 10000 }
        b"\x3a\x01u"  # 7 client_instance_id
        b"\x40\x01"  # 8 terminating
        b"\x4a\x04OTLP"  # 9 content_type
        b"\x50\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"  # 10 compression_type = -1
        b"\x5a\x01p"  # 11 payload
        b"\x65\x02\x00\x00\x00"  # 12 payload_crc32c, fixed32
        b"\x68\x88\x27"  # 13 push_interval_ms = 5000
        b"\x70\x07"  # 14 subscription_id
        b"\x78\x00"  # 15 error_code = 0, present
    )
    assert (push.cluster_id, push.broker_id, push.incarnation, push.sequence) == ("c", 3, b"i", 5)
    assert (push.received_at_nanos, push.client_instance_id, push.terminating) == (1, b"u", True)
    assert push.client.HasField("client_id") and push.client.client_id == ""
    assert push.client.client_port == 10000 and not push.client.HasField("api_versions_error")
    assert (push.content_type, push.compression_type, push.payload) == ("OTLP", -1, b"p")
    assert (push.payload_crc32c, push.push_interval_ms, push.subscription_id) == (2, 5000, 7)
    assert push.HasField("error_code") and push.error_code == 0


def test_field_numbers_of_a_connection_event_on_the_wire():
    event = ConnectionEvent.FromString(
        b"\x29\x01\x00\x00\x00\x00\x00\x00\x00"  # 5 observed_at_nanos
        b"\x38\x03"  # 7 kind = CLOSED
        b"\x41\x02\x00\x00\x00\x00\x00\x00\x00"  # 8 opened_at_nanos
        b"\x49\x03\x00\x00\x00\x00\x00\x00\x00"  # 9 last_request_at_nanos
        # 10 api_uses { api_key = 1, version = 12, requests = 9, rejected = 1, first, last }
        b"\x52\x1a\x08\x01\x10\x0c\x18\x09\x20\x01"
        b"\x29\x04\x00\x00\x00\x00\x00\x00\x00\x31\x05\x00\x00\x00\x00\x00\x00\x00"
        b"\x5a\x01g"  # 11 group_ids
        b"\x62\x01t"  # 12 transactional_ids
        b"\x6a\x01r"  # 13 failure_reason
        b"\x70\x03"  # 14 connections = 3
        b"\x7a\x01f"  # 15 cut_fields
        b"\x32\x03\x6a\x01M"  # 6 client { 13 sasl_mechanism }
    )
    assert (event.failure_reason, event.connections, event.cut_fields) == ("r", 3, ["f"])
    assert event.client.sasl_mechanism == "M"
    assert (event.observed_at_nanos, event.kind) == (1, ConnectionEvent.CLOSED)
    assert (event.opened_at_nanos, event.last_request_at_nanos) == (2, 3)
    use = event.api_uses[0]
    assert (use.api_key, use.version, use.requests, use.rejected) == (1, 12, 9, 1)
    assert (use.first_request_at_nanos, use.last_request_at_nanos) == (4, 5)
    assert (list(event.group_ids), list(event.transactional_ids)) == (["g"], ["t"])
