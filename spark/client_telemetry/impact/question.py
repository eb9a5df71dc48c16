"""An upgrade question with all defaults filled in. client_evidence.py: the evidence that counts; verdict_rows.py: the
verdicts.
"""

import datetime as dt
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from types import MappingProxyType

from client_telemetry import Unusable
from client_telemetry.compatibility.broker_settings import BrokerSetup
from client_telemetry.knowledge import measured_targets
from client_telemetry.knowledge.broker_guess import declared
from client_telemetry.knowledge.logins import mechanisms_in
from client_telemetry.knowledge.releases import UnusableRelease, upgrade
from client_telemetry.tables.rows import BrokerRow

ListenerLogin = tuple[str | None, str | None]
"""The listener and the SASL mechanism of connections; None = not known."""


class NoSuchQuestion(Unusable):
    """The question cannot be answered as asked; the message says what to ask instead."""


@dataclass(frozen=True)
class Question:
    """An upgrade question with all defaults filled in.

    `until`: evidence from this time on does not count, None = all counts. `brokers_declare`: what brokers of the
    from-release declare, if it is more than its number: the version of a platform or vendor.
    """

    cluster_id: str
    from_release: str
    to_release: str
    days: tuple[dt.date, ...]
    until: dt.datetime | None
    until_reason: str | None
    brokers_declare: tuple[str, ...] = ()
    source_features: tuple[tuple[str, int], ...] | None = None
    """Features and levels that are finalized, sorted; None = no broker of the from-release reports them."""


def question(
    cluster_id: str,
    from_release: str | None,
    to_release: str,
    days: Sequence[dt.date],
    brokers: Sequence[BrokerRow],
) -> Question:
    """Fill in what the table `brokers` knows. `brokers`: its rows of the days. Raises NoSuchQuestion."""
    released = [row for row in brokers if row["software_version"]]
    if not released:
        raise NoSuchQuestion(
            f"no broker of cluster {cluster_id} declares its release on {_days(days)}: "
            "run client_telemetry_daily for days with manifests"
        )
    source = from_release or _current_release(released)
    try:
        source, target = upgrade(source, to_release)
    except UnusableRelease as error:
        raise NoSuchQuestion(str(error)) from error
    declared = sorted({str(_declared(row)) for row in released if _may_run(row, source)})
    if not declared:
        releases_seen = ", ".join(sorted({str(_declared(row)) for row in released}))
        raise NoSuchQuestion(f"no broker ran {source} on {_days(days)}; brokers ran {releases_seen}")
    until, reason = _until(source, brokers)
    return Question(
        cluster_id,
        source,
        target,
        tuple(days),
        until,
        reason,
        tuple(declared),
        _features(source, released, until),
    )


def _features(
    source: str, brokers: Sequence[BrokerRow], until: dt.datetime | None
) -> tuple[tuple[str, int], ...] | None:
    """The levels of the broker of the from-release that reported them last, before the cut."""
    reporting = [
        row
        for row in brokers
        if row.get("finalized_features")
        and _may_run(row, source)
        and (until is None or row["started_at"] is None or row["started_at"] < until)
    ]
    if not reporting:
        return None
    last = max(reporting, key=_when)
    levels = last.get("feature_levels") or ()
    before = [change["levels"] for change in levels if until is None or change["at"] < until]
    return tuple(sorted(dict(before[-1] if before else last["finalized_features"] or ()).items()))


def _when(broker: BrokerRow) -> tuple[dt.date, dt.datetime, int]:
    return broker["dt"], broker["last_evidence_at"] or broker["started_at"] or _LONG_AGO, broker["broker_id"]


_LONG_AGO = dt.datetime.min.replace(tzinfo=dt.UTC)


def _days(days: Sequence[dt.date]) -> str:
    return str(days[0]) if len(days) == 1 else f"{min(days)} to {max(days)}"


def _current_release(brokers: Sequence[BrokerRow]) -> str:
    latest: dict[int, BrokerRow] = {}
    for row in sorted(brokers, key=lambda row: (row["started_at"], row["broker_incarnation"])):
        latest[row["broker_id"]] = row
    releases = {broker_id: tuple(_can_be(row)) for broker_id, row in latest.items()}
    if len(set(releases.values())) > 1:
        by_broker = ", ".join(
            f"broker {broker_id}: {_declared(row)}" for broker_id, row in sorted(latest.items())
        )
        raise NoSuchQuestion(
            f"the brokers run different releases ({by_broker}): specify the one to upgrade from (--from)"
        )
    (possible,) = set(releases.values())
    if len(possible) > 1:
        run = ", ".join(sorted({str(_declared(row)) for row in latest.values()}))
        raise NoSuchQuestion(
            f"the brokers run {run}, which can be {', '.join(possible[:-1])} or {possible[-1]}: "
            "specify the one to upgrade from (--from)"
        )
    return possible[0]


def _until(source: str, brokers: Sequence[BrokerRow]) -> tuple[dt.datetime | None, str | None]:
    """When the first broker left the from-release: the start of its next incarnation on another release. If a broker
    does not declare its release, it counts as having left only if its answers are those of other releases.
    """
    moves = []
    for broker_id in {row["broker_id"] for row in brokers}:
        incarnations = sorted(
            (row for row in brokers if row["broker_id"] == broker_id and _can_be(row)),
            key=lambda row: (row["started_at"], row["broker_incarnation"]),
        )
        for before, after in pairwise(incarnations):
            if before["software_version"] and _may_run(before, source) and not _may_run(after, source):
                moves.append((after["started_at"], broker_id, " or ".join(_can_be(after))))
    if not moves:
        return None, None
    at, broker_id, release = min(moves)
    return at, f"broker {broker_id} was the first to change from {source} to {release}"


def _may_run(broker: BrokerRow, source: str) -> bool:
    """Of a measured target, whether its answers are the broker's."""
    if measured_targets.is_measured(source):
        return measured_targets.may_be(source, broker["releases"] or ())
    return source in _can_be(broker)


def _can_be(broker: BrokerRow) -> list[str]:
    """The releases that it can be; for software other than Apache Kafka what it declares, which is none of them."""
    return broker["releases"] or list(filter(None, [_declared(broker)]))


def _declared(broker: BrokerRow) -> str | None:
    return declared(broker.get("software_name"), broker["software_version"])


def offered_mechanisms(
    brokers: Sequence[BrokerRow],
    stated: Mapping[str, tuple[str, ...]] = MappingProxyType({}),
    logins: Collection[ListenerLogin] = (),
) -> dict[str, tuple[str, ...]]:
    """Listener -> the SASL mechanisms that it offers on any broker (sasl.enabled.mechanisms), sorted; empty for a
    listener without SASL; listeners of which that is not known are left out. `brokers`: rows of the table. `stated`: by
    somebody, who is believed, by name in upper case. `logins`: those that were seen; a mechanism that a client used is
    offered, whatever else was said.
    """
    offered: dict[str, set[str]] = {}
    for row in brokers:
        for listener in row["listeners"] or []:
            offered.setdefault(listener["name"], set()).update(listener["sasl_mechanisms"])
    names = {listener.upper(): listener for listener, _ in logins if listener}
    printed = _printed_mechanisms(brokers)
    for name, mechanisms in printed.items():
        if not any(name == other.upper() for other in offered) and not contradicting(
            mechanisms, name, logins
        ):
            offered[names.get(name, name)] = set(mechanisms)
    names |= {name.upper(): name for name in offered}
    for name, mechanisms in stated.items():
        offered[names.get(name, name)] = {*mechanisms, *contradicting(mechanisms, name, logins)}
    return {name: tuple(sorted(mechanisms)) for name, mechanisms in offered.items()}


def contradicting(
    mechanisms: Collection[str], listener: str, logins: Iterable[ListenerLogin]
) -> tuple[str, ...]:
    """Mechanisms with which clients may have logged in at a listener (its name in upper case), where none of `mechanisms` can
    be theirs, sorted.
    """
    others: set[str] = set()
    for name, mechanism in logins:
        used = mechanisms_in(mechanism)
        if (name or "").upper() == listener and used and not used & set(mechanisms):
            others |= used
    return tuple(sorted(others))


def _printed_mechanisms(brokers: Sequence[BrokerRow]) -> dict[str, tuple[str, ...]]:
    """Of a listener that is the only one with SASL, by what all brokers printed at their last start."""
    latest = {
        row["broker_id"]: row for row in sorted(brokers, key=lambda row: (row["dt"], str(row["started_at"])))
    }
    printed = {BrokerSetup(row.get("settings")).offered() for row in latest.values()}
    only = next(iter(printed)) if len(printed) == 1 else None
    return {} if only is None else {only[0]: only[1]}


def reported_scram_users(brokers: Sequence[BrokerRow]) -> frozenset[str] | None:
    """Principals with SCRAM credentials, from the broker that reported them last: they are the same on all brokers of a
    KRaft cluster. None if no broker reports them, or if it omits the names. `brokers`: rows of the table.
    """
    reporting = [row for row in brokers if row.get("scram_users") is not None]
    if not reporting:
        return None
    last = max(reporting, key=lambda row: (row["dt"], row["last_evidence_at"] or row["started_at"]))
    users = last["scram_users"] or []
    principals = frozenset(user["principal"] for user in users if user["principal"] is not None)
    return principals if all(user["principal"] is not None for user in users) else None
