"""Classes that a broker's configuration can name: what Kafka documents of them, and nothing of a release that was not read."""

import re

import pytest
from client_telemetry.knowledge import broker_classes, broker_configuration

READ = broker_configuration.read()


@pytest.mark.parametrize("release", READ)
def test_the_defaults_of_a_release_are_classes_that_it_has(release):
    named = {
        name
        for key in broker_configuration.of(broker_configuration.BROKER, release).values()
        for name in key.default.split(",")
        if re.fullmatch(r"(?:org\.apache\.)?kafka\.(?:\w+\.)*[A-Z]\w*", name)
    }
    assert named - broker_classes.of(release).keys() == set()


@pytest.mark.parametrize(
    ("name", "last", "first_without"),
    [
        # Upgrade notes of 3.0.0: SimpleAclAuthorizer was deprecated by AclAuthorizer (KIP-504).
        ("kafka.security.auth.SimpleAclAuthorizer", "2.8.2", "3.0.0"),
        # KIP-500: with ZooKeeper, the authorizer that keeps its ACLs there.
        ("kafka.security.authorizer.AclAuthorizer", "3.9.2", "4.0.0"),
    ],
)
def test_documented_removals(name, last, first_without):
    assert name in broker_classes.of(last) and name not in broker_classes.of(first_without)


def test_a_release_that_was_not_read_has_no_known_classes():
    assert broker_classes.of("9.9.9") == {}
