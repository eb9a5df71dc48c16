"""How regularly requests came, and how long a silence still means nothing. Pure."""

from collections.abc import Sequence
from typing import NamedTuple

from client_telemetry.review.tracks import Span

LEAST_TOLERANCE_SECONDS = 30.0
"""Clients need this long to find new leaders and coordinators (retry and reconnect back-offs, metadata.max.age of a
retry).
"""
LEAST_REQUESTS = 3
"""Fewer show no regularity."""


class Regularity(NamedTuple):
    """`tolerance`: seconds of silence that still mean nothing; None = too few requests to know. `last`: the latest
    request.
    """

    requests: int
    first: float
    last: float
    tolerance: float | None


def regularity(spans: Sequence[Span], slot_seconds: float) -> Regularity | None:
    """Regularity of spans in order; None if there are none. Requests within a span are assumed to be evenly spread.

    >>> regularity([Span(0, 0, 1, ""), Span(100, 100, 1, ""), Span(200, 200, 1, "")], 1).tolerance
    300
    """
    if not spans:
        return None
    first, last = spans[0].first, spans[0].last
    longest = 0.0
    requests = 0
    for span in spans:
        longest = max(longest, span.first - last)
        if span.requests > 1:
            longest = max(longest, (span.last - span.first) / (span.requests - 1))
        last = max(last, span.last)
        requests += span.requests
    if requests < LEAST_REQUESTS or last - first < max(slot_seconds, longest):
        return Regularity(requests, first, last, None)
    return Regularity(requests, first, last, max(LEAST_TOLERANCE_SECONDS, 2 * slot_seconds, 3 * longest))
