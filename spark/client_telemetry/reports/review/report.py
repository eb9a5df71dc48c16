"""What a published review holds beside the review itself, and its sentence."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from importlib.metadata import version

from client_telemetry import knowledge
from client_telemetry.console.counted import counted
from client_telemetry.knowledge.vocabulary import When
from client_telemetry.reports.names import folder_name
from client_telemetry.review import applications
from client_telemetry.review.decision import Decision, decisions
from client_telemetry.review.metric_curves import NOTHING, MetricReview
from client_telemetry.review.model import Review, ReviewedClient
from client_telemetry.review.outcome import Happened
from client_telemetry.review.phases import ROLLED_BACK
from client_telemetry.review.prediction import Comparison
from client_telemetry.review.rule_records import RuleRecord

SCHEMA_VERSION = 2


@dataclass(frozen=True)
class ReviewReport:
    """`prediction_source`: which prediction it is compared with, in words. `report_link`: where the upgrade report is, relative
    to the page; None = there is none. `all_rules`: over all reviews of the lake; empty = there is no lake."""

    review: Review
    review_id: str
    cluster_name: str
    created_at: datetime
    decisions: tuple[Decision, ...]
    prediction_source: str
    report_link: str | None = None
    metrics: MetricReview = NOTHING
    all_rules: tuple[RuleRecord, ...] = ()
    knowledge_version: str = ""
    knowledge_built_at: datetime | None = None
    code_version: str = ""

    @cached_property
    def sentence(self) -> str:
        return sentence(self.review, self.cluster_name)


def report_of(
    review: Review,
    review_id: str,
    cluster_name: str,
    created_at: datetime,
    metrics: MetricReview,
    report_link: tuple[str, str] | None = None,
    all_rules: Sequence[RuleRecord] = (),
) -> ReviewReport:
    """`report_link`: id of the upgrade report that the review is compared with, and where it is; None = there was none."""
    return ReviewReport(
        review,
        review_id,
        cluster_name,
        created_at,
        decisions(review),
        f"report {report_link[0]}"
        if report_link
        else "made now, from the requests before the first broker changed",
        report_link[1] if report_link else None,
        metrics,
        tuple(all_rules),
        knowledge.version(),
        knowledge.built_at(),
        version("client-telemetry"),
    )


def act_now(review: Review) -> list[ReviewedClient]:
    """Clients that are down at the end of the records, also those that were before the upgrade."""
    return sorted(
        (client for client in review.clients if client.is_down),
        key=lambda c: (
            c.owner or "~",
            c.application,
            c.last_outcome.since or 0,
            c.client_id or "",
            c.principal,
        ),
    )


def of_comparison(review: Review, *words: str) -> list[ReviewedClient]:
    return [client for client in review.clients if client.comparison in words]


def applications_of(clients: Sequence[ReviewedClient]) -> str:
    """How many applications these clients are, and how many clients where those are more: `2 applications, 9 clients`."""
    many = len(applications.keys(clients))
    clients_below = f", {counted(len(clients), 'client')}" if len(clients) != many else ""
    return f"{counted(many, 'application')}{clients_below}"


def with_outcome(review: Review, word: str) -> list[ReviewedClient]:
    return [client for client in review.clients if client.last_outcome.outcome == word]


def immediate(clients: Sequence[ReviewedClient]) -> list[ReviewedClient]:
    """Those that were predicted to break at once in one of the phases."""
    return [
        client
        for client in clients
        if client.prediction is not None
        and client.prediction.when != When.LATENT
        and "breaks" in (client.prediction.verdict, *client.prediction.by_phase.values())
    ]


def sentence(review: Review, cluster_name: str) -> str:
    """`Upgrade of fleet from 3.9.1 to 4.0.0: 13 of 13 predicted immediate breaks happened, 0 unexpected; …`: in applications,
    of which one client is enough."""
    upgrade, keys = review.upgrade, applications.keys
    happened = of_comparison(review, Comparison.HAPPENED)
    unexpected = keys(of_comparison(review, Comparison.UNEXPECTED))
    failed = of_comparison(review, Comparison.DID_NOT_HAPPEN)
    predicted_at_once = keys(immediate(happened))
    of_all = len(predicted_at_once | keys(immediate(failed)))
    breaks = "break" if of_all == 1 else "breaks"
    happening = f"{len(predicted_at_once):,} of {of_all:,} predicted immediate {breaks} happened"
    down = _down(review)
    parts = [
        f"{down}{happening if of_all else 'no immediate break was predicted'}, {len(unexpected):,} unexpected"
    ]
    if suspected := len(keys(happened) - predicted_at_once):
        parts.append(
            f"{suspected:,} latent or conditional {'one' if suspected == 1 else 'ones'} happened too"
        )
    waiting = len(keys(of_comparison(review, Comparison.NOT_TRIGGERED)))
    if waiting:
        parts.append(f"{waiting:,} latent {'one has' if waiting == 1 else 'ones have'} not triggered")
    if fixed := len(keys(of_comparison(review, Comparison.FIXED_MEANWHILE))):
        parts.append(f"{fixed:,} fixed meanwhile")
    if lost := len(keys(with_outcome(review, Happened.GONE))):
        parts.append(f"{lost:,} application{'s' * (lost != 1)} disappeared for unknown reasons")
    if again := len(keys(client for client in review.clients if client.is_well_again)):
        parts.append(f"{again:,} failed during it and {'is' if again == 1 else 'are'} well again")
    if before := len(keys(with_outcome(review, Happened.FAILING_BEFORE))):
        parts.append(f"{before:,} {'was' if before == 1 else 'were'} already failing before")
    others = keys(with_outcome(review, Happened.FAILING)) - keys(happened) - unexpected
    if others:
        parts.append(
            f"{len(others):,} more {'is' if len(others) == 1 else 'are'} failing, new or for a reason that was not predicted"
        )
    state = (
        " (rolled back)" if upgrade.phase(ROLLED_BACK) else "" if upgrade.is_complete else " (not complete)"
    )
    return f"Upgrade of {cluster_name} from {upgrade.from_release} to {upgrade.to_release}{state}: {'; '.join(parts)}"


def _down(review: Review) -> str:
    """What is down now, whoever caused it: `12 applications are down (11 of them before the upgrade already); `. Empty if none
    is."""
    clients = act_now(review)
    down = applications.keys(clients)
    if not down:
        return ""
    since = [client for client in clients if client.last_outcome.outcome != Happened.FAILING_BEFORE]
    before = len(down - applications.keys(since))
    how_many = "" if len(down) == 1 else "all of them " if before == len(down) else f"{before:,} of them "
    which = f" ({how_many}before the upgrade already)" if before else ""
    return f"{counted(len(down), 'application')} {'is' if len(down) == 1 else 'are'} down{which}; "


def moment(seconds: float | None) -> datetime | None:
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC)


def message_path(owner: str) -> str:
    """Within the review's folder."""
    return f"owners/{folder_name(owner)}/review.md"


def message_paths(clients: Iterable[ReviewedClient]) -> dict[str, str]:
    """Owner to the path of the message, for those with an application that is not simply unaffected."""
    return {
        each.owner: message_path(each.owner) for each in clients if each.owner is not None and has_news(each)
    }


def has_news(client: ReviewedClient) -> bool:
    return client.last_outcome.outcome != Happened.UNAFFECTED or client.comparison not in (
        Comparison.AS_SAFE,
        Comparison.NOT_COUNTED,
    )
