"""What people wrote of removed keys and classes is what the code of the releases defines."""

import re

import pytest
from client_telemetry.knowledge import broker_classes, broker_configuration, releases, removed_settings
from client_telemetry.knowledge.broker_configuration import BROKER

ROWS = removed_settings.known()
NAME = re.compile(r"[a-z]\w*(?:\.\w+)+")
FEATURES = ("metadata.version", "eligible.leader.replicas.version")
OF_REPORTERS = ("metrics.jmx.exclude", "metrics.jmx.include")


def defined(release: str) -> set[str]:
    return {*broker_configuration.of(BROKER, release), *broker_classes.of(release)}


def is_since(first: str, release: str) -> bool:
    return releases.parse(release) >= releases.parse(first)


def before(release: str) -> str:
    return releases.known()[releases.known().index(release) - 1]


@pytest.mark.parametrize("name", [each for each in ROWS if not each.startswith("metrics.jmx.")])
def test_a_release_has_it_until_it_is_gone(name):
    gone_in = ROWS[name].gone_in
    names = {each for each in defined(before(gone_in)) if each.startswith(name.removesuffix("*"))}
    assert names and not names & defined(gone_in) and not names & defined(releases.known()[-1])


@pytest.mark.parametrize("name", ROWS)
def test_what_is_named_instead_is_there(name):
    named = {each for each in NAME.findall(ROWS[name].instead) if each not in (*FEATURES, *OF_REPORTERS)}
    in_later_ones = {
        each
        for release in releases.known()
        if is_since(ROWS[name].gone_in, release)
        for each in defined(release)
    }
    assert named <= in_later_ones


def test_every_key_that_4_0_removed_is_described():
    gone = broker_configuration.changes(BROKER, "3.9.2", "4.0.0").gone
    assert [key for key, _ in gone if removed_settings.from_release(key, "4.0.0") is None] == [
        "alter.config.policy.kraft.compatibility.enable"
    ]


def test_a_key_with_a_row_of_its_own_is_not_one_of_those_that_begin_so():
    assert removed_settings.from_release("zookeeper.sync.time.ms", "3.9.1") is not None
    assert removed_settings.from_release("zookeeper.connect", "3.9.1") is None
    assert removed_settings.from_release("zookeeper.connect", "4.1.0") is not None
