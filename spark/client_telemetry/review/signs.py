"""Signs of harm in what one client did, each based on a fact of the protocol. Pure.

refused    a broker that does not serve a version closes the connection (SocketServer, UnsupportedVersionException)
silent     a function stops while the client continues: a group member that fetches without heartbeats is out of its
group
stuck      the same error for longer than the transaction's own time-out: InitProducerId 51 CONCURRENT_TRANSACTIONS from
a coordinator that cannot end a transaction, 90 PRODUCER_FENCED of a client that repeats an old epoch
gone       nothing at all any more
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from client_telemetry.activity.records import UnnamedRefusal, clock
from client_telemetry.knowledge import apis, error_codes
from client_telemetry.knowledge.api_key import ApiKey
from client_telemetry.review import functions
from client_telemetry.review.outcome import Kind
from client_telemetry.review.phases import Phase
from client_telemetry.review.regularity import Regularity, regularity
from client_telemetry.review.tracks import Failures, Span, Track, last_before, within

CERTAIN, LIKELY, POSSIBLE = "certain", "likely", "possible"
TRANSACTION_TIMEOUT_SECONDS = 60.0
"""transaction.timeout.ms of Kafka's producer; a client that names another in InitProducerId has that."""
FOLLOWS_SECONDS = 120.0
"""A function that stops this soon after a change of the brokers stops because of it: a coordinator moves when its
broker stops, connections are reopened, and a session times out (45 s by default).
"""
STEADY_REQUESTS = 20
"""A function that came this often without a longer pause does not stop at a change of the brokers by chance."""


@dataclass(frozen=True)
class Baseline:
    """What a client did while everything was as before. `until`: when that ended."""

    by_function: dict[str, Regularity]
    overall: Regularity | None
    until: float

    def regular(self, name: str) -> Regularity | None:
        """The regularity of a function that was still in use at the end."""
        rhythm = self.by_function.get(name)
        if rhythm is None or rhythm.tolerance is None or self.until - rhythm.last > rhythm.tolerance:
            return None
        return rhythm


class Exactness(NamedTuple):
    """How exact the times of requests are: to `slot_seconds`, and from `fine_from` on to `fine_slot_seconds`."""

    slot_seconds: float
    fine_from: float = float("inf")
    fine_slot_seconds: float = 0.0

    def of(self, spans: Sequence[Span]) -> float:
        """The finer one if the spans are regular since."""
        if not self.fine_slot_seconds:
            return self.slot_seconds
        fine = within(spans, self.fine_from, float("inf"))
        rhythm = regularity(fine, self.fine_slot_seconds)
        return self.slot_seconds if rhythm is None or rhythm.tolerance is None else self.fine_slot_seconds


def baseline(track: Track, since: float, until: float, exactness: Exactness) -> Baseline:
    def regular(spans: Sequence[Span]) -> Regularity | None:
        before = within(spans, since, until)
        return regularity(before, exactness.of(before))

    by_function = {
        name: rhythm for name, spans in track.answered.items() if (rhythm := regular(spans)) is not None
    }
    return Baseline(by_function, regular(track.all_requests), until)


class Refusal(NamedTuple):
    """A client's refused requests of an API and version. `confidence`: see Outcome."""

    api_key: int
    version: int
    first: float
    last: float
    requests: int
    incarnations: frozenset[str]
    confidence: str


class Sign(NamedTuple):
    kind: Kind
    since: float
    confidence: str
    reason: str
    functions: tuple[str, ...]
    api_keys: tuple[int, ...]


def named_refusals(track: Track) -> list[Refusal]:
    """Refusals on connections of known clients."""
    by_request: dict[tuple[int, int], list[Failures]] = {}
    for failure in track.failures:
        # A refused ApiVersions is repeated with a lower version.
        if failure.refused and failure.api_key != apis.API_VERSIONS:
            by_request.setdefault((failure.api_key, failure.version), []).append(failure)
    return [
        _refusal(request, own, sum(failure.refused for failure in own), CERTAIN)
        for request, own in sorted(by_request.items())
    ]


def _refusal(
    request: tuple[int, int],
    own: Sequence[Failures] | Sequence[UnnamedRefusal],
    requests: int,
    confidence: str,
) -> Refusal:
    """What is known of the refusals of an API and version together."""
    return Refusal(
        *request,
        min(each.first for each in own),
        max(each.last for each in own),
        requests,
        frozenset(each.incarnation for each in own),
        confidence,
    )


class Attributed(NamedTuple):
    """Refusals of a track on connections without a known client, by address. `is_shared`: API and version -> whether
    other tracks send them from one of the addresses, too.
    """

    by_address: dict[str, list[UnnamedRefusal]]
    is_shared: dict[tuple[int, int], bool]

    def refusals(self, address: str | None = None) -> list[Refusal]:
        """One for each API and version; only from one address, if one is given."""
        by_api: dict[tuple[int, int], list[UnnamedRefusal]] = {}
        for own_address, own in self.by_address.items():
            if address in (None, own_address):
                for refusal in own:
                    by_api.setdefault((refusal.api_key, refusal.version), []).append(refusal)
        return [
            _refusal(
                request,
                own,
                sum(refusal.requests for refusal in own),
                POSSIBLE if self.is_shared[request] else LIKELY,
            )
            for request, own in sorted(by_api.items())
        ]


NOTHING_REFUSED = Attributed({}, {})


def attributed(tracks: Sequence[Track], refusals: Sequence[UnnamedRefusal]) -> dict[int, Attributed]:
    """Track index -> refusals on connections without a known client, attributed to whoever used that version of that
    API from that address, answered or refused, on any broker. Whoever sends it to a broker that does not serve it is
    refused, by the protocol's own rule, so each of them is a candidate.
    """
    users: dict[tuple[str, int, int], list[int]] = {}
    for index, track in enumerate(tracks):
        sent = set(track.used) | {(f.api_key, f.version) for f in track.failures if f.refused}
        for address in track.addresses:
            for key, version in sent:
                users.setdefault((address, key, version), []).append(index)
    by_track: dict[int, Attributed] = {}
    for refusal in refusals:
        candidates = users.get((refusal.address, refusal.api_key, refusal.version), [])
        for index in candidates:
            own = by_track.setdefault(index, Attributed({}, {}))
            own.by_address.setdefault(refusal.address, []).append(refusal)
            api = refusal.api_key, refusal.version
            own.is_shared[api] = own.is_shared.get(api, False) or len(candidates) > 1
    return by_track


def merged(named: Sequence[Refusal], unnamed: Sequence[Refusal]) -> list[Refusal]:
    """One for each API and version. Named refusals are certain; the total number of refusals is then just as likely."""
    by_request = {(refusal.api_key, refusal.version): refusal for refusal in unnamed}
    for named_refusal in named:
        inferred = by_request.get((named_refusal.api_key, named_refusal.version))
        if inferred is None:
            by_request[named_refusal.api_key, named_refusal.version] = named_refusal
            continue
        by_request[named_refusal.api_key, named_refusal.version] = named_refusal._replace(
            first=min(named_refusal.first, inferred.first),
            last=max(named_refusal.last, inferred.last),
            requests=named_refusal.requests + (inferred.requests if inferred.confidence == LIKELY else 0),
            incarnations=named_refusal.incarnations | inferred.incarnations,
        )
    return [by_request[key] for key in sorted(by_request)]


def refused(track: Track, refusals: Sequence[Refusal], phase: Phase, tolerance: float) -> list[Sign]:
    """Refusals within the phase after which the function did not continue. `PARTLY` (kind `partly`): it continues, but
    only on brokers that refuse nothing.
    """
    since, until, recorded_until = phase.since, phase.until, phase.recorded_until
    signs = []
    for refusal in refusals:
        if refusal.last < since or refusal.first >= until:
            continue
        first = max(refusal.first, since)
        name = functions.served(refusal.api_key, is_tool=track.is_tool)
        own = within(track.by_api.get(refusal.api_key, ()), first, until)
        needs = own if name is None else own + within(track.answered.get(name, ()), first, until)
        still = [span for span in needs if recorded_until - span.last <= tolerance]
        times = "once" if refusal.requests == 1 else f"{refusal.requests:,} times"
        says = f"{apis.name(refusal.api_key)} v{refusal.version} rejected {times}"
        if refusal.confidence == POSSIBLE:
            says += " from its address; other clients there also send it"
        affected = (name,) if name else (apis.name(refusal.api_key),)
        where = {span.incarnation for span in still}
        # The function may continue by another request, as heartbeats do after a refused JoinGroup, while the API does not.
        is_api_over = (
            not [span for span in own if recorded_until - span.last <= tolerance]
            and refusal.api_key in track.by_api
            and refusal.confidence != POSSIBLE
            and until - refusal.last <= tolerance
        )
        kind = Kind.REFUSED
        if where - refusal.incarnations and not where & refusal.incarnations:
            kind = Kind.PARTLY
        elif still and not is_api_over:
            answers = _of_another_program(track, refusal, phase, tolerance)
            if answers is None:
                continue
            says += f", while {apis.name(refusal.api_key)} v{answers} is answered: two programs have its client id"
        signs.append(Sign(kind, first, refusal.confidence, says, affected, (refusal.api_key,)))
    return signs


def _of_another_program(track: Track, refusal: Refusal, phase: Phase, tolerance: float) -> int | None:
    """The version that is answered where another, which worked before, is refused to the end: a library asks one broker in
    one version of an API, so that is another program's. None if there is none.
    """
    api = refusal.api_key, refusal.version
    worked = any(span.first < refusal.first for span in track.by_version.get(api, ()))
    if refusal.confidence == POSSIBLE or not worked or phase.until - refusal.last > tolerance:
        return None
    answered = (
        version
        for (key, version), spans in track.by_version.items()
        if key == refusal.api_key
        and version != refusal.version
        and any(
            phase.recorded_until - span.last <= tolerance and span.incarnation in refusal.incarnations
            for span in within(spans, refusal.first, phase.until)
        )
    )
    return max(answered, default=None)


def silent(
    track: Track,
    base: Baseline,
    until: float,
    changes: Sequence[float],
    refused_apis: Collection[int] = (),
    elsewhere: Collection[str] = (),
) -> list[Sign]:
    """Functions that stopped while the client continues. `elsewhere`: those that others may have taken over."""
    signs = []
    denied = not_authorized(track, until)
    for name in sorted(set(base.by_function).difference(elsewhere, denied)):
        before = base.regular(name)
        if before is None or before.tolerance is None:
            continue
        last = last_before(track.answered[name], until)
        if last is None or until - last <= before.tolerance:
            continue
        alive = last_before(track.all_requests, until)
        if alive is None or alive - last <= before.tolerance:
            continue
        follows = any(change - 10 <= last <= change + FOLLOWS_SECONDS for change in changes)
        ongoing = _going_on(track, name, last + before.tolerance, until)
        structural = _needs_it(name, ongoing)
        if not follows and not structural:
            continue
        failing = sum(f.failed for f in track.failures if f.first >= last - 1 and f.first < until)
        is_steady = before.requests >= STEADY_REQUESTS
        asks_more = _asks_more(track, base, last, until)
        goes_back = _goes_back(track, base, last, until) if name == functions.COMMIT else 0
        if not (structural or failing or ongoing or is_steady or asks_more):
            continue
        what = functions.does(ongoing or ("Metadata",))
        says = f"stopped {functions.doing(name)} at {clock(last)} ({_pace(before)} before that), but still {what}"
        if goes_back:
            says += f", and has begun to read partitions again from earlier offsets ({goes_back:,} times)"
        # Nothing failed and nothing is requested more often: the application may have nothing to do.
        may_be_idle = not (structural or failing or refused_apis or asks_more or goes_back)
        confidence = CERTAIN if structural and follows else POSSIBLE if may_be_idle else LIKELY
        signs.append(Sign(Kind.SILENT_FUNCTION, last, confidence, says, (name,), ()))
    return signs


def not_authorized(track: Track, until: float) -> dict[str, str]:
    """Functions that are answered with nothing but authorization errors since they last succeeded, each in a sentence."""
    denied: dict[str, str] = {}
    by_api: dict[int, list[Failures]] = {}
    for failure in track.failures:
        if failure.failed and failure.code in error_codes.NOT_AUTHORIZED and failure.first < until:
            by_api.setdefault(failure.api_key, []).append(failure)
    for key, own in sorted(by_api.items()):
        name = functions.function(key, is_tool=track.is_tool)
        succeeded = last_before(track.answered.get(name or "", []), until)
        after = [failure for failure in own if succeeded is None or failure.last > succeeded]
        if name is None or not after:
            continue
        code = after[-1].code or 0
        denied[name] = (
            f"{apis.name(key)} has returned error {error_codes.text(code)} since "
            f"{clock(min(failure.first for failure in after))}: its permissions (ACLs), which the upgrade does not change"
        )
    return denied


def without_fetch(track: Track, since: float, until: float) -> Sign | None:
    """A member that was assigned partitions requests their committed offsets, and then has to look up an offset or
    fetch. One that does neither gave up internally, and the broker has no refusal of it.
    """
    offset_fetches = within(track.by_api.get(ApiKey.OFFSET_FETCH, ()), since, until)
    joined = within(track.by_api.get(ApiKey.JOIN_GROUP, ()), since, until)
    if track.is_tool or not offset_fetches or not joined:
        return None
    first = offset_fetches[0].first
    went_on = within(track.by_api.get(ApiKey.FETCH, ()), first, until)
    went_on += within(track.by_api.get(ApiKey.LIST_OFFSETS, ()), first, until)
    if any(span.last > first for span in went_on) or until - first < FOLLOWS_SECONDS / 4:
        return None
    return Sign(
        Kind.SILENT_FUNCTION,
        first,
        LIKELY,
        f"joined its group and asked for committed offsets at {clock(first)}, but has not looked up an offset or fetched since",
        (functions.FETCH,),
        (),
    )


OF_TRANSACTIONS = frozenset(
    (
        ApiKey.INIT_PRODUCER_ID,
        ApiKey.ADD_PARTITIONS_TO_TXN,
        ApiKey.ADD_OFFSETS_TO_TXN,
        ApiKey.END_TXN,
        ApiKey.TXN_OFFSET_COMMIT,
    )
)
"""In addition AddPartitionsToTxn, AddOffsetsToTxn, EndTxn, TxnOffsetCommit."""


def stuck(track: Track, until: float, tolerance: float, since: float) -> Sign | None:
    """The same error for longer than its own time-out, without success since: of a transaction's requests, or of one
    that succeeded before and whose function has stopped. An error alone is no harm: a tool may learn that a topic
    exists.
    """
    by_api: dict[int, list[Failures]] = {}
    for failure in track.failures:
        if failure.failed and failure.code and failure.first < until:
            by_api.setdefault(failure.api_key, []).append(failure)
    signs = (_stuck_api(track, key, own, until, tolerance, since) for key, own in sorted(by_api.items()))
    return next(filter(None, signs), None)


def _stuck_api(
    track: Track, key: int, failures: Sequence[Failures], until: float, tolerance: float, since: float
) -> Sign | None:
    """The sign of one API, from its failures that began before `until`."""
    succeeded = last_before(track.by_api.get(key, []), until)
    name = functions.served(key, is_tool=track.is_tool)
    if key not in OF_TRANSACTIONS and (succeeded is None or name is None):
        return None
    after = [failure for failure in failures if succeeded is None or failure.last > succeeded]
    if sum(failure.failed for failure in after) < error_codes.LEAST_ERRORS:
        return None
    first = min(failure.first for failure in after)
    last = max(min(failure.last, until) for failure in after)
    timeout = TRANSACTION_TIMEOUT_SECONDS
    if key == ApiKey.INIT_PRODUCER_ID:
        named = [
            activity.transaction_timeout for activity in track.activities if activity.transaction_timeout
        ]
        timeout = max(named, default=timeout)
    if last - first <= timeout or last < since or until - last > max(tolerance, timeout):
        return None
    if key not in OF_TRANSACTIONS and within(track.answered.get(name or "", ()), first, until):
        return None
    codes = sorted({failure.code for failure in after if failure.code})
    if set(error_codes.NOT_AUTHORIZED) >= set(codes):
        return None
    errors = ", ".join(map(error_codes.text, codes))
    says = (
        f"{apis.name(key)} has returned nothing but error {errors} since {clock(first)}, "
        f"for longer than its timeout of {timeout:.0f} s"
    )
    return Sign(Kind.STUCK, first, CERTAIN, says, (name,) if name else (), (key,))


def _going_on(track: Track, name: str, since: float, until: float) -> tuple[str, ...]:
    return tuple(
        other_name
        for other_name, spans in sorted(track.answered.items())
        if other_name != name and within(spans, since, until)
    )


def _needs_it(name: str, ongoing: Collection[str]) -> bool:
    """Whether a client that still does the ongoing functions cannot be healthy without this one: a group member both
    fetches and keeps its membership.
    """
    return name == functions.MEMBERSHIP and functions.FETCH in ongoing


def _goes_back(track: Track, base: Baseline, last: float, until: float) -> int:
    """How often a consumer fetched a partition from an earlier offset than before, since it committed last. Zero if it
    did so before the upgrade, too: then it resets its offsets on purpose.
    """
    back = [(activity.since, activity.until, activity.offsets_back) for activity in track.activities]
    if any(times for since, _, times in back if since < base.until):
        return 0
    return sum(times for _, end, times in back if last < end <= until)


def _asks_more(track: Track, base: Baseline, last: float, until: float) -> bool:
    """Whether the client requests Metadata, its coordinator or a new producer id more often than before: it is looking
    for a way out.
    """
    for key in (ApiKey.METADATA, ApiKey.INIT_PRODUCER_ID, ApiKey.FIND_COORDINATOR, ApiKey.JOIN_GROUP):
        spans = track.by_api.get(key, ())
        before = sum(span.requests for span in within(spans, float("-inf"), base.until))
        began = min((span.first for span in track.all_requests), default=base.until)
        after = sum(span.requests for span in within(spans, last, until))
        watched = max(base.until - began, 1.0)
        if after >= error_codes.LEAST_ERRORS and after / max(until - last, 1.0) > 3 * before / watched:
            return True
    return False


def _pace(rhythm: Regularity) -> str:
    """
    >>> [_pace(Regularity(requests, 0.0, 600.0, None)) for requests in (3, 301, 60_000)]
    ['every 5 min', 'every 2.0 s', 'more than 10 a second']
    """
    seconds = (rhythm.last - rhythm.first) / max(rhythm.requests - 1, 1)
    if seconds < 0.1:
        return "more than 10 a second"
    return f"every {seconds:.1f} s" if seconds < 100 else f"every {seconds / 60:.0f} min"
