"""Who cannot log in today: logins that brokers refused. Which application it is, a broker does not know."""

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import TypedDict

from client_telemetry.console.counted import counted
from client_telemetry.identity.client_key import CLIENT_KEY, HasClientKey, client_key
from client_telemetry.identity.hosts import HostNames
from client_telemetry.identity.owners import OwnerRule, first_match
from client_telemetry.reports.upgrade.model import ClientVerdict, FailedLogin


class FailedLoginEvent(TypedDict):
    """Columns of `connection_events` of the kind authentication_failed."""

    client_address: str | None
    principal: str | None
    sasl_mechanism: str | None
    failure_reason: str | None
    connections: int | None
    observed_at: datetime


class Connection(HasClientKey):
    """Columns of `client_connections`."""

    client_address: str | None


COLUMNS = tuple(FailedLoginEvent.__annotations__)
CONNECTION_COLUMNS = (*CLIENT_KEY, "client_address")
ConnectionsFrom = Callable[[Sequence[str]], Iterable[Connection]]
"""Addresses -> CONNECTION_COLUMNS of the connections from there."""


def failed_logins(
    rows: Iterable[FailedLoginEvent],
    clients: Sequence[ClientVerdict],
    hosts: HostNames,
    connections_from: ConnectionsFrom = lambda addresses: (),
    owner_rules: Sequence[OwnerRule] = (),
) -> tuple[FailedLogin, ...]:
    """By address, principal, mechanism and reason, most frequent first. `rows`: COLUMNS. They may be many: none is kept.
    `owner_rules`: for addresses from which no client was seen; a failed login has no client id and no group.
    """
    found: dict[tuple[str | None, ...], tuple[int, datetime, datetime]] = {}
    for row in rows:
        key = (row["client_address"], row["principal"] or None, row["sasl_mechanism"], row["failure_reason"])
        at = row["observed_at"]
        count, first, last = found.get(key, (0, at, at))
        found[key] = count + (row["connections"] or 1), min(first, at), max(last, at)
    owners = _owners_by_address({key[0] for key in found if key[0]}, clients, connections_from)

    def owner_of(address: str | None, principal: str | None) -> str | None:
        of_clients = owners.get(address or "")
        if of_clients:
            return next(iter(of_clients)) if len(of_clients) == 1 else None
        rule = first_match(owner_rules, principal, None, (), [address] if address else [])
        return rule.owner if rule else None

    logins = [
        FailedLogin(
            client_address=address,
            host=hosts.of(address) if address else None,
            principal=principal,
            sasl_mechanism=mechanism,
            reason=reason,
            count=count,
            first_at=first,
            last_at=last,
            owner=owner_of(address, principal),
            has_other_clients=bool(owners.get(address or "")),
        )
        for (address, principal, mechanism, reason), (count, first, last) in found.items()
    ]
    return tuple(
        sorted(logins, key=lambda login: (-login.count, login.client_address or "", login.reason or ""))
    )


def _owners_by_address(
    addresses: set[str], clients: Sequence[ClientVerdict], connections_from: ConnectionsFrom
) -> dict[str, set[str | None]]:
    """Owners of the clients that were seen from each address; a client's row names only a few of its addresses."""
    by_client = {tuple(getattr(client, name) for name in CLIENT_KEY): client.owner for client in clients}
    owners: dict[str, set[str | None]] = {}
    for client in clients:
        for address in addresses.intersection(client.address_sample):
            owners.setdefault(address, set()).add(client.owner)
    for row in connections_from(sorted(addresses)) if addresses else ():
        if client_key(row) in by_client:
            owners.setdefault(row["client_address"] or "", set()).add(by_client[client_key(row)])
    return owners


def sentence(logins: Sequence[FailedLogin]) -> str | None:
    """`3 addresses cannot log in today (721 failed logins).`; an address whose other clients work is counted apart: who of it
    fails is not known.
    """
    if not logins:
        return None
    shared = {login.client_address for login in logins if login.has_other_clients}
    locked_out = {login.client_address for login in logins} - shared
    total = counted(sum(login.count for login in logins), "failed login")
    if not locked_out:
        return f"Some clients of {_addresses(len(shared))} cannot log in today ({total})."
    more = f"; some clients of {_addresses(len(shared), 'other ')} cannot either" if shared else ""
    return f"{_addresses(len(locked_out))} cannot log in today ({total}){more}."


def _addresses(number: int, which: str = "") -> str:
    return f"{number:,} {which}{'address' if number == 1 else 'addresses'}"


def login_in_words(login: FailedLogin) -> str:
    """One line of the lists."""
    where = f"{login.client_address or 'unknown address'}{f' ({login.host})' if login.host else ''}"
    who = f", {login.principal}" if login.principal else ""
    how = f", {login.sasl_mechanism}" if login.sasl_mechanism else ""
    since = f"since {login.first_at:%Y-%m-%d %H:%M}, last {login.last_at:%Y-%m-%d %H:%M}"
    shared = "; other clients of this address work" if login.has_other_clients else ""
    reason = f": {login.reason}" if login.reason else ""
    return f"{where}{who}{how}: {counted(login.count, 'failed login')} {since}{shared}{reason}"
