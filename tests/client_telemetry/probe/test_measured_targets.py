"""A measured target stands wherever a release may: verdicts, and what is said where it cannot be used."""

import json
from pathlib import Path

import pytest
from client_telemetry.cli import compatibility, scan
from client_telemetry.formats import target_file
from client_telemetry.knowledge import ONLY_MEASURED, apis, features, measured_targets, releases, served

CHECKOUT = Path(__file__).parents[3]
FILES = CHECKOUT / "tests/data/probe"
CLIENTS = CHECKOUT / "docs/examples/clients.csv"
APACHE = FILES / "apache-4.0.1.json"
MOCK = FILES / "librdkafka-mock-2.16.1.json"
"""librdkafka's mock cluster: another implementation, which no release of Apache Kafka explains."""


@pytest.fixture
def judge(tmp_path):
    def verdicts(source: object, target: object, clients: Path = CLIENTS) -> dict[str, dict]:
        output = tmp_path / "verdicts.json"
        arguments = [f"--from={source}", f"--to={target}", f"--input={clients}", f"--output={output}"]
        assert compatibility.main(arguments) == 0
        return {row["client"]: row for row in json.loads(output.read_text())}

    return verdicts


def test_a_measured_release_gives_the_verdicts_of_the_release(judge):
    measured, known = judge("3.9.1", APACHE), judge("3.9.1", "4.0.1")
    same = ("verdict", "confidence", "rules", "when", "already_failing", "fix")
    assert [{name: row[name] for name in same} for row in measured.values()] == [
        {name: row[name] for name in same} for row in known.values()
    ]


def test_what_was_not_measured_is_the_condition_of_whatever_works(judge):
    for row in judge("3.9.1", APACHE).values():
        assert (ONLY_MEASURED in row["condition"]) == (row["verdict"] != "breaks"), row


def test_another_implementation_is_judged_by_what_it_answers(judge, tmp_path):
    clients = tmp_path / "clients.csv"
    clients.write_text(
        "client,client_software_name,client_software_version,client_id,api_uses\n"
        "old,,,loader,Produce:2 Metadata:1\n"
        "new,apache-kafka-java,4.0.0,orders,Produce:12 Metadata:12\n"
        "administers,apache-kafka-java,3.9.0,admin,CreateTopics:7 Metadata:12\n"
    )
    by_client = judge("3.9.1", MOCK, clients)
    assert {name: row["verdict"] for name, row in by_client.items()} == {
        "old": "safe",  # Apache Kafka 4.x refuses it
        "new": "safe",  # it takes the highest version that is offered, Produce 10
        "administers": "breaks",
    }
    assert ONLY_MEASURED in by_client["old"]["condition"]


def test_the_served_table_is_that_of_the_release():
    target = measured_targets.read(APACHE)
    measured_targets.use(target)
    known = served.by("4.0.1")
    ours = served.by(target.name)
    for key, api in known.items():
        if api.condition:
            continue
        assert (ours[key].served, ours[key].advertised) == (api.served, api.advertised), apis.name(key)
    # Formatted with a static quorum, which has kraft.version 0 (KIP-853).
    assert dict(features.newest(target.name)) | {"kraft.version": 1} == features.newest("4.0.1")
    assert releases.parse(target.name) == (4, 0, 2)
    assert target.answers_like == ("4.0.1", "4.0.2")


def test_a_target_that_no_release_explains_is_newer_than_all():
    target = measured_targets.read(MOCK)
    measured_targets.use(target)
    assert target.answers_like == ()
    assert not releases.is_rollback(releases.known()[-1], target.name)


@pytest.mark.parametrize(
    ("mechanism", "verdict"),
    [
        ("SCRAM-SHA-256", "safe"),
        ("PLAIN", "insufficient_evidence"),
        ("", "safe"),
    ],
)
def test_a_mechanism_that_the_measured_listener_lacks_keeps_a_client_from_being_safe(
    judge, tmp_path, mechanism, verdict
):
    file, clients = edited(tmp_path, mechanisms=["SCRAM-SHA-256"]), tmp_path / "clients.csv"
    clients.write_text(
        "client,client_software_name,client_software_version,api_uses,sasl_mechanism\n"
        f"orders,apache-kafka-java,3.6.2,Produce:9 Metadata:12,{mechanism}\n"
    )
    (row,) = judge("3.9.1", file, clients).values()
    assert row["verdict"] == verdict
    assert ("breaks if it is to use the listener that was measured" in row["condition"]) == (
        mechanism == "PLAIN"
    )


@pytest.mark.parametrize(
    ("library", "nonces", "verdict"),
    [
        ("librdkafka,2.5.3", {}, "breaks"),  # as Apache Kafka 4.0.1, which it answers like
        ("librdkafka,2.5.3", {"sent twice": "refused"}, "breaks"),
        ("librdkafka,2.5.3", {"sent twice": "accepted", "foreign": "refused"}, "safe"),
        ("kgo,1.2.0", {"sent twice": "accepted", "foreign": "accepted"}, "safe"),
    ],
)
def test_a_nonce_that_the_brokers_accept_keeps_nobody_out(judge, tmp_path, library, nonces, verdict):
    file, clients = edited(tmp_path, scram_nonce=nonces), tmp_path / "clients.csv"
    clients.write_text(
        "client,client_software_name,client_software_version,api_uses,sasl_mechanism\n"
        f"orders,{library},Produce:8 Metadata:9,SCRAM-SHA-256\n"
    )
    (row,) = judge("3.7.1", file, clients).values()
    assert row["verdict"] == verdict, row


def edited(tmp_path: Path, name: str = "", value: dict[str, str] | None = None, **fields: object) -> Path:
    """The measured file with another answer or other fields, as if it had been measured so."""
    content = target_file.read(APACHE) | fields
    if name:
        content["answers"][0][name] = value
    file = tmp_path / "target.json"
    file.write_text(target_file.text({key: each for key, each in content.items() if key != "sha256"}))
    return file


def test_a_broker_that_answers_with_a_gap_cannot_be_judged(tmp_path, capsys):
    file = edited(tmp_path, "0 Produce", {"advertised": "0-12", "answered": "3-5,7-12", "closed": "0-2,6"})
    arguments = ["--from=3.9.1", f"--to={file}", f"--input={CLIENTS}", f"--output={tmp_path / 'x.csv'}"]
    assert compatibility.main(arguments) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "0 Produce is answered in versions 3-5,7-12, with a gap" in line


def test_versions_that_were_not_asked_count_as_advertised(tmp_path):
    file = edited(
        tmp_path, "0 Produce", {"advertised": "0-12", "answered": "5-12", "silent": "3-4", "closed": "0-2"}
    )
    target = measured_targets.read(file)
    assert target.served[0] == (3, 12)
    assert 0 in target.not_asked
    assert 22 in target.not_asked


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{}", "not a file that `client-telemetry probe` wrote"),
        (
            APACHE.read_text().replace('"answered": "3-12"', '"answered": "0-12"'),
            "it was edited after it was measured",
        ),
        (None, "No such file or directory"),
    ],
)
def test_a_file_that_is_no_target_is_a_line(tmp_path, capsys, text, said):
    file = tmp_path / "target.json"
    if text is not None:
        file.write_text(text)
    arguments = ["--from=3.9.1", f"--to={file}", f"--input={CLIENTS}", f"--output={tmp_path / 'x.csv'}"]
    assert compatibility.main(arguments) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert said in line


def test_a_scan_for_a_measured_target_needs_the_release_of_today(tmp_path, capsys):
    (tmp_path / "requirements.txt").write_text("kafka-python==2.0.2\n")
    assert scan.main([str(tmp_path), f"--to={APACHE}"]) == 2
    assert "a measured target needs --from" in capsys.readouterr().err
    assert scan.main([str(tmp_path), "--from=3.9.1", f"--to={APACHE}"]) in (0, 3, 4)
