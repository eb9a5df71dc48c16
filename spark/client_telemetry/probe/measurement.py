"""Measures a cluster: finds its brokers, asks each of them, and brings the answers into the form of the target file."""

import json
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from importlib.metadata import version
from typing import TypedDict

from client_telemetry import Unusable
from client_telemetry.formats import target_file
from client_telemetry.knowledge import apis, broker_guess
from client_telemetry.knowledge.api_key import ApiKey
from client_telemetry.probe import (
    answers,
    listener,
    probing,
    request_bodies,
    scram_nonce,
    security,
    served_protocols,
    tls_offers,
)
from client_telemetry.probe.answers import Cluster
from client_telemetry.probe.connection import Address, BrokenConnection
from client_telemetry.probe.listener import Listener
from client_telemetry.probe.probing import Asker, BrokerAnswers, Limits

_METADATA_VERSION = 2
"""The first with the cluster's id; 0.10.1 and later have it, and no list of topics in it means none."""


class NothingMeasured(Unusable):
    """No broker could be asked; the message says what became of each address."""


@dataclass
class Measured:
    """What became of a cluster."""

    cluster: Cluster | None = None
    brokers: dict[str, BrokerAnswers] = field(default_factory=dict)
    """Node id, or address where that is not known -> answers."""
    failures: dict[str, str] = field(default_factory=dict)
    """Likewise -> why it could not be asked."""
    mechanisms: dict[str, tuple[str, ...]] = field(default_factory=dict)
    tls: dict[str, str] = field(default_factory=dict)
    """Of the first broker that was asked: version -> ciphers (tls_offers.py)."""
    scram_nonce: dict[str, str] = field(default_factory=dict)
    """Likewise: kind of nonce -> whether a login with it is accepted (scram_nonce.py)."""
    notes: list[str] = field(default_factory=list)


def measure(
    bootstrap: Sequence[Listener],
    limits: Limits,
    progress: Callable[[str], None],
    wanted: Collection[int] | None = None,
) -> Measured:
    """`wanted`: keys of the APIs to ask for, None for all. Every broker that the cluster names, by its advertised address; the bootstrap addresses alone if it names none. Raises
    NothingMeasured.
    """
    measured = Measured()
    first = _first_answer(bootstrap, limits, measured)
    if first is None:
        raise NothingMeasured("; ".join(measured.failures.values()))
    entry, advertised = first
    measured.cluster = _cluster(entry, advertised.versions, limits, measured)
    # An implementation may know mechanisms and want none: franz-go's kfake.
    if not measured.cluster and not entry.uses_sasl and (mechanisms := _mechanisms_wanted(entry, limits)):
        raise NothingMeasured(
            f"{entry.address}: the listener wants a login with {', '.join(mechanisms)}: set security.protocol to "
            f"SASL_{entry.security_protocol}, sasl.mechanism and sasl.jaas.config in --command-config"
        )
    for name, address in _members(measured.cluster, entry.address):
        _probe(name, entry.at(address), limits, measured, progress, wanted)
    if wanted is None and measured.brokers:
        at = entry.at(next(iter(measured.brokers.values())).address)
        progress(f"asking {at.address} for TLS versions and ciphers")
        measured.tls = tls_offers.offered(at, partial(time.sleep, 1 / limits.per_second))
        measured.scram_nonce = scram_nonce.measured(at)
    if not measured.brokers:
        raise NothingMeasured("; ".join(measured.failures.values()))
    if all(broker.advertised.versions != advertised.versions for broker in measured.brokers.values()):
        measured.notes.append(
            f"{entry.address} advertises other versions than the brokers that it names: a proxy is in between"
        )
    return measured


def _first_answer(
    bootstrap: Sequence[Listener], limits: Limits, measured: Measured
) -> tuple[Listener, answers.AdvertisedVersions] | None:
    for entry in bootstrap:
        with closing(Asker(entry, limits)) as asker:
            try:
                return entry, asker.hello()
            except BrokenConnection as error:
                measured.failures[str(entry.address)] = _named(entry.address, error)
    return None


def _named(address: Address, error: BrokenConnection) -> str:
    text = str(error)
    return text if text.startswith(str(address)) else f"{address}: {text}"


def _cluster(
    entry: Listener, versions: Mapping[int, tuple[int, int]], limits: Limits, measured: Measured
) -> Cluster | None:
    low, high = versions.get(ApiKey.METADATA, (0, -1))
    if not low <= _METADATA_VERSION <= high:
        measured.notes.append(
            f"{entry.address} does not advertise Metadata {_METADATA_VERSION}: its other brokers were not asked"
        )
        return None
    with closing(Asker(entry, limits)) as asker:
        try:
            _, answer = asker.ask(request_bodies.requests()[ApiKey.METADATA, _METADATA_VERSION])
            return answers.cluster(answer.payload) if answer else None
        except (BrokenConnection, probing.StoppedAnswering) as error:
            measured.notes.append(f"{entry.address}: its other brokers were not asked: {error}")
            return None


def _members(cluster: Cluster | None, entry: Address) -> list[tuple[str, Address]]:
    if cluster is None or not cluster.brokers:
        return [(str(entry), entry)]
    return [(str(member.node_id), member.address) for member in cluster.brokers]


def _probe(
    name: str,
    at: Listener,
    limits: Limits,
    measured: Measured,
    progress: Callable[[str], None],
    wanted: Collection[int] | None,
) -> None:
    with closing(Asker(at, limits)) as asker:
        try:
            measured.mechanisms[name] = answers.mechanisms(_handshake(at, limits)) if at.uses_sasl else ()
            measured.brokers[name] = probing.probe(asker, progress, wanted)
        except BrokenConnection as error:
            measured.failures[name] = _named(at.address, error)


def _handshake(at: Listener, limits: Limits) -> bytes:
    """What a broker answers, before a login, to whoever asks for a mechanism that it does not have: it lists those of the listener."""
    request = request_bodies.requests()[ApiKey.SASL_HANDSHAKE, 1]
    with at.connect() as opened:
        return opened.ask(request.frame, limits.answer_s).payload


def _mechanisms_wanted(entry: Listener, limits: Limits) -> tuple[str, ...]:
    """Mechanisms of a listener that wants a login; empty if it wants none, and answers that this is not the time for one."""
    try:
        payload = _handshake(entry, limits)
        wants_login = answers.error_code(payload, 4) == answers.UNSUPPORTED_MECHANISM
        return answers.mechanisms(payload) if wants_login else ()
    except BrokenConnection:
        return ()


class Broker(TypedDict):
    """`answers`: the place of its answers in `answers`."""

    address: str
    answers: int


class Content(target_file.Content):
    """All of the target file but its digest. `serves`, `tls`, `not_asked`: by name, in words."""

    format: str
    measured_by: str
    security_protocol: str
    cluster_id: str | None
    serves: dict[str, str]
    tls: dict[str, str]
    brokers: dict[str, Broker]
    not_asked: dict[str, str]
    notes: list[str]


def content(measured: Measured, bootstrap: Sequence[Listener], now: datetime | None = None) -> Content:
    """Everything of the target file but its digest."""
    brokers = measured.brokers
    features = _features(brokers.values())
    return {
        "format": target_file.FORMAT,
        "measured_at": (now or datetime.now(UTC)).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "measured_by": f"client-telemetry {version('client-telemetry')}",
        "bootstrap": ",".join(str(entry.address) for entry in bootstrap),
        "security_protocol": bootstrap[0].security_protocol,
        "cluster_id": measured.cluster.cluster_id if measured.cluster else None,
        "answers_like": list(_answers_like(brokers.values(), features)),
        "features": features,
        "serves": served_protocols.of(brokers.values(), _finalized(features)),
        "tls": measured.tls,
        "scram_nonce": measured.scram_nonce,
        "mechanisms": sorted({each for names in measured.mechanisms.values() for each in names}),
        "brokers": {
            name: {"address": str(broker.address), "answers": number}
            for number, names in enumerate(_alike(brokers))
            for name in names
            for broker in (brokers[name],)
        },
        "answers": [_answers(brokers[names[0]]) for names in _alike(brokers)],
        "not_asked": {f"broker {name}": reason for name, reason in sorted(measured.failures.items())},
        "notes": measured.notes,
    }


def _alike(brokers: Mapping[str, BrokerAnswers]) -> list[list[str]]:
    """Names of brokers that gave the same answers, group by group."""
    groups: dict[str, list[str]] = {}
    for name, broker in brokers.items():
        groups.setdefault(json.dumps(_answers(broker)), []).append(name)
    return list(groups.values())


def _answers(broker: BrokerAnswers) -> dict[str, dict[str, str]]:
    """API -> what it advertises, and the versions with each outcome."""
    known: dict[int, str] = {
        request.api_key: request.api_name for request in request_bodies.requests().values()
    }
    advertised = broker.advertised.versions
    names = {key: api.name for key, api in apis.by_key().items()} | known
    return {
        f"{key} {names.get(key, 'unknown')}": _of_api(key, broker) for key in sorted({*known, *advertised})
    }


def _of_api(key: int, broker: BrokerAnswers) -> dict[str, str]:
    entry: dict[str, str] = {}
    advertised = broker.advertised.versions.get(key)
    if advertised:
        entry["advertised"] = "-".join(
            map(str, advertised if advertised[0] != advertised[1] else advertised[:1])
        )
    by_outcome: dict[str, list[int]] = {}
    for (api_key, number), outcome in broker.outcomes.items():
        if api_key == key:
            by_outcome.setdefault(outcome, []).append(number)
    entry |= {outcome: target_file.ranges(versions) for outcome, versions in sorted(by_outcome.items())}
    if reasons := _not_asked(key, broker):
        entry["not_asked"] = reasons
    return entry


def _not_asked(key: int, broker: BrokerAnswers) -> str:
    by_reason: dict[str, list[int]] = {}
    for (api_key, number), reason in broker.not_asked.items():
        if api_key == key:
            by_reason.setdefault(reason, []).append(number)
    reasons = [f"{target_file.ranges(versions)}: {reason}" for reason, versions in by_reason.items()]
    unknown = probing.unknown_versions(broker.advertised.versions).get(key)
    if unknown:
        reasons.append(
            f"{'-'.join(map(str, dict.fromkeys(unknown)))}: unknown to this version of client-telemetry"
        )
    return "; ".join(reasons)


def _features(brokers: Iterable[BrokerAnswers]) -> dict[str, target_file.Level]:
    """Feature -> its finalized level (0 if it has none) and the levels that every broker supports."""
    advertised = [broker.advertised for broker in brokers]
    names = sorted(
        {name for each in advertised for name in (*each.supported_features, *each.finalized_features)}
    )
    features: dict[str, target_file.Level] = {}
    for name in names:
        supported = [each.supported_features[name] for each in advertised if name in each.supported_features]
        features[name] = {
            "finalized": max(each.finalized_features.get(name, 0) for each in advertised),
            "supported": f"{max(low for low, _ in supported)}-{min(high for _, high in supported)}"
            if supported
            else None,
        }
    return features


def _finalized(features: Mapping[str, target_file.Level]) -> dict[str, int]:
    return {name: levels["finalized"] for name, levels in features.items()}


def _answers_like(
    brokers: Iterable[BrokerAnswers], features: Mapping[str, target_file.Level]
) -> tuple[str, ...]:
    """The releases of Apache Kafka that explain what every broker advertises."""
    finalized = _finalized(features)
    guesses = [
        broker_guess.possible_releases(
            None, None, [(key, *versions) for key, versions in broker.advertised.versions.items()], finalized
        ).releases
        for broker in brokers
    ]
    return tuple(release for release in guesses[0] if all(release in others for others in guesses))


def bootstrap_listeners(text: str, settings: Mapping[str, str]) -> tuple[Listener, ...]:
    """Raises UnusableSettings."""
    return tuple(security.listener_of(address, settings) for address in listener.addresses(text))
