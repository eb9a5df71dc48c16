"""A replay beside the report that it is about: what other brokers answer of the requests of each application, and where that is not
what the report says. It changes no verdict. (client_telemetry.formats.trial_file reads it again.)
"""

import datetime as dt
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from client_telemetry.console.counted import first_of
from client_telemetry.formats import trial_file
from client_telemetry.formats.report_file import Application, Client, Report
from client_telemetry.formats.target_file import parse_ranges
from client_telemetry.formats.trial_file import SCHEMA_VERSION, Replay
from client_telemetry.formats.trial_file import Application as ReplayedApplication
from client_telemetry.knowledge import apis, releases, served
from client_telemetry.knowledge.vocabulary import KnownBy, Verdict
from client_telemetry.probe import probing
from client_telemetry.probe.replay import ABOVE, Pair, Replayed

ANSWERED, REFUSED, OPEN, NOT_REPLAYED = "answered", "refused", "open", "not_replayed"
"""Of an application: all that it sent is answered or advertised there; something is refused; something could not be told; none of
its requests was there to be replayed."""
PREDICTED = "observed_version_refused"
"""The rule of findings which say that a request that was seen will be refused."""
_NAMED = 4


class Brokers(NamedTuple):
    """What was asked: fields of a target file (docs/probe.md)."""

    bootstrap: str
    answers_like: list[str]
    measured_at: str

    @property
    def text(self) -> str:
        like = f" (like {' or '.join(self.answers_like)})" if self.answers_like else ""
        return f"{self.bootstrap}{like}"

    def are_of(self, target: str) -> bool:
        """Whether verdicts about a release or a measured target are about such brokers: not if they answer like other releases."""
        return not self.answers_like or target in self.answers_like or target not in releases.known()


class Result(NamedTuple):
    outcome: str
    said: str
    """What is refused or open, and what contradicts the report; empty: all is answered."""
    contradicts: bool = False


def document(report: Report, of_fleet: Iterable[Replayed], target: Brokers) -> Replay:
    """`of_fleet`: of the clusters and days of the report."""
    by_application: dict[tuple[str, str, str], list[Replayed]] = defaultdict(list)
    for each in of_fleet:
        by_application[each.sent.principal, each.sent.owner, each.sent.application].append(each)
    from_release, to_release = report["question"]["from_release"], report["question"]["to_release"]
    is_of_target = target.are_of(to_release)
    applications = [
        _application(
            application,
            of_application(
                application["outcome"],
                by_application[
                    application["principal"] or "", application["owner"] or "", application["name"]
                ],
                predicted(report["clients"][place] for place in application["clients"]),
                from_release,
            ),
            is_of_target,
        )
        for application in report["applications"]
    ]
    safe = [each for each in applications if each["verdict_outcome"] == Verdict.SAFE]
    return {
        "schema_version": SCHEMA_VERSION,
        "report_id": report["question"]["report_id"],
        "cluster_id": report["question"]["cluster_id"],
        "target": target.text,
        "answers_like": target.answers_like,
        "measured_at": target.measured_at,
        "replayed_at": dt.datetime.now(dt.UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "counts": _counts(applications),
        "safe": _counts(safe),
        "applications": applications,
    }


def predicted(clients: Iterable[Client]) -> set[Pair]:
    """Requests of which the report says that they were seen and will be refused. `clients`: of report.json."""
    return {
        (key, version)
        for client in clients
        for finding in client["findings"]
        if finding["rule_id"] == PREDICTED and (key := finding["api_key"]) is not None
        for version in parse_ranges((finding["versions"] or "").replace(" ", ""))
    }


def of_application(
    verdict_outcome: str, replayed: Sequence[Replayed], refusals: set[Pair], from_release: str
) -> Result:
    """`refusals`: predicted ones. A refused version counts where the client could have taken one that the target accepts, and did not:
    newer ones than the target's, and old ones where today's brokers offer nothing newer, prove nothing.
    """
    if not replayed:
        return Result(NOT_REPLAYED, "none of its requests is in the lake")
    replayed = [each for each in replayed if _is_needed(each)]
    wrongly = [each for each in replayed if each.outcome == probing.ANSWERED and each.sent.pair in refusals]
    refused = [each for each in replayed if each.refused]
    proving = [each for each in refused if _is_proof(each, from_release)]
    if proving:
        is_safe = verdict_outcome in (Verdict.SAFE, Verdict.UNSUPPORTED)
        return Result(REFUSED, f"refused: {_names(proving)}", is_safe or bool(wrongly))
    unclear = refused + [each for each in replayed if each.is_open]
    if wrongly:
        return Result(
            ANSWERED, f"the report says that it is refused, and it is answered: {_names(wrongly)}", True
        )
    if unclear:
        return Result(OPEN, f"whether it works without {_names(unclear)} is not known")
    return Result(ANSWERED, "")


def _is_needed(each: Replayed) -> bool:
    """Clients work without telemetry (KIP-714)."""
    api = apis.by_key().get(each.sent.pair[0])
    return api is None or api.used_by != "telemetry"


def _is_proof(each: Replayed, from_release: str) -> bool:
    if each.side == ABOVE:
        return False
    try:
        today = served.by(from_release).get(each.sent.pair[0])
    except KeyError:
        return False  # another measured target, whose file is not here
    if today is None or each.accepted_from is None:
        return today is not None
    return today.advertised.max >= each.accepted_from


def _names(replayed: Sequence[Replayed]) -> str:
    names = [f"{apis.name(each.sent.pair[0])} v{each.sent.pair[1]} ({each.outcome})" for each in replayed]
    return first_of(names, _NAMED)


def _application(application: Application, result: Result, is_of_target: bool) -> ReplayedApplication:
    is_known = result.outcome in (ANSWERED, REFUSED)
    return trial_file.tried(
        application,
        result.outcome,
        result.said,
        known_by=[KnownBy.RULE, *([KnownBy.REPLAYED] if is_known else [])],
        contradicts=result.contradicts and is_of_target,
    )


def _counts(applications: Sequence[ReplayedApplication]) -> dict[str, int]:
    return trial_file.counts(applications, (ANSWERED, REFUSED, OPEN, NOT_REPLAYED))
