"""The applications of one cluster through its reports: which is which when names change."""

from collections import defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace

from client_telemetry.campaign import evidence
from client_telemetry.campaign.answers import Answer, Application
from client_telemetry.campaign.evidence import Evidence
from client_telemetry.campaign.vocabulary import RENAMED

Key = tuple[str | None, str]
"""Principal and name."""
ClientKey = tuple[str | None, str]


@dataclass(frozen=True)
class Track:
    """An application, what is proved about it, and who answered for it when it was last seen."""

    key: Key
    owner: str | None
    contact: str | None
    evidence: Evidence
    formerly: tuple[str, ...] = ()
    """Names under which its history began."""


class Tracks:
    """Applications of one cluster. Reports are added in the order of their days. `before`: after the reports that were added already,
    in the order of `by_key`; None: none was.
    """

    def __init__(
        self, fail_on: Collection[str], least_coverage: float, before: Iterable[Track] | None = None
    ) -> None:
        self._fail_on, self._least_coverage = fail_on, least_coverage
        self.by_key: dict[Key, Track] = {track.key: track for track in before or ()}
        self._is_first = before is None

    def add(self, answer: Answer) -> None:
        present = _by_key(answer)
        self._follow_names(present, answer)
        for key, application in present.items():
            before = self.by_key.get(key) or Track(key, None, None, Evidence())
            proved = evidence.seen(
                before.evidence, application, answer, self._fail_on, is_first=self._is_first
            )
            self.by_key[key] = replace(
                before, owner=application.owner, contact=application.contact, evidence=proved
            )
        if (answer.complete_share or 0) >= self._least_coverage and not answer.unseen_brokers:
            for key in self.by_key.keys() - present.keys():
                track = self.by_key[key]
                self.by_key[key] = replace(track, evidence=evidence.not_seen(track.evidence, answer))
        self._is_first = False

    def _follow_names(self, present: dict[Key, Application], answer: Answer) -> None:
        """An application whose affected clients are now in others hands its history on to these, and ends when all are."""
        homes: dict[ClientKey, set[Key]] = defaultdict(set)
        for key, application in present.items():
            for client in application.clients:
                if client.client_id is not None:
                    homes[client.principal, client.client_id].add(key)
        for key, track in list(self.by_key.items()):
            if not track.evidence.is_affected:
                continue
            moved = self._moved(track, homes)
            for new_key in sorted(set().union(*moved.values()), key=str):
                self._hand_on(track, new_key)
            if moved and len(moved) == len(_client_keys(track)):
                names = ", ".join(sorted({name for keys in moved.values() for _, name in keys}))
                why = f"counted as {names} since {answer.day}"
                ended = replace(track.evidence, state=RENAMED, why=why, report_id=answer.report_id)
                self.by_key[key] = replace(track, evidence=ended)

    def _moved(self, track: Track, homes: dict[ClientKey, set[Key]]) -> dict[ClientKey, set[Key]]:
        """Affected clients that are in another application now, and not in this one."""
        return {
            client: homes[client]
            for client in _client_keys(track)
            if client in homes and track.key not in homes[client]
        }

    def _hand_on(self, track: Track, key: Key) -> None:
        heir = self.by_key.get(key)
        if heir is not None and heir.evidence.state not in ("", RENAMED):
            return
        was = track.formerly if track.key[1] in track.formerly else (*track.formerly, track.key[1])
        self.by_key[key] = replace(track, key=key, formerly=tuple(name for name in was if name != key[1]))


def _by_key(answer: Answer) -> dict[Key, Application]:
    """Applications of several owners that share principal and name are one here: owner rules change, the history stays."""
    found: dict[Key, Application] = {}
    for application in answer.applications:
        key = application.principal, application.name
        same = found.get(key)
        found[key] = replace(same, clients=(*same.clients, *application.clients)) if same else application
    return found


def _client_keys(track: Track) -> set[ClientKey | None]:
    """None for affected clients without a client id: these cannot be followed."""
    return {
        None if client.client_id is None else (client.principal, client.client_id)
        for client in track.evidence.affected
    }
