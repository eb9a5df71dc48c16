"""The outcome of a client, case by case (tests/data/review/outcomes.csv: its first column says the case in words)."""

import csv
import random
from pathlib import Path

import pytest
import scenarios
from client_telemetry.activity.records import Activity, BrokerRun, Client, Evidence
from client_telemetry.review import decision, outcome
from client_telemetry.review.in_parts import review
from client_telemetry.review.judge_client import Surroundings, outcomes
from client_telemetry.review.outcome import Happened, Outcome
from client_telemetry.review.phases import upgrade_of
from client_telemetry.review.prediction import Knowledge
from client_telemetry.review.signs import NOTHING_REFUSED, Exactness, attributed
from client_telemetry.review.tracks import tracks
from hypothesis import given, settings
from hypothesis import strategies as st

TABLE = Path(__file__).parents[2] / "data/review/outcomes.csv"
CASES = list(csv.DictReader(TABLE.read_text(encoding="utf-8").splitlines()))


def reviewed(evidence: Evidence, breaks_login: bool = False) -> list[list[Outcome]]:
    upgrade = upgrade_of(
        evidence.runs, evidence.features, "3.9.1", "4.0.1", requests_until=evidence.requests_until
    )
    found = tracks(evidence.activities, upgrade.began)
    around = Surroundings.of(
        upgrade,
        evidence.failed_logins,
        Exactness(evidence.slot_seconds),
        stops_and_starts=[at for run in evidence.runs for at in (run.started, run.until)],
        data_from=min((each.since for each in evidence.activities), default=0.0),
    )
    known = Knowledge(("its library cannot log in on 4.0.1",) if breaks_login else ())
    refusals = attributed(found, evidence.unnamed_refusals)
    return [
        outcomes(track, refusals.get(i, NOTHING_REFUSED).refusals(), known, around)
        for i, track in enumerate(found)
    ]


def of_case(case: dict[str, str]) -> Evidence:
    who = scenarios.client("orders", case["software"], case["protocol"])
    return scenarios.evidence([(who, case["did"])], case["unnamed_refusals"], case["failed_logins"])


@pytest.mark.parametrize("case", CASES, ids=[case["case"] for case in CASES])
def test_each_case_has_its_outcome_in_each_phase(case: dict[str, str]) -> None:
    (found,) = reviewed(of_case(case), bool(case["breaks_login"]))

    happened = {each.phase: f"{each.outcome}:{each.kind}" if each.kind else each.outcome for each in found}
    assert happened == {phase: case[phase] for phase in ("rolling", "not_finalized", "finalized")}, found


def test_logins_that_differ_in_what_is_not_known_are_in_order() -> None:
    """Brokers do not always name the mechanism: two failed logins of one address, broker and millisecond."""
    evidence = scenarios.evidence([(scenarios.client(), "Produce:9@0-900/2")], logins="400-400/1")
    (login,) = evidence.failed_logins
    evidence.failed_logins = [login, login._replace(mechanism=None), login._replace(reason="another")]
    (found,) = reviewed(evidence)
    assert {each.outcome for each in found} == {Happened.UNAFFECTED}


def test_rates_are_of_the_time_that_was_recorded() -> None:
    """Brokers may have run for months before anything was recorded."""
    evidence = scenarios.evidence([(scenarios.client(), "Produce:9@0-900/2")])
    evidence.runs = [run._replace(started=-1e6) if "old" in run.incarnation else run for run in evidence.runs]
    (found,) = reviewed(evidence)
    ((name, before, after),) = found[-1].rates
    assert (name, round(before), round(after)) == ("produce", 30, 30)


@pytest.mark.parametrize(
    ("did", "expected"),
    [
        ("Produce:9@0-700/2", ("unaffected", None)),
        # It has reopened its connection; what it requested on it comes with the next snapshot.
        (
            "Fetch:11@0-700/1 Heartbeat:3@0-700/3 JoinGroup:5@702-703/1 OffsetFetch:5@703-704/1",
            ("unaffected", None),
        ),
        ("Produce:9@0-500/2", ("gone_or_locked_out", "silent")),
        ("Fetch:11@0-700/1 Heartbeat:3@0-385/3", ("failing", "silent_function")),
        ("Produce:9@0-700/2 Produce:2@0-300/2 Produce:2@310-900/2x", ("failing", "refused")),
    ],
)
def test_what_the_next_snapshot_will_report_is_not_missing(
    did: str, expected: tuple[str, str | None]
) -> None:
    """The brokers run until 900, and wrote their last snapshots at 700."""
    evidence = scenarios.evidence([(scenarios.client(), did)])
    evidence.requests_until = 700.0
    (found,) = reviewed(evidence)
    assert (found[-1].outcome, found[-1].kind) == expected, found


def test_a_phase_after_the_last_snapshot_shows_nothing_of_a_client() -> None:
    evidence = scenarios.evidence([(scenarios.client(), "Produce:9@0-560/2")])
    evidence.requests_until = 560.0
    (found,) = reviewed(evidence)
    assert [each.outcome for each in found] == ["unaffected", "unaffected", "not_seen"]
    assert "known only until 00:09:20" in found[-1].reasons[0] and found[-1].rates == ()


def test_a_broker_is_not_called_well_before_its_clients_are_known() -> None:
    evidence = scenarios.evidence([(scenarios.client(), "Produce:9@0-900/2")])
    assert {each.decision for each in decision.decisions(review(evidence, "3.9.1", "4.0.1"))} == {decision.GO}

    evidence.requests_until = max(scenarios.STOPS.values()) + scenarios.DOWN + 50
    decided = {each.broker_id: each for each in decision.decisions(review(evidence, "3.9.1", "4.0.1"))}
    assert {broker: own.decision for broker, own in decided.items()} == {
        **dict.fromkeys((2, 3), decision.GO),
        1: decision.CANNOT_TELL,
    }
    assert "known only until 00:07:18" in decided[1].reason


COMMITS_NO_MORE = "Fetch:11@0-900/1 Heartbeat:3@0-900/3 OffsetCommit:7@0-320/5"


@pytest.mark.parametrize(
    ("case", "did", "back", "expected"),
    [
        ("nothing goes back", COMMITS_NO_MORE, (), ("silent_function", "possible")),
        ("it reads again what it had read", COMMITS_NO_MORE, (450, 620), ("silent_function", "likely")),
        ("it did so before, too", COMMITS_NO_MORE, (100, 450, 620), ("silent_function", "possible")),
        ("it commits", COMMITS_NO_MORE.replace("320", "900"), (450, 620), (None, "certain")),
    ],
)
def test_offsets_that_go_back_show_that_commits_are_missing(
    case: str, did: str, back: tuple[int, ...], expected: tuple[str | None, str]
) -> None:
    evidence = scenarios.evidence([(scenarios.client(), did)])
    for activity in evidence.activities:
        if any(activity.since <= at < activity.until for at in back) and (1, 11) in activity.uses:
            activity.offsets_back = 1
    (found,) = reviewed(evidence)
    assert (found[-1].kind, found[-1].confidence) == expected, (case, found[-1])
    assert any("earlier offsets" in reason for reason in found[-1].reasons) == (expected[1] == "likely")


def test_what_is_not_authorized_is_named() -> None:
    did = "Produce:9@0-320/2 Produce:9@322-900/2!29 Metadata:12@0-900/10"
    (found,) = reviewed(scenarios.evidence([(scenarios.client(), did)]))
    assert found[-1].reasons == (
        "Produce has returned error 29 (TOPIC_AUTHORIZATION_FAILED) since 00:05:22: its permissions (ACLs), which the "
        "upgrade does not change",
    )


def test_what_the_upgraded_brokers_refused_is_past_after_a_rollback() -> None:
    """Broker 3 was upgraded and went back. `refused` was refused there meanwhile, and again nowhere since."""
    runs = [
        BrokerRun(3, "3-old", ("3.9.1",), -5.0, 300.0),
        BrokerRun(3, "3-new", ("4.0.1",), 308.0, 400.0),
        BrokerRun(3, "3-back", ("3.9.1",), 408.0, 900.0, True),
        BrokerRun(2, "2-old", ("3.9.1",), -5.0, 900.0, True),
    ]
    who = scenarios.client("refused")
    activities = []
    for at in range(0, 900, 2):
        third = "3-old" if at < 300 else "3-new" if 308 <= at < 400 else "3-back" if at >= 408 else None
        for broker, incarnation in ((3, third), (2, "2-old")):
            if incarnation:
                activity = Activity(who, broker, incarnation, float(at), at + 2.0)
                use = activity.use(0, 2)
                if incarnation == "3-new":
                    use.add_failed(float(at), refused=True)
                else:
                    use.add_answered(float(at))
                activities.append(activity)
    evidence = Evidence("cluster", runs, [], activities, [], [], 10.0)
    (found,) = reviewed(evidence)
    assert [(each.phase, each.outcome, each.kind) for each in found] == [
        ("rolling", Happened.FAILING, "partly"),
        ("rolled_back", Happened.UNAFFECTED, None),
    ]


@pytest.mark.parametrize("case", CASES, ids=[case["case"] for case in CASES])
def test_the_order_of_records_does_not_matter(case: dict[str, str]) -> None:
    evidence = of_case(case)
    (expected,) = reviewed(evidence, bool(case["breaks_login"]))

    for seed in range(3):
        shuffled = of_case(case)
        shuffle = random.Random(seed).shuffle
        for records in (
            shuffled.activities,
            shuffled.unnamed_refusals,
            shuffled.failed_logins,
            shuffled.runs,
        ):
            shuffle(records)
        assert reviewed(shuffled, bool(case["breaks_login"])) == [expected]


FAILING = [case for case in CASES if case["finalized"].startswith("failing:")]


@settings(max_examples=60, deadline=None)
@given(
    case=st.sampled_from(FAILING),
    times=st.lists(st.floats(min_value=320, max_value=895), max_size=4),
    more=st.lists(
        st.sampled_from(
            [
                "Produce:2@400-890/30x",
                "Metadata:12@400-890/5",
                "FindCoordinator:1@310-890/7",
                "InitProducerId:5@400-890/9!51",
                "JoinGroup:5@400-890/20!25",
            ]
        ),
        max_size=3,
        unique=True,
    ),
    logins=st.sampled_from(["", "300-900/3", "0-900/9"]),
)
def test_more_evidence_of_harm_never_turns_failing_into_unaffected(
    case: dict[str, str], times: list[float], more: list[str], logins: str
) -> None:
    who = scenarios.client("orders", case["software"], case["protocol"])
    other = scenarios.client("another", "apache-kafka-java 3.9.1", case["protocol"])._replace(
        principal="User:another"
    )
    refused = " ".join([case["unnamed_refusals"], *(f"Fetch:3@{at:.1f}-{at:.1f}/1" for at in times)])
    evidence = scenarios.evidence(
        [(who, " ".join([case["did"], *more])), (other, "Produce:9@0-900/2")],
        refused,
        f"{case['failed_logins']} {logins}",
    )

    found = list(reviewed(evidence, bool(case["breaks_login"])))

    last = [own[-1].outcome for own in found]
    assert Happened.FAILING in last, found


def test_two_programs_with_one_client_id_are_distinguished_by_their_software() -> None:
    old = scenarios.client("orders", "unknown")
    new = scenarios.client("orders", "apache-kafka-java 3.9.1")
    evidence = scenarios.evidence(
        [(old, "Produce:2@0-320/2"), (new, "Produce:9@0-900/2")], "Produce:2@320-900/1"
    )

    last = sorted(own[-1].outcome for own in reviewed(evidence))

    assert last == ["failing", "unaffected"]


def test_what_may_have_been_refused_was_if_its_function_has_stopped_since() -> None:
    """Two clients of one address send Produce v2, and what is refused names neither."""
    stopped, other = scenarios.client("orders"), scenarios.client("other")
    evidence = scenarios.evidence(
        [
            (stopped, "Produce:2@0-320/2 Metadata:1@0-900/5"),
            (other, "Produce:2@0-320/2 Produce:7@322-900/2"),
        ],
        "Produce:2@312-900/1",
    )

    happened, _ = reviewed(evidence)

    assert [(each.outcome, each.kind, each.confidence) for each in happened[1:]] == [
        ("failing", "refused", "likely"),
        ("failing", "refused", "likely"),
    ]
    assert any("stopped writing records" in reason for reason in happened[1].reasons)


def test_what_may_have_been_refused_is_not_why_a_function_stopped_before() -> None:
    stopped, other = scenarios.client("orders"), scenarios.client("other")
    evidence = scenarios.evidence(
        [(stopped, "Produce:2@0-320/2 Metadata:1@0-900/5"), (other, "Produce:2@0-320/2")],
        "Produce:2@500-900/1",
    )

    happened, _ = reviewed(evidence)

    assert (happened[1].outcome, happened[1].kind) == ("failing", "silent_function")


def test_a_refused_request_that_only_serves_a_function_is_not_why_it_stopped() -> None:
    """librdkafka 1.4 gives up without ListOffsets v0 and sends none, while another client of its address does."""
    gave_up, other = scenarios.client("orders"), scenarios.client("exporter")
    evidence = scenarios.evidence(
        [
            (gave_up, "ListOffsets:0@1-1/1 Fetch:11@0-320/0.5 Heartbeat:3@0-900/3"),
            (other, "ListOffsets:0@0-320/1 DescribeGroups:0@0-900/5"),
        ],
        "ListOffsets:0@312-900/1",
    )

    found = {own[-1].lost: own[-1].kind for own in reviewed(evidence)}

    assert found == {("fetch",): "silent_function", ("ListOffsets",): "refused"}


def outcomes_by_id(clients: list[tuple[str, str]], refused: str = "") -> dict[str | None, str]:
    """Of clients of one principal: the last outcome of each, as (client id, what it did)."""
    evidence = scenarios.evidence([(scenarios.client(client_id), did) for client_id, did in clients], refused)
    found = tracks(evidence.activities, 300.0)
    return {
        track.key.client_id: own[-1].outcome for track, own in zip(found, reviewed(evidence), strict=True)
    }


GOES_ON = "Produce:7@0-900/2"


@pytest.mark.parametrize(
    "did",
    ["Produce:2@0-379/2 Metadata:1@0-900/5 Produce:2@320-900/2x", "Produce:7@0-330/2"],
    ids=["refused", "silent"],
)
def test_a_client_is_not_hidden_by_another_whose_id_differs_by_a_number(did: str) -> None:
    expected = {
        "etl-01": "failing" if "x" in did else "gone_or_locked_out",
        "etl-02": "unaffected",
    }
    assert outcomes_by_id([("etl-01", did), ("etl-02", GOES_ON)]) == expected


def test_an_id_that_took_over_from_another_is_the_same_client() -> None:
    """Also where it came before the other went, and beside one that stays."""
    replaced = [("etl-01", "Produce:7@0-440/2"), ("etl-02", "Produce:7@350-900/2")]
    assert outcomes_by_id(replaced) == {"etl-01": "unaffected"}
    assert outcomes_by_id([*replaced, ("etl-03", GOES_ON)]) == {
        "etl-01": "unaffected",
        "etl-03": "unaffected",
    }


def test_ids_that_are_new_at_each_run_are_one_client() -> None:
    """Of which one run ended while brokers were exchanged."""
    runs = [(f"job-{at:03}", f"Produce:7@{at}-{at + 20}/2") for at in range(10, 310, 95)]
    assert outcomes_by_id(runs) == {"job-010": "gone_or_locked_out"}


def test_a_client_that_stays_beside_ids_that_come_and_go_is_followed_by_itself() -> None:
    others = [(f"etl-{at:03}", f"Produce:7@{at}-{at + 20}/2") for at in range(10, 890, 80)]
    found = outcomes_by_id(
        [("etl-999", "Produce:2@0-379/2 Metadata:1@0-900/5 Produce:2@320-900/2x"), *others]
    )
    assert found == {"etl-010": "unaffected", "etl-999": "failing"}


@pytest.mark.parametrize("named", [True, False])
def test_a_version_that_is_refused_to_the_end_is_not_hidden_by_another_of_the_same_id(named: bool) -> None:
    """Two hosts with one client id and no library's name: one writes Produce v2, the other v7."""
    one = scenarios.client("orders")
    other = one._replace(address="10.0.0.8")
    refused = "Produce:2@320-900/2"
    did = "Produce:2@0-379/2 Metadata:1@0-900/5" + (f" {refused}x" if named else "")
    found = reviewed(scenarios.evidence([(one, did), (other, GOES_ON)], "" if named else refused))

    ((_, *happened),) = found
    assert [(each.outcome, each.kind) for each in happened] == [("failing", "refused")] * 2
    assert "while Produce v7 is answered" in happened[-1].reasons[0]


def test_a_version_that_is_tried_and_given_up_for_another_is_no_harm() -> None:
    did = "Produce:2@0-300/2 Produce:2@312-320/2x Produce:7@322-900/2"
    ((_, *happened),) = reviewed(scenarios.evidence([(scenarios.client("orders"), did)]))
    assert [each.outcome for each in happened] == ["unaffected"] * 2


def test_a_version_that_never_worked_is_no_harm_of_the_upgrade() -> None:
    """A probe that tries an old version at each connection, and one that works beside it."""
    did = f"{GOES_ON} Produce:2@312-900/9x"
    ((_, *happened),) = reviewed(scenarios.evidence([(scenarios.client("orders"), did)]))
    assert [each.outcome for each in happened] == ["unaffected"] * 2


def test_a_client_that_is_replaced_by_another_version_has_changed() -> None:
    old = scenarios.client("loyalty", "confluent-kafka-python 2.3.0-rdkafka-2.3.0")
    new = scenarios.client("loyalty", "confluent-kafka-python 2.8.0-rdkafka-2.8.0")
    evidence = scenarios.evidence([(old, "Produce:7@0-365/2"), (new, "Produce:10@367-900/2")])

    (found,) = reviewed(evidence)

    assert [(each.outcome, each.kind) for each in found] == [
        ("changed", "fixed"),
        ("unaffected", None),
        ("unaffected", None),
    ]


REPLACED = ("Produce:2@0-379/2 Metadata:1@0-420/5 Produce:2@320-420/2x", "Produce:10@422-900/2")


def replaced_by_a_named_library(from_release: str = "3.9.1", still: str = "") -> list[Outcome]:
    old = scenarios.client("orders", "unknown")
    new = scenarios.client("orders", "apache-kafka-java 3.9.1")
    did, did_since = REPLACED
    evidence = scenarios.evidence([(old, f"{did} {still}"), (new, did_since)])
    evidence.runs = scenarios.runs(from_release)
    upgrade = upgrade_of(evidence.runs, evidence.features, from_release, "4.0.1")
    (track, *others) = tracks(evidence.activities, upgrade.began)
    assert not others
    ends = [at for run in evidence.runs for at in (run.started, run.until)]
    around = Surroundings.of(upgrade, [], Exactness(scenarios.SLOT), stops_and_starts=ends, data_from=0.0)
    return outcomes(track, (), Knowledge(), around)


def test_a_library_without_a_name_that_one_with_a_name_replaces_has_changed() -> None:
    _, happened, _ = replaced_by_a_named_library()
    assert (happened.outcome, happened.kind) == ("changed", "fixed")
    assert happened.reasons == ("unknown library until 00:07:00, then apache-kafka-java 3.9.1",)


def test_a_library_that_is_named_since_brokers_can_is_no_other() -> None:
    """Brokers before 2.4 have no ApiVersions v3, in which clients name their library (KIP-511)."""
    _, happened, _ = replaced_by_a_named_library("2.3.1")
    assert happened.outcome == "unaffected"


def test_brokers_are_no_clients() -> None:
    sender = scenarios.client("broker-1-txn-marker-sender")
    evidence = scenarios.evidence([(sender, "WriteTxnMarkers:1@0-900/1")])

    assert tracks(evidence.activities, 300.0) == []


def halted(who: Client, did: str) -> Evidence:
    """Broker 3 is upgraded, and the roll stops there; requests go to the other two."""
    evidence = scenarios.evidence([(who, did)])
    evidence.runs = [
        run if run.broker_id == 3 else run._replace(until=scenarios.END, is_running=True)
        for run in scenarios.runs()
        if run.broker_id == 3 or run.incarnation.endswith("old")
    ]
    evidence.features = evidence.features[:1]
    evidence.activities = [
        each for each in evidence.activities if each.since < 300 or each.broker_id in (1, 2)
    ]
    for each in evidence.activities:
        each.incarnation = f"{each.broker_id}-old"
    return evidence


def test_while_the_roll_is_halted_who_saw_no_upgraded_broker_is_not_tested() -> None:
    ((found,),) = reviewed(halted(scenarios.client("orders"), "Produce:2@0-900/2"))
    assert (found.phase, found.outcome) == ("rolling", Happened.NOT_TESTED)
    assert "only on brokers that are not upgraded" in found.reasons[0]


def test_while_the_roll_is_halted_who_goes_on_with_an_upgraded_broker_is_unaffected() -> None:
    evidence = halted(scenarios.client("orders"), "Produce:9@0-900/2")
    evidence.activities += [
        each
        for each in scenarios.activities(scenarios.client("orders"), "Produce:9@400-900/6")
        if each.incarnation == "3-new"
    ]
    ((found,),) = reviewed(evidence)
    assert (found.phase, found.outcome) == ("rolling", Happened.UNAFFECTED)


OUTCOMES_WITH_A_CASE_OF_THEIR_OWN = {Happened.NOT_TESTED, Happened.CHANGED}


def test_the_table_has_each_outcome_and_kind() -> None:
    cells = {case[phase] for case in CASES for phase in ("rolling", "not_finalized", "finalized")}
    assert {cell.partition(":")[0] for cell in cells} | OUTCOMES_WITH_A_CASE_OF_THEIR_OWN == set(
        outcome.OUTCOMES
    )
    kinds = {cell.partition(":")[2] for cell in cells}
    assert {*outcome.FAILURE_KINDS, *outcome.GONE_KINDS} <= kinds
