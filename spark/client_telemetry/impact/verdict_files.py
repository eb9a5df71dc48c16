"""Judges the clients of a part, and writes their rows of upgrade_verdicts and upgrade_findings as data files.

Clients whose evidence does not differ in what the engine looks at have the same verdict, which is computed once. Rows
are built column by column: a verdict's texts, some ten kilobytes per client, are in memory once and appear in the rows
as dictionary numbers.
"""

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import islice
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql.pandas.types import to_arrow_type
from pyspark.sql.types import ArrayType, StructField, StructType

from client_telemetry.compatibility import fingerprints
from client_telemetry.compatibility.evidence import ApiUse, ClientEvidence, FailedApi
from client_telemetry.compatibility.judgement import judge_rollback
from client_telemetry.compatibility.mixed_window import judge_mixed_window
from client_telemetry.compatibility.verdict import Finding
from client_telemetry.compatibility.well_observed import is_well_observed
from client_telemetry.formats.raw.garbage_collection import collector_paused
from client_telemetry.impact.nearby_releases import differing, on_nearby_targets, on_the_way
from client_telemetry.impact.question import Question
from client_telemetry.knowledge import products
from client_telemetry.knowledge.logins import Login
from client_telemetry.knowledge.releases import is_rollback
from client_telemetry.lake.writer import DataFile, TablePlace
from client_telemetry.tables.clients import CLIENT_KEY, OF_THE_PROFILE
from client_telemetry.tables.table import BOOLEAN, INTS, STRING, Table, struct
from client_telemetry.tables.upgrade_findings import UPGRADE_FINDINGS
from client_telemetry.tables.upgrade_verdicts import UPGRADE_VERDICTS
from client_telemetry.workers.columns import (
    ALWAYS,
    NEVER,
    Vector,
    column_at,
    distinct,
    expanded,
    integers,
    items,
    lengths,
    list_column,
    micros,
    ranks,
    starts,
)

MAX_RECORDS = 16
_AS_GIVEN = (*OF_THE_PROFILE, "connections", "broker_ids", "first_seen_at", "last_seen_at")
_OF_THE_CLIENT = (*_AS_GIVEN, "requests", "well_observed")
_OF_THE_QUESTION = ("cluster_id", "report_id", *CLIENT_KEY, "program")
_OF_THE_USES = (
    "requests",
    "first_seen_at",
    "last_seen_at",
    "broker_ids",
    "source_objects",
    "source_sequences",
)
_VERDICTS_AT_ONCE = 20_000
"""Rows in memory. Only steps and other releases are stored per row, some 3 kB."""


def _kinds(table: Table, without: tuple[str, ...]) -> list[StructField]:
    return [StructField(c.name, c.kind) for c in table.columns if c.name not in without]


_FINDING = StructType(
    [
        *_kinds(UPGRADE_FINDINGS, (*_OF_THE_QUESTION, *_OF_THE_USES, "finding")),
        StructField("seen_versions", INTS),
    ]
)
_JUDGED = StructType(
    [
        *_kinds(UPGRADE_VERDICTS, (*_OF_THE_QUESTION, *_OF_THE_CLIENT)),
        StructField("targets", ArrayType(struct(to_release=STRING, counted_as=STRING, works_again=BOOLEAN))),
        StructField("findings", ArrayType(_FINDING)),
    ]
)


class Written(NamedTuple):
    """What one or several tasks wrote."""

    verdicts: list[str]
    """URLs of files."""
    findings: list[str]
    counted_as: Counter[tuple[str, str]]
    """Clients by release and how they are counted there."""
    works_again: Counter[str]
    """Clients by release."""
    already_failing: int

    @staticmethod
    def of_all(results: Iterable["Written"]) -> "Written":
        every = Written([], [], Counter(), Counter(), 0)
        for result in results:
            every.verdicts.extend(result.verdicts)
            every.findings.extend(result.findings)
            every.counted_as.update(result.counted_as)
            every.works_again.update(result.works_again)
            every = every._replace(already_failing=every.already_failing + result.already_failing)
        return every


class Report(NamedTuple):
    """What all rows of a report share. `places`: where files of upgrade_verdicts and upgrade_findings go. `watched`:
    the cells of time in which any client sent anything: nothing is known about the others.
    """

    question: Question
    report_id: str
    watched: int
    places: tuple[TablePlace, TablePlace]


def write(clients: Iterable[pa.RecordBatch], report: Report) -> Written:
    """Judge the clients, columns READ, and write their rows. Faster if clients that are alike are in the same call."""
    partition = {"cluster_id": report.question.cluster_id, "report_id": report.report_id}
    verdicts, findings = (
        # The gate reports missing values, and in how many rows.
        DataFile(table, place, partition, rows_in_columns=_VERDICTS_AT_ONCE, is_complete=False)
        for table, place in zip((UPGRADE_VERDICTS, UPGRADE_FINDINGS), report.places, strict=True)
    )
    judged = _Verdicts(report.question)
    with collector_paused():
        for batch in clients:
            if len(batch):
                place = judged.of(batch)
                verdicts.add_columns(_verdict_columns(batch, judged, place, report.watched))
                findings.add_columns(_finding_columns(batch, judged, place))
        urls = [[url] if (url := file.close()) else [] for file in (verdicts, findings)]
    return judged.written(*urls)


class _Columns:
    """Columns of an array of structs. Texts are dictionaries."""

    def __init__(self, rows: pa.Array):
        self.rows = rows
        self._columns: dict[str, pa.Array] = {}

    def column(self, name: str) -> pa.Array:
        if name not in self._columns:
            column = pc.struct_field(self.rows, name)
            self._columns[name] = column.dictionary_encode() if pa.types.is_string(column.type) else column
        return self._columns[name]

    def taken(self, name: str, places: Vector) -> pa.Array:
        column, indices = self.column(name), pa.array(places)
        if isinstance(column, pa.DictionaryArray):
            return pa.DictionaryArray.from_arrays(column.indices.take(indices), column.dictionary)
        return column.take(indices)


class _Verdicts:
    """Verdicts, one for each distinct evidence: `rows`, of _JUDGED; `findings`, of _FINDING, row after row, those of a
    row from its `first_finding` to that of the next.
    """

    def __init__(self, question: Question):
        self._question = question.from_release, question.to_release, question.source_features
        self._places: dict[tuple[str, str | None, str | None], int] = {}
        self._clients: Vector = np.zeros(0, np.int64)
        self.rows, self.findings = (
            _Columns(pa.array([], _arrow(_JUDGED))),
            _Columns(pa.array([], _arrow(_FINDING))),
        )
        self.first_finding: Vector = np.zeros(1, np.int64)

    def of(self, clients: pa.RecordBatch) -> Vector:
        """For each client the place of its verdict in `rows`."""
        ids = (_shared(text) for text in clients["client_id"].to_pylist())
        keys = [(text, *id_) for text, id_ in zip(clients["alike"].to_pylist(), ids, strict=True)]
        new = [key for key in dict.fromkeys(keys) if key not in self._places]
        if new:
            self._add(new)
        place = np.fromiter((self._places[key] for key in keys), np.int64, len(keys))
        np.add.at(self._clients, place, 1)
        return place

    def _add(self, keys: Sequence[tuple[str, str | None, str | None]]) -> None:
        for key in keys:
            self._places[key] = len(self._places)
        judged = pa.array([judged_row(*key, *self._question) for key in keys], _arrow(_JUDGED))
        self.rows = _Columns(pa.concat_arrays([self.rows.rows, judged]))
        lists = self.rows.column("findings")
        self.findings = _Columns(pc.list_flatten(lists))
        self.first_finding = starts(pc.list_value_length(lists).to_numpy())
        self._clients = np.concatenate([self._clients, np.zeros(len(keys), np.int64)])

    def written(self, verdicts: list[str], findings: list[str]) -> Written:
        result = Written(verdicts, findings, Counter(), Counter(), 0)
        targets = self.rows.column("targets").to_pylist()
        failing = self.rows.column("already_failing").to_pylist()
        for clients, of_target in zip(self._clients.tolist(), targets, strict=True):
            for target in of_target:
                result.counted_as[target["to_release"], target["counted_as"]] += clients
                result.works_again[target["to_release"]] += clients * target["works_again"]
        return result._replace(
            already_failing=sum(n for n, fails in zip(self._clients.tolist(), failing, strict=True) if fails)
        )


def _verdict_columns(
    clients: pa.RecordBatch, judged: _Verdicts, place: Vector, watched: int
) -> dict[str, pa.Array]:
    uses = _Uses(clients)
    return {
        **{field.name: judged.rows.taken(field.name, place) for field in _JUDGED.fields[:-2]},
        **{name: clients[name] for name in (*CLIENT_KEY, *_AS_GIVEN)},
        "program": _null_if_one(clients),
        "requests": pa.array(uses.sums("requests")),
        "well_observed": uses.well_observed(
            judged.rows.taken("roles", place).to_pylist(), clients["cell_s"], watched
        ),
    }


def _finding_columns(clients: pa.RecordBatch, judged: _Verdicts, place: Vector) -> dict[str, pa.Array]:
    """How often, when and where is the client's own, for the versions that a finding names."""
    first, uses = judged.first_finding, _Uses(clients)
    client, finding = expanded(first[place], np.diff(first)[place])
    number = pa.array((finding - first[place][client]).astype(np.int32))
    versions = judged.findings.column("seen_versions")
    named, version = items(versions, finding)
    use = uses.places(
        client[named],
        integers(judged.findings.column("api_key"))[finding[named]],
        integers(pc.list_flatten(versions))[version],
    )
    return {
        **{field.name: judged.findings.taken(field.name, finding) for field in _FINDING.fields[:-1]},
        **{name: clients[name].take(pa.array(client)) for name in CLIENT_KEY},
        "program": _null_if_one(clients).take(pa.array(client)),
        "finding": number,
        **uses.amounts(named[use >= 0], use[use >= 0], len(finding)),
    }


class _Uses:
    """The APIs and versions that clients use, client after client."""

    def __init__(self, clients: pa.RecordBatch):
        lists = clients["uses"]
        self._lengths = lengths(lists)
        self._uses = pc.list_flatten(lists)
        self._starts = starts(self._lengths)

    def _numbers(self, name: str, instead_of_null: int = 0) -> Vector:
        return integers(pc.struct_field(self._uses, name), instead_of_null)

    def sums(self, name: str) -> Vector:
        sums = np.concatenate([[0], np.cumsum(self._numbers(name))])
        return np.diff(sums[self._starts])

    def well_observed(self, roles: Sequence[Sequence[str]], cell_s: pa.Array, watched: int) -> pa.Array:
        uses = iter(zip(self._numbers("api_key").tolist(), self._numbers("cells").tolist(), strict=True))
        activities = (tuple(islice(uses, length)) for length in self._lengths.tolist())
        rows = zip(roles, activities, cell_s.to_pylist(), strict=True)
        return pa.array([_is_well_observed(tuple(r), a, s, watched) for r, a, s in rows], pa.bool_())

    def places(self, clients: Vector, api_keys: Vector, versions: Vector) -> Vector:
        """Places of the clients' uses of these APIs and versions; -1 if there is none."""
        owners = np.repeat(np.arange(len(self._lengths)), self._lengths)
        use_keys = (self._numbers("api_key") << 32) + self._numbers("version")
        apis, number = np.unique(np.concatenate([use_keys, (api_keys << 32) + versions]), return_inverse=True)
        every = np.concatenate([owners, clients]) * len(apis) + number
        keys, wanted_keys = every[: len(use_keys)], every[len(use_keys) :]
        if not len(keys):
            return np.full(len(wanted_keys), -1)
        order = np.argsort(keys, kind="stable")
        place = order[np.minimum(np.searchsorted(keys, wanted_keys, sorter=order), len(keys) - 1)]
        matched: Vector = np.where(keys[place] == wanted_keys, place, -1)
        return matched

    def amounts(self, rows: Vector, uses: Vector, size: int) -> dict[str, pa.Array]:
        """For `size` rows, which have these uses: pairs, in row order. A version that the current brokers already
        refuse has no answered requests: then the refused ones count.
        """
        requests, rejected = self._numbers("requests"), self._numbers("rejected")
        is_answered = np.zeros(size, bool)
        is_answered[rows[requests[uses] > 0]] = True
        amount = np.where(is_answered[rows], requests[uses], rejected[uses])
        rows, uses, amount = rows[amount > 0], uses[amount > 0], amount[amount > 0]
        own, begins = np.unique(rows, return_index=True)
        return {
            "requests": column_at(own, size, np.add.reduceat(amount, begins) if len(own) else amount),
            "first_seen_at": self._moments("first_request_at", np.minimum, own, begins, uses, size),
            "last_seen_at": self._moments("last_request_at", np.maximum, own, begins, uses, size),
            "broker_ids": self._brokers(rows, uses, size),
            **self._records(rows, uses, size),
        }

    def _moments(
        self, name: str, least_or_most: np.ufunc, own: Vector, begins: Vector, uses: Vector, size: int
    ) -> pa.Array:
        never = NEVER if least_or_most is np.minimum else ALWAYS
        moments = micros(pc.struct_field(self._uses, name), never)[uses]
        reduced = least_or_most.reduceat(moments, begins) if len(own) else moments
        return column_at(own[reduced != never], size, reduced[reduced != never]).cast(
            pa.timestamp("us", "UTC")
        )

    def _brokers(self, rows: Vector, uses: Vector, size: int) -> pa.Array:
        lists = pc.struct_field(self._uses, "broker_ids")
        pair, place = items(lists, uses)
        brokers = integers(pc.list_flatten(lists))[place]
        owner, broker = distinct(rows[pair], brokers)
        return list_column(owner, pa.array(broker.astype(np.int32)), size)

    def _records(self, rows: Vector, uses: Vector, size: int) -> dict[str, pa.Array]:
        rank, objects = ranks(pa.chunked_array([pc.struct_field(self._uses, "source_object")]))
        is_named = rank[uses] >= 0
        rows, uses = rows[is_named], uses[is_named]
        owner, ranked, sequence = distinct(rows, rank[uses], self._numbers("source_sequence")[uses])
        first = np.searchsorted(owner, owner)
        few = np.arange(len(owner)) - first < MAX_RECORDS
        owner, ranked, sequence = owner[few], ranked[few], sequence[few]
        names = objects.take(pa.array(ranked))
        return {
            "source_objects": list_column(owner, names, size),
            "source_sequences": list_column(owner, pa.array(sequence.astype(np.int64)), size),
        }


def _arrow(kind: StructType) -> pa.DataType:
    return to_arrow_type(kind, timestamp_utc=True)


def _null_if_one(clients: pa.RecordBatch) -> pa.Array:
    program = clients["program"]
    return pc.if_else(pc.equal(program, ""), pa.scalar(None, pa.string()), program)


@lru_cache(maxsize=50_000)
def _is_well_observed(
    roles: tuple[str, ...], uses: tuple[tuple[int, int], ...], cell_s: float | None, watched: int
) -> bool:
    activity: dict[int, int] = {}
    for api_key, cells in uses:
        activity[api_key] = activity.get(api_key, 0) | cells
    return cell_s is not None and is_well_observed(roles, activity, watched, cell_s)


def _shared(client_id: str | None) -> tuple[str | None, str | None]:
    """The client id if it is a library's default, empty for any other, and the product that sets it: nothing else of it
    matters.
    """
    product = products.by_client_id(client_id)
    is_default = client_id is None or fingerprints.by_client_id(client_id)[0]
    return client_id if is_default else "", product and product.name


def judged_row(
    text: str,
    client_id: str | None,
    product: str | None,
    from_release: str,
    to_release: str,
    source_features: tuple[tuple[str, int], ...] | None = None,
) -> dict[str, object]:
    """A row of _JUDGED for the JSON of `alike`, and the parts of the client id that _shared returns."""
    values = json.loads(text)
    own, *others = [
        Login(protocol, mechanism, _tuple(offered)) for protocol, mechanism, offered in values["logins"]
    ] or [Login()]
    evidence = ClientEvidence(
        client_software_name=values["client_software_name"],
        client_software_version=values["client_software_version"],
        client_id=client_id,
        product=product,
        api_uses=tuple(ApiUse(*use) for use in values["api_uses"]),
        sasl_mechanism=own.sasl_mechanism,
        offered_sasl_mechanisms=own.offered,
        principal_has_scram=values["principal_has_scram"],
        security_protocol=own.security_protocol,
        other_logins=tuple(others),
        source_features=source_features,
        also_declared=tuple(tuple(software) for software in values["also_declared"]),
        failed_apis=tuple(FailedApi(*failed) for failed in values.get("failed_apis") or ()),
        uses_elsewhere=tuple(
            (use["release"], ApiUse(use["api_key"], use["version"]))
            for use in values.get("uses_elsewhere") or ()
        ),
    )
    releases = (from_release, to_release)
    verdict = on_the_way(evidence, *releases)
    there = on_nearby_targets(evidence, *releases, verdict)
    mixed = judge_mixed_window(*releases, verdict)
    # For an older release the verdict itself is about the rollback: there is no other.
    back = None if is_rollback(*releases) else judge_rollback(evidence, *releases, verdict)
    return {
        "verdict": verdict.verdict,
        "confidence": verdict.confidence,
        "when": verdict.when,
        "roles": sorted(verdict.roles),
        "explanation": verdict.explanation,
        "fix": verdict.fix or None,
        "missing": list(verdict.missing),
        "identified_as": verdict.identified_as or None,
        "condition": verdict.condition or None,
        "already_failing": verdict.already_failing,
        "works_again": verdict.works_again,
        "as_before": verdict.as_before,
        "steps": [
            {"step": step, "verdict": then.verdict, "when": then.when, "explanation": then.explanation}
            for step, then in verdict.steps.items()
        ],
        "rollback_verdict": back.verdict if back else None,
        "rollback_explanation": back.explanation if back else None,
        "mixed_verdict": mixed.verdict,
        "mixed_explanation": mixed.explanation,
        "other_targets": differing(there, to_release),
        "targets": [
            {"to_release": release, "counted_as": target.counted_as, "works_again": target.works_again}
            for release, target in there.items()
        ],
        "findings": [_finding(finding) for finding in verdict.findings],
    }


def _tuple(values: list[str] | None) -> tuple[str, ...] | None:
    return None if values is None else tuple(values)


def _finding(finding: Finding) -> dict[str, object]:
    return {
        "rule_id": finding.rule_id,
        "verdict": finding.verdict,
        "confidence": finding.confidence,
        "when": finding.when,
        "trigger": finding.trigger or None,
        "condition": finding.condition or None,
        "condition_met": finding.condition_met,
        "settled_by": finding.settled_by or None,
        "api_key": finding.api_key,
        "api_name": finding.api_name or None,
        "versions": finding.versions or None,
        "explanation": finding.explanation,
        "fix": finding.fix or None,
        "source": finding.source,
        "seen_versions": sorted(versions_in(finding.versions)) if finding.requests else [],
    }


def versions_in(text: str) -> set[int]:
    """The versions that a finding names.

    >>> sorted(versions_in("0–2, 5"))
    [0, 1, 2, 5]
    """
    versions: set[int] = set()
    for part in filter(None, text.split(", ")):
        low, _, high = part.partition("–")
        versions.update(range(int(low), int(high or low) + 1))
    return versions
