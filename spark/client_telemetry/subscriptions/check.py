"""A proposed change of subscriptions against the clients of the days of evidence: whom it matches, what they will push,
whom it hurts, who stays silent."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from client_telemetry.subscriptions import forecast
from client_telemetry.subscriptions.advice import doubts, instead
from client_telemetry.subscriptions.answers import Answer, ConfiguredSubscriptions
from client_telemetry.subscriptions.broker_memory import (
    exempts_after_errors,
    limits_decompressed_bytes,
)
from client_telemetry.subscriptions.configuration import SELECTORS, RefusedByKafka, Subscription, parse
from client_telemetry.subscriptions.configured_file import Resource
from client_telemetry.subscriptions.forecast import Expected, LakeSizes, Peers
from client_telemetry.subscriptions.java_runtime import JavaRuntime
from client_telemetry.subscriptions.observed import (
    ABORTS,
    ADMIN,
    DISCONNECTS,
    GET_TELEMETRY_SUBSCRIPTIONS,
    JAVA,
    LIBRDKAFKA,
    PRODUCER,
    ObservedInstance,
    can_push,
    hurt_when_nothing_matches,
    known_metrics,
    librdkafka_metrics,
    standard_metrics,
    version_text,
)
from client_telemetry.subscriptions.proposal import Operation, propose

STARTS, STOPS, CHANGES, SAME, NEVER = "starts", "stops", "changes", "same", "not asked"
LOSES_FOR_GOOD, TOO_LARGE, LOSES_INTERVAL, THROTTLED = (
    "never pushes again",
    "refused as too large",
    "loses one interval",
    "throttled",
)
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
(
    NO_PLUGIN,
    OLD_BROKER,
    CANNOT_PUSH,
    UNKNOWN_LIBRARY,
    OPTED_OUT,
    ADMIN_DEFAULT,
    REFUSED,
    NEVER_PUSHED,
    NO_MATCH,
) = (
    "no plugin",
    "broker before 3.7",
    "library cannot push",
    "library not known",
    "opted out",
    "admin client",
    "refused",
    "asked and never pushed",
    "no match",
)
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


@dataclass(frozen=True)
class Situation:
    """Where a proposal would be applied. `plugin`: whether brokers have one (they offer GetTelemetrySubscriptions); None:
    not known. `days`: of the evidence."""

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
    """`let_out`: name of a subscription that does not match -> the selectors that let the instance out."""

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
    for, and the library has it not), `not asked for`, `not known`. `observed`: seen in the days of evidence."""

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
        """Per day: what came in the days of evidence, under whatever was configured then; expected without the change,
        and with it."""
        return {
            "observed": forecast.observed_total(
                (each.observed for each in self.instances), self.situation.days
            ),
            "before": forecast.sum_of(each.expected_before for each in self.instances),
            "after": forecast.sum_of(each.expected_after for each in self.instances),
        }

    def counts(self) -> dict[str, int]:
        """Instances by change."""
        return dict(Counter(each.change for each in self.instances))


def check(
    configured: Sequence[Resource],
    operations: Sequence[Operation],
    observed: Sequence[ObservedInstance],
    situation: Situation,
    java: JavaRuntime,
) -> CheckResult:
    """Raises UnsureMatch where Java cannot tell whether a selector matches."""
    proposed = propose(configured, operations)
    release = situation.release
    refusals: list[Refusal] = []
    old, _ = _accepted(proposed.before, {}, release, java)
    new, refused = _accepted(proposed.after, {each.name: each for each in old}, release, java)
    refusals += refused
    remarks = list(proposed.remarks)
    known = known_metrics() | {metric for each in observed for metric in each.metrics}
    resources = {each.name: each for each in proposed.after}
    changed = {each.name for each in operations}
    kept = {each.name for each in old}
    for subscription in new:
        if subscription.name in changed or subscription.name not in kept:
            found = doubts(subscription, resources[subscription.name], release, known)
            remarks += [f"{subscription.name}: {doubt}" for doubt in found]
    instances = _instances(old, new, observed, situation, java)
    return CheckResult(
        situation,
        tuple(operations),
        tuple(configured),
        tuple(old),
        tuple(new),
        tuple(refusals),
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
    """What is in force, and what Kafka refuses; for that, what was in force under the name before."""
    found, refused = [], []
    for resource in resources:
        try:
            found.append(parse(resource.name, resource.properties, release, java))
        except RefusedByKafka as error:
            advice = instead(error, resource)
            refused.append(Refusal(resource.name, error.error, error.message, error.by_controller, advice))
            if resource.name in instead_of:
                found.append(instead_of[resource.name])
    return found, refused


def _instances(
    old: Sequence[Subscription],
    new: Sequence[Subscription],
    observed: Sequence[ObservedInstance],
    situation: Situation,
    java: JavaRuntime,
) -> list[InstanceResult]:
    clients = [each.instance for each in observed]
    before = list(ConfiguredSubscriptions(old, situation.release, java).answers(clients))
    configured = ConfiguredSubscriptions(new, situation.release, java)
    after = list(configured.answers(clients))
    let_in = list(configured.let_in(clients))
    peers = Peers(observed)
    found = []
    for each, was, will, by_attribute in zip(observed, before, after, let_in, strict=True):
        silent = _silent(each, was, will, situation)
        pushes = silent is None
        expected_before = forecast.expected(each, was, was, peers, situation.days, each.pushed)
        expected_after = forecast.expected(each, was, will, peers, situation.days, pushes)
        found.append(
            InstanceResult(
                each,
                was,
                will,
                _let_out(new, by_attribute),
                _change(was, will),
                silent,
                tuple(_harms(each, was, will, expected_after, situation, pushes)),
                expected_before,
                expected_after,
            )
        )
    return found


def _let_out(subscriptions: Sequence[Subscription], let_in: tuple[int, ...]) -> dict[str, tuple[str, ...]]:
    found = {}
    for index, subscription in enumerate(subscriptions):
        out = tuple(
            attribute for attribute, bits in zip(SELECTORS, let_in, strict=True) if not bits >> index & 1
        )
        if out:
            found[subscription.name] = out
    return found


def _change(before: Answer, after: Answer) -> str:
    if not before.metrics:
        return STARTS if after.metrics else NEVER
    if not after.metrics:
        return STOPS
    same = before.metrics == after.metrics and before.push_interval_ms == after.push_interval_ms
    return SAME if same else CHANGES


def _silent(each: ObservedInstance, before: Answer, after: Answer, situation: Situation) -> str | None:
    """Why it will not push; None: it will."""
    if situation.release < FIRST_RELEASE:
        return OLD_BROKER
    if situation.plugin is False:
        return NO_PLUGIN
    if not after.metrics:
        return NO_MATCH
    if each.pushed:
        return REFUSED if each.rejected_pushes >= each.pushes else None
    able = can_push(each)
    if not able:
        return CANNOT_PUSH if able is False else UNKNOWN_LIBRARY
    if GET_TELEMETRY_SUBSCRIPTIONS not in each.api_keys:
        if situation.plugin is None:
            return None
        return ADMIN_DEFAULT if each.library == JAVA and each.client_types == (ADMIN,) else OPTED_OUT
    return NEVER_PUSHED if before.metrics else None


def _harms(
    each: ObservedInstance, before: Answer, after: Answer, will: Expected, situation: Situation, pushes: bool
) -> list[str]:
    found = []
    if pushes and after.metrics and each.library == LIBRDKAFKA:
        hurt = hurt_when_nothing_matches(each)
        kinds = [kind for kind in each.client_types if kind != ADMIN] or [PRODUCER]
        none = any(
            not any(forecast.asked_for(m, after.metrics) for m in librdkafka_metrics(kind)) for kind in kinds
        )
        if hurt and none:
            found.append(hurt)
    if not pushes:
        return found
    if will.largest_compressed_bytes > situation.telemetry_max_bytes:
        found.append(TOO_LARGE)
    elif will.largest_bytes > situation.telemetry_max_bytes and limits_decompressed_bytes(situation.release):
        found.append(LOSES_FOR_GOOD)
    if each.pushed and before.subscription_id != after.subscription_id:
        found.append(LOSES_INTERVAL)
        if not exempts_after_errors(situation.release):
            found.append(THROTTLED)
    return found


def _deliveries(instances: Sequence[InstanceResult]) -> list[MetricDelivery]:
    groups: dict[tuple[str, str, str], list[InstanceResult]] = defaultdict(list)
    for each in instances:
        if each.silent is None and each.observed.library and not each.observed.is_share_consumer:
            for kind in each.observed.client_types:
                if kind != ADMIN:
                    key = (kind, each.observed.library, version_text(each.observed.library_version))
                    groups[key].append(each)
    found = []
    for (kind, library, version), members in sorted(groups.items()):
        observed = {metric for each in members for metric in each.observed.metrics}
        pushed = any(each.observed.metrics for each in members)
        for metric, required in standard_metrics(kind).items():
            asked = sum(forecast.asked_for(metric, each.after.metrics) for each in members)
            was_asked = any(
                forecast.asked_for(metric, each.before.metrics) and each.observed.pushed for each in members
            )
            if not asked:
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
            found.append(
                MetricDelivery(
                    kind, library, version, metric, required, state, metric in observed, len(members)
                )
            )
    return found


def clients_of(result: CheckResult) -> list[dict[str, Any]]:
    """One row per client (principal, client id, software), largest first."""
    groups: dict[tuple[str | None, ...], list[InstanceResult]] = defaultdict(list)
    for each in result.instances:
        client = each.observed.instance
        key = (each.observed.principal, client.client_id, client.software_name, client.software_version)
        groups[key].append(each)
    rows = []
    for (principal, client_id, name, version), members in groups.items():
        total = forecast.sum_of(each.expected_after for each in members)
        was = forecast.sum_of(each.expected_before for each in members)
        rows.append(
            {
                "principal": principal,
                "client_id": client_id,
                "client_software_name": name,
                "client_software_version": version,
                "owner": members[0].observed.owner,
                "instances": len(members),
                "matching_instances": sum(bool(each.after.subscriptions) for each in members),
                "subscriptions": sorted(
                    {result.after[i].name for each in members for i in each.after.subscriptions}
                ),
                "let_out_by": _let_out_by(members),
                "change": sorted({each.change for each in members}),
                "push_interval_ms": sorted({each.after.push_interval_ms for each in members}),
                "requested_metrics": sorted({metric for each in members for metric in each.after.metrics}),
                "silent": sorted({each.silent for each in members if each.silent}),
                "harms": sorted({harm for each in members for harm in each.harms}),
                "basis": sorted({each.expected_after.basis for each in members if each.expected_after.basis}),
                "pushes_per_day_before": was["pushes"],
                "points_per_day_before": was["points"],
                "bytes_per_day_before": was["bytes"],
                "pushes_per_day": total["pushes"],
                "points_per_day": total["points"],
                "bytes_per_day": total["bytes"],
                "compressed_bytes_per_day": total["compressed_bytes"],
                "largest_push_bytes": max(each.expected_after.largest_bytes for each in members),
                "largest_push_compressed_bytes": max(
                    each.expected_after.largest_compressed_bytes for each in members
                ),
            }
        )
    return sorted(rows, key=lambda row: (-row["bytes_per_day"], str(row["client_id"]), str(row["principal"])))


def _let_out_by(members: Sequence[InstanceResult]) -> dict[str, list[str]]:
    found: dict[str, set[str]] = defaultdict(set)
    for each in members:
        for name, selectors in each.let_out.items():
            found[name].update(selectors)
    return {name: sorted(selectors) for name, selectors in sorted(found.items())}
