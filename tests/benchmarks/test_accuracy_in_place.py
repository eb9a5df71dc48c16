"""Programs before an upgrade in place: what fails already is named, and nothing that works is alarmed."""

import pytest

from benchmarks import accuracy_in_place as accuracy


@pytest.fixture(scope="module")
def programs():
    return accuracy.programs()


def test_goals_are_reached(programs):
    assert accuracy.goals_missed(programs) == []


@pytest.mark.parametrize(("name", "reason"), [
    ("share44", "looks its coordinator up again and again on 3.9.1 and then requests nothing from it"),
    ("kip848-java", "3.9.1 answers each ConsumerGroupHeartbeat with error 35 (UNSUPPORTED_VERSION)"),
    ("acl-denied", "3.9.1 answers each Produce with error 29 (TOPIC_AUTHORIZATION_FAILED)"),
])  # fmt: skip
def test_programs_that_fail_already_say_why(programs, name, reason):
    of_program = [program for program in programs if program.prediction.name == name]
    assert len(of_program) == len(accuracy.WINDOWS)
    assert all(reason in " ".join(program.reasons) for program in of_program)


def test_a_program_that_is_not_named_is_noticed(programs):
    unnamed = [
        program._replace(already_failing=False) if program.prediction.name == "share44" else program
        for program in programs
    ]
    assert accuracy.goals_missed(unnamed) == ["in place: already failing differs in share44"]
