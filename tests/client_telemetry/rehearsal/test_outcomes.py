"""What the steps of runs say about roles, clients and applications, and what contradicts a verdict."""

import json

import pytest
from client_telemetry.formats import trial_file
from client_telemetry.formats.trial_file import NotATrial
from client_telemetry.rehearsal import conclusions
from client_telemetry.rehearsal.conclusions import NOT_REHEARSED, REFUSED, WORKS
from client_telemetry.rehearsal.outcomes import OutcomeCache, Sandbox, told
from client_telemetry.rehearsal.rehearsing import Outcome, control, sandboxes
from client_telemetry.rehearsal.subjects import Subject, Wanted

TARGET = Sandbox("4.3.1")
OLD, NEW = Subject("sarama", "1.17.0"), Subject("sarama", "1.60.1")
ALL_OK = dict.fromkeys(("connect", "produce", "consume", "group", "commit"), "ok")
CLOSED = {"connect": "ok", "produce": "ok", "group": "EOF"}


def client(verdict: str, roles=("producer", "group_consumer"), when=None, trigger=None):
    return {"verdict": verdict, "roles": roles, "when": when, "trigger": trigger}


def result(described, *steps, is_inferred=False, control=None):
    subjects = (OLD, NEW)[: len(steps)]
    outcomes = {
        (subject,): Outcome(subject, steps={TARGET: of_one}, control=control)
        for subject, of_one in zip(subjects, steps, strict=True)
    }
    wanted = Wanted(tuple((subject,) for subject in subjects), is_inferred)
    return conclusions.of_client(described, wanted, outcomes)


@pytest.mark.parametrize(
    ("steps", "role", "works", "refused", "reason"),
    [
        (ALL_OK, "group_consumer", True, "", ""),
        (CLOSED, "group_consumer", False, "group: EOF", ""),
        (CLOSED, "producer", True, "", ""),
        ({"connect": "timeout"}, "producer", False, "connect: timeout", ""),
        (
            {**ALL_OK, "consume": "n/a"},
            "assigned_consumer",
            False,
            "",
            "its program has no step for the role assigned_consumer",
        ),
        (
            ALL_OK,
            "transactional_producer",
            False,
            "",
            "its program has no step for the role transactional_producer",
        ),
        (ALL_OK, "share_consumer", False, "", "there is no program for the role share_consumer"),
    ],
)
def test_a_run_says_something_about_the_steps_of_a_role_alone(steps, role, works, refused, reason):
    assert told(steps, role) == (type(told(steps, role)))(works, refused, reason)


def test_what_works_beside_a_verdict_that_says_so_contradicts_nothing():
    assert result(client("safe"), ALL_OK).outcome == WORKS
    assert not result(client("safe"), ALL_OK).contradicts
    refused = result(client("breaks", when="at_once"), CLOSED)
    assert (refused.outcome, refused.said, refused.contradicts) == (REFUSED, "group: EOF", False)


def test_a_refusal_contradicts_safe_and_a_success_contradicts_breaks():
    assert result(client("safe"), CLOSED).contradicts
    assert result(client("breaks", when="at_once"), ALL_OK).contradicts


def test_lacking_evidence_is_no_statement_that_can_be_contradicted():
    assert not result(client("insufficient_evidence"), CLOSED).contradicts
    assert not result(client("degrades"), CLOSED).contradicts


def test_an_inferred_library_that_works_does_not_contradict_as_its_configuration_is_not_known():
    assert not result(client("breaks", when="at_once"), ALL_OK, is_inferred=True).contradicts
    assert result(client("safe"), CLOSED, is_inferred=True).contradicts


def test_a_latent_break_is_contradicted_only_if_a_rehearsal_pulls_its_trigger():
    assert not result(client("breaks", when="latent", trigger="a change of leader"), ALL_OK).contradicts
    reset = "offset reset: a new group, a new partition, an expired or out-of-range offset"
    assert result(client("breaks", when="latent", trigger=reset), ALL_OK).contradicts


def test_a_program_that_fails_on_the_old_release_too_says_nothing():
    found = result(client("safe"), CLOSED, control=CLOSED)
    assert found.outcome == NOT_REHEARSED and "accepts the old requests, too (group: EOF)" in found.said
    assert result(client("safe"), CLOSED, control=ALL_OK).outcome == REFUSED


def test_ends_of_a_range_that_differ_are_not_one_outcome():
    found = result(client("safe"), CLOSED, ALL_OK, is_inferred=True)
    assert found.outcome == NOT_REHEARSED and not found.contradicts
    assert "sarama 1.17.0: group: EOF; sarama 1.60.1: works" in found.said


def test_an_application_works_if_all_of_its_clients_do():
    works, refused = result(client("safe"), ALL_OK), result(client("safe"), CLOSED)
    unknown = conclusions.of_client(client("safe"), Wanted(reason="its library is not known"), {})
    assert conclusions.of_application([works, works]).outcome == WORKS
    assert conclusions.of_application([works, unknown]).outcome == NOT_REHEARSED
    assert conclusions.of_application([unknown, refused, works]).outcome == REFUSED


def test_an_upgrade_in_place_is_run_before_and_after_its_features_are_finalized():
    newest = [Sandbox("4.3.1"), Sandbox("4.3.1", restarted=True)]
    not_finalized = [Sandbox("4.3.1", "4.0"), Sandbox("4.3.1", "4.0", restarted=True)]
    assert sandboxes("4.3.1", "4.0.0") == [*not_finalized, *newest]
    assert sandboxes("4.3.1", "2.8.2") == newest
    assert sandboxes("4.3.1", "4.3.0") == newest
    assert control().release.startswith("3.9.")


def test_an_outcome_is_kept_by_all_that_it_depends_on(tmp_path):
    cache = OutcomeCache(tmp_path)
    cache.write(OLD, TARGET, CLOSED)
    assert cache.read(OLD, TARGET) == CLOSED
    assert cache.read(NEW, TARGET) is None
    assert cache.read(OLD, Sandbox("4.3.1", "4.0")) is None
    assert cache.read(Subject("sarama", "1.17.0", mechanism="PLAIN"), TARGET) is None
    (file,) = tmp_path.rglob("*.json")
    file.write_text(file.read_text()[:40])
    assert cache.read(OLD, TARGET) is None


def test_a_file_of_another_report_or_version_is_refused(tmp_path):
    file = tmp_path / "rehearsal.json"
    content = {"schema_version": 1, "report_id": "r1", "target": "4.3.1", "applications": []}
    file.write_text(json.dumps(content))
    assert trial_file.read(file, "r1")["applications"] == []
    with pytest.raises(NotATrial, match="is about the report r1, not r2"):
        trial_file.read(file, "r2")
    file.write_text(json.dumps(content | {"schema_version": 9}))
    with pytest.raises(NotATrial, match="has schema version 9"):
        trial_file.read(file, "r1")
    file.write_text("[]")
    with pytest.raises(NotATrial, match="is not the file of a rehearsal"):
        trial_file.read(file, "r1")
