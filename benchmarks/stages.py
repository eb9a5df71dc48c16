"""Which part of decoding takes how long: exclusive CPU time of functions, in one process."""

import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from unittest.mock import patch

from client_telemetry.decode import fast_decoder
from client_telemetry.decode.fast_decoder import PushBlock, PushPortion
from client_telemetry.formats.otlp import columns
from client_telemetry.formats.raw.reader import RecordReader
from client_telemetry.lake.writer import DataFile
from client_telemetry.tables.client_pushes import CLIENT_PUSHES

READING = "objects: zstd, SHA-256, records' bounds"
RECORDS = "records: scan, checks"
ZSTD = "payloads: CRC, zstd"
SCAN = "payloads: scan"
COLUMNS = "payloads: labels, columns of Arrow"
PUSHES = "pushes: columns of Arrow"
WRITE_PUSHES, WRITE_POINTS = "pushes: Parquet", "points: Parquet"
OTHER = "other: slow pushes, sequences, files"
STAGES = (READING, RECORDS, ZSTD, SCAN, COLUMNS, PUSHES, WRITE_PUSHES, WRITE_POINTS, OTHER)


class _Clock:
    """`spent`: CPU seconds by name, without what was spent in others in between."""

    def __init__(self) -> None:
        self.spent: Counter[str] = Counter()
        self._open = [OTHER]
        self._since = time.process_time()

    @contextmanager
    def within(self, name: str) -> Iterator[None]:
        self._charge()
        self._open.append(name)
        try:
            yield
        finally:
            self._charge()
            self._open.pop()

    def _charge(self) -> None:
        now = time.process_time()
        self.spent[self._open[-1]] += now - self._since
        self._since = now

    def function(self, name: str | Callable[..., str], work: Callable) -> Callable:
        @wraps(work, updated=())
        def timed(*given, **named):
            with self.within(name if isinstance(name, str) else name(*given)):
                return work(*given, **named)

        return timed

    def generator(self, name: str, work: Callable[..., Iterator]) -> Callable[..., Iterator]:
        def timed(*given):
            made = work(*given)
            while True:
                with self.within(name):
                    try:
                        each = next(made)
                    except StopIteration:
                        return
                yield each

        return timed


def stage_costs(decode: Callable[[], object]) -> dict[str, float]:
    """CPU seconds of each stage while `decode` runs a worker in this process."""
    clock = _Clock()
    table = lambda file, *_: WRITE_PUSHES if file.table is CLIENT_PUSHES else WRITE_POINTS  # noqa: E731
    with (
        patch.object(RecordReader, "blocks", clock.generator(READING, RecordReader.blocks)),
        patch.object(PushBlock, "__init__", clock.function(RECORDS, PushBlock.__init__)),
        patch.object(PushBlock, "portions", clock.generator(ZSTD, PushBlock.portions)),
        patch.object(columns, "scan", clock.function(SCAN, columns.scan)),
        patch.object(fast_decoder, "decode_columns", clock.function(COLUMNS, fast_decoder.decode_columns)),
        patch.object(PushPortion, "number_columns", clock.function(COLUMNS, PushPortion.number_columns)),
        patch.object(PushPortion, "push_columns", clock.function(PUSHES, PushPortion.push_columns)),
        patch.object(DataFile, "add_columns", clock.function(table, DataFile.add_columns)),
        patch.object(DataFile, "close", clock.function(table, DataFile.close)),
    ):
        with clock.within(OTHER):
            decode()
    return {stage: clock.spent[stage] for stage in STAGES}
