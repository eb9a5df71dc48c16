"""Logins that brokers refused, beside the clients."""

from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

from client_telemetry.identity.hosts import host_names
from client_telemetry.identity.owners import load_owner_rules
from client_telemetry.reports.upgrade.failed_logins import failed_logins, login_in_words, sentence

NOON = datetime(2026, 11, 22, 12, tzinfo=UTC)


def row(address: str, minutes: int, connections: int | None = None, principal: str | None = None) -> dict:
    return {
        "client_address": address,
        "principal": principal,
        "sasl_mechanism": "PLAIN",
        "failure_reason": "Invalid username or password",
        "connections": connections,
        "observed_at": NOON + timedelta(minutes=minutes),
    }


def client(owner: str | None, *addresses: str) -> SimpleNamespace:
    who = {
        "principal": owner,
        "client_id": "c",
        "client_software_name": None,
        "client_software_version": None,
    }
    return SimpleNamespace(owner=owner, address_sample=addresses, **who)


def test_they_are_counted_by_address_with_the_time_since_when():
    rows = [row("10.0.0.1", 0, 700), row("10.0.0.1", 5), row("10.0.0.2", 1, 20)]
    first, second = failed_logins(rows, [], host_names("10.0.0.1 erp-1"))
    assert (first.count, first.first_at, first.last_at, first.host) == (
        701,
        NOON,
        NOON + timedelta(minutes=5),
        "erp-1",
    )
    assert (second.count, second.owner, second.has_other_clients) == (20, None, False)
    assert sentence([first, second]) == "2 addresses cannot log in today (721 failed logins)."
    assert login_in_words(first) == (
        "10.0.0.1 (erp-1), PLAIN: 701 failed logins since 2026-11-22 12:00, last 2026-11-22 12:05: "
        "Invalid username or password"
    )


def test_an_address_is_an_owners_only_if_all_its_clients_are():
    clients = [
        client("erp", "10.0.0.1"),
        client("erp", "10.0.0.2"),
        client("orders", "10.0.0.2"),
        client(None, "10.0.0.3"),
    ]
    rows = [row(f"10.0.0.{n}", 0) for n in (1, 2, 3, 4)]
    owners = {login.client_address: login.owner for login in failed_logins(rows, clients, host_names(""))}
    assert owners == {"10.0.0.1": "erp", "10.0.0.2": None, "10.0.0.3": None, "10.0.0.4": None}


def test_an_address_with_working_clients_is_not_said_to_be_locked_out():
    logins = failed_logins(
        [row("10.0.0.1", 0), row("10.0.0.2", 0)], [client("erp", "10.0.0.1")], host_names("")
    )
    assert sentence(logins) == (
        "1 address cannot log in today (2 failed logins); some clients of 1 other address cannot either."
    )
    assert sentence(logins[:1]) == "Some clients of 1 address cannot log in today (1 failed login)."
    assert sentence(()) is None


def test_all_addresses_of_a_client_count_not_those_of_its_row_only():
    erp, orders = client("erp", "10.0.0.1"), client("orders")
    asked = []

    def connections_from(addresses):
        asked.extend(addresses)
        of_client = {"client_id": "c", "client_software_name": None, "client_software_version": None}
        return [
            {**of_client, "principal": "erp", "client_address": "10.0.0.9"},
            {**of_client, "principal": "orders", "client_address": "10.0.0.1"},
            {**of_client, "principal": "of another report", "client_address": "10.0.0.8"},
        ]

    rows = [row(f"10.0.0.{n}", 0) for n in (1, 8, 9)]
    logins = failed_logins(rows, [erp, orders], host_names(""), connections_from)
    assert asked == ["10.0.0.1", "10.0.0.8", "10.0.0.9"]
    assert {login.client_address: (login.owner, login.has_other_clients) for login in logins} == {
        "10.0.0.1": (None, True),
        "10.0.0.8": (None, False),
        "10.0.0.9": ("erp", True),
    }


def test_owner_rules_apply_to_addresses_with_failed_logins_only():
    rules = load_owner_rules(
        """
- {name: by id, owner: never, client_id: '.*'}
- {name: erp, owner: erp, client_address: '10\\.0\\.0\\.[12]'}
- {name: user, owner: shop, principal: 'User:shop'}
"""
    )
    rows = [
        row("10.0.0.1", 0),
        row("10.0.0.2", 0),
        row("10.0.0.3", 0, principal="User:shop"),
        row("10.0.0.4", 0),
    ]
    logins = failed_logins(rows, [client("orders", "10.0.0.2")], host_names(""), owner_rules=rules)
    owners = {login.client_address: login.owner for login in logins}
    assert owners == {"10.0.0.1": "erp", "10.0.0.2": "orders", "10.0.0.3": "shop", "10.0.0.4": None}
