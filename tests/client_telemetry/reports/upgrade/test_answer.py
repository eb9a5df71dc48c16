import csv
import re
from pathlib import Path

import pytest
from client_telemetry.knowledge import known_issues, roles
from client_telemetry.knowledge.vocabulary import Role
from client_telemetry.reports.outcomes import OUTCOMES
from client_telemetry.reports.upgrade.answer import answer, at_trigger, text

TABLE = Path(__file__).parents[3] / "data/reports/answers.csv"
CASES = list(csv.DictReader(TABLE.read_text(encoding="utf-8").splitlines()))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["case"])
def test_sentence(case):
    counts = {outcome: int(case[outcome]) for outcome in OUTCOMES}
    triggers = case["triggers"].split("|") if case["triggers"] else [None]
    beside = {"safe_so_far": "so_far", "already_failing": "failing", "works_again": "again"}
    more = {name: int(case[column]) for name, column in beside.items()}
    phrases = answer("c", "3.9.1", "4.0.0", counts, triggers, **more)
    assert text(phrases) == case["sentence"]
    linked = {phrase.outcome for phrase in phrases if phrase.outcome}
    listed = counts | {name: more[name] for name in ("already_failing", "works_again")}
    assert linked == {name for name, count in listed.items() if count}


def test_a_long_trigger_is_left_to_the_row():
    counts = {"breaks_at_once": 0, "breaks_latent": 1, "safe": 1}
    sentence = text(answer("c", "3.9.1", "4.0.0", counts, ["x" * 60]))
    assert "1 later, when triggered" in sentence


def _triggers() -> set[str]:
    """All that the knowledge base and the rules have."""
    of_roles = {need.trigger for of_role in roles.needs().values() for need in of_role.values()}
    beside = roles.loss(
        19, (Role.PRODUCER, Role.GROUP_CONSUMER), (19,)
    ).trigger  # CreateTopics of a stream processor
    return (of_roles | {issue.trigger for issue in known_issues.known()} | {beside}) - {""}


@pytest.mark.parametrize("trigger", sorted(_triggers()))
def test_every_trigger_reads_on_from_the_sentence(trigger):
    """A client breaks "at its next start", not "at its next its next start"."""
    for clients in (1, 2):
        sentence = text(answer("c", "3.9.1", "4.0.0", {"breaks_latent": clients, "safe": 1}, [trigger]))
        assert not re.search(r"next (a|an|the|its|their|next|such) |\b(\w+) \2\b", sentence), sentence
        head = re.search(r"at (?:its|their) next ([^.]+)\. ", sentence)
        assert not head or not re.search(r"\b(is|are|moves|closes|begins|starts)\b", head[1]), sentence


@pytest.mark.parametrize(
    ("trigger", "says"),
    [
        ("the end of a transaction", "at its next end of a transaction"),
        ("their next session", "at its next session"),
        ("an election, or a move", "at its next election"),
        ("a move of a partition", "at its next move of a partition"),
        ("its start.", "at its next start"),
        ("next start", "at its next start"),
        ("its leader closes", "when its leader closes"),
        ("x" * 52, "at its next " + "x" * 52),
        ("x" * 53, None),
        (": in a new group", None),
        ("", None),
        (None, None),
    ],
)
def test_a_trigger_of_own_knowledge_loses_its_article(trigger, says):
    assert at_trigger(trigger, "its") == says


def test_what_breaks_later_as_it_would_today():
    counts = {"breaks_latent": 2, "safe": 40}
    for as_before, says in (
        (0, "offset reset. "),
        (1, "offset reset (1 of them as today). "),
        (2, "reset, as today. "),
    ):
        told = text(answer("c", "4.0.0", "4.3.1", counts, ["offset reset"], as_before=as_before))
        assert f"2 at their next offset reset{says.partition('reset')[2]}40 are safe" in told


@pytest.mark.parametrize(
    ("source", "target", "says"),
    [
        ("2.7.2", "4.0.1", True),
        ("2.8.2", "4.0.1", True),
        ("3.2.3", "4.3.1", True),
        ("3.3.0", "4.0.1", False),
        ("3.9.1", "4.0.1", False),
        ("2.7.2", "3.9.1", False),
    ],
)
def test_an_upgrade_that_cannot_be_rolled(source, target, says):
    """4.0 has no ZooKeeper, and KRaft is for production since 3.3: the sentence, not only a note, says what comes first."""
    told = text(answer("c", source, target, {"safe": 2}, []))
    assert ("not one rolling upgrade" in told) == says
    assert told.endswith(f"migrate to KRaft there (KIP-866), then upgrade to {target}.") == says


def test_going_back():
    counts = {"breaks_at_once": 2, "safe": 40}
    assert text(answer("c", "4.0.1", "3.9.1", counts, [], is_rollback=True)) == (
        "Rolling back from 4.0.1 to 3.9.1 on cluster c breaks 2 of 42 applications at once. 40 are safe, and "
        "every client was seen well enough for a verdict."
    )


def test_the_window_comes_first():
    counts = {"safe": 24}
    assert text(answer("c", "3.9.1", "4.0.0", counts, [], seen_in="10 minutes of traffic")) == (
        "In 10 minutes of traffic: upgrading cluster c from 3.9.1 to 4.0.0 breaks none of 24 applications. "
        "24 are safe, and every client was seen well enough for a verdict."
    )


def test_connections_that_no_verdict_covers_are_counted():
    counts = {"safe": 2}
    told = answer("c", "3.9.1", "4.0.0", counts, [], unnamed_connections=3, connections_beyond=1)
    assert text(told) == (
        "Upgrading cluster c from 3.9.1 to 4.0.0 breaks none of 2 applications. 2 are safe. 3 connections from "
        "unidentified clients have no verdict. 1 connection was counted by the brokers but not observed: no verdict."
    )
    assert text(answer("c", "3.9.1", "4.0.0", {}, [], unnamed_connections=1)).endswith(
        "no client was seen. 1 connection from unidentified clients has no verdict."
    )
