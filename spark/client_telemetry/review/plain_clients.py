"""Clients that continue as before: found, described and compared many at once, by compiled code.

A client is plain if nothing of it was refused, it has one software version, a report predicted its verdict, and each of
its functions continued in every phase, on every host (hosts.py). It is then `unaffected`, as judge_client.py would find too; a test compares the
two. All others are judged one by one. Pure.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import NamedTuple

import numpy as np

from client_telemetry.activity.comparison import LEAST_BLOCKS
from client_telemetry.activity.event_files import CLIENT, Uses
from client_telemetry.activity.samples import block_edges
from client_telemetry.identity import broker_clients
from client_telemetry.identity.client_families import family
from client_telemetry.identity.owners import first_match
from client_telemetry.knowledge import apis, kip511, served
from client_telemetry.knowledge.api_key import ApiKey
from client_telemetry.review import functions, metric_changes, metric_curves, span_series
from client_telemetry.review.hosts import addresses_that_stay
from client_telemetry.review.metric_changes import CONNECTIONS, CompareColumns, Group
from client_telemetry.review.metric_curves import Sums
from client_telemetry.review.model import ReviewedClient
from client_telemetry.review.outcome import FunctionRates, Happened, Outcome
from client_telemetry.review.phases import FINALIZED, ROLLED_BACK, ROLLING, Phase
from client_telemetry.review.prediction import Prediction, compared
from client_telemetry.review.setting import Part, Predictions, Setting
from client_telemetry.review.span_series import SPAN, After, Before, SpanSeries
from client_telemetry.review.tracks import TrackKey, by_id
from client_telemetry.workers.columns import Vector, expanded, starts

_FUNCTIONS = tuple(functions.WORDS)
_KEYS = 1 << 16
"""API keys are 16 bits; functions of tools have the number of their API."""
_MOST_API = 1024
_OPENED = _KEYS - 1
"""Number of the series of opened connections, among those of APIs."""


class _Candidate(NamedTuple):
    """`family`: number of the ids that differ in masked parts. What one of them is depends on the others (tracks.ids_that_stay)."""

    family: int
    key: TrackKey
    version: str
    clients: list[int]
    prediction: Prediction


def plain_clients(uses: Uses, common: Setting, predictions: Predictions) -> tuple[Part, Vector]:
    """Results for plain clients, and whether each of `uses.clients` is one (bool[n])."""
    part = Part([], [], [], {}, {})
    is_plain = np.zeros(len(uses.clients), bool)
    candidates = _candidates(uses, common, predictions)
    if not candidates:
        return part, is_plain
    track_of = np.full(len(uses.clients), -1, np.int64)
    for number, candidate in enumerate(candidates):
        track_of[candidate.clients] = number
    series = _Series(uses, track_of, len(candidates), common)
    of_family = np.array([candidate.family for candidate in candidates])
    series.goes_on &= _all_hosts_go_on(uses, candidates, common)
    series.goes_on &= ~_may_have_changed(uses, track_of, candidates, common)
    series.goes_on &= ~(np.bincount(of_family, ~series.goes_on) > 0)[of_family]
    part.clients.extend(series.reviewed(uses, candidates))
    owners = dict(
        zip(np.flatnonzero(series.goes_on).tolist(), (client.owner for client in part.clients), strict=True)
    )
    part = part._replace(columns=tuple(series.comparisons(candidates)))
    series.add_curves(part.curves, candidates, owners)
    for number in np.flatnonzero(series.goes_on).tolist():
        is_plain[candidates[number].clients] = True
    _add_answered(part, uses, is_plain, common)
    return part, is_plain


def _all_hosts_go_on(uses: Uses, candidates: Sequence[_Candidate], common: Setting) -> Vector:
    """bool[candidates]: whether each of its hosts goes on, if there are several."""
    addresses = uses.clients["client_address"].to_pylist()
    several = np.zeros(len(uses.clients), bool)
    for candidate in candidates:
        if len({addresses[client] for client in candidate.clients}) > 1:
            several[candidate.clients] = True
    goes_on = np.ones(len(candidates), bool)
    if not several.any():
        return goes_on
    seen = _seen(uses, several, common.slot_seconds)
    host_of = np.full(len(uses.clients), -1, np.int64)
    hosts: list[int] = []
    for number, candidate in enumerate(candidates):
        if not several[candidate.clients[0]]:
            continue
        by_address: dict[str, list[int]] = {}
        for client in candidate.clients:
            by_address.setdefault(addresses[client] or "", []).append(client)
        times = {
            address: (float(seen[own, 0].min()), float(seen[own, 1].max()))
            for address, own in by_address.items()
        }
        stay = addresses_that_stay(times, common.upgrade.began)
        if len(stay) > 1:
            for address in stay:
                host_of[by_address[address]] = len(hosts)
                hosts.append(number)
    if hosts:
        stops = ~_Series(uses, host_of, len(hosts), common).goes_on
        goes_on[np.array(hosts)[stops]] = False
    return goes_on


def _may_have_changed(
    uses: Uses, track_of: Vector, candidates: Sequence[_Candidate], common: Setting
) -> Vector:
    """bool[candidates]: whether a client without a name sends an API in a version that came since the first broker
    changed, and for another reason than that upgraded brokers accept it (client_change.py).
    """
    found = np.zeros(len(candidates), bool)
    is_unnamed = np.array([not kip511.is_known(candidate.key.software_name) for candidate in candidates])
    used = uses.used
    track = track_of[used["client"]]
    used = used[(track >= 0) & is_unnamed[track] & (used["api_key"] != apis.API_VERSIONS)]
    if not len(used):
        return found
    of_api = track_of[used["client"]] << 16 | used["api_key"]
    versions, of_version = np.unique(of_api << 16 | used["version"], return_inverse=True)
    first = np.full(len(versions), np.inf)
    np.minimum.at(first, of_version, used["first_us"] / 1e6)
    is_new = np.isin(uses.runs["broker_incarnation"].to_pylist(), list(common.upgrade.new))
    sides = np.zeros(len(versions), np.int64)
    np.bitwise_or.at(sides, of_version, np.where(is_new[used["run"]], 2, 1))
    apis_used, of_api = np.unique(versions >> 16, return_inverse=True)
    came = first >= common.upgrade.began
    before = np.zeros(len(apis_used), np.int64)
    np.bitwise_or.at(before, of_api[~came], sides[~came])
    accepted = served.by(common.from_release)
    old_max = np.array([api.served.max if (api := accepted.get(key)) else -1 for key in range(_MOST_API)])
    accepted_before = old_max[np.minimum(versions >> 16 & 0xFFFF, _MOST_API - 1)]
    changes = came & (before[of_api] > 0)
    changes &= ((sides & before[of_api]) > 0) | ((versions & 0xFFFF) <= accepted_before)
    found[versions[changes] >> 32] = True
    return found


def _candidates(uses: Uses, common: Setting, predictions: Predictions) -> list[_Candidate]:
    """Tracks of one software version of which nothing was refused and that have a prediction, like all of their family."""
    used = uses.used
    is_there = np.bincount(used["client"], minlength=len(uses.clients)) > 0
    unusual = np.isin(used["api_key"], list(broker_clients.api_keys())) | (used["rejected"] > 0)
    is_odd = np.bincount(used["client"], unusual, minlength=len(uses.clients)) > 0
    refused_at = {address for address, _, _ in common.refused}
    rows = list(zip(*(uses.clients[name].to_pylist() for name in CLIENT), strict=True))
    families: dict[tuple[str | None, str], list[int]] = {}
    odd: set[tuple[str | None, str]] = set()
    masked: dict[str | None, str | None] = {None: None}
    for number in np.flatnonzero(is_there).tolist():
        client_id, principal, address, *_ = rows[number]
        if client_id not in masked:
            masked[client_id] = family(client_id).text
        key = masked[client_id], principal or ""
        families.setdefault(key, []).append(number)
        if is_odd[number] or address in refused_at or broker_clients.is_broker(client_id):
            odd.add(key)
    has_others = np.zeros(len(uses.clients), bool)
    for members in families.values():
        if len(members) > 1:
            has_others[members] = True
    seen = _seen(uses, has_others, common.slot_seconds)
    candidates: list[_Candidate] = []
    for (text, principal), members in families.items():
        if (text, principal) in odd:
            continue
        number_of_family = len(candidates)
        own = []
        for clients in _by_id(members, [rows[n][0] for n in members], seen, common.upgrade.began):
            software = {(kip511.registered(rows[n][3]), rows[n][4] or "") for n in clients}
            ((name, version), *others) = software
            client_id = min((rows[n][0] for n in clients if rows[n][0] is not None), default=None)
            track = TrackKey(client_id, principal, name)
            if others or track not in predictions:
                break
            own.append(_Candidate(number_of_family, track, version, clients, predictions[track]))
        else:
            candidates += own
    return candidates


def _seen(uses: Uses, is_wanted: Vector, slot_seconds: float) -> Vector:
    """float[clients, 2]: when the first slot in which each asked something begins, and when the last one ends. `is_wanted`:
    bool[clients]."""
    used = uses.used[is_wanted[uses.used["client"]]]
    first = np.full(len(uses.clients), np.inf)
    last = np.full(len(uses.clients), -np.inf)
    np.minimum.at(first, used["client"], used["slot"].astype(float))
    np.maximum.at(last, used["client"], used["slot"].astype(float))
    return np.column_stack([first * slot_seconds, last * slot_seconds + slot_seconds])


def _by_id(
    members: list[int], client_ids: Sequence[str | None], seen: Vector, changed_at: float
) -> Iterable[list[int]]:
    """Clients of a family, by number, as tracks.by_id groups them."""
    if len(set(client_ids)) == 1:
        return [members]
    of_id: dict[str | None, list[int]] = {}
    for number, client_id in zip(members, client_ids, strict=True):
        of_id.setdefault(client_id, []).append(number)
    times = {
        client_id: (float(seen[own, 0].min()), float(seen[own, 1].max())) for client_id, own in of_id.items()
    }
    return by_id(zip(client_ids, members, strict=True), times, changed_at)


class _Series:
    """Series of candidates: of all their requests, by function, and by API."""

    def __init__(self, uses: Uses, track_of: Vector, tracks: int, common: Setting) -> None:
        self._common, self._tracks = common, tracks
        phases = common.upgrade.phases
        self._before, self._after = phases[0], phases[1:]
        used = uses.used.compress(track_of[uses.used["client"]] >= 0)
        track = track_of[used["client"]]
        run_is_new = np.isin(uses.runs["broker_incarnation"].to_pylist(), list(common.upgrade.new))
        spans = np.empty(len(used), SPAN)
        spans["first"], spans["last"] = used["first_us"] / 1e6, used["last_us"] / 1e6
        spans["requests"], spans["is_new"] = used["requests"], run_is_new[used["run"]]

        of_functions = _function_codes()[used["api_key"]]
        self.is_tool = np.bincount(track, of_functions >= 0, minlength=tracks) == 0
        codes = np.where(
            self.is_tool[track],
            np.where(np.isin(used["api_key"], list(functions.PLUMBING)), -1, used["api_key"]),
            of_functions,
        )
        has_function = codes >= 0
        self.functions = span_series.in_series(
            (track * _KEYS + codes)[has_function], spans.compress(has_function)
        )
        opened = uses.opened[track_of[uses.opened["client"]] >= 0]
        opened_spans, of_opened = _opened(opened, used, track_of, common.slot_seconds)
        self.apis = span_series.in_series(
            np.concatenate([track * _KEYS + used["api_key"], of_opened * _KEYS + _OPENED]),
            np.concatenate([spans, opened_spans]),
        )
        records, of_records = _records(used, spans, track)
        self.all = span_series.in_series(of_records, records)
        self._rates_before = self._regularity(self.functions, self._before)
        self._rates_after = [
            span_series.after(self.functions, phase, _rate_since(phase)) for phase in self._after
        ]
        self.goes_on = self._all_go_on()

    def _all_go_on(self) -> Vector:
        """bool[tracks]: judge_client.outcomes would find no sign of harm, no change and nothing untested."""
        before, common = self._before, self._common
        usual = self._regularity(self.all, before)
        good = (usual.requests > 0) & ~np.isnan(usual.tolerance)
        if common.around.data_from < before.since - 60:
            first = np.minimum.reduceat(self.all.spans["first"], self.all.starts[:-1])
            good &= first >= before.since
        good &= ~self._without_fetch(before.since, before.recorded_until)
        tolerance = self._rates_before.tolerance
        regular = ~np.isnan(tolerance) & (before.recorded_until - self._rates_before.last <= tolerance)
        for phase, of_functions in zip(self._after, self._rates_after, strict=True):
            overall = span_series.after(self.all, phase, phase.since)
            of_apis = span_series.after(self.apis, phase, phase.since)
            answered = self._latest_answered(of_apis)
            good &= phase.recorded_until > phase.since
            good &= phase.recorded_until - overall.last <= usual.tolerance
            good &= (phase.recorded_until - answered <= usual.tolerance) & (answered >= phase.since)
            stopped = regular & ~(phase.recorded_until - of_functions.last <= tolerance)
            if phase.name == ROLLING and not common.upgrade.is_complete:
                stopped |= regular & ~of_functions.is_tested
            good &= ~self._any(self.functions, stopped)
            good &= ~self._without_fetch(phase.settled, phase.recorded_until) | self._any(
                self.apis, of_apis.is_recent & self._is_of(ApiKey.FETCH)
            )
        return good

    def _regularity(self, series: SpanSeries, phase: Phase) -> Before:
        return span_series.before(series, phase.since, phase.recorded_until, self._common.slot_seconds)

    def _latest_answered(self, of_apis: After) -> Vector:
        is_api = self.apis.keys % _KEYS != _OPENED
        latest = np.full(self._tracks, -np.inf)
        np.maximum.at(
            latest, self.apis.keys[is_api] // _KEYS, np.nan_to_num(of_apis.last[is_api], nan=-np.inf)
        )
        return latest

    def _without_fetch(self, since: float, until: float) -> Vector:
        """bool[tracks]: whether signs.without_fetch may find something."""
        own = span_series.before(self.apis, since, until, self._common.slot_seconds)
        is_there = own.requests > 0
        asks = is_there & self._is_of(ApiKey.OFFSET_FETCH)
        joins = self._any(self.apis, is_there & self._is_of(ApiKey.JOIN_GROUP))
        first_asked = np.full(self._tracks, np.inf)
        first_asked[self.apis.keys[asks] // _KEYS] = own.first[asks]
        goes_on = is_there & self._is_of(ApiKey.FETCH, ApiKey.LIST_OFFSETS)
        goes_on &= own.last > first_asked[self.apis.keys // _KEYS]
        return ~self.is_tool & np.isfinite(first_asked) & joins & ~self._any(self.apis, goes_on)

    def _is_of(self, *api_keys: int) -> Vector:
        return np.isin(self.apis.keys % _KEYS, api_keys)

    def _any(self, series: SpanSeries, mask: Vector) -> Vector:
        """bool[tracks]: whether a series of the track is in the mask."""
        return np.bincount(series.keys[mask] // _KEYS, minlength=self._tracks) > 0

    def reviewed(self, uses: Uses, candidates: Sequence[_Candidate]) -> Iterator[ReviewedClient]:
        bounds = np.searchsorted(self.functions.keys, np.arange(self._tracks + 1) * _KEYS).tolist()
        codes = (self.functions.keys % _KEYS).tolist()
        rates = self._rates(codes)
        addresses = uses.clients["client_address"].to_pylist()
        groups: dict[int, set[str]] = {}
        for client, group in zip(
            *(uses.groups[name].to_pylist() for name in ("client", "group_id")), strict=True
        ):
            groups.setdefault(client, set()).add(group)
        for number in np.flatnonzero(self.goes_on).tolist():
            candidate = candidates[number]
            key, own = candidate.key, range(bounds[number], bounds[number + 1])
            ordered = sorted(own, key=lambda place: _name(codes[place], is_tool=bool(self.is_tool[number])))
            outcomes = tuple(
                Outcome(phase.name, Happened.UNAFFECTED, rates=tuple(of_phase[place] for place in ordered))
                for phase, of_phase in zip(self._after, rates, strict=True)
            )
            own_groups = tuple(sorted(set().union(*(groups.get(client, ()) for client in candidate.clients))))
            own_addresses = tuple(sorted({addresses[client] or "" for client in candidate.clients}))
            rule = first_match(
                self._common.owner_rules, key.principal, key.client_id, own_groups, own_addresses
            )
            yield ReviewedClient(
                key.client_id,
                key.principal,
                key.software_name,
                candidate.version,
                own_addresses,
                candidate.prediction,
                outcomes,
                compared(candidate.prediction, outcomes),
                own_groups,
                rule.owner if rule else None,
                rule.contact if rule else None,
                track_name=key.software_name,
            )

    def _rates(self, codes: Sequence[int]) -> list[list[FunctionRates]]:
        """By phase, for each series of functions."""
        is_tool = self.is_tool[self.functions.keys // _KEYS].tolist()
        names = [_name(code, is_tool=tool) for code, tool in zip(codes, is_tool, strict=True)]
        since, until = self._common.around.recorded_before
        before = _per_minute(self._rates_before.requests, until - since)
        return [
            list(
                zip(
                    names,
                    before,
                    _per_minute(own.requests, phase.recorded_until - _rate_since(phase)),
                    strict=True,
                )
            )
            for phase, own in zip(self._after, self._rates_after, strict=True)
        ]

    def comparisons(self, candidates: Sequence[_Candidate]) -> Iterator[CompareColumns]:
        """The comparisons of metric_changes.of_track."""
        times, slot = self._common.times, self._common.slot_seconds
        if times is None:
            return
        key = self.apis.keys % _KEYS
        is_compared = self.goes_on[self.apis.keys // _KEYS] & ~np.isin(key, list(metric_changes.NOT_A_RATE))
        most = np.maximum(*(span_series.counted(self.apis, *window) for window in times))
        is_opened = key == _OPENED
        is_compared &= most >= np.where(is_opened, metric_changes.LEAST_EVENTS, metric_changes.LEAST_REQUESTS)
        duration = span_series.usual_durations(self.apis, times.before[0], times.after[1])
        shortest = max(slot, metric_changes.SHORTEST_BLOCK_SECONDS)
        blocks = [block_edges(window, shortest) for window in times]
        if min(len(edges) - 1 for edges in blocks) < LEAST_BLOCKS:
            return
        group_of: dict[int, Group] = {}
        for is_metric, scale in ((is_opened, CONNECTIONS.scale), (~is_opened, metric_changes.REQUESTS)):
            places = np.flatnonzero(is_compared & is_metric)
            own = _some(self.apis, places)
            sides = [
                span_series.amounts(own, edges) / max(float(edges[1] - edges[0]), 1e-9) * 60
                for edges in blocks
            ]
            floors, independent = metric_changes.floors_of_counts(
                sides, times, blocks, duration[places], scale
            )
            enough = np.minimum(*independent) >= metric_changes.LEAST_SPANS
            groups, metrics = [], []
            for place in places[enough].tolist():
                number = int(self.apis.keys[place] // _KEYS)
                if number not in group_of:
                    candidate = candidates[number]
                    group_of[number] = Group(metric_changes.CLIENT, *candidate.key, candidate.version, None)
                groups.append(group_of[number])
                metrics.append(
                    CONNECTIONS if is_opened[place] else metric_changes.requests_of(int(key[place]))
                )
            if groups:
                columns = [np.column_stack(two)[enough] for two in (floors, independent)]
                yield CompareColumns(groups, metrics, *(side[enough] for side in sides), *columns)

    def add_curves(
        self,
        curves: metric_curves.GroupSums,
        candidates: Sequence[_Candidate],
        owners: Mapping[int, str | None],
    ) -> None:
        """Like metric_curves.add_track. `owners`: of candidates that continue."""
        edges = self._common.shown.edges()
        length = float(edges[1] - edges[0])
        key = self.apis.keys % _KEYS
        goes_on = self.goes_on[self.apis.keys // _KEYS]
        for number in np.unique(key).tolist():
            if number == _OPENED:
                metric = CONNECTIONS
            elif number in metric_changes.NOT_A_RATE:
                continue
            else:
                metric = metric_changes.requests_of(number)
            if metric.name not in metric_curves.SHOWN:
                continue
            places = np.flatnonzero((key == number) & goes_on)
            if not len(places):
                continue
            own = _some(self.apis, places)
            values = span_series.amounts(own, edges) / max(length, 1e-9) * 60
            first = own.spans["first"][own.starts[:-1]][:, None]
            last = own.spans["last"][own.starts[1:] - 1][:, None]
            is_known = ~((edges[1:] < first) | (edges[:-1] > last))
            members: dict[tuple[str, str], list[int]] = {}
            for row, number_of_track in enumerate((self.apis.keys[places] // _KEYS).tolist()):
                candidate = candidates[number_of_track]
                version = metric_curves.version_name(candidate.key.software_name, candidate.version)
                for group in metric_curves.groups(version, owners[number_of_track]):
                    members.setdefault(group, []).append(row)
            for (scope, name), rows in members.items():
                sums = Sums(
                    metric,
                    np.where(is_known[rows], values[rows], 0.0).sum(axis=0),
                    is_known[rows].sum(axis=0).astype(float),
                    len(rows),
                )
                metric_curves.add(curves, {(scope, metric.name, name): sums})


def _opened(opened: Vector, used: Vector, track_of: Vector, slot_seconds: float) -> tuple[Vector, Vector]:
    """SPANs of opened connections, and their tracks: of slots in which the client sent something. `used`: ordered by
    client, run and slot.
    """
    if not len(used):
        opened = opened[:0]
    runs = int(max(used["run"].max(initial=0), opened["run"].max(initial=0))) + 1

    def record(rows: Vector) -> Vector:
        return (rows["client"].astype(np.int64) * runs + rows["run"]) << 40 | rows["slot"]

    used_records, opened_records = record(used), record(opened)
    places = np.minimum(np.searchsorted(used_records, opened_records), len(used_records) - 1)
    opened = opened.compress(used_records[places] == opened_records)
    spans = np.zeros(len(opened), SPAN)
    spans["first"] = opened["slot"] * slot_seconds
    spans["last"] = spans["first"] + slot_seconds
    spans["requests"] = opened["opened"]
    return spans, track_of[opened["client"]]


def _per_minute(requests: Vector, seconds: float) -> list[float]:
    rates: list[float] = (requests / seconds * 60 if seconds > 0 else requests * 0.0).tolist()
    return rates


def _records(used: Vector, spans: Vector, track: Vector) -> tuple[Vector, Vector]:
    """SPANs of what each client did on a broker incarnation in a slot, and their tracks. `used`: in that order."""
    differs = [np.diff(used[name], prepend=-1) != 0 for name in ("client", "run", "slot")]
    begins = np.flatnonzero(differs[0] | differs[1] | differs[2])
    records = spans.take(begins)
    if len(begins):
        records["first"] = np.minimum.reduceat(np.minimum(spans["first"], spans["last"]), begins)
        records["last"] = np.maximum.reduceat(np.maximum(spans["first"], spans["last"]), begins)
        records["requests"] = np.add.reduceat(spans["requests"], begins)
    return records, track[begins]


def _some(series: SpanSeries, places: Vector) -> SpanSeries:
    lengths = np.diff(series.starts)[places]
    _, spans = expanded(series.starts[places], lengths)
    return SpanSeries(series.keys[places], starts(lengths), series.spans.take(spans))


def _rate_since(phase: Phase) -> float:
    is_late = phase.name in (FINALIZED, ROLLED_BACK)
    return min(phase.settled, phase.until - 1) if is_late else phase.settled


@cache
def _function_codes() -> Vector:
    """int64[API keys]: place in _FUNCTIONS, -1 = none."""
    codes = np.full(_KEYS, -1, np.int64)
    for key in apis.by_key():
        name = functions.function(key, is_tool=False)
        if name is not None:
            codes[key] = _FUNCTIONS.index(name)
    return codes


def _name(code: int, *, is_tool: bool) -> str:
    return str(functions.function(code, is_tool=True)) if is_tool else _FUNCTIONS[code]


def _add_answered(part: Part, uses: Uses, is_plain: Vector, common: Setting) -> None:
    runs = list(
        zip(*(uses.runs[name].to_pylist() for name in ("broker_id", "broker_incarnation")), strict=True)
    )
    is_new = np.array([run in common.upgrade.new for _, run in runs], bool)
    used = uses.used
    tells = is_plain[used["client"]] & is_new[used["run"]]
    tells &= ~np.isin(used["api_key"], list(functions.PLUMBING))
    names = list(zip(*(uses.clients[name].to_pylist() for name in ("client_id", "principal")), strict=True))
    pairs = np.unique(used["client"][tells].astype(np.int64) << 32 | used["run"][tells])
    for client, run in zip((pairs >> 32).tolist(), (pairs & 0xFFFFFFFF).tolist(), strict=True):
        client_id, principal = names[client]
        part.answered.setdefault(runs[run][0], set()).add((client_id, principal or ""))
