"""States that a run keeps for the next one, which then reads the new reports only: as text in lines of JSON.

What is kept is a shortcut, never a source: whatever differs from what it came from (a report, a statement, a threshold, the code) makes
the points after it unusable, and the states are computed from the reports again.
"""

import dataclasses
import datetime as dt
import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Final

from client_telemetry.campaign.answers import Facts
from client_telemetry.campaign.plan import Campaign
from client_telemetry.campaign.states import POINTS, Point, StateChange
from client_telemetry.campaign.tracks import Track
from client_telemetry.formats.typed_values import typed

FORMAT: Final = 1


class NotKept(ValueError):
    """A text is not what a run kept."""


@dataclass(frozen=True)
class KeptPoint:
    """`basis`: a digest of all but the reports that the point came from. `tracks`: as text, which is read where it is needed."""

    cluster: str
    day: dt.date
    basis: str
    tracks: str

    def point(self) -> Point:
        """Raises NotKept."""
        try:
            return Point(self.day, typed(tuple[Track, ...], json.loads(self.tracks)))
        except (LookupError, TypeError, ValueError, AttributeError):
            raise NotKept("tracks that are none") from None


@dataclass(frozen=True)
class Kept:
    """`reports`: all that states came from, by digest. `changes`: of all clusters. `points`: of each
    cluster at most POINTS, oldest first.
    """

    reports: Mapping[str, Facts]
    changes: tuple[StateChange, ...]
    points: tuple[KeptPoint, ...]


NOTHING: Final = Kept({}, (), ())


def basis(campaign: Campaign, day: dt.date) -> str:
    """Digest of what a point of that day depends on beside reports: target, thresholds, statements made by then, and the code."""
    statements = [each for each in campaign.statements if each.on <= day]
    said = [FORMAT, _code(), campaign.name, campaign.to_release, campaign.gate, statements]
    return hashlib.sha256(_json(said).encode()).hexdigest()


@cache
def _code() -> str:
    digest = hashlib.sha256()
    for file in sorted(files(__package__).iterdir(), key=lambda file: file.name):
        if file.name.endswith(".py"):
            digest.update(file.read_bytes())
    return digest.hexdigest()


def kept_point(campaign: Campaign, cluster: str, point: Point) -> KeptPoint:
    return KeptPoint(cluster, point.day, basis(campaign, point.day), _json(point.tracks))


def newest_points(points: Iterable[KeptPoint]) -> tuple[KeptPoint, ...]:
    """Of each cluster the newest POINTS, oldest first; of one day the last."""
    of_cluster: dict[str, dict[dt.date, KeptPoint]] = {}
    for point in points:
        of_cluster.setdefault(point.cluster, {})[point.day] = point
    return tuple(by_day[day] for by_day in of_cluster.values() for day in sorted(by_day)[-POINTS:])


def kept_text(kept: Kept) -> str:
    """Two lines, then two for each point."""
    lines = [_json(kept.reports), _json(kept.changes)]
    for point in kept.points:
        lines += [_json([point.cluster, point.day, point.basis]), point.tracks]
    return "\n".join(lines) + "\n"


def read_kept(text: str) -> Kept:
    """Raises NotKept."""
    try:
        reports, changes, *points = text.split("\n")[:-1]
        heads = [json.loads(line) for line in points[::2]]
        return Kept(
            {digest: typed(Facts, facts) for digest, facts in json.loads(reports).items()},
            typed(tuple[StateChange, ...], json.loads(changes)),
            tuple(
                KeptPoint(cluster, dt.date.fromisoformat(day), of, tracks)
                for (cluster, day, of), tracks in zip(heads, points[1::2], strict=True)
            ),
        )
    except (LookupError, TypeError, ValueError, AttributeError):
        raise NotKept("not what a run of a campaign kept") from None


def _json(value: object) -> str:
    return json.dumps(value, default=_plain, separators=(",", ":"))


def _plain(value: object) -> object:
    if isinstance(value, dt.date):
        return value.isoformat()
    if dataclasses.is_dataclass(value):
        return vars(value)
    raise TypeError(type(value).__name__)
