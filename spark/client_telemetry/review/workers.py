"""Clients judged by Spark's workers: what `uses` and `opened` (table_evidence.py) and a report hold of them, divided by client.

What belongs to one client (client id with its changing parts masked, and principal: tracks.py) goes to one worker, which makes a
Part of all that it gets. Parts come back pickled: they are this program's own.
"""

import pickle
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from json import loads
from typing import Any, NamedTuple

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.pandas.functions import arrow_udf
from pyspark.sql.types import DataType

from client_telemetry.compatibility import knowledge
from client_telemetry.identity import kip511
from client_telemetry.identity.client_families import family
from client_telemetry.review.in_parts import Part, Setting, part
from client_telemetry.review.metric_changes import Group
from client_telemetry.review.prediction import Prediction, from_report
from client_telemetry.review.table_evidence import CLIENT, RUN, Gathering
from client_telemetry.review.tracks import Track
from client_telemetry.tables.table import STRING
from client_telemetry.tables.upgrade_verdicts import VERDICTS

ROWS_OF_A_PART = 500_000
FEWEST_PARTS = 2
# PySpark's overloads do not know a function of arrays that is given with its type.
_arrow_udf: Callable[[Callable[..., Any], DataType], Callable[..., Column]] = arrow_udf  # type: ignore[assignment]
_IDENTITY = ("client_id", "principal", "client_software_name", "client_software_version")
_VERDICT = (
    "program",
    "verdict",
    "confidence",
    "when",
    "explanation",
    "fix",
    "mixed_verdict",
    "rollback_verdict",
)
_FINDING = ("program", "rule_id", "verdict", "when", "api_key", "condition_met", "explanation", "fix")


class Summary(NamedTuple):
    """Of `uses`: how many rows, when the first slot begins and the last request was made (seconds); None of none."""

    rows: int
    first: float | None
    last: float


def summary(uses: DataFrame, slot_seconds: int) -> Summary:
    named = ~_names_nobody()
    row = uses.agg(
        F.count("*").alias("rows"),
        F.min(F.when(named, F.col("slot"))).alias("first"),
        F.max("last").alias("last"),
    ).first()
    assert row is not None
    first = None if row["first"] is None else row["first"] * float(slot_seconds)
    return Summary(row["rows"], first, row["last"] or 0.0)


def unnamed_refusals(uses: DataFrame) -> DataFrame:
    """Rows of `uses` of requests that were refused on connections that name nobody."""
    return uses.where(_names_nobody())


def client_rows(uses: DataFrame, opened: DataFrame, verdicts: DataFrame, findings: DataFrame) -> DataFrame:
    """All that is known of clients, one kind of row for each of the four, with `family`. `verdicts`, `findings`: rows of one
    report; none where there is no report."""
    rows = (
        uses.where(~_names_nobody())
        .withColumn("kind", F.lit("use"))
        .unionByName(opened.withColumn("kind", F.lit("opened")), allowMissingColumns=True)
        .unionByName(_as_text(verdicts, "verdict", _VERDICT), allowMissingColumns=True)
        .unionByName(_as_text(findings, "finding", _FINDING), allowMissingColumns=True)
    )
    return rows.withColumn("family", _family()("client_id"))


def parts(rows: DataFrame, common: Setting, number_of_rows: int) -> Iterator[Part]:
    """Of `client_rows`."""
    number = max(FEWEST_PARTS, number_of_rows // ROWS_OF_A_PART)
    return _worked(rows, number, common, _part)


def tracks_of(rows: DataFrame, common: Setting, clients: Sequence[Group]) -> list[Track]:
    """The tracks of a few clients, and of others that have their names."""
    families = {None if each.client_id is None else family(each.client_id).text for each in clients}
    named = F.col("family").isin([text for text in families if text is not None])
    if None in families:
        named |= F.col("family").isNull()
    of_them = rows.where(named & _principal().isin([each.principal for each in clients]))
    return [track for found in _worked(of_them, 1, common, _tracks) for track in found]


def _part(gathered: Gathering, predictions: Mapping[Any, Prediction], common: Setting) -> Part:
    return part(gathered.activities(), common, predictions)[0]


def _tracks(gathered: Gathering, predictions: Mapping[Any, Prediction], common: Setting) -> list[Track]:
    return part(gathered.activities(), common, predictions)[1]


def _worked(
    rows: DataFrame,
    number: int,
    common: Setting,
    work_on: Callable[[Gathering, Mapping[Any, Prediction], Setting], Any],
) -> Iterator[Any]:
    own = knowledge.in_use()

    def work(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        if knowledge.use(own):
            _prediction.cache_clear()
        gathered, report = Gathering(common.slot_seconds), _Report()
        for batch in batches:
            for kind, of_kind in _by_kind(batch):
                if kind == "use":
                    gathered.add_uses(of_kind)
                elif kind == "opened":
                    gathered.add_opened(of_kind)
                else:
                    report.add(kind, of_kind)
        found = work_on(gathered, report.predictions(), common)
        yield pa.RecordBatch.from_arrays([pa.array([pickle.dumps(found, 5)], pa.large_binary())], ["found"])

    divided = rows.repartition(number, F.col("family"), _principal())
    for row in divided.mapInArrow(work, "found binary").toLocalIterator():
        yield pickle.loads(row["found"])


def _by_kind(batch: pa.RecordBatch) -> Iterator[tuple[str, pa.Table]]:
    table = pa.Table.from_batches([batch])
    for kind in table["kind"].unique().to_pylist():
        yield kind, table.filter(pa.compute.equal(table["kind"], kind))


class _Report:
    """What a report says of clients."""

    def __init__(self) -> None:
        self._verdicts: list[tuple[tuple[Any, ...], str]] = []
        self._findings: dict[tuple[Any, ...], list[str]] = {}

    def add(self, kind: str, rows: pa.Table) -> None:
        keys = zip(*(rows[name].to_pylist() for name in (*_IDENTITY, "program")), strict=True)
        for key, text in zip(keys, rows["text"].to_pylist(), strict=True):
            if kind == "verdict":
                self._verdicts.append((key, text))
            else:
                self._findings.setdefault(key, []).append(text)

    def predictions(self) -> dict[tuple[str | None, str, str], Prediction]:
        """Of several programs behind one client id the one that fares worst: the review does not tell them apart."""
        order = list(VERDICTS)
        found: dict[tuple[str | None, str, str], Prediction] = {}
        for key, text in sorted(self._verdicts, key=lambda each: (each[1], str(each[0]))):
            client = key[0], key[1] or "", kip511.registered(key[2])
            one = _prediction(text, tuple(sorted(self._findings.get(key, ()))))
            known = found.get(client)
            if known is None or order.index(one.verdict) < order.index(known.verdict):
                found[client] = one
        return found


@lru_cache(maxsize=20_000)
def _prediction(verdict: str, findings: tuple[str, ...]) -> Prediction:
    return from_report(loads(verdict), [loads(finding) for finding in findings])


def _as_text(rows: DataFrame, kind: str, names: Sequence[str]) -> DataFrame:
    text = F.to_json(F.struct(*(name for name in names if name != "program")), {"ignoreNullFields": "false"})
    return rows.select(*_IDENTITY, "program", text.alias("text"), F.lit(kind).alias("kind"))


def _names_nobody() -> Column:
    return F.col("client_id").isNull() & (_principal() == "") & (F.col("rejected") > 0)


def _principal() -> Column:
    return F.coalesce("principal", F.lit(""))


def _family() -> Callable[..., Column]:
    def masked(client_ids: pa.Array) -> pa.Array:
        texts: dict[str, str] = {}
        found: list[str | None] = []
        for client_id in client_ids.to_pylist():
            if client_id is None:
                found.append(None)
                continue
            if client_id not in texts:
                texts[client_id] = family(client_id).text
            found.append(texts[client_id])
        return pa.array(found, pa.string())

    return _arrow_udf(masked, STRING)


__all__ = ["CLIENT", "RUN", "Summary", "client_rows", "parts", "summary", "tracks_of", "unnamed_refusals"]
