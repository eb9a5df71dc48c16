import csv
import os
import time
from pathlib import Path

from client_telemetry.cli.compatibility import main

EXAMPLE = Path(__file__).parents[3] / "docs" / "examples" / "clients.csv"


def verdicts(path: Path) -> dict[str, str]:
    with path.open(encoding="utf-8", newline="") as opened:
        return {row["client"]: row["verdict"] for row in csv.DictReader(opened)}


def test_the_example_of_the_documentation(tmp_path):
    output = tmp_path / "verdicts.csv"
    assert main(["--from", "3.6.2", "--to", "4.0.0", "--input", str(EXAMPLE), "--output", str(output)]) == 0
    assert verdicts(output) == {
        "orders-api": "safe",
        "billing-report": "breaks",
        "clicks-sink": "breaks",
        "vault-audit": "breaks",
        "notebook": "breaks",
        "legacy-loader": "breaks",
        "seen-once": "insufficient_evidence",
    }


def test_it_says_what_it_found(tmp_path, capsys):
    output = tmp_path / "verdicts.csv"
    assert main(["--from", "3.6.2", "--to", "4.0.0", "--input", str(EXAMPLE), "--output", str(output)]) == 0
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("7 clients: 5 breaks, 1 insufficient_evidence, 1 safe\n")
    assert "how long clients were watched" in printed.err
    assert "rolling upgrade" not in printed.err
    assert main(["--from", "2.8.2", "--to", "4.0.0", "--input", str(EXAMPLE), "--output", str(output)]) == 0
    assert "This is not one rolling upgrade: brokers on 2.8.2 run on ZooKeeper" in capsys.readouterr().err


def test_the_other_rows_are_still_judged(tmp_path, capsys):
    bad, output = tmp_path / "bad.csv", tmp_path / "verdicts.csv"
    bad.write_text(EXAMPLE.read_text().replace("Produce:9 ", "Produce:nine "))
    assert main(["--from", "3.6.2", "--to", "4.0.0", "--input", str(bad), "--output", str(output)]) == 1
    assert "line 2, column api_uses" in capsys.readouterr().err
    assert "orders-api" not in verdicts(output) and len(verdicts(output)) == 6


def test_arguments_that_cannot_be_used(tmp_path, capsys):
    output = tmp_path / "verdicts.csv"
    for source, target, given, says in (
        ("3.9.1", "4.0", EXAMPLE, "4.0 is not an exact release: use one of 4.0.0, 4.0.1, 4.0.2"),
        ("4.0.0", "4.0.0", EXAMPLE, "already run 4.0.0"),
        ("3.9.1", "4.0.0", tmp_path / "none.csv", "No such file"),
    ):
        assert main(["--from", source, "--to", target, "--input", str(given), "--output", str(output)]) == 2
        printed = capsys.readouterr().err
        assert says in printed and printed.count("\n") == 1
        assert not output.exists()
    nowhere = str(tmp_path / "none" / "verdicts.csv")
    assert main(["--from", "3.9.1", "--to", "4.0.0", "--input", str(EXAMPLE), "--output", nowhere]) == 2


def test_ten_thousand_rows_in_seconds(tmp_path):
    header, *lines = EXAMPLE.read_text().splitlines()
    many = tmp_path / "many.csv"
    many.write_text(
        "\n".join([header, *(f"{number}-{lines[number % len(lines)]}" for number in range(10_000))])
    )
    output = tmp_path / "verdicts.csv"
    start = time.process_time()
    assert main(["--from", "3.6.2", "--to", "4.0.0", "--input", str(many), "--output", str(output)]) == 0
    assert time.process_time() - start < 20  # seconds; 4 on an idle core
    assert len(verdicts(output)) == 10_000


def test_a_pipe_is_written_to_and_stays_one(tmp_path):
    """--output /dev/stdout, or a named pipe, must not be replaced by a file."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        given = ["--from", "3.6.2", "--to", "4.0.0", "--input", str(EXAMPLE), "--output", str(pipe)]
        assert main(given) == 0
        assert os.read(reader, 100_000).startswith(b"client,verdict,")
        assert pipe.is_fifo()
        assert [path.name for path in tmp_path.iterdir()] == ["pipe"]
    finally:
        os.close(reader)


def test_a_link_stays_a_link(tmp_path):
    """/dev/stdout is one, and what it leads to may be a file."""
    (tmp_path / "there").write_text("before")
    link = tmp_path / "link"
    link.symlink_to("there")
    assert main(["--from", "3.6.2", "--to", "4.0.0", "--input", str(EXAMPLE), "--output", str(link)]) == 0
    assert link.is_symlink()
    assert (tmp_path / "there").read_text().startswith("client,verdict,")


HEADER = "client,client_software_name,client_software_version,client_id,api_uses,sasl_mechanism,security_protocol\n"
TRANSACTIONS = "AddPartitionsToTxn:5 EndTxn:4 InitProducerId:5 FindCoordinator:4 Produce:11 Metadata:12"


def judged(tmp_path: Path, line: str, *options: str) -> dict[str, str]:
    given, output = tmp_path / "clients.csv", tmp_path / "verdicts.csv"
    given.write_text(HEADER + line)
    assert (
        main(["--from", "3.9.1", "--to", "4.0.1", "--input", str(given), "--output", str(output), *options])
        == 0
    )
    with output.open(encoding="utf-8", newline="") as opened:
        return next(csv.DictReader(opened))


def test_features_that_are_not_finalized_yet(tmp_path):
    line = f"tx,platformatic-kafka,1.35.0,,{TRANSACTIONS},,PLAINTEXT\n"
    row = judged(tmp_path, line)
    assert row["verdict"] == "safe" and row["when"] == ""
    assert row["condition"].startswith("breaks until transaction.version 1 is finalized on 4.0.1")
    row = judged(tmp_path, line, "--features", "transaction.version=0,group.version=1")
    assert (row["verdict"], row["when"], row["condition"]) == ("breaks", "at_once", "")
    assert judged(tmp_path, line, "--features", "transaction.version=1")["verdict"] == "safe"


def test_features_that_cannot_be(tmp_path, capsys):
    output = tmp_path / "verdicts.csv"
    for features, says in (
        ("transaction.versoin=0", "no feature 'transaction.versoin'; did you mean transaction.version?"),
        ("share.version=1", "Kafka 4.0.1 has no feature 'share.version'"),
        ("transaction.version=3", "supports transaction.version 0 to 2, not 3"),
        ("transaction.version", "is not FEATURE=LEVEL"),
        ("group.version=1,group.version=0", "given twice"),
    ):
        arguments = ["--from", "3.9.1", "--to", "4.0.1", "--input", str(EXAMPLE), "--output", str(output)]
        assert main([*arguments, "--features", features]) == 2
        printed = capsys.readouterr().err
        assert says in printed and printed.count("\n") == 1
        assert not output.exists()


def test_a_login_that_is_not_known(tmp_path):
    line = "a,librdkafka,2.3.0,,Produce:7 Metadata:4,{},SASL_SSL\n"
    row = judged(tmp_path, line.format(""))
    assert row["verdict"] == "insufficient_evidence"
    assert row["explanation"].startswith("Breaks if it uses SCRAM") and "kafka-configs" in row["explanation"]
    assert row["condition"].startswith("breaks if it uses SCRAM")
    assert judged(tmp_path, line.format("PLAIN"))["verdict"] == "safe"
    assert judged(tmp_path, line.format("SCRAM-SHA-256"))["verdict"] == "breaks"
    assert judged(tmp_path, line.format("SCRAM-SHA-256"), "--vendor", "confluent")["verdict"] == "safe"


def judged_rows(tmp_path, text: str, target: str = "4.0.1") -> dict[str, dict[str, str]]:
    given, output = tmp_path / "in.csv", tmp_path / "out.csv"
    given.write_text(text)
    assert main(["--from", "3.9.1", "--to", target, "--input", str(given), "--output", str(output)]) == 0
    with output.open(encoding="utf-8", newline="") as opened:
        return {row["client"]: row for row in csv.DictReader(opened)}


def test_libraries_as_people_name_them(tmp_path):
    rows = judged_rows(
        tmp_path,
        "client,library,library_version,sasl_mechanism\n"
        "web,kafkajs,2.2.4,\n"
        "old,kafka-node,5.0.0,\n"
        "login,confluent-kafka-python,2.3.0,SCRAM-SHA-512\n"
        "plain,confluent-kafka-python,2.3.0,PLAIN\n"
        "maybe,confluent-kafka-python,2.3.0,\n"
        "code,sarama,1.46.3,\n"
        "line,librdkafka,1.x,\n"
        "java,apache-kafka-java,3.5.1,\n"
        "tool,telegraf,1.14,\n"
        "stranger,our own client,1.0.0,\n",
    )
    found = {client: (row["verdict"], row["identified_as"]) for client, row in rows.items()}
    assert found == {
        "web": ("safe", "kafkajs 2.2.4"),
        "old": ("breaks", "kafka-node 5.0.0"),
        "login": ("breaks", "librdkafka 2.3.0 in confluent-kafka-python 2.3.0"),
        "plain": ("safe", "librdkafka 2.3.0 in confluent-kafka-python 2.3.0"),
        "maybe": ("insufficient_evidence", "librdkafka 2.3.0 in confluent-kafka-python 2.3.0"),
        "code": ("insufficient_evidence", "sarama 1.46.3"),
        "line": ("insufficient_evidence", "librdkafka"),
        "java": ("safe", "kafka-clients 3.5.1"),
        "tool": ("insufficient_evidence", "probably sarama (any version) in Telegraf"),
        "stranger": ("insufficient_evidence", "our own client 1.0.0"),
    }
    assert rows["stranger"]["explanation"].startswith("No library, binding or package named 'our own client'")
    assert rows["old"]["rules"] and rows["old"]["fix"].startswith("replace kafka-node")


def test_a_line_of_releases_has_the_verdict_that_all_of_them_share(tmp_path):
    rows = judged_rows(
        tmp_path,
        "client,library,library_version,sasl_mechanism\n"
        "alike,kafka-clients,3.5,\nalike too,kafka-node,5.x,\ndiffer,librdkafka,2.6,SCRAM-SHA-512\n"
        "binding,confluent-kafka-python,2.3,\n",
    )
    assert [row["verdict"] for row in rows.values()] == [
        "safe",
        "breaks",
        "insufficient_evidence",
        "insufficient_evidence",
    ]
    assert rows["differ"]["explanation"] == "'2.6' names a line of releases, not one."


def test_a_name_of_several_packages_has_its_own_reason_whatever_the_version_looks_like(tmp_path):
    rows = judged_rows(tmp_path, "client,library,library_version\na,Kafka,1.08\nb,Kafka,1.8.5\n")
    assert all(row["explanation"].startswith("'Kafka' names several packages") for row in rows.values())


def test_a_setting_that_holds_requests_back_is_a_condition_for_a_library_that_is_only_named(tmp_path):
    """librdkafka's broker.version.fallback, kgo.MaxVersions and brod's query_api_versions: no list shows them."""
    rows = judged_rows(
        tmp_path,
        "client,library,library_version,api_uses,security_protocol\n"
        "api.version.request,librdkafka,2.3.0,,PLAINTEXT\n"
        "kgo.MaxVersions,franz-go,1.18.0,,PLAINTEXT\n"
        "query_api_versions,brod,4.4.2,,PLAINTEXT\n"
        "seen,franz-go,1.18.0,Produce:11,PLAINTEXT\n",
    )
    assert {row["verdict"] for row in rows.values()} == {"safe"}
    assert rows.pop("seen")["condition"] == "", "its requests show that it is not held back"
    assert all(f"breaks if {setting} is" in row["condition"] for setting, row in rows.items())


def test_a_version_that_is_known_is_not_called_older_than_what_is_known(tmp_path):
    given, output = tmp_path / "in.csv", tmp_path / "out.csv"
    given.write_text(
        "client,library,library_version\na,kafka-clients,3.9.0\nb,kafkajs,2.2.4\nc,kafkajs,0.1.0\n"
    )
    assert main(["--from", "2.8.2", "--to", "0.10.2.2", "--input", str(given), "--output", str(output)]) == 0
    with output.open(newline="") as file:
        explanations = [row["explanation"] for row in csv.DictReader(file)]
    assert "0.10.2.2 does not have it" in explanations[0]
    assert "older than what is known" not in explanations[1]
    assert "older than what is known" in explanations[2]


def test_a_library_in_the_column_of_declared_names(tmp_path):
    """Nobody declares these names to a broker, but people fill the list."""
    rows = judged_rows(
        tmp_path,
        "client,client_software_name,client_software_version\n"
        "web,kafkajs,2.2.4\nold,kafka-node,5.0.0\nstranger,acme,1.0.0\n",
    )
    assert [row["verdict"] for row in rows.values()] == ["safe", "breaks", "insufficient_evidence"]


def test_what_was_seen_counts_beside_the_library(tmp_path):
    rows = judged_rows(
        tmp_path,
        "client,library,library_version,api_uses\n"
        "as known,kafkajs,2.2.4,Produce:7\n"
        "contradicts it,kafkajs,2.2.4,Produce:2 Fetch:3\n",
    )
    assert [row["verdict"] for row in rows.values()] == ["safe", "breaks"]


def test_the_vendor_of_the_brokers_reaches_a_named_library(tmp_path):
    given, output = tmp_path / "in.csv", tmp_path / "out.csv"
    given.write_text("client,library,library_version\na,kafkajs,2.2.4\n")
    files = ["--input", str(given), "--output", str(output)]
    assert main(["--from", "3.9.1", "--to", "4.0.1", "--vendor", "redpanda", *files]) == 0
    assert "redpanda" in output.read_text(encoding="utf-8").lower()
