"""Pieces (pieces.py) in tasks that hand them to each other: in Spark's Python workers, or, where there is little data, one
after the other in this process, which then needs no JVM.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Self, cast

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.pandas.types import from_arrow_schema

from client_telemetry.workers.pieces import PIECES, Part, Pieces, moved, packed, read_pieces, unpacked


class Exchange(ABC):
    """Pieces in tasks. What is done to them does not depend on where it is done, and must not change them."""

    @abstractmethod
    def moved(self, tasks: int) -> Self:
        """Each piece in the task that its number says, of so many tasks."""

    @abstractmethod
    def worked(self, work: Callable[[Iterator[Part]], Pieces]) -> Self:
        """What `work` makes of the pieces of each task."""

    @abstractmethod
    def with_numbers(self, *numbers: int) -> Self:
        """Only the pieces with one of these numbers."""

    @abstractmethod
    def of_parts(self) -> Self:
        """Only the pieces whose number is that of a task: not negative."""

    @abstractmethod
    def union(self, other: Self) -> Self: ...

    @abstractmethod
    def kept(self) -> Self:
        """The same, computed once for several uses; until `release`."""

    @abstractmethod
    def release(self) -> None: ...

    @abstractmethod
    def collected(self) -> list[Any]:
        """All pieces, without their numbers."""


def read_in_tasks(spark: SparkSession | None, tasks: int, read: Callable[[int], Pieces]) -> Exchange:
    """What `read` returns for each task. Without Spark, all is done in this process."""
    if spark is None:
        return ExchangeHere(list(read(task)) for task in range(tasks))
    return ExchangeOnSpark(read_pieces(spark, tasks, read))


class ExchangeOnSpark(Exchange):
    def __init__(self, pieces: DataFrame) -> None:
        self._pieces = pieces

    def moved(self, tasks: int) -> Self:
        return type(self)(moved(self._pieces, tasks))

    def worked(self, work: Callable[[Iterator[Part]], Pieces]) -> Self:
        return type(self)(self._pieces.mapInArrow(packed(work), PIECES))

    def with_numbers(self, *numbers: int) -> Self:
        return type(self)(self._pieces.where(f"bucket in ({', '.join(map(str, numbers))})"))

    def of_parts(self) -> Self:
        return type(self)(self._pieces.where("bucket >= 0"))

    def union(self, other: Self) -> Self:
        return type(self)(self._pieces.union(other._pieces))

    def kept(self) -> Self:
        return type(self)(self._pieces.persist())

    def release(self) -> None:
        self._pieces.unpersist()

    def collected(self) -> list[object]:
        return list(unpacked(self._pieces.select("piece").toArrow().to_batches()))

    def frame(
        self, rows_of: Callable[[Iterator[Any]], Iterator[pa.RecordBatch]], schema: pa.Schema
    ) -> DataFrame:
        """The rows that are made of the pieces of each task."""
        return self._pieces.mapInArrow(lambda batches: rows_of(unpacked(batches)), from_arrow_schema(schema))


class ExchangeHere(Exchange):
    def __init__(self, tasks: Iterable[list[tuple[int, object]]]) -> None:
        self._tasks = list(tasks)

    def moved(self, tasks: int) -> Self:
        received: list[list[tuple[int, object]]] = [[] for _ in range(tasks)]
        for number, piece in self._all():
            received[number % tasks].append((number, piece))
        return type(self)(received)

    def worked(self, work: Callable[[Iterator[Part]], Pieces]) -> Self:
        return type(self)(
            list(work(cast("Iterator[Part]", (piece for _, piece in task)))) for task in self._tasks
        )

    def with_numbers(self, *numbers: int) -> Self:
        return type(self)([[found for found in self._all() if found[0] in numbers]])

    def of_parts(self) -> Self:
        return type(self)([found for found in task if found[0] >= 0] for task in self._tasks)

    def union(self, other: Self) -> Self:
        return type(self)([*self._tasks, *other._tasks])

    def kept(self) -> Self:
        return self

    def release(self) -> None:
        self._tasks.clear()

    def collected(self) -> list[object]:
        return [piece for _, piece in self._all()]

    def _all(self) -> Iterator[tuple[int, object]]:
        return (found for task in self._tasks for found in task)
