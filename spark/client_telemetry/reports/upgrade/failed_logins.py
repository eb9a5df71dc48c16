"""Who cannot log in today: logins that brokers refused. Which application it is, a broker does not know."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from client_telemetry.identity.hosts import HostNames
from client_telemetry.reports.counted import counted
from client_telemetry.reports.upgrade.model import ClientVerdict, FailedLogin

COLUMNS = (
    "client_address",
    "principal",
    "sasl_mechanism",
    "failure_reason",
    "connections",
    "observed_at",
)
"""Of `connection_events` of the kind authentication_failed."""


def failed_logins(
    rows: Iterable[Any], clients: Sequence[ClientVerdict], hosts: HostNames
) -> tuple[FailedLogin, ...]:
    """By address, principal, mechanism and reason, most frequent first. `rows`: COLUMNS. They may be many: none is kept."""
    found: dict[tuple[str | None, ...], tuple[int, datetime, datetime]] = {}
    for row in rows:
        key = (row["client_address"], row["principal"] or None, row["sasl_mechanism"], row["failure_reason"])
        at = row["observed_at"]
        count, first, last = found.get(key, (0, at, at))
        found[key] = count + (row["connections"] or 1), min(first, at), max(last, at)
    owners: dict[str, set[str | None]] = {}
    for client in clients:
        for address in client.address_sample:
            owners.setdefault(address, set()).add(client.owner)
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
            owner=next(iter(of_address))
            if len(of_address := owners.get(address or "", set())) == 1
            else None,
            has_other_clients=bool(of_address),
        )
        for (address, principal, mechanism, reason), (count, first, last) in found.items()
    ]
    return tuple(
        sorted(logins, key=lambda login: (-login.count, login.client_address or "", login.reason or ""))
    )


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
