"""Upkeep of the tables: retention, compaction, merged manifests, expired snapshots, orphan files, dead branches.

Readers and stages may run at the same time: what they commit stays, and snapshots of the last days stay for those that
read them. What reports refer to is tagged, and stays 13 months.
"""

import contextlib
import datetime as dt
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from typing import TypeVar, cast

from pyiceberg.expressions import LessThan
from pyiceberg.table import Table as IcebergTable
from pyiceberg.table import Transaction
from pyiceberg.table.snapshots import Snapshot

from client_telemetry.lake import files, refs
from client_telemetry.lake.branch import drop_branch, replace_matching
from client_telemetry.lake.catalog import CATALOG, NAMESPACE, writers
from client_telemetry.lake.commits import again_if, is_gone
from client_telemetry.lake.lake import KEPT_DAYS, SNAPSHOT_DAYS, Lake
from client_telemetry.tables.table import Table

FACTS_DAYS, DERIVED_DAYS = 90, KEPT_DAYS
"""How many days facts (pushes, points, events, what arrived) and what is derived from them (sessions, clients: 13
months) are kept.
"""

RETENTION_DAYS: Mapping[str, int | None] = {
    "raw_objects": FACTS_DAYS,
    "undecodable_records": FACTS_DAYS,
    "client_pushes": FACTS_DAYS,
    "client_metrics": FACTS_DAYS,
    "client_metric_histograms": FACTS_DAYS,
    "connection_events": FACTS_DAYS,
    "brokers": DERIVED_DAYS,
    "broker_hours": DERIVED_DAYS,
    "client_connections": DERIVED_DAYS,
    "client_sessions": DERIVED_DAYS,
    "clients": DERIVED_DAYS,
    "artefacts": DERIVED_DAYS,
    "quality_results": DERIVED_DAYS,
    "publications": None,
    "upgrade_reports": None,
    "upgrade_verdicts": None,
    "upgrade_findings": None,
    "upgrade_outcomes": None,
    "metric_changes": None,
    "rule_records": None,
    "campaign_states": None,
}
"""Table -> days; None = forever. Counted from the day of the run, by `dt`."""

_MINIMUM_FILES = 2
_Result = TypeVar("_Result")
_ATTEMPTS = 4
_OVERTAKEN = (
    "org.apache.iceberg.exceptions.ValidationException",
    "org.apache.iceberg.exceptions.CommitFailedException",
    "org.apache.iceberg.exceptions.NotFoundException",
    "software.amazon.awssdk.services.s3.model.NoSuchKeyException",
)
"""Errors of Iceberg: a stage or another maintenance committed first, or removed what this one was reading."""


class UnknownRetention(Exception):
    """Retention is given for a table that does not exist, or not in days."""


@dataclass
class Upkeep:
    """What was done to one table."""

    table: str
    rows_removed: int = 0
    files_before: int = 0
    files_after: int = 0
    manifests_before: int = 0
    manifests_after: int = 0
    snapshots_before: int = 0
    snapshots_after: int = 0
    orphans_removed: int = 0
    branches_removed: list[str] = field(default_factory=list)

    @property
    def as_dict(self) -> dict[str, object]:
        return asdict(self)


def retention(changes: Mapping[str, object]) -> dict[str, int | None]:
    """RETENTION_DAYS with the given changes. Raises UnknownRetention."""
    for name, days in changes.items():
        if name not in RETENTION_DAYS:
            raise UnknownRetention(f"there is no table {name!r}; tables are {', '.join(RETENTION_DAYS)}")
        if days is not None and (not isinstance(days, int) or isinstance(days, bool) or days < 1):
            raise UnknownRetention(
                f"retention of {name} is {days!r}: give a number of days, or null for ever"
            )
    return {**RETENTION_DAYS, **changes}  # type: ignore[dict-item]


def maintain(lake: Lake, now: dt.datetime, keep_days: Mapping[str, int | None]) -> list[Upkeep]:
    """All upkeep of all tables. Ages are counted from `now`; of the last SNAPSHOT_DAYS before it only rows are removed."""
    tables = lake.recover()
    return [_maintain(lake, lake.known(name), now, keep_days[name]) for name in tables]


def _maintain(lake: Lake, table: Table, now: dt.datetime, days: int | None) -> Upkeep:
    upkeep = Upkeep(table.name)
    before = lake.table(table)
    if before.metadata.last_updated_ms > now.timestamp() * 1000:
        # A clock was wrong; Iceberg's Java classes would commit nothing until that time.
        before = lake.dated_now(table)
    upkeep.files_before, upkeep.manifests_before, upkeep.snapshots_before = _sizes(before)
    upkeep.branches_removed = _dead_branches(lake, before, now)
    if days is not None and "dt" in {column.name for column in table.columns}:
        upkeep.rows_removed = _remove_before(lake, table, now.date() - dt.timedelta(days=days))
    old = now - dt.timedelta(days=SNAPSHOT_DAYS)
    name = f"{CATALOG}.{NAMESPACE}.{table.name}"
    # If others write meanwhile, a file that one of them replaces must not stop the whole compaction. SQLite takes no
    # commits from several threads.
    in_parts = "true" if writers(lake.location) > 1 else "false"
    _call(
        lake,
        "rewrite_data_files",
        f"table => '{name}', options => map('min-input-files', '{_MINIMUM_FILES}', 'delete-file-threshold', '1', "
        f"'remove-dangling-deletes', 'true', 'partial-progress.enabled', '{in_parts}')",
    )
    _call(lake, "rewrite_manifests", f"table => '{name}', use_caching => false")
    _left_if_overtaken(f"expiry of {table.name}", lambda: expire(lake, table.name, _timestamp(old)))
    upkeep.orphans_removed = (
        _left_if_overtaken(f"orphan files of {table.name}", lambda: remove_orphans(lake, table.name)) or 0
    )
    upkeep.files_after, upkeep.manifests_after, upkeep.snapshots_after = _sizes(lake.table(table))
    return upkeep


def _call(lake: Lake, procedure: str, arguments: str) -> None:
    """Run a procedure. If others keep committing first, the next maintenance does it."""
    call = f"CALL {CATALOG}.system.{procedure}({arguments})"
    what = f"{procedure} of {arguments.partition(',')[0]}"
    _left_if_overtaken(what, lambda: again_if_overtaken(lambda: lake.session.sql(call).collect()))


def _left_if_overtaken(what: str, work: Callable[[], _Result]) -> _Result | None:
    try:
        return work()
    except Exception as error:
        if not _overtaken(error):
            raise
        reason = str(error).partition("\n")[2].partition("\n")[0]
    print(f"{what} is left to the next maintenance: {reason}")
    return None


def remove_orphans(lake: Lake, table: str, attempts: int = _ATTEMPTS) -> int:
    """Delete the files below a table's folder that are SNAPSHOT_DAYS old and to which nothing refers, and return their
    number: what killed runs left, and what snapshots referred to that left the metadata with a commit (Lake.committed).
    Raises Spark's error if stages changed the table during every attempt.
    """
    # A file that a stage is writing is not referenced yet: its age is by the real clock.
    before = dt.datetime.now(dt.UTC) - dt.timedelta(days=SNAPSHOT_DAYS)
    # The alternative, listing by Hadoop, does not support object stores.
    by_file_io = "false" if lake.known_table(table).location().startswith("file:") else "true"
    arguments = f"table => '{CATALOG}.{NAMESPACE}.{table}', older_than => {_timestamp(before)}, prefix_listing => {by_file_io}"
    call = f"CALL {CATALOG}.system.remove_orphan_files({arguments})"
    return len(again_if_overtaken(lambda: lake.session.sql(call).collect(), attempts))


def expire(lake: Lake, table: str, older_than: str) -> None:
    """Remove snapshots older than a time in SQL, except the last one, and the files that only they refer to."""
    name = f"{CATALOG}.{NAMESPACE}.{table}"
    call = f"CALL {CATALOG}.system.expire_snapshots(table => '{name}', older_than => {older_than}, retain_last => 1)"

    def statement() -> None:
        before = lake.known_table(table)
        try:
            lake.session.sql(call).collect()
        except Exception as error:
            # Spark commits, then reads what snapshots refer to, then deletes: if a stage removes its branch meanwhile,
            # with its manifest lists, the snapshots are gone but all files are left, and a second try knows nothing of
            # them.
            if _overtaken(error):
                _delete_files_of_expired(lake, table, before)
            raise

    again_if_overtaken(statement)


def _delete_files_of_expired(lake: Lake, table: str, before: IcebergTable) -> None:
    """Delete the files of the snapshots that the table no longer has, except those that a remaining snapshot refers to."""
    there = {snapshot.snapshot_id for snapshot in lake.known_table(table).metadata.snapshots}
    paths: set[str] = set()
    for snapshot in before.metadata.snapshots:
        if snapshot.snapshot_id in there:
            continue
        try:
            paths |= files_of(before, snapshot)
        except OSError as error:
            if not is_gone(error):
                raise
            # Of a branch: whoever removed it has deleted its lists, and its data files are main's.
    if paths:
        delete_unreferenced(lake, table, paths)


def delete_unreferenced(lake: Lake, table: str, paths: set[str]) -> None:
    """Delete files of a table, except those that a snapshot refers to."""
    for _ in range(_ATTEMPTS):
        iceberg = lake.known_table(table)
        try:
            named = {path for snapshot in iceberg.metadata.snapshots for path in files_of(iceberg, snapshot)}
        except OSError as error:
            if not is_gone(error):
                raise
            continue  # of a branch that was just removed
        for path in paths - named:
            with contextlib.suppress(OSError):
                iceberg.io.delete(path)
        return


def files_of(iceberg: IcebergTable, snapshot: Snapshot) -> set[str]:
    """Everything that a snapshot refers to: its manifest list, its manifests, and data files."""
    manifests = snapshot.manifests(iceberg.io)
    return {
        snapshot.manifest_list,
        *(manifest.manifest_path for manifest in manifests),
        *(
            entry.data_file.file_path
            for manifest in manifests
            for entry in manifest.fetch_manifest_entry(iceberg.io)
        ),
    }


def again_if_overtaken(statement: Callable[[], _Result], attempts: int = _ATTEMPTS) -> _Result:
    """The result of a Spark statement, repeated if a stage or another maintenance committed first. Raises the last
    attempt's error.
    """
    return again_if(_overtaken, statement, attempts)


def _overtaken(error: Exception) -> bool:
    return any(name in str(error) for name in _OVERTAKEN)


def _timestamp(at: dt.datetime) -> str:
    return f"TIMESTAMP '{at.astimezone(dt.UTC):%Y-%m-%d %H:%M:%S}'"


def _sizes(iceberg: IcebergTable) -> tuple[int, int, int]:
    """Numbers of data files, manifests and snapshots."""
    current = iceberg.metadata.snapshot_by_name("main")
    manifests = current.manifests(iceberg.io) if current else []
    return (
        len(files.planned(iceberg, None, files.all_of({}))),
        len(manifests),
        len(iceberg.metadata.snapshots),
    )


def _dead_branches(lake: Lake, iceberg: IcebergTable, now: dt.datetime) -> list[str]:
    """Branches of stages that ended days ago without publishing."""
    old = (now - dt.timedelta(days=SNAPSHOT_DAYS)).timestamp() * 1000
    dead = [
        ref
        for ref, reference in iceberg.metadata.refs.items()
        if ref.startswith(refs.BRANCH_PREFIX)
        and (snapshot := iceberg.metadata.snapshot_by_id(reference.snapshot_id)) is not None
        and snapshot.timestamp_ms < old
    ]
    for ref in dead:
        drop_branch(lake, iceberg.name()[-1], ref)
    return dead


def _remove_before(lake: Lake, table: Table, first: dt.date) -> int:
    """Remove the rows of days before `first`; whole files, so nothing is read."""
    removed = 0

    def change(iceberg: IcebergTable, transaction: Transaction) -> None:
        nonlocal removed
        name = iceberg.schema().find_column_name(files.columns_of(iceberg, table)["dt"].field_id) or "dt"
        earlier = LessThan(name, first)
        removed = replace_matching(
            iceberg, table, transaction, earlier, lambda row: cast("dt.date", row["dt"]) < first
        )

    lake.committed(table.name, change)
    return removed
