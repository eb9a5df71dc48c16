"""Which release a broker incarnation runs: what its server log says, what somebody said, what its ApiVersions answers prove.

Spelled `4.0.1` for all brokers, or `1=3.9.1,2=4.0.1` by node id, and several where brokers went from one to the other
(`3.9.1,4.0.1`, `1=3.9.1,1=4.0.1`): each incarnation runs the one that its answers fit.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from client_telemetry.compatibility import releases
from client_telemetry.compatibility.releases import UnusableRelease
from client_telemetry.sources.adapter import Refused
from client_telemetry.sources.request_log.broker_survey import Survey
from client_telemetry.sources.request_log.incarnations import BrokerIncarnation

_PART = re.compile(r"(?:(?P<node>\d{1,9})=)?(?P<release>[^=,]+)")


class ReleaseNotTold(Refused):
    """The release that the brokers run is not in the logs, or more than one explains them; the message lists them."""


@dataclass(frozen=True)
class BrokerReleases:
    """`said`: node id, None = any, and release."""

    said: tuple[tuple[int | None, str], ...] = ()

    @staticmethod
    def parse(text: str | None) -> "BrokerReleases":
        """Raises UnusableRelease.

        >>> BrokerReleases.parse("1=3.9.1,4.0.1").said
        ((1, '3.9.1'), (None, '4.0.1'))
        """
        said = []
        for part in text.split(",") if text else ():
            found = _PART.fullmatch(part.strip())
            if found is None:
                raise UnusableRelease(
                    f"{text!r} is no release: write 3.9.1 for all brokers, or 1=3.9.1,2=4.0.1 by node id"
                )
            node = found["node"]
            said.append((None if node is None else int(node), releases.exact(found["release"])))
        return BrokerReleases(tuple(said))

    def of(self, broker_id: int, incarnation: BrokerIncarnation) -> str:
        """Empty where nothing tells; what is only likely is left to those who read its ApiVersions answers."""
        if incarnation.release:
            return incarnation.release
        own = [release for node, release in self.said if node == broker_id]
        said = list(dict.fromkeys(own or [release for node, release in self.said if node is None]))
        fitting = [
            release for release in said if not incarnation.candidates or release in incarnation.candidates
        ]
        if len(fitting) == 1 and (incarnation.candidates is None or incarnation.candidates or own):
            return fitting[0]
        return (
            incarnation.candidates[0] if incarnation.candidates and is_proven(incarnation.candidates) else ""
        )


def release_to_leave(survey: Survey, specified: str | None) -> tuple[BrokerReleases, str]:
    """What the brokers run, and of it the release to upgrade from: the only one that was said, otherwise the one that all
    run, otherwise the oldest that one of them ran: what a rolling upgrade leaves.

    Raises ReleaseNotTold, also where what was said contradicts every broker, and UnusableRelease for what is no release.
    """
    said = BrokerReleases.parse(specified)
    nodes = {broker.broker_id for broker in survey.brokers}
    for node, _ in said.said:
        if node is not None and node not in nodes:
            there = ", ".join(map(str, sorted(nodes)))
            raise ReleaseNotTold(
                f"broker {node}, of which a release is given, has no log here; there are {there}"
            )
    answers = [
        incarnation.candidates
        for broker in survey.brokers
        for incarnation in broker.incarnations
        if incarnation.candidates
    ]
    of_logs = {
        incarnation.release
        for broker in survey.brokers
        for incarnation in broker.incarnations
        if incarnation.release
    }
    for _, release in said.said:
        if (answers or of_logs) and release not in of_logs and not any(release in each for each in answers):
            raise ReleaseNotTold(f"no broker in the logs answers as {release} does: {_answers(survey)}")
    if said.said:
        named = {release for _, release in said.said}
        return said, min(named, key=releases.parse)
    ran = {
        said.of(broker.broker_id, incarnation)
        for broker in survey.brokers
        for incarnation in broker.incarnations[-1:]
    }
    if ran and "" not in ran:
        earlier = {
            said.of(broker.broker_id, incarnation)
            for broker in survey.brokers
            for incarnation in broker.incarnations
        } - {""}
        known = [release for release in earlier | ran if release in releases.known()]
        if known:
            return said, min(ran if len(ran) == 1 else known, key=releases.parse)
    latest = [broker.incarnations[-1].candidates for broker in survey.brokers]
    explained = [set(candidates) for candidates in latest if candidates]
    possible = tuple(set.intersection(*explained)) if explained and None not in latest else ()
    if is_proven(possible):
        return said, possible[0]
    raise ReleaseNotTold(f"the logs do not tell the exact release that the brokers run ({_answers(survey)})")


def is_proven(candidates: Sequence[str]) -> bool:
    """Whether releases that explain ApiVersions answers prove one: there is no other, and a later patch of its line is
    known to answer otherwise. Of the last known patch a later one may answer alike.

    >>> is_proven(["4.0.0"]), is_proven(["4.4.0"])
    (True, False)
    """
    if len(candidates) != 1:
        return False
    release = candidates[0]
    of_line = [each for each in releases.known() if releases.line(each) == releases.line(release)]
    return release != of_line[-1]


def _answers(survey: Survey) -> str:
    """`brokers 1, 2: 4.3.0 or 4.3.1; broker 3: no ApiVersions answer in the log`."""
    texts: dict[str, list[int]] = {}
    for broker in survey.brokers:
        incarnation = broker.incarnations[-1]
        found = (incarnation.release,) if incarnation.release else incarnation.candidates
        text = "no ApiVersions answer in the log" if found is None else " or ".join(found)
        texts.setdefault(text or "answers that fit no release of Apache Kafka", []).append(broker.broker_id)
    return "; ".join(
        f"broker{'s' * (len(ids) > 1)} {', '.join(map(str, ids))}: {text}" for text, ids in texts.items()
    )
