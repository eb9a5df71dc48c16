"""Metrics of brokers (MBeans) that the target of a question no longer has, as a report tells them."""

from itertools import groupby

from client_telemetry.console.counted import counted
from client_telemetry.knowledge import broker_metrics
from client_telemetry.reports.upgrade.model import MetricChanges


def changes(from_release: str, to_release: str) -> MetricChanges:
    """As `client-telemetry knowledge metrics` has them."""
    if not_known := broker_metrics.not_known_for(from_release, to_release):
        return MetricChanges(not_known, (), None, None)
    between = broker_metrics.changes(from_release, to_release)
    unclear = len(between.not_seen) + len(between.retagged)
    return MetricChanges((), tuple(metric.text() for metric in between.gone), len(between.new), unclear)


def summary(found: MetricChanges, from_release: str, to_release: str) -> str:
    """One or two sentences."""
    if found.not_known_for:
        return f"Metrics of brokers of {' and '.join(found.not_known_for)} are not known."
    unclear = (
        f" {counted(found.not_seen, 'metric')} more showed on {from_release} alone when both were run, though {to_release} may have "
        f"{'it' if found.not_seen == 1 else 'them'}."
        if found.not_seen
        else ""
    )
    if not found.gone:
        return f"No metric of brokers is known to be gone in {to_release}.{unclear}"
    is_one = len(found.gone) == 1
    return (
        f"{counted(len(found.gone), 'metric')} of brokers on {from_release} {'is' if is_one else 'are'} gone in {to_release}: alerts and "
        f"dashboards on {'it' if is_one else 'them'} show nothing.{unclear}"
    )


def lists(found: MetricChanges) -> list[str]:
    """A line for each type of MBean.

    >>> lists(MetricChanges((), ("a:type=B,name=C", "a:type=B,name=D,topic=*", "a:type=E"), 0, 0))
    ['a:type=B: C; D,topic=*', 'a:type=E']
    """
    return [
        f"{bean}: {'; '.join(names)}" if (names := [name for _, name in of_bean if name]) else bean
        for bean, of_bean in groupby(map(_parts, found.gone), key=lambda parts: parts[0])
    ]


def _parts(metric: str) -> tuple[str, str]:
    """The MBean's domain and type, and its name with its tags."""
    bean, _, name = metric.partition(",")
    return bean, name.removeprefix("name=")
