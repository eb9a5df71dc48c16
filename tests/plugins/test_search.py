"""A client instance is found by any form of its id; clients by a part of their id or by address."""

import base64
import uuid

import pytest

from tests.plugins.conftest import DAY, INSTANCE


@pytest.fixture
def found(published):
    from telemetry_pages.published import Published
    from telemetry_pages.search import search

    return lambda query, days=7: search(Published(str(published)), query, ["east"], days)[0]


@pytest.mark.parametrize(
    "form",
    [
        base64.urlsafe_b64encode(INSTANCE).decode().rstrip("="),
        base64.urlsafe_b64encode(INSTANCE).decode(),
        base64.b64encode(INSTANCE).decode(),
        base64.b64encode(INSTANCE).decode().rstrip("="),
        str(uuid.UUID(bytes=INSTANCE)),
        str(uuid.UUID(bytes=INSTANCE)).upper(),
        INSTANCE.hex(),
        f"  {INSTANCE.hex()}  ",
        f"{{{uuid.UUID(bytes=INSTANCE)}}}",
        f"0x{INSTANCE.hex()}",
        INSTANCE.hex(":"),
        f'"{base64.b64encode(INSTANCE).decode()}",',
        f"clientInstanceId={base64.urlsafe_b64encode(INSTANCE).decode().rstrip('=')},",
        f"client_instance_id: {uuid.UUID(bytes=INSTANCE)}",
    ],
)
def test_any_form_of_an_instance_id(found, form):
    hits = found(form)
    assert (hits.day, len(hits.instances), hits.clients) == (DAY, 1, [])


@pytest.mark.parametrize(
    ("case", "query", "instances", "clients"),
    [
        ("a part of a client id", "ORD", 1, 1),
        ("an address", "10.0.0.1", 0, 1),
        ("as a log prints it", "/10.0.0.1:9092", 0, 1),
        ("as Java prints it with a host name", "web-7/10.0.0.1:9092", 0, 1),
        ("IPv4 within IPv6", "::ffff:10.0.0.1", 0, 1),
        ("IPv6 in another spelling", "2001:0db8:0::0001", 1, 0),
        ("IPv6 with a port", "[2001:db8::1]:9092", 1, 0),
        ("a part of an address is none", "10.0.0", 0, 0),
        ("nothing", "nothing-like-this", 0, 0),
        ("a pattern is no pattern", ".*", 0, 0),
    ],
)
def test_clients_and_addresses(found, case, query, instances, clients):
    hits = found(query)
    assert (len(hits.instances), len(hits.clients)) == (instances, clients), case


def test_the_latest_day_with_a_hit_is_shown(found):
    assert found("only-yesterday").day == "2026-11-20"
    assert found("only-yesterday", days=1).day is None


@pytest.mark.parametrize("text", ["", "x", "A" * 21, "A" * 23, "!" * 22, "0" * 31, "g" * 32])
def test_what_is_no_instance_id(text):
    from telemetry_pages.search import instance_id

    assert instance_id(text) is None


@pytest.mark.parametrize("query", ["User:A", "payments-group", "TX-1", "eu-west"])
def test_principal_group_transactional_id_and_rack(query):
    from telemetry_pages.search import _matches

    entry = {
        "client_id": None,
        "principal": "User:a",
        "addresses": [],
        "group_ids": ["payments-group"],
        "transactional_ids": ["tx-1"],
        "racks": ["eu-west-1a"],
    }
    assert _matches(entry, None, None, query.casefold())
    assert not _matches(entry, None, None, "orders")
