"""What a fleet sent, asked of other brokers: each API and version of its clients, with the outcome there."""

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from client_telemetry.formats.target_file import Content, parse_ranges
from client_telemetry.knowledge import measured_targets, served
from client_telemetry.knowledge.api_key import ApiKey
from client_telemetry.probe.probing import ANSWERED, CLOSED, GARBLED, REFUSED, SILENT
from client_telemetry.tables.rows import ClientRow

ADVERTISED, NOT_ASKED = "advertised", "not asked"
"""Not asked, and advertised by every broker or not."""
BELOW, ABOVE, NONE = "below", "above", "none"
"""Where a refused version is, as seen from the answered ones: a client that asks for versions takes a lower one instead of one above
them, and has none to take below. NONE: no version of the API is answered.
"""
_WORST_FIRST = (CLOSED, REFUSED, GARBLED, SILENT, NOT_ASKED, ANSWERED, ADVERTISED)

Pair = tuple[int, int]
"""API key and version."""


class Sent(NamedTuple):
    """One API and version of one application."""

    cluster_id: str
    principal: str
    application: str
    owner: str
    listeners: tuple[str, ...]
    pair: Pair
    requests: int
    """Requests that today's brokers answered."""


class Replayed(NamedTuple):
    sent: Sent
    outcome: str
    """One of probing's outcomes, the worst of all brokers, or ADVERTISED or NOT_ASKED."""
    side: str
    """BELOW, ABOVE or NONE for a version that is refused; otherwise empty."""
    accepted_from: int | None
    """The lowest version of the API that every broker accepts; None where there is none."""
    expected: bool | None
    """Whether the releases that the target answers like accept it; None where there is none, or they differ."""

    @property
    def refused(self) -> bool:
        """Every client asks again with a lower version where ApiVersions is refused (KIP-511)."""
        return self.outcome in (CLOSED, REFUSED) and self.sent.pair[0] != ApiKey.API_VERSIONS

    @property
    def is_open(self) -> bool:
        """Whether nothing shows that the target accepts it, nor that it refuses it."""
        return self.outcome in (SILENT, GARBLED, NOT_ASKED)

    @property
    def differs(self) -> bool:
        return (
            self.expected is not None
            and self.outcome in (ANSWERED, CLOSED, REFUSED)
            and self.expected != (self.outcome == ANSWERED)
        )


def sent_by(clients: Iterable[ClientRow]) -> list[Sent]:
    """From rows of the table `clients`: the requests of each application that were answered, sorted."""
    requests: dict[tuple[str, str, str, str, Pair], int] = {}
    listeners: dict[tuple[str, str, str], set[str]] = {}
    for client in clients:
        application = client["application"] or client["client_id"] or client["principal"] or ""
        whose = client["cluster_id"], client["principal"] or "", application
        listeners.setdefault(whose, set()).update(client["listeners"])
        for use in client["api_uses"]:
            if use["requests"]:
                key = (*whose, client["owner"] or "", (use["api_key"], use["version"]))
                requests[key] = requests.get(key, 0) + use["requests"]
    return [
        Sent(cluster, principal, name, owner, tuple(sorted(listeners[cluster, principal, name])), pair, count)
        for (cluster, principal, name, owner, pair), count in sorted(requests.items())
    ]


def replayed(sent: Iterable[Sent], target: Content) -> Iterator[Replayed]:
    """`target`: the content of a target file."""
    entries = [
        {int(name.partition(" ")[0]): entry for name, entry in answers.items()}
        for answers in target["answers"]
    ]
    for each in sent:
        key, version = each.pair
        of_brokers = [answers.get(key, {}) for answers in entries]
        outcome = min((_outcome(entry, version) for entry in of_brokers), key=_WORST_FIRST.index)
        accepted = set[int].intersection(*(measured_targets.accepted(entry) for entry in of_brokers))
        lowest = min(accepted, default=None)
        side = _side(lowest, version) if outcome in (CLOSED, REFUSED) else ""
        expected = {served.serves(release, key, version) for release in target["answers_like"]}
        yield Replayed(each, outcome, side, lowest, expected.pop() if len(expected) == 1 else None)


def _outcome(entry: Mapping[str, str], version: int) -> str:
    for outcome in _WORST_FIRST:
        if version in parse_ranges(entry.get(outcome, "")):
            return outcome
    return NOT_ASKED


def _side(lowest: int | None, version: int) -> str:
    if lowest is None:
        return NONE
    return BELOW if version < lowest else ABOVE
