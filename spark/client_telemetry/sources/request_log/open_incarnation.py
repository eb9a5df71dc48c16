"""The life of a broker with which its log ended, as far as it was converted: what later lines go on with.

A log says nothing of a restart on the same release, so later lines are of the same life unless the broker's ApiVersions
answers changed: what comes of a log must not depend on how often somebody converted it. It lies beside the dump.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import zstandard

from client_telemetry.raw.writer import Continued
from client_telemetry.sources.dump_root import DumpRoot
from client_telemetry.sources.request_log.broker_survey import Endpoint, SurveyedBroker
from client_telemetry.sources.request_log.incarnations import (
    SILENCE_NANOS,
    BrokerLife,
    open_segment,
    own_ranges,
)

_FILE = "open_lives.json.zst"
_HOUR_NANOS = 3600 * 10**9
_OUT_OF_ORDER_NANOS = 10**9
"""Lines of threads that log at the same time may change places."""


@dataclass(frozen=True)
class OpenLife:
    """`name`: what the incarnation is made from. `since`, `last`: nanos of its first and latest line. `windows`: when there
    were lines, in the last hours. `dump`: a Continued. `watch`: connections that are open (connection_watch.py). The
    others as in SurveyedBroker and BrokerLife."""

    broker_id: int
    id_known_by: str
    endpoints: list[list[Any]]
    name: str
    since: int
    last: int
    api_versions: list[list[int]] | None
    features: list[list[Any]]
    candidates: list[str] | None
    release: str | None
    windows: list[list[int]]
    dump: dict[str, Any]
    watch: dict[str, Any]

    @staticmethod
    def of(
        broker: SurveyedBroker,
        life: BrokerLife,
        *,
        name: str,
        since: int,
        windows: Sequence[Sequence[int]],
        dump: Continued,
        watch: dict[str, Any],
    ) -> "OpenLife":
        """With those windows and manifests only that lines to come may still belong to: of this hour and the one before,
        in which a request may have come that is answered now."""
        begin = (broker.last // _HOUR_NANOS - 1) * _HOUR_NANOS
        return OpenLife(
            broker.broker_id,
            broker.id_known_by,
            [[list(each.stream), *each[1:]] for each in broker.endpoints],
            name,
            since,
            broker.last,
            None if life.api_versions is None else [list(each) for each in life.api_versions],
            [list(each) for each in life.features],
            None if life.candidates is None else list(life.candidates),
            life.release,
            [[max(first, begin), last] for first, last in windows if last >= begin],
            dump.since(begin)._asdict(),
            watch,
        )

    def known(self) -> dict[Endpoint, tuple[int, str]]:
        """Whose its endpoints are."""
        return {
            Endpoint(tuple(stream), *rest): (self.broker_id, self.id_known_by)
            for stream, *rest in self.endpoints
        }

    def is_of(self, broker: SurveyedBroker) -> bool:
        """Numbers of ours say little: then an endpoint has to be the same."""
        is_numbered = "numbered" in (self.id_known_by, broker.id_known_by)
        same = not self.known().keys().isdisjoint(broker.endpoints)
        return self.broker_id == broker.broker_id and (same or not is_numbered)

    def answers_as(self, life: BrokerLife) -> bool:
        """Whether neither an ApiVersions answer nor a server log tells the two apart."""
        if None not in (self.release, life.release) and self.release != life.release:
            return False
        if self.api_versions is None or life.api_versions is None:
            return True
        return own_ranges(self.api_versions) == own_ranges(life.api_versions)

    def goes_on_with(self, life: BrokerLife, broker: SurveyedBroker) -> bool:
        """`life`: the first of the broker in later lines. Numbers of connections that begin again are another process,
        unless a connection of before goes on."""
        if not self.answers_as(life) or life.since < self.last - _OUT_OF_ORDER_NANOS:
            return False
        if life.is_start:
            return False
        segment = min((s for log in broker.logs for s in log.segments), key=lambda s: s.first, default=None)
        if segment is None or segment.first <= self.last + SILENCE_NANOS:
            return True
        open_connections = self.watch["connections"]
        if any(connection in log for connection in open_connections for log in broker.logs):
            return True
        return not open_segment(open_connections, self.since, self.last).numbers_begin_again_in(segment)

    def told_by(self, life: BrokerLife) -> BrokerLife:
        """The life, with the answers that were seen before where it has none."""
        features = tuple((since, levels) for since, levels in self.features)
        life = life._replace(features=life.features or features, release=life.release or self.release)
        if life.api_versions is not None:
            return life
        candidates = None if self.candidates is None else tuple(self.candidates)
        return life._replace(api_versions=self._answers(), candidates=candidates)

    def continued(self) -> Continued:
        return Continued(**self.dump)

    def _answers(self) -> tuple[tuple[int, ...], ...] | None:
        return None if self.api_versions is None else tuple(tuple(each) for each in self.api_versions)


def read_open_lives(root: DumpRoot) -> list[OpenLife]:
    """Of the dump below `root`."""
    data = root.read(_FILE)
    return [OpenLife(**each) for each in json.loads(zstandard.decompress(data))] if data else []


def write_open_lives(folder: Path, before: Iterable[OpenLife], now: Iterable[OpenLife]) -> None:
    """Those of now, and those of before whose brokers have none now."""
    lives = {life.broker_id: life for life in [*before, *now]}
    text = json.dumps([asdict(life) for _, life in sorted(lives.items())])
    (folder / _FILE).write_bytes(zstandard.compress(text.encode()))
