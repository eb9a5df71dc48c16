"""Keys of the objects in a raw location: what an object's name says about its content.

`<raw>/v1/dataset=<dataset>/cluster=<id>/dt=YYYY-MM-DD/hour=HH/broker=<id>/<file name>`

Reading and writing the objects themselves is done elsewhere.
"""

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Literal, cast, get_args

from client_telemetry.formats.raw.errors import BadObjectKey

Dataset = Literal["client_pushes", "connections", "manifests"]

_FOLDERS = re.compile(
    r"(?P<prefix>(?:.*/)?)v1"
    r"/dataset=(?P<dataset>[^/]+)"
    r"/cluster=(?P<cluster_id>[^/]+)"
    r"/dt=(?P<dt>[0-9]{4}-[0-9]{2}-[0-9]{2})"
    r"/hour=(?P<hour>[01][0-9]|2[0-3])"
    r"/broker=(?P<broker_id>-?[0-9]{1,10})"
    r"/(?P<file_name>[^/]+)",
    re.DOTALL,
)
_RECORDS_NAME = re.compile(r"([0-9a-f]{32})-([0-9]{20})-([0-9]{20})(\.zst|\.gz|\.bin)")
_MANIFEST_NAME = re.compile(r"([0-9a-f]{32})\.json")


@dataclass(frozen=True, slots=True)
class ObjectKey:
    """A parsed key. `dt` and `hour` are the broker's receive time, UTC.

    `incarnation` is 32 lower-case hex digits. It and the two sequences (inclusive) are None if the file name does not
    follow the contract: the folders then still say where the records belong, the name says nothing. A manifest has no
    sequences.
    """

    prefix: str
    dataset: Dataset
    cluster_id: str
    dt: date
    hour: int
    broker_id: int
    file_name: str
    incarnation: str | None = None
    first_sequence: int | None = None
    last_sequence: int | None = None

    @property
    def key(self) -> str:
        """The key from `v1/` on, as listed in manifests, without the prefix, which differs between copies."""
        return (
            f"v1/dataset={self.dataset}/cluster={self.cluster_id}/dt={self.dt.isoformat()}"
            f"/hour={self.hour:02d}/broker={self.broker_id}/{self.file_name}"
        )

    @property
    def hour_start(self) -> datetime:
        """Beginning of the hour, aware, UTC."""
        return datetime(self.dt.year, self.dt.month, self.dt.day, self.hour, tzinfo=UTC)

    def __str__(self) -> str:
        return self.prefix + self.key


def parse_object_key(key: str) -> ObjectKey:
    """Read a key or URL that follows the contract from `v1/` on; everything before is a prefix.

    >>> parse_object_key("s3://copy/v1/dataset=connections/cluster=c/dt=2026-11-20/hour=07/broker=3/x.gz").hour
    7

    Raises `BadObjectKey` where the folders are not the contract's.
    """
    match = _FOLDERS.fullmatch(key)
    if match is None:
        raise BadObjectKey(f"not a key of contract version 1: {key!r}")
    dataset, file_name = match["dataset"], match["file_name"]
    if dataset not in get_args(Dataset):
        raise BadObjectKey(f"dataset {dataset!r} is none of {', '.join(get_args(Dataset))}: {key!r}")
    broker_id = int(match["broker_id"])
    if not -(2**31) <= broker_id < 2**31:
        raise BadObjectKey(f"broker {broker_id} is not a 32-bit number: {key!r}")
    try:
        dt = date.fromisoformat(match["dt"])
    except ValueError:
        raise BadObjectKey(f"dt={match['dt']} is not a date: {key!r}") from None
    incarnation, first, last = _read_file_name(dataset, file_name)
    return ObjectKey(
        prefix=match["prefix"],
        dataset=cast(Dataset, dataset),
        cluster_id=match["cluster_id"],
        dt=dt,
        hour=int(match["hour"]),
        broker_id=broker_id,
        file_name=file_name,
        incarnation=incarnation,
        first_sequence=first,
        last_sequence=last,
    )


def _read_file_name(dataset: str, file_name: str) -> tuple[str | None, int | None, int | None]:
    if dataset == "manifests":
        match = _MANIFEST_NAME.fullmatch(file_name)
        return (match[1], None, None) if match else (None, None, None)
    match = _RECORDS_NAME.fullmatch(file_name)
    if match is None:
        return None, None, None
    first, last = int(match[2]), int(match[3])
    # A range that runs backwards or exceeds a table's integers says nothing either.
    return (match[1], first, last) if first <= last < 2**63 else (None, None, None)


def records_key(
    dataset: Literal["client_pushes", "connections"],
    cluster_id: str,
    broker_id: int,
    incarnation: str,
    hour: datetime,
    first_sequence: int,
    last_sequence: int,
    ending: str = ".zst",
) -> ObjectKey:
    """The key of an object of records; `hour` is any aware time within the hour."""
    file_name = f"{incarnation}-{first_sequence:020d}-{last_sequence:020d}{ending}"
    return _checked(dataset, cluster_id, broker_id, hour, file_name)


def manifest_key(cluster_id: str, broker_id: int, incarnation: str, hour: datetime) -> ObjectKey:
    """The key of the manifest for an hour of a broker incarnation; `hour` is any aware time within it."""
    return _checked("manifests", cluster_id, broker_id, hour, f"{incarnation}.json")


def _checked(dataset: str, cluster_id: str, broker_id: int, hour: datetime, file_name: str) -> ObjectKey:
    utc = hour.astimezone(UTC)
    key = parse_object_key(
        f"v1/dataset={dataset}/cluster={cluster_id}/dt={utc:%Y-%m-%d}/hour={utc:%H}/broker={broker_id}/{file_name}"
    )
    if key.incarnation is None:
        raise BadObjectKey(f"not a file name of contract version 1: {file_name!r}")
    return key
