"""Checks a proposed change of subscriptions against the clients of the days of evidence: whom it matches, what they
will push, whom it hurts, who stays silent.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from client_telemetry.knowledge.api_key import ApiKey
from client_telemetry.knowledge.telemetry_metrics import asked_for, librdkafka_metrics, standard_metrics
from client_telemetry.subscriptions import forecast
from client_telemetry.subscriptions.advice import doubts, instead
from client_telemetry.subscriptions.answers import Answer, ConfiguredSubscriptions
from client_telemetry.subscriptions.configuration import SELECTORS, RefusedByKafka, Subscription, parse
from client_telemetry.subscriptions.configured_file import Resource
from client_telemetry.subscriptions.forecast import Expected, LakeSizes, Peers
from client_telemetry.subscriptions.java_runtime import JavaRuntime
from client_telemetry.subscriptions.observed import (
    ABORTS,
    ADMIN,
    DISCONNECTS,
    JAVA,
    LIBRDKAFKA,
    PRODUCER,
    ObservedInstance,
    can_push,
    hurt_when_nothing_matches,
    known_metrics,
    version_text,
)
from client_telemetry.subscriptions.proposal import Operation, propose

STARTS, STOPS, CHANGES, SAME, NEVER = "starts", "stops", "changes", "same", "not asked"
LOSES_FOR_GOOD = "never pushes again"
TOO_LARGE = "refused as too large"
LOSES_INTERVAL = "loses one interval"
THROTTLED = "throttled"
HARMS = {
    ABORTS: "its process aborts at the first push, because it is asked only for metrics that it does not have (librdkafka 2.5.0 to 2.5.2)",
    DISCONNECTS: "loses its connection at every push, because it is asked only for metrics that it does not have (librdkafka 2.5.3 to "
    "2.10.0)",
    LOSES_FOR_GOOD: "its largest push decompresses to more than telemetry.max.bytes: INVALID_RECORD, after which a Java "
    "client never pushes again",
    TOO_LARGE: "its largest push is larger than telemetry.max.bytes: TELEMETRY_TOO_LARGE, and each such push is lost",
    LOSES_INTERVAL: "its next push is rejected (UNKNOWN_SUBSCRIPTION_ID) and the delta values since the previous push are lost",
    THROTTLED: "it requests the new subscription at once, is rejected (THROTTLING_QUOTA_EXCEEDED) and waits one more interval",
}
NO_PLUGIN = "no plugin"
OLD_BROKER = "broker before 3.7"
CANNOT_PUSH = "library cannot push"
UNKNOWN_LIBRARY = "library not known"
OPTED_OUT = "opted out"
ADMIN_DEFAULT = "admin client"
REFUSED = "refused"
NEVER_PUSHED = "asked and never pushed"
NO_MATCH = "no match"
SILENCES = {
    OLD_BROKER: "the brokers' release is older than 3.7.0",
    NO_PLUGIN: "no broker has a metrics plugin, so none supports GetTelemetrySubscriptions",
    CANNOT_PUSH: "its library, or this version of it, does not implement KIP-714",
    UNKNOWN_LIBRARY: "it declares no known library, and requested no subscription",
    OPTED_OUT: "its library can push but requested no subscription: enable.metrics.push=false",
    ADMIN_DEFAULT: "Java's admin clients push only with enable.metrics.push=true",
    REFUSED: "all its pushes were rejected",
    NEVER_PUSHED: "it was asked for metrics but closed before its first push, or never pushed",
    NO_MATCH: "no subscription with metrics matches it",
}
FIRST_RELEASE = (3, 7)


def exempts_after_errors(release: tuple[int, ...]) -> bool:
    """Whether a GetTelemetrySubscriptions right after error 117 or 76 is answered (KAFKA-19041); earlier releases
    answer 89.
    """
    return release >= (4, 0, 1)


def limits_decompressed_bytes(release: tuple[int, ...]) -> bool:
    """Whether `telemetry.max.bytes` also limits the decompressed payload: 4.3.1, and late patches of older lines."""
    first_patch = {(3, 9): 3, (4, 0): 3, (4, 1): 3, (4, 2): 2, (4, 3): 1}.get((release[0], release[1]))
    return release[:2] >= (4, 4) if first_patch is None else release[2] >= first_patch


@dataclass(frozen=True)
class Situation:
    """Where a proposal would be applied. `plugin`: whether brokers have one (they then offer
    GetTelemetrySubscriptions); None: unknown. `days`: of the evidence.
    """

    release: tuple[int, ...]
    plugin: bool | None = None
    telemetry_max_bytes: int = 1_048_576
    days: int = 1
    lake: LakeSizes | None = None


@dataclass(frozen=True)
class Refusal:
    """A subscription that Kafka refuses; what was configured under the name stays."""

    name: str
    error: str
    message: str
    by_controller: bool
    instead: str


@dataclass(frozen=True)
class InstanceResult:
    """`let_out`: name of a subscription that does not match -> the selectors that exclude the instance."""

    observed: ObservedInstance
    before: Answer
    after: Answer
    let_out: dict[str, tuple[str, ...]]
    change: str
    silent: str | None
    harms: tuple[str, ...]
    expected_before: Expected
    expected_after: Expected


@dataclass(frozen=True)
class MetricDelivery:
    """A standard metric and what a library's clients of one kind will do with it: `delivered`, `not delivered` (asked
    for, but the library does not have it), `not asked for`, `not known`. `observed`: seen in the days of evidence.
    """

    client_type: str
    library: str
    version: str
    metric: str
    required: bool
    state: str
    observed: bool
    instances: int


@dataclass(frozen=True)
class CheckResult:
    situation: Situation
    operations: tuple[Operation, ...]
    configured: tuple[Resource, ...]
    before: tuple[Subscription, ...]
    after: tuple[Subscription, ...]
    refusals: tuple[Refusal, ...]
    remarks: tuple[str, ...]
    instances: tuple[InstanceResult, ...]
    deliveries: tuple[MetricDelivery, ...]

    def totals(self) -> dict[str, dict[str, float]]:
        """Per day: what arrived in the days of evidence, under whatever was configured then; expected without the
        change, and with it.
        """
        return {
            "observed": forecast.observed_total(
                (result.observed for result in self.instances), self.situation.days
            ),
            "before": forecast.sum_of(result.expected_before for result in self.instances),
            "after": forecast.sum_of(result.expected_after for result in self.instances),
        }

    def counts(self) -> dict[str, int]:
        """Numbers of instances by change."""
        return dict(Counter(result.change for result in self.instances))


def check(
    configured: Sequence[Resource],
    operations: Sequence[Operation],
    observed: Sequence[ObservedInstance],
    situation: Situation,
    java: JavaRuntime,
) -> CheckResult:
    """Raises UnsureMatch if Java cannot tell whether a selector matches."""
    proposed, remarks = propose(configured, operations)
    release = situation.release
    old, _ = _accepted(configured, {}, release, java)
    new, refused = _accepted(
        proposed, {subscription.name: subscription for subscription in old}, release, java
    )
    metric_names = known_metrics() | {metric for instance in observed for metric in instance.metrics}
    resources = {resource.name: resource for resource in proposed}
    changed = {operation.name for operation in operations}
    old_names = {subscription.name for subscription in old}
    for subscription in new:
        if subscription.name in changed or subscription.name not in old_names:
            sentences = doubts(subscription, resources[subscription.name], release, metric_names)
            remarks += [f"{subscription.name}: {doubt}" for doubt in sentences]
    instances = _instances(old, new, observed, situation, java)
    return CheckResult(
        situation,
        tuple(operations),
        tuple(configured),
        tuple(old),
        tuple(new),
        tuple(refused),
        tuple(remarks),
        tuple(instances),
        tuple(_deliveries(instances)),
    )


def _accepted(
    resources: Sequence[Resource],
    instead_of: dict[str, Subscription],
    release: tuple[int, ...],
    java: JavaRuntime,
) -> tuple[list[Subscription], list[Refusal]]:
    """The subscriptions in force, and those that Kafka refuses, for which the previous one of that name stays in force."""
    accepted, refused = [], []
    for resource in resources:
        try:
            accepted.append(parse(resource.name, resource.properties, release, java))
        except RefusedByKafka as error:
            advice = instead(error, resource)
            refused.append(Refusal(resource.name, error.error, error.message, error.by_controller, advice))
            if resource.name in instead_of:
                accepted.append(instead_of[resource.name])
    return accepted, refused


def _instances(
    old: Sequence[Subscription],
    new: Sequence[Subscription],
    observed: Sequence[ObservedInstance],
    situation: Situation,
    java: JavaRuntime,
) -> list[InstanceResult]:
    clients = [instance.instance for instance in observed]
    before = list(ConfiguredSubscriptions(old, situation.release, java).answers(clients))
    configured = ConfiguredSubscriptions(new, situation.release, java)
    after = list(configured.answers(clients))
    let_in = list(configured.let_in(clients))
    peers = Peers(observed)
    results = []
    for observed_instance, was, will, by_attribute in zip(observed, before, after, let_in, strict=True):
        silent = _silent(observed_instance, was, will, situation)
        pushes = silent is None
        expected_before = forecast.expected(
            observed_instance, was, was, peers, situation.days, observed_instance.pushed
        )
        expected_after = forecast.expected(observed_instance, was, will, peers, situation.days, pushes)
        results.append(
            InstanceResult(
                observed_instance,
                was,
                will,
                _let_out(new, by_attribute),
                _change(was, will),
                silent,
                tuple(_harms(observed_instance, was, will, expected_after, situation, pushes)),
                expected_before,
                expected_after,
            )
        )
    return results


def _let_out(subscriptions: Sequence[Subscription], let_in: tuple[int, ...]) -> dict[str, tuple[str, ...]]:
    selectors_by_name = {}
    for index, subscription in enumerate(subscriptions):
        out = tuple(
            attribute for attribute, bits in zip(SELECTORS, let_in, strict=True) if not bits >> index & 1
        )
        if out:
            selectors_by_name[subscription.name] = out
    return selectors_by_name


def _change(before: Answer, after: Answer) -> str:
    if not before.metrics:
        return STARTS if after.metrics else NEVER
    if not after.metrics:
        return STOPS
    is_unchanged = before.metrics == after.metrics and before.push_interval_ms == after.push_interval_ms
    return SAME if is_unchanged else CHANGES


def _silent(instance: ObservedInstance, before: Answer, after: Answer, situation: Situation) -> str | None:
    """Why it will not push; None if it will."""
    if situation.release < FIRST_RELEASE:
        return OLD_BROKER
    if situation.plugin is False:
        return NO_PLUGIN
    if not after.metrics:
        return NO_MATCH
    if instance.pushed:
        return REFUSED if instance.rejected_pushes >= instance.pushes else None
    able = can_push(instance)
    if not able:
        return CANNOT_PUSH if able is False else UNKNOWN_LIBRARY
    if ApiKey.GET_TELEMETRY_SUBSCRIPTIONS not in instance.api_keys:
        if situation.plugin is None:
            return None
        return ADMIN_DEFAULT if instance.library == JAVA and instance.client_types == (ADMIN,) else OPTED_OUT
    return NEVER_PUSHED if before.metrics else None


def _harms(
    instance: ObservedInstance,
    before: Answer,
    after: Answer,
    will: Expected,
    situation: Situation,
    pushes: bool,
) -> list[str]:
    harms = []
    if pushes and after.metrics and instance.library == LIBRDKAFKA:
        hurt = hurt_when_nothing_matches(instance)
        kinds = [kind for kind in instance.client_types if kind != ADMIN] or [PRODUCER]
        none = any(not any(asked_for(m, after.metrics) for m in librdkafka_metrics(kind)) for kind in kinds)
        if hurt and none:
            harms.append(hurt)
    if not pushes:
        return harms
    if will.largest_compressed_bytes > situation.telemetry_max_bytes:
        harms.append(TOO_LARGE)
    elif will.largest_bytes > situation.telemetry_max_bytes and limits_decompressed_bytes(situation.release):
        harms.append(LOSES_FOR_GOOD)
    if instance.pushed and before.subscription_id != after.subscription_id:
        harms.append(LOSES_INTERVAL)
        if not exempts_after_errors(situation.release):
            harms.append(THROTTLED)
    return harms


def _deliveries(instances: Sequence[InstanceResult]) -> list[MetricDelivery]:
    groups: dict[tuple[str, str, str], list[InstanceResult]] = defaultdict(list)
    for result in instances:
        if result.silent is None and result.observed.library and not result.observed.is_share_consumer:
            for kind in result.observed.client_types:
                if kind != ADMIN:
                    key = (kind, result.observed.library, version_text(result.observed.library_version))
                    groups[key].append(result)
    deliveries = []
    for (kind, library, version), members in sorted(groups.items()):
        observed = {metric for member in members for metric in member.observed.metrics}
        pushed = any(member.observed.metrics for member in members)
        for metric, required in standard_metrics(kind).items():
            asked_count = sum(asked_for(metric, member.after.metrics) for member in members)
            was_asked = any(
                asked_for(metric, member.before.metrics) and member.observed.pushed for member in members
            )
            if not asked_count:
                state = "not asked for"
            elif (
                metric in observed
                or library == JAVA
                or (library == LIBRDKAFKA and metric in librdkafka_metrics(kind))
            ):
                state = "delivered"
            elif library == LIBRDKAFKA or (pushed and was_asked):
                state = "not delivered"
            else:
                state = "not known"
            deliveries.append(
                MetricDelivery(
                    kind, library, version, metric, required, state, metric in observed, len(members)
                )
            )
    return deliveries


def clients_of(result: CheckResult) -> list[dict[str, Any]]:
    """One row per client (principal, client id, software), largest first."""
    groups: dict[tuple[str | None, ...], list[InstanceResult]] = defaultdict(list)
    for result_of_instance in result.instances:
        client = result_of_instance.observed.instance
        key = (
            result_of_instance.observed.principal,
            client.client_id,
            client.software_name,
            client.software_version,
        )
        groups[key].append(result_of_instance)
    rows = []
    for (principal, client_id, name, version), members in groups.items():
        total = forecast.sum_of(member.expected_after for member in members)
        was = forecast.sum_of(member.expected_before for member in members)
        rows.append(
            {
                "principal": principal,
                "client_id": client_id,
                "client_software_name": name,
                "client_software_version": version,
                "owner": members[0].observed.owner,
                "instances": len(members),
                "matching_instances": sum(bool(member.after.subscriptions) for member in members),
                "subscriptions": sorted(
                    {result.after[i].name for member in members for i in member.after.subscriptions}
                ),
                "let_out_by": _let_out_by(members),
                "change": sorted({member.change for member in members}),
                "push_interval_ms": sorted({member.after.push_interval_ms for member in members}),
                "requested_metrics": sorted(
                    {metric for member in members for metric in member.after.metrics}
                ),
                "silent": sorted({member.silent for member in members if member.silent}),
                "harms": sorted({harm for member in members for harm in member.harms}),
                "basis": sorted(
                    {member.expected_after.basis for member in members if member.expected_after.basis}
                ),
                **{f"{what}_per_day_before": was[what] for what in ("pushes", "points", "bytes")},
                **{f"{what}_per_day": amount for what, amount in total.items()},
                "largest_push_bytes": max(member.expected_after.largest_bytes for member in members),
                "largest_push_compressed_bytes": max(
                    member.expected_after.largest_compressed_bytes for member in members
                ),
            }
        )
    return sorted(rows, key=lambda row: (-row["bytes_per_day"], str(row["client_id"]), str(row["principal"])))


def _let_out_by(members: Sequence[InstanceResult]) -> dict[str, list[str]]:
    selectors_by_name: dict[str, set[str]] = defaultdict(set)
    for member in members:
        for name, selectors in member.let_out.items():
            selectors_by_name[name].update(selectors)
    return {name: sorted(selectors) for name, selectors in sorted(selectors_by_name.items())}
