"""Brokers that were measured for everybody can be named where a release can."""

import csv

import pytest
from client_telemetry import knowledge
from client_telemetry.cli import compatibility
from client_telemetry.compatibility.target_argument import named
from client_telemetry.formats import target_file
from client_telemetry.knowledge import apis, known_issues, served, target_profiles

MEASURED = [profile for profile in target_profiles.known() if profile.version]
APACHE = [profile for profile in MEASURED if profile.name.startswith("apache-kafka-")]


@pytest.fixture(autouse=True)
def nothing_else_in_use():
    yield
    knowledge.use(knowledge.InUse())


def test_every_profile_that_has_a_version_was_measured_and_no_other():
    assert set(target_profiles.texts()) == {profile.name for profile in MEASURED}
    for profile in MEASURED:
        content = target_file.parse(target_profiles.text(profile), profile.name)
        assert content["product"] == profile.product
        assert content["not_asked"] == {}


@pytest.mark.parametrize("profile", APACHE, ids=lambda profile: profile.name)
def test_a_profile_of_apache_kafka_answers_what_the_release_serves(profile):
    target = knowledge.measured_target(named(profile.name))
    assert profile.version in target.answers_like
    known, ours = served.by(profile.version), served.by(target.name)
    # A preview is refused, and what waits for a feature that a new cluster has not finalized.
    levels = {name: finalized for name, (_, _, finalized) in target.features.items()}
    known = served.with_levels(profile.version, levels)
    explained = {*known_issues.refused_by(profile.version), 72, 91, 92}
    differing = {
        apis.name(key): (api.served, ours.get(key))
        for key, api in known.items()
        if key not in explained and not api.condition and api.serves_any and ours[key].served != api.served
    }
    assert differing == {}


def test_a_profile_is_named_as_a_release_is(tmp_path, capsys):
    clients = tmp_path / "clients.csv"
    clients.write_text(
        "client,client_software_name,client_software_version,api_uses\nold,,,Produce:2 Metadata:1\n"
    )
    verdicts = {}
    for target in ("kroxylicious-0.12.0", "librdkafka-mock-2.16.1", "apache-kafka-4.4.0"):
        arguments = [
            "--from=3.9.1",
            f"--to={target}",
            f"--input={clients}",
            f"--output={tmp_path / 'out.csv'}",
        ]
        assert compatibility.main(arguments) == 0
        (row,) = csv.DictReader((tmp_path / "out.csv").read_text().splitlines())
        verdicts[target] = row["verdict"]
    assert verdicts == {
        "kroxylicious-0.12.0": "breaks",
        "librdkafka-mock-2.16.1": "safe",
        "apache-kafka-4.4.0": "breaks",
    }
    assert (
        "are brokers of Kroxylicious 0.12.0 without filters in front of Apache Kafka 4.4.0"
        in capsys.readouterr().err
    )


@pytest.mark.parametrize("name", ["redpanda", "warpstream", "azure-event-hubs", "amazon-msk"])
def test_of_a_product_that_cannot_be_run_here_nothing_is_known(name, tmp_path, capsys):
    clients = tmp_path / "clients.csv"
    clients.write_text(
        "client,client_software_name,client_software_version,api_uses\nold,,,Produce:9 Metadata:9\n"
    )
    files = [f"--input={clients}", f"--output={tmp_path / 'out.csv'}"]
    assert compatibility.main(["--from=3.9.1", f"--to={name}", *files]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "nothing is known of the brokers of " in line and "client-telemetry probe" in line


def test_a_vendor_of_whom_nothing_is_known_is_said(tmp_path, capsys):
    clients = tmp_path / "clients.csv"
    clients.write_text(
        "client,client_software_name,client_software_version,api_uses\nnew,,,Produce:9 Metadata:9\n"
    )
    files = [f"--input={clients}", f"--output={tmp_path / 'out.csv'}"]
    assert compatibility.main(["--from=3.9.1", "--to=4.0.1", "--vendor=redpanda", *files]) == 0
    assert "nothing is known of the brokers of Redpanda" in capsys.readouterr().err
    (row,) = csv.DictReader((tmp_path / "out.csv").read_text().splitlines())
    assert row["verdict"] == "safe"
    assert "nothing is known of the brokers of Redpanda" in row["condition"]
    assert compatibility.main(["--from=3.9.1", "--to=4.0.1", *files]) == 0
    assert "nothing is known" not in capsys.readouterr().err


def test_a_data_package_from_before_there_were_profiles_has_none():
    texts = {name: text for name, text in knowledge.texts().items() if not name.startswith("target_profile")}
    package = knowledge.Package.of_texts("old", knowledge.built_at(), texts)
    knowledge.use(knowledge.InUse(package=package))
    assert target_profiles.known() == ()
    assert named("4.0.1") == "4.0.1"
