"""The incarnation of a broker with which its log ended, as far as it was converted: what later lines go on with.

A log says nothing of a restart on the same release, so later lines are of the same incarnation unless the broker's ApiVersions
answers changed: what comes of a log must not depend on how often somebody converted it. It lies beside the dump.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson
import zstandard

from client_telemetry.formats.raw.writer import Continued
from client_telemetry.formats.typed_values import typed
from client_telemetry.sources.dump_root import DumpRoot
from client_telemetry.sources.request_log.connection_ids import Endpoint
from client_telemetry.sources.request_log.incarnations import (
    SILENCE_NANOS,
    ApiRanges,
    BrokerIncarnation,
    open_segment,
    own_ranges,
)
from client_telemetry.sources.request_log.surveyed import SurveyedBroker

_FILE = "open_lives.json.zst"
HOUR_NANOS = 3600 * 10**9
_OUT_OF_ORDER_NANOS = 10**9
"""Lines of threads that log at the same time may be swapped."""


@dataclass(frozen=True)
class OpenIncarnation:
    """`name`: what the incarnation's id is derived from. `since`, `last`: time (ns) of its first and latest line.
    `windows`: when there were lines, in the last hours. `dump`: a Continued. `watch`: open connections
    (connection_watch.py). `failed_logins`: [begin of an hour (ns), count], of the last hours. The other fields are as in
    SurveyedBroker and BrokerIncarnation.
    """

    broker_id: int
    id_known_by: str
    endpoints: tuple[tuple[tuple[str, str], str, int, str], ...]
    name: str
    since: int
    last: int
    api_versions: ApiRanges | None
    features: tuple[tuple[int, dict[str, int]], ...]
    candidates: tuple[str, ...] | None
    release: str | None
    windows: list[list[int]]
    dump: dict[str, Any]
    watch: dict[str, Any]
    failed_logins: list[list[int]] = field(default_factory=list)
    settings: dict[str, str] | None = None

    def known(self) -> dict[Endpoint, tuple[int, str]]:
        """The broker of each of its endpoints."""
        return {Endpoint(*endpoint): (self.broker_id, self.id_known_by) for endpoint in self.endpoints}

    def is_of(self, broker: SurveyedBroker) -> bool:
        """Numbers that we assigned prove little: then an endpoint has to be the same."""
        is_numbered = "numbered" in (self.id_known_by, broker.id_known_by)
        has_common_endpoint = not self.known().keys().isdisjoint(broker.endpoints)
        return self.broker_id == broker.broker_id and (has_common_endpoint or not is_numbered)

    def answers_as(self, incarnation: BrokerIncarnation) -> bool:
        """Whether neither an ApiVersions answer nor a server log distinguishes the two."""
        if None not in (self.release, incarnation.release) and self.release != incarnation.release:
            return False
        if self.api_versions is None or incarnation.api_versions is None:
            return True
        return own_ranges(self.api_versions) == own_ranges(incarnation.api_versions)

    def is_continued_by(self, incarnation: BrokerIncarnation, broker: SurveyedBroker) -> bool:
        """`incarnation`: the broker's first one in later lines. Connection numbers that start over mean another
        process, unless an earlier connection continues.
        """
        if not self.answers_as(incarnation) or incarnation.since < self.last - _OUT_OF_ORDER_NANOS:
            return False
        if incarnation.is_start:
            return False
        segment = min((s for log in broker.logs for s in log.segments), key=lambda s: s.first, default=None)
        if segment is None or segment.first <= self.last + SILENCE_NANOS:
            return True
        open_connections = self.watch["connections"]
        if any(connection in log for connection in open_connections for log in broker.logs):
            return True
        return not open_segment(open_connections, self.since, self.last).numbers_begin_again_in(segment)

    def completed(self, incarnation: BrokerIncarnation) -> BrokerIncarnation:
        """The incarnation with the earlier feature levels, and with the earlier answers if it has none."""
        features = list(self.features)
        for since, levels in incarnation.features:
            if not features or features[-1][1] != levels:
                features.append((since, levels))
        incarnation = incarnation._replace(
            features=tuple(features),
            release=incarnation.release or self.release,
            settings=self.settings if incarnation.settings is None else incarnation.settings,
        )
        if incarnation.api_versions is not None:
            return incarnation
        return incarnation._replace(api_versions=self.api_versions, candidates=self.candidates)

    def continued(self) -> Continued:
        return Continued(**self.dump)


def read_open_incarnations(root: DumpRoot) -> list[OpenIncarnation]:
    """The open incarnations in the dump below `root`."""
    data = root.read(_FILE)
    return (
        [typed(OpenIncarnation, fields) for fields in orjson.loads(zstandard.decompress(data))]
        if data
        else []
    )


def write_open_incarnations(
    folder: Path, before: Iterable[OpenIncarnation], now: Iterable[OpenIncarnation]
) -> None:
    """The current ones, and earlier ones of brokers that have none now."""
    incarnations = {incarnation.broker_id: incarnation for incarnation in [*before, *now]}
    fields = [vars(incarnation) for _, incarnation in sorted(incarnations.items())]
    # NamedTuples as lists.
    (folder / _FILE).write_bytes(zstandard.compress(orjson.dumps(fields, default=list)))
