"""Commits to a table to which others commit as well: a change is applied to the current table and repeated until it is
the first. What a change does must therefore depend on nothing but the table that it is given.
"""

import random
import time
from collections.abc import Callable
from typing import TypeVar

from pyiceberg.exceptions import BadRequestError, CommitFailedException, ValidationException
from pyiceberg.table import Table as IcebergTable
from pyiceberg.table import TableProperties, Transaction

from client_telemetry.lake.iceberg_internals import MetadataOnce

_LONGEST_S = 300.0
_LONGEST_WAIT_S = 2.0


_Result = TypeVar("_Result")
Change = Callable[[IcebergTable, Transaction], None]
"""What to do in a transaction of the table, given as it was loaded."""


class ConcurrentCommit(Exception):
    """Another run committed to the same partitions."""


class Superseded(Exception):
    """A later attempt of the same run has begun to write."""


class SnapshotGone(Exception):
    """A snapshot to read no longer exists: maintenance, an erasure or another engine expired it."""


class CommitsLost(Exception):
    """Others were first again and again, for minutes."""


def committed(load: Callable[[], IcebergTable], change: Change) -> IcebergTable:
    """Load the table, apply `change` in a transaction and commit it, repeating all of this whenever somebody else
    committed to the table in between. Returns the changed table.
    """
    until = time.monotonic() + _LONGEST_S
    wait = 0.01
    while True:
        iceberg = load()
        # pyiceberg would repeat only the commit, without `change` seeing what the others did.
        iceberg.metadata.properties[TableProperties.COMMIT_NUM_RETRIES] = "0"
        try:
            with MetadataOnce(iceberg) as transaction:
                change(iceberg, transaction)
            return iceberg
        except (
            CommitFailedException,
            ValidationException,
            BadRequestError,
            ValueError,
            OSError,
        ) as error:
            if (isinstance(error, OSError) and not is_gone(error)) or not _lost(error, iceberg, load):
                raise
            if time.monotonic() > until:
                raise CommitsLost(
                    f"{'.'.join(iceberg.name())}: other writers were first for {_LONGEST_S:.0f} seconds; run it again"
                ) from error
        time.sleep(random.uniform(0, wait))
        wait = min(2 * wait, _LONGEST_WAIT_S)


def again_if(
    passes: Callable[[Exception], bool], work: Callable[[], _Result], attempts: int, pause_s: float = 0.0
) -> _Result:
    """The result of `work`, repeated while it raises what `passes` by itself. Raises the last attempt's error."""
    for _ in range(attempts - 1):
        try:
            return work()
        except Exception as error:
            if not passes(error):
                raise
        time.sleep(pause_s)
    return work()


def is_gone(error: Exception) -> bool:
    """Whether the error means that a file does not exist. pyarrow has its own errors for S3 objects: for one that was
    missing when opened, and for one that vanished before it was read.
    """
    return isinstance(error, OSError) and (
        isinstance(error, FileNotFoundError)
        or any(code in str(error) for code in ("RESOURCE_NOT_FOUND", "NO_SUCH_KEY"))
    )


def _lost(error: Exception, iceberg: IcebergTable, load: Callable[[], IcebergTable]) -> bool:
    """Whether somebody else committed first. pyiceberg reports that in several ways: a sequence number that is too old
    (another branch moved), a missing snapshot or file (another run completed the same publication).
    """
    if isinstance(error, CommitFailedException | ValidationException):
        return True
    return load().metadata_location != iceberg.metadata_location
