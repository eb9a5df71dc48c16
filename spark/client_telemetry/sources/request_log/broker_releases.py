"""Which release a broker incarnation runs: from its server log, from what was specified, from its ApiVersions answers.

Specified as `4.0.1` for all brokers, or `1=3.9.1,2=4.0.1` by node id, and several if brokers went from one to the other
(`3.9.1,4.0.1`, `1=3.9.1,1=4.0.1`): each incarnation runs the one that matches its answers.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain

from client_telemetry.knowledge import releases
from client_telemetry.knowledge.releases import UnusableRelease
from client_telemetry.sources.adapter import Refused
from client_telemetry.sources.request_log.incarnations import BrokerIncarnation
from client_telemetry.sources.request_log.surveyed import Survey, SurveyedBroker

_PART = re.compile(r"(?:(?P<node>\d{1,9})=)?(?P<release>[^=,]+)")


class UnclearRelease(Refused):
    """The release that the brokers run is not in the logs, or several explain them; the message lists them."""


@dataclass(frozen=True)
class BrokerReleases:
    """`specified`: node id (None = any) and release. `contradicted`: brokers whose logs show another release, or none of
    Apache Kafka's; they run what was specified nevertheless.
    """

    specified: tuple[tuple[int | None, str], ...] = ()
    contradicted: tuple[int, ...] = ()

    @staticmethod
    def parse(text: str | None) -> "BrokerReleases":
        """Raises UnusableRelease.

        >>> BrokerReleases.parse("1=3.9.1,4.0.1").specified
        ((1, '3.9.1'), (None, '4.0.1'))
        """
        specified = []
        for part in text.split(",") if text else ():
            match = _PART.fullmatch(part.strip())
            if match is None:
                raise UnusableRelease(
                    f"{text!r} is not a release: write 3.9.1 for all brokers, or 1=3.9.1,2=4.0.1 by node id"
                )
            node = match["node"]
            specified.append((None if node is None else int(node), releases.exact(match["release"])))
        return BrokerReleases(tuple(specified))

    def of(self, broker_id: int, incarnation: BrokerIncarnation) -> str:
        """Empty if nothing proves it; what is only likely is left to the readers of its ApiVersions answers."""
        given = self.given(broker_id)
        if len(given) == 1 and broker_id in self.contradicted:
            return given[0]
        if incarnation.release:
            return incarnation.release
        candidates = incarnation.candidates or ()
        fitting = [release for release in given if not candidates or release in candidates]
        if len(fitting) == 1:
            return fitting[0]
        return candidates[0] if is_proven(candidates) else ""

    def given(self, broker_id: int) -> list[str]:
        """The releases specified for a broker: by its node id, otherwise for any."""
        own = [release for node, release in self.specified if node == broker_id]
        return list(dict.fromkeys(own or [release for node, release in self.specified if node is None]))


def release_to_leave(survey: Survey, specified: str | None) -> tuple[BrokerReleases, str]:
    """What the brokers run, and the release to upgrade from: the only one specified, otherwise the one that all run,
    otherwise the oldest that any of them ran: what a rolling upgrade leaves behind.

    What was specified is believed where the logs contradict it (BrokerReleases.contradicted). Raises UnclearRelease, and
    UnusableRelease for what is not a release.
    """
    given = BrokerReleases.parse(specified)
    nodes = {broker.broker_id for broker in survey.brokers}
    for node, _ in given.specified:
        if node is not None and node not in nodes:
            there = f"broker{'s' * (len(nodes) > 1)} {', '.join(map(str, sorted(nodes)))}"
            raise UnclearRelease(f"a release is given for broker {node}, but the logs are of {there}")
    given = replace(given, contradicted=_contradicted(survey, given))
    if given.specified:
        named = {release for _, release in given.specified}
        return given, min(named, key=releases.parse)
    ran_by = [[given.of(broker.broker_id, each) for each in broker.incarnations] for broker in survey.brokers]
    ran = {by_broker[-1] for by_broker in ran_by if by_broker}
    if ran and "" not in ran:
        known_releases = [
            release for release in {*chain.from_iterable(ran_by)} if release in releases.known()
        ]
        if known_releases:
            return given, min(ran if len(ran) == 1 else known_releases, key=releases.parse)
    latest = [broker.incarnations[-1].candidates for broker in survey.brokers]
    explained = [set(candidates) for candidates in latest if candidates]
    possible = tuple(set.intersection(*explained)) if explained and None not in latest else ()
    if is_proven(possible):
        return given, possible[0]
    raise UnclearRelease(f"the logs do not show which exact release the brokers run ({_answers(survey)})")


def _contradicted(survey: Survey, given: BrokerReleases) -> tuple[int, ...]:
    """Brokers for which a release was specified that none of their incarnations shows. One that was specified for any
    broker may be what only others ran: a rolling upgrade.
    """
    contradicting = [
        broker for broker in survey.brokers if _shows_none_of(broker, given.given(broker.broker_id))
    ]
    if len(contradicting) < len(survey.brokers):
        contradicting = [
            broker
            for broker in contradicting
            if any(node == broker.broker_id for node, _ in given.specified)
            or not any(incarnation.possible for incarnation in broker.incarnations)
        ]
    return tuple(broker.broker_id for broker in contradicting)


def _shows_none_of(broker: SurveyedBroker, given: Sequence[str]) -> bool:
    known = [each.possible for each in broker.incarnations if each.possible is not None]
    return bool(given and known) and not any(release in possible for possible in known for release in given)


def contradictions(survey: Survey, releases: BrokerReleases) -> list[str]:
    """One line for each broker that is taken to run what was specified although its logs show something else."""
    brokers = [broker for broker in survey.brokers if broker.broker_id in releases.contradicted]
    return [
        f"broker {broker.broker_id} is taken to run {' or '.join(releases.given(broker.broker_id))} as specified, but "
        f"its log shows {_shown(broker.incarnations[-1])}"
        for broker in brokers
    ]


def _shown(incarnation: BrokerIncarnation) -> str:
    if incarnation.possible is None:
        return "no ApiVersions response"
    return " or ".join(incarnation.possible) or "ApiVersions responses that match no release of Apache Kafka"


def is_proven(candidates: Sequence[str]) -> bool:
    """Whether the releases that explain ApiVersions answers prove one: it is the only one, and a later patch of its line
    is known to answer differently. A patch later than the last known one may answer the same.

    >>> is_proven(["4.0.0"]), is_proven(["4.4.0"])
    (True, False)
    """
    if len(candidates) != 1:
        return False
    release = candidates[0]
    of_line = [known for known in releases.known() if releases.line(known) == releases.line(release)]
    return release != of_line[-1]


def _answers(survey: Survey) -> str:
    """`brokers 1, 2: 4.3.0 or 4.3.1; broker 3: no ApiVersions response in the log`."""
    texts: dict[str, list[int]] = {}
    for broker in survey.brokers:
        possible = broker.incarnations[-1].possible
        text = "no ApiVersions response in the log" if possible is None else " or ".join(possible)
        texts.setdefault(text or "responses that match no release of Apache Kafka", []).append(
            broker.broker_id
        )
    return "; ".join(
        f"broker{'s' * (len(ids) > 1)} {', '.join(map(str, ids))}: {text}" for text, ids in texts.items()
    )
