"""Refs of the tables: what readers of several tables see together, branches that stages write to, tags that keep what a
report read, and publications that a killed run left half done.

Readers see `main` of each table. A stage applies its change to one table after the other. The first such commit
decides: it carries the publication in its snapshot's summary, and the table's branch stays until all other tables and
the row in `publications` are there. Whoever finds such a branch completes the publication; each step is done once,
whoever does it.
"""

import json
import re
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import Self

from pyiceberg.io import FileIO
from pyiceberg.manifest import ManifestFile
from pyiceberg.table import Table as IcebergTable
from pyiceberg.table.metadata import TableMetadata
from pyiceberg.table.snapshots import Snapshot

from client_telemetry.lake.iceberg_internals import manifests

_LISTS = 64
"""Manifest lists that a process caches: a few for each table that a stage touches."""
BRANCH_PREFIX = "audit_"
ATTEMPT = "client-telemetry.attempt"
"""In the summary of a branch's first snapshot: the attempt of a stage that wrote it."""
PARTITIONS = "client-telemetry.partitions"
"""Next to it: what the branch replaces, as JSON."""
PUBLISHED = "client-telemetry.published"
"""In the summary of a snapshot of main: the attempt whose change it is."""
PUBLICATION = "client-telemetry.publication"
"""Next to it: cluster, run, stage and days, as JSON. In every table, because another engine may expire the deciding
snapshot.
"""
ERASED = "client-telemetry.erased."
"""Property of a table, followed by a cluster: the last erasure in it. What was computed before it may contain the
client.
"""


def branch_name(run_id: str, cluster_id: str, stage: str) -> str:
    """`audit_<run>_<cluster>_<stage>` in letters that SQL names allow, with a digest that keeps names unique."""
    plain = re.sub(r"[^A-Za-z0-9]+", "_", f"{run_id}_{cluster_id}")[:60]
    return f"{BRANCH_PREFIX}{plain}_{zlib.crc32(f'{run_id}/{cluster_id}'.encode()):08x}_{stage}"


class SharedSnapshot(Snapshot):
    """A snapshot that is parsed once for all commits: it answers what it is asked again and again without effort."""

    @cached_property
    def properties(self) -> Mapping[str, str]:
        return self.summary.additional_properties if self.summary else {}

    @cached_property
    def as_json(self) -> str:
        return self.model_dump_json()

    def model_copy(self, *, update: Mapping[str, object] | None = None, deep: bool = False) -> Self:
        copied = super().model_copy(update=update, deep=deep)
        copied.__dict__.pop("as_json", None)  # copied with the fields
        return copied

    def manifests(self, io: FileIO) -> list[ManifestFile]:
        return list(_listed(io, self.manifest_list))


_listed = lru_cache(_LISTS)(manifests)


@dataclass(frozen=True)
class Leftover:
    """A branch of a table that still exists."""

    table: str
    branch: str
    attempt: str
    partitions: dict[str, object]

    def may_concern(self, cluster_id: str) -> bool:
        clusters = self.partitions.get("cluster_id", cluster_id)
        return cluster_id in (clusters if isinstance(clusters, list) else [clusters])


def lineage(metadata: TableMetadata, ref: str) -> list[Snapshot]:
    """The snapshots of a ref, latest first, as far as they are kept."""
    by_id = {snapshot.snapshot_id: snapshot for snapshot in metadata.snapshots}
    snapshots = []
    snapshot = by_id.get(metadata.refs[ref].snapshot_id) if ref in metadata.refs else None
    while snapshot is not None:
        snapshots.append(snapshot)
        snapshot = by_id.get(snapshot.parent_snapshot_id or 0)
    return snapshots


def summary(snapshot: Snapshot) -> Mapping[str, str]:
    if isinstance(snapshot, SharedSnapshot):
        return snapshot.properties
    return snapshot.summary.additional_properties if snapshot.summary else {}


def attempt(metadata: TableMetadata, branch: str) -> str | None:
    """The attempt of a stage that wrote a branch; None if there is no such branch, or no stage created it."""
    snapshots = lineage(metadata, branch)
    return summary(snapshots[-1]).get(ATTEMPT) if snapshots else None


def leftovers(tables: Mapping[str, IcebergTable]) -> list[Leftover]:
    """The branches of stages that were not removed."""
    branches = []
    for name, iceberg in tables.items():
        for ref in iceberg.metadata.refs:
            if ref.startswith(BRANCH_PREFIX) and (snapshots := lineage(iceberg.metadata, ref)):
                properties = summary(snapshots[-1])
                partitions = json.loads(properties.get(PARTITIONS, "{}"))
                branches.append(Leftover(name, ref, properties.get(ATTEMPT, ""), partitions))
    return branches


def no_longer_read(metadata: TableMetadata, before_ms: int) -> list[int]:
    """The snapshots that main had left before a time: nobody who began after it reads them. Not those that a tag or branch
    names, nor those of a publication that is not finished. When main left one is in the table's log: a snapshot may have
    come with another engine's branch, long after it was made. A clock may have been wrong: none was left before it was made.
    """
    named = {reference.snapshot_id for reference in metadata.refs.values()}
    unfinished = {attempt(metadata, ref) for ref in metadata.refs if ref.startswith(BRANCH_PREFIX)}
    since = {entry.snapshot_id: entry.timestamp_ms for entry in metadata.snapshot_log}
    left = metadata.last_updated_ms
    found = []
    for later, earlier in pairwise(lineage(metadata, "main")):
        left = since.get(later.snapshot_id, left)
        if (
            max(left, earlier.timestamp_ms) < before_ms
            and earlier.snapshot_id not in named
            and summary(earlier).get(PUBLISHED, "") not in unfinished
        ):
            found.append(earlier.snapshot_id)
    return found


def published_by(metadata: TableMetadata, attempt: str) -> Snapshot | None:
    """The snapshot of main with the change of an attempt."""
    for snapshot in metadata.snapshots:
        if attempt and summary(snapshot).get(PUBLISHED) == attempt:
            return snapshot
    return None
