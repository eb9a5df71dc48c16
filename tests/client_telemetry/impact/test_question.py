"""What is asked, where something was left open."""

import datetime as dt

import pytest
from client_telemetry.impact.question import (
    NoSuchQuestion,
    offered_mechanisms,
    question,
    reported_scram_users,
)

DAY = dt.date(2026, 11, 21)
NOON = dt.datetime(2026, 11, 21, 12, tzinfo=dt.UTC)
MINUTE = dt.timedelta(minutes=1)


def broker(broker_id: int, release: str | None, minute: int = 0, can_be: tuple[str, ...] = ()) -> dict:
    return {
        "broker_id": broker_id,
        "broker_incarnation": f"{broker_id:016x}{minute:016x}",
        "software_name": "apache-kafka",
        "software_version": release,
        "releases": [release] if release else list(can_be),
        "started_at": NOON + minute * MINUTE,
        "listeners": [],
    }


@pytest.mark.parametrize(
    ("brokers", "source", "says"),
    [
        ([broker(1, None)], None, "no broker of cluster c declares its release"),
        ([broker(1, "3.9.1"), broker(2, "4.0.0")], None, "broker 1: 3.9.1, broker 2: 4.0.0"),
        ([broker(1, "3.9.1")], "3.7.0", "brokers ran 3.9.1"),
        ([broker(1, "4.0.0")], None, "already run 4.0.0"),
        ([broker(1, "3.9.1")], "3.9", "not an exact release"),
    ],
    ids=["none declares", "they differ", "none ran it", "nothing to do", "a line of releases"],
)
def test_a_question_that_cannot_be_answered_says_what_to_ask(brokers, source, says):
    with pytest.raises(NoSuchQuestion, match=says):
        question("c", source, "4.0.0", [DAY], brokers)


def test_evidence_ends_when_the_first_broker_leaves():
    brokers = [broker(1, "3.9.1"), broker(2, "3.9.1"), broker(2, "4.0.0", 30), broker(1, "4.0.0", 40)]
    found = question("c", "3.9.1", "4.0.1", [DAY], brokers)
    assert found.until == NOON + 30 * MINUTE and "broker 2" in found.until_reason


@pytest.mark.parametrize(
    ("can_be", "reason"),
    [
        (("4.3.0", "4.3.1"), "broker 1 was the first to change from 3.9.1 to 4.3.0 or 4.3.1"),
        (("3.9.1", "3.9.2"), None),
        ((), None),
    ],
    ids=["others only", "the same or another", "nothing is known"],
)
def test_a_broker_that_does_not_declare_its_next_release_left_if_its_answers_are_others(can_be, reason):
    brokers = [broker(1, "3.9.1"), broker(1, None, 30, can_be)]
    found = question("c", "3.9.1", "4.3.1", [DAY], brokers)
    assert found.until_reason == reason
    assert (found.until is not None) == (reason is not None)


def vendors(version: str, *can_be: str, name: str = "apache-kafka", **changes) -> dict:
    return {**broker(1, version), "software_name": name, "releases": list(can_be), **changes}


def test_a_platform_release_is_a_range_of_which_one_is_asked_about():
    brokers = [
        vendors("7.6.1-ccs", "3.6.0", "3.6.1", "3.6.2"),
        vendors("7.6.2-ccs", "3.6.0", "3.6.1", "3.6.2"),
    ]
    brokers[1] |= {"started_at": NOON + MINUTE, "broker_incarnation": "1" * 32}
    with pytest.raises(
        NoSuchQuestion, match=r"brokers run 7\.6\.2-ccs, which can be 3\.6\.0, 3\.6\.1 or 3\.6\.2"
    ):
        question("c", None, "4.0.1", [DAY], brokers)
    found = question("c", "3.6.2", "4.0.1", [DAY], brokers)
    assert (found.from_release, found.brokers_declare) == ("3.6.2", ("7.6.1-ccs", "7.6.2-ccs"))
    assert found.until is None
    with pytest.raises(
        NoSuchQuestion, match=r"no broker ran 3\.5\.1 .* brokers ran 7\.6\.1-ccs, 7\.6\.2-ccs"
    ):
        question("c", "3.5.1", "4.0.1", [DAY], brokers)


def test_a_vendors_build_of_a_release_is_that_release():
    found = question("c", None, "4.0.1", [DAY], [vendors("3.9.1.redhat-00012", "3.9.1")])
    assert (found.from_release, found.brokers_declare) == ("3.9.1", ("3.9.1.redhat-00012",))


def test_other_software_is_no_release_of_kafka_whatever_its_number():
    for source in (None, "1.1.0"):
        with pytest.raises(NoSuchQuestion, match=r"automq 1\.1\.0"):
            question("c", source, "4.0.1", [DAY], [vendors("1.1.0", name="automq")])


def test_a_broker_that_is_replaced_by_other_software_left():
    other = vendors("v25.1", name="redpanda", started_at=NOON + MINUTE, broker_incarnation="1" * 32)
    found = question("c", "3.9.1", "4.0.1", [DAY], [broker(1, "3.9.1"), other])
    assert found.until_reason == "broker 1 was the first to change from 3.9.1 to redpanda v25.1"


def test_going_back_is_a_question_too():
    assert question("c", None, "3.9.1", [DAY], [broker(1, "4.0.1")]).to_release == "3.9.1"


def scram(minute: int, users: list[str | None] | None) -> dict:
    reported = None if users is None else [{"principal": u, "mechanisms": ["SCRAM-SHA-256"]} for u in users]
    return {
        "dt": DAY,
        "last_evidence_at": NOON + minute * MINUTE,
        "started_at": NOON,
        "scram_users": reported,
    }


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([scram(0, None), {"dt": DAY}], None),
        ([scram(5, ["User:a"]), scram(9, ["User:a", "User:b"]), scram(12, None)], {"User:a", "User:b"}),
        ([scram(5, ["User:a"]), scram(9, [])], set()),
        ([scram(5, ["hmac:00", None])], None),
    ],
    ids=[
        "no broker reports them",
        "the last report counts",
        "the last user was removed",
        "names are omitted",
    ],
)
def test_who_has_scram_credentials_is_reported_by_brokers(rows, expected):
    assert reported_scram_users(rows) == expected


OLD, NEW = {"metadata.version": 21}, {"metadata.version": 25, "group.version": 1}


@pytest.mark.parametrize(
    ("brokers", "expected"),
    [
        ([(1, "4.0.1", 0, None)], None),
        ([(1, "4.0.1", 0, OLD)], OLD),
        ([(1, "4.0.1", 0, OLD), (1, "4.0.1", 9, NEW)], NEW),
        ([(1, "4.0.1", 0, OLD), (1, "4.1.1", 9, NEW)], OLD),
        ([(1, "4.0.1", 0, OLD), (2, "4.1.1", 9, NEW), (2, "4.0.1", 0, None)], OLD),
    ],
    ids=["not reported", "reported", "the last", "of the from-release", "before the cut"],
)
def test_the_features_that_the_source_has_finalized(brokers, expected):
    rows = [
        broker(number, release, minute)
        | {"dt": DAY, "last_evidence_at": None, "finalized_features": levels, "feature_levels": None}
        for number, release, minute, levels in brokers
    ]
    found = question("c", "4.0.1", "4.1.1", [DAY], rows).source_features
    assert found == (None if expected is None else tuple(sorted(expected.items())))


def test_brokers_that_report_features_and_no_time_are_no_error():
    untimed = {"dt": DAY, "last_evidence_at": None, "started_at": None, "feature_levels": None}
    rows = [
        broker(1, "4.0.1")
        | {"dt": DAY, "last_evidence_at": None, "finalized_features": OLD, "feature_levels": None}
    ]
    rows += [broker(number, "4.0.1") | untimed | {"finalized_features": NEW} for number in (2, 3)]
    assert question("c", "4.0.1", "4.1.1", [DAY], rows).source_features == tuple(OLD.items())


def test_features_that_were_raised_after_the_first_broker_left_do_not_count():
    changes = [{"at": NOON, "levels": OLD}, {"at": NOON + 60 * MINUTE, "levels": NEW}]
    reported = {"dt": DAY, "last_evidence_at": None, "finalized_features": NEW, "feature_levels": changes}
    rows = [broker(1, "4.0.1") | reported, broker(2, "4.0.1") | reported, broker(2, "4.1.1", 30) | reported]
    assert question("c", "4.0.1", "4.1.1", [DAY], rows).source_features == tuple(OLD.items())


def printing(broker_id: int, mechanisms: str, listeners: str = "PLAINTEXT,CLIENTS") -> dict:
    protocols = "PLAINTEXT:PLAINTEXT,CLIENTS:SASL_SSL,OTHER:SASL_SSL"
    settings = {
        "listeners": listeners,
        "listener.security.protocol.map": protocols,
        "sasl.enabled.mechanisms": mechanisms,
    }
    return without_manifest(broker_id) | {"settings": settings}


def without_manifest(broker_id: int) -> dict:
    return broker(broker_id, "3.9.1") | {"listeners": None, "dt": dt.date(2026, 11, 21)}


SCRAM_512 = ("SCRAM-SHA-512",)
OF_CLIENTS = {"CLIENTS": SCRAM_512}


@pytest.mark.parametrize(
    ("brokers", "stated", "logins", "offered"),
    [
        ([printing(1, "[SCRAM-SHA-512]"), printing(2, "[SCRAM-SHA-512]")], {}, [], OF_CLIENTS),
        (
            [printing(1, "[OAUTHBEARER]")],
            {},
            [("CLIENTS", "OAUTHBEARER|PLAIN")],
            {"CLIENTS": ("OAUTHBEARER",)},
        ),
        # one listener may have another value, which is not printed
        ([printing(1, "[SCRAM-SHA-512]")], {}, [("CLIENTS", "PLAIN")], {}),
        ([printing(1, "[SCRAM-SHA-512]", "CLIENTS,OTHER")], {}, [], {}),
        # nobody set it
        ([printing(1, "[GSSAPI]")], {}, [], {}),
        # a broker of which nothing is known, or that differs
        ([printing(1, "[SCRAM-SHA-512]"), without_manifest(2)], {}, [], {}),
        ([printing(1, "[SCRAM-SHA-512]"), printing(2, "[PLAIN]")], {}, [], {}),
        ([without_manifest(1)], OF_CLIENTS, [("clients", None)], {"clients": SCRAM_512}),
        (
            [without_manifest(1) | {"listeners": [{"name": "CLIENTS", "sasl_mechanisms": ["PLAIN"]}]}],
            OF_CLIENTS,
            [("CLIENTS", "PLAIN")],
            {"CLIENTS": ("PLAIN", "SCRAM-SHA-512")},
        ),
    ],
)
def test_the_mechanisms_that_a_listener_offers(brokers, stated, logins, offered):
    assert offered_mechanisms(brokers, stated, logins) == offered
