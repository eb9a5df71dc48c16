"""One application of a report from its clients: the verdict of the worst, and what all of them were seen to do."""

from dataclasses import replace
from datetime import timedelta

from client_telemetry.reports.evidence import DaySeen
from client_telemetry.reports.upgrade.applications import applications, counts, outcome_on
from client_telemetry.reports.upgrade.client_verdicts import client_verdicts
from client_telemetry.reports.upgrade.model import Application, ClientVerdict

MINUTE = timedelta(minutes=1)


def clients(rows, *given: dict) -> tuple[ClientVerdict, ...]:
    return client_verdicts(list(given), [], rows.START, rows.END)


def one(rows, *given: dict, begin=None, end=None) -> Application:
    (found,) = applications(clients(rows, *given), begin or rows.START, end or rows.END)
    return found


def of(rows, client_id: str, verdict: str = "safe", **changes) -> dict:
    return rows.verdict(client_id, verdict, application="shop", **changes)


def test_the_verdict_is_that_of_the_worst_client(rows):
    broken = of(
        rows,
        "b",
        "breaks",
        explanation="It stops.",
        fix="upgrade it",
        confidence="declared",
        condition="if it starts",
        missing=["how long"],
    )
    found = one(rows, of(rows, "a"), broken, of(rows, "c", "degrades", fix="another"))
    assert (found.name, found.kind, found.verdict, found.outcome) == (
        "shop",
        "application",
        "breaks",
        "breaks_at_once",
    )
    assert (found.explanation, found.fix, found.confidence) == ("It stops.", "upgrade it", "declared")
    assert (found.condition, found.missing, found.when) == ("if it starts", ("how long",), "at_once")
    assert [client.client_id for client in found.clients] == ["b", "c", "a"]
    assert {name: count for name, count in found.counts.items() if count} == {
        "breaks_at_once": 1,
        "degrades": 1,
        "safe": 1,
    }
    assert found.changes == ("upgrade it",)


def test_what_was_seen_is_that_of_all_clients(rows):
    found = one(
        rows,
        of(rows, "a", roles=["producer"], broker_ids=[3, 1], connections=2, requests=10),
        of(
            rows,
            "b",
            roles=["group_consumer", "producer"],
            broker_ids=[2, 3],
            connections=5,
            requests=7,
            application_notes=["a guess"],
            product="goka",
            first_seen_at=rows.START + MINUTE,
            last_seen_at=rows.END,
        ),
    )
    assert (found.roles, found.broker_ids) == (("group_consumer", "producer"), (1, 2, 3))
    assert (found.connections, found.requests) == (7, 17)
    assert (found.notes, found.product) == (("a guess",), "goka")
    assert (found.first_seen_at, found.last_seen_at) == (rows.START, rows.END)


def test_each_fix_of_its_worst_clients_is_named_once(rows):
    given = [of(rows, str(n), "breaks", fix=fix) for n, fix in enumerate(("x", "y", "x", None))]
    assert one(rows, *given, of(rows, "d", "degrades", fix="z")).fix == "x; y"
    assert one(rows, of(rows, "e", "breaks")).fix is None


def test_clients_of_two_principals_owners_or_names_are_not_one(rows):
    given = clients(
        rows,
        of(rows, "a"),
        of(rows, "b"),
        of(rows, "c", principal="User:x"),
        of(rows, "d", owner="x"),
        rows.verdict("e", application="other"),
    )
    found = applications(given, rows.START, rows.END)
    assert sorted(len(each.clients) for each in found) == [1, 1, 1, 2]
    assert len({each.anchor for each in found}) == 4


def test_it_is_seen_rarely_if_all_of_its_clients_together_are(rows):
    brief = {"first_seen_at": rows.START, "last_seen_at": rows.START + timedelta(seconds=10)}
    late = {"first_seen_at": rows.END - timedelta(seconds=10), "last_seen_at": rows.END}
    assert one(rows, of(rows, "a", **brief)).seen_rarely == "seen for 10 s of 8 min"
    assert one(rows, of(rows, "a", **brief), of(rows, "b", **late)).seen_rarely is None
    both = clients(rows, of(rows, "a", **brief), rows.verdict("b", **late))
    for begin, end in ((None, None), (rows.START, None), (None, rows.END)):
        assert {each.seen_rarely for each in applications(both, begin, end)} == {"seen for 10 s of 8 min"}, (
            "then what was seen first and last is all there is"
        )
    long_before = rows.START - timedelta(hours=1)
    (found,) = applications(clients(rows, of(rows, "a")), long_before, None)
    assert found.seen_rarely is None
    assert applications((), None, None) == ()


def test_what_one_client_says_of_all_and_what_all_must_say(rows):
    found = one(
        rows,
        of(rows, "a", "breaks", already_failing=True, works_again=True, as_before=True),
        of(rows, "b", well_observed=True),
    )
    assert (found.already_failing, found.works_again) == (True, True)
    assert found.as_before, "the one that is safe does not count"
    assert not found.safe_so_far
    assert not one(rows, of(rows, "a", "breaks", as_before=True), of(rows, "b", "breaks")).as_before
    assert not one(rows, of(rows, "a", well_observed=True), of(rows, "b")).safe_so_far
    assert one(rows, of(rows, "a"), of(rows, "b")).safe_so_far
    assert not one(rows, of(rows, "a")).already_failing and not one(rows, of(rows, "a")).works_again


def test_the_rollback_and_the_mixed_window_have_a_worst_client_each(rows):
    found = one(
        rows,
        of(rows, "a", rollback_verdict="unsupported", rollback_explanation="no more", mixed_verdict="safe"),
        of(rows, "b", rollback_verdict=None, mixed_verdict="degrades", mixed_explanation="slower"),
        of(rows, "c", rollback_verdict="safe", mixed_verdict=None),
    )
    assert (found.rollback_verdict, found.rollback_explanation) == ("unsupported", "no more")
    assert (found.mixed_verdict, found.mixed_explanation) == ("degrades", "slower")


def test_a_step_is_that_of_the_client_it_hits_worst(rows):
    def step(name: str, verdict: str, explanation: str) -> dict:
        return {"step": name, "verdict": verdict, "when": None, "explanation": explanation}

    found = one(
        rows,
        of(rows, "a", steps=[step("rolling", "safe", "a"), step("finalized", "breaks", "a")]),
        of(rows, "b", steps=[step("rolling", "degrades", "b"), step("finalized", "safe", "b")]),
        of(rows, "c", steps=[step("rolling", "degrades", "c"), step("finalized", "breaks", "c")]),
    )
    assert [(each.step, each.verdict, each.explanation) for each in found.steps] == [
        ("rolling", "degrades", "b"),
        ("finalized", "breaks", "a"),
    ]


def other(release: str, verdict: str, reason: str = "", when: str | None = None) -> dict:
    return {"to_release": release, "verdict": verdict, "when": when, "reason": reason}


def test_on_another_release_the_client_decides_that_fares_worst_there(rows):
    found = one(
        rows,
        of(rows, "a", "breaks", other_targets=[other("4.0.1", "safe", "JoinGroup v1")]),
        of(rows, "b", "degrades", other_targets=[other("4.0.1", "breaks", "Fetch v3", "latent")]),
        of(rows, "c"),
    )
    ((release, verdict, when, reason),) = [
        (each.to_release, each.verdict, each.when, each.reason) for each in found.other_targets
    ]
    assert (release, verdict, when, reason) == ("4.0.1", "breaks", "latent", "Fetch v3")
    assert outcome_on(found, "4.0.1") == "breaks_latent"
    assert outcome_on(found, "4.1.0") == "breaks_at_once"


def test_a_client_that_does_not_differ_there_can_decide(rows):
    """The other gets well: what is left is the one that degrades on both, and the reason is the other's."""
    found = one(
        rows,
        of(rows, "a", "breaks", other_targets=[other("4.0.1", "safe", "JoinGroup v1")]),
        of(rows, "b", "degrades"),
    )
    assert [(each.verdict, each.when, each.reason) for each in found.other_targets] == [
        ("degrades", "at_once", "JoinGroup v1")
    ]


def test_a_release_on_which_the_application_fares_alike_is_none_that_differs(rows):
    found = one(
        rows, of(rows, "a", "breaks", other_targets=[other("4.0.1", "safe")]), of(rows, "b", "breaks")
    )
    assert found.other_targets == ()


def test_its_days_are_those_of_all_clients(rows):
    def seen(days_later: int, first: int, last: int, connections: int) -> DaySeen:
        noon = rows.START + timedelta(days=days_later)
        return DaySeen(noon.date(), noon + first * MINUTE, noon + last * MINUTE, connections)

    one_client, another = clients(rows, of(rows, "a"), of(rows, "b"))
    one_client = replace(one_client, days_seen=(seen(0, 5, 9, 2), seen(1, 1, 2, 1)))
    another = replace(another, days_seen=(seen(-1, 0, 1, 1), seen(0, 4, 8, 3)))
    (found,) = applications((one_client, another), rows.START, rows.END)
    assert found.days_seen == (seen(-1, 0, 1, 1), seen(0, 4, 9, 5), seen(1, 1, 2, 1))


def test_counts_name_every_outcome(rows):
    found = counts(clients(rows, rows.verdict("a"), rows.verdict("b"), rows.verdict("c", "breaks")))
    assert [name for name, count in found.items() if count] == ["breaks_at_once", "safe"]
    assert sum(found.values()) == 3 and found["degrades"] == 0
