"""A year of weekly reports of a planned upgrade, from a seed: applications that are fixed, go silent, regress and appear, with what people say.

    python -m benchmarks.campaign_year [--clients 5000] [--clusters 12]

prints the CPU seconds that the states of the whole year take. What the daily run of a campaign takes: benchmarks.campaign_run.
"""

import argparse
import datetime as dt
import random
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from client_telemetry.campaign.answers import Answer, Application, Client
from client_telemetry.campaign.plan import ACKNOWLEDGE, PROMISE, WAIVE, Campaign, Statement, Target
from client_telemetry.campaign.states import history

START: Final = dt.date(2026, 1, 5)
WEEKS: Final = 53
RELEASE: Final = "4.0.1"
_EXPLANATIONS: Final = {
    "breaks": "It joins groups with JoinGroup v1, which 4.0.1 does not accept",
    "insufficient_evidence": "Its login was not seen",
    "degrades": "It asks for metrics that 4.0.1 does not have",
    "safe": "4.0.1 accepts all that it sends",
}
_DUE = dt.timedelta(weeks=6)


@dataclass(frozen=True)
class Year:
    """`answers`: of every cluster and week, oldest first."""

    campaign: Campaign
    answers: tuple[Answer, ...]

    @property
    def until(self) -> dt.date:
        return START + dt.timedelta(weeks=WEEKS - 1)


@dataclass
class _Life:
    """One application: what its client is now, since when, and when it was seen last."""

    name: str
    owner: str
    verdict: str
    since: dt.datetime
    last: dt.datetime
    is_silent: bool = False

    def week(self, at: dt.datetime, dice: random.Random) -> None:
        chance = dice.random()
        if self.is_silent:
            self.is_silent = chance > 0.2
        elif chance < 0.02:
            self.is_silent = True
        elif chance < 0.07 and self.verdict != "safe":
            self.verdict, self.since = "safe", at - dt.timedelta(hours=3)
        elif chance < 0.075:
            self.verdict, self.since = "breaks", at - dt.timedelta(hours=3)
        if not self.is_silent:
            self.last = at

    def seen(self) -> Application:
        stops = self.verdict == "breaks"
        client = Client(
            principal=f"User:{self.owner}",
            client_id=self.name,
            software="",
            verdict=self.verdict,
            rules=("observed_version_refused",) if stops else (),
            explanation=_EXPLANATIONS[self.verdict],
            fix="Upgrade sarama to 1.41.0 or later" if stops else None,
            first_seen_at=self.since,
            last_seen_at=self.last,
        )
        return Application(self.name, client.principal, self.owner, f"{self.owner}@example.com", (client,))


def year(clients: int, clusters: int, seed: int = 1) -> Year:
    """`clients`: of all clusters together, one for each application; some of them appear during the year."""
    dice = random.Random(seed)
    names = [f"cluster-{number:02}" for number in range(clusters)]
    answers: list[Answer] = []
    for number, cluster in enumerate(names):
        own = range(number, clients, clusters)
        answers += _weeks(cluster, [f"app-{each:05}" for each in own], dice)
    answers.sort(key=lambda each: (each.day, each.cluster))
    statements = tuple(_statement(f"app-{number:05}", dice) for number in range(0, clients, 20))
    planned = START + dt.timedelta(weeks=WEEKS)
    campaign = Campaign("year", tuple(names), RELEASE, planned, "kafka@example.com", statements=statements)
    return Year(campaign, tuple(answers))


def _weeks(cluster: str, names: Sequence[str], dice: random.Random) -> Iterator[Answer]:
    first = dt.datetime.combine(START, dt.time(12), dt.UTC)
    lives = {name: _life(name, first, dice) for name in names}
    begins = {name: 0 if dice.random() < 0.9 else dice.randrange(1, WEEKS) for name in names}
    for week in range(WEEKS):
        at = first + dt.timedelta(weeks=week)
        for name, life in lives.items():
            if begins[name] == week:
                life.since = life.last = at
            elif begins[name] < week:
                life.week(at, dice)
        there = [life for name, life in lives.items() if begins[name] <= week and not life.is_silent]
        yield answer(cluster, at, [life.seen() for life in there], dice.random() < 0.9)


def _life(name: str, at: dt.datetime, dice: random.Random) -> _Life:
    verdict = dice.choice(("breaks", "breaks", "insufficient_evidence", "safe", "safe", "degrades"))
    return _Life(name, f"team-{dice.randrange(40):02}", verdict, at, at)


def answer(cluster: str, at: dt.datetime, applications: Sequence[Application], is_whole: bool) -> Answer:
    """`is_whole`: whether brokers were seen for long enough to say that somebody is silent."""
    return Answer(
        cluster=cluster,
        to_release=RELEASE,
        day=at.date(),
        created_at=at + dt.timedelta(hours=15),
        report_id=f"{cluster}_{at.date()}",
        knowledge_version="k",
        complete_share=1.0 if is_whole else 0.5,
        unseen_brokers=(),
        blockers=(),
        incomplete=None,
        applications=tuple(applications),
    )


def again(found: Answer, verdict: str) -> Answer:
    """The same day, processed again: its applications have another verdict."""
    changed = tuple(
        replace(each, clients=tuple(replace(client, verdict=verdict) for client in each.clients))
        for each in found.applications
    )
    later = found.created_at + dt.timedelta(days=100)
    return replace(found, applications=changed, created_at=later, report_id=f"{found.report_id}_again")


def _statement(application: str, dice: random.Random) -> Statement:
    kind = dice.choice((ACKNOWLEDGE, PROMISE, WAIVE))
    on = START + dt.timedelta(days=dice.randrange(7 * WEEKS))
    until = None if kind == ACKNOWLEDGE else on + dt.timedelta(days=dice.randrange(_DUE.days))
    return Statement(kind, Target(application=application), "ann@example.com", on, until, "agreed")


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--clients", type=int, default=5000)
    arguments.add_argument("--clusters", type=int, default=12)
    args = arguments.parse_args()
    made = year(args.clients, args.clusters)
    began = time.process_time()
    changes = history(made.campaign, made.answers, made.until)
    took = time.process_time() - began
    print(f"{len(made.answers):,} reports, {len(changes):,} changes of state: {took:.1f} CPU s")


if __name__ == "__main__":
    main()
