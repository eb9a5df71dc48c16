import csv
import json
from pathlib import Path
from typing import Any

import pytest
from client_telemetry.subscriptions import java_runtime
from client_telemetry.subscriptions.command_line import main

INSTANCE = "vbIwPY8MTDqgVD2pmFLUQw"
HEADER = "client_instance_id,client_id,software_name,software_version,source_address,source_port"
JAVA_ALL = {
    "name": "java-all",
    "interval_ms": 5000,
    "metrics": ["*"],
    "match": {"client_software_name": "apache-kafka-java", "client_software_version": "4\\..*"},
}


def answer(configured: Path, clients: Path, output: Path, broker: str = "4.3.1") -> int:
    """Exit code of the command."""
    return main(
        [
            *("--configured", str(configured)),
            *("--clients", str(clients)),
            *("--broker", broker),
            *("--output", str(output)),
        ]
    )


def check(
    folder: Path, configured: Any, clients: str, broker: str = "4.3.1"
) -> tuple[int, list[dict[str, str]]]:
    (folder / "configured.json").write_text(json.dumps(configured), encoding="utf-8")
    (folder / "clients.csv").write_text(clients, encoding="utf-8")
    output = folder / "answers.csv"
    code = answer(folder / "configured.json", folder / "clients.csv", output, broker)
    if not output.exists():
        return code, []
    with output.open(encoding="utf-8", newline="") as file:
        return code, list(csv.DictReader(file))


def test_answers_and_further_columns(tmp_path: Path) -> None:
    clients = (
        f"{HEADER},team\n{INSTANCE},orders-producer,apache-kafka-java,4.3.1,127.0.0.1,35058,orders\n"
        f'{INSTANCE},"two\nlines",librdkafka,2.3.0,127.0.0.1,,x\n'
    )
    code, rows = check(tmp_path, [JAVA_ALL], clients)
    assert code == 0
    assert rows[0] == {
        "client_instance_id": INSTANCE,
        "client_id": "orders-producer",
        "software_name": "apache-kafka-java",
        "software_version": "4.3.1",
        "source_address": "127.0.0.1",
        "source_port": "35058",
        "team": "orders",
        "subscriptions": "java-all",
        "push_interval_ms": "5000",
        "requested_metrics": "*",
        "subscription_id": "1125193383",
    }
    assert rows[1]["client_id"] == "two\nlines"
    assert (rows[1]["subscriptions"], rows[1]["push_interval_ms"], rows[1]["requested_metrics"]) == (
        "",
        "300000",
        "",
    )


def test_what_kafka_refuses_is_said_and_the_others_count(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bad = {"name": "bad", "metrics": ["*"], "match": {"client_id": "a{2,3}"}}
    clients = f"{HEADER}\n{INSTANCE},a,apache-kafka-java,4.3.1,127.0.0.1,1\n"
    code, rows = check(tmp_path, [bad, JAVA_ALL], clients)
    assert code == 1 and rows[0]["subscriptions"] == "java-all"
    assert "subscription 'bad': Kafka refuses it: InvalidConfigurationException" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("configured", "clients", "broker", "message"),
    [
        ({}, HEADER, "4.3.1", "expected a list of subscriptions"),
        ([{"name": "a", "interval": 1}], HEADER, "4.3.1", "unknown key 'interval'"),
        ([{"metrics": []}], HEADER, "4.3.1", '"name" must be a text'),
        ([JAVA_ALL, JAVA_ALL], HEADER, "4.3.1", "'java-all' occurs twice"),
        ([], "client_id\n", "4.3.1", "no column client_instance_id"),
        ([], f"{HEADER}\n{INSTANCE},a\n", "4.3.1", "line 2 does not have 6 fields"),
        (
            [],
            f"{HEADER}\nx,a,b,1,c,1\n",
            "4.3.1",
            "line 2: client_instance_id 'x' is not a client instance id",
        ),
        ([], f"{HEADER}\n{INSTANCE},a,b,1,c,port\n", "4.3.1", "line 2: source_port 'port' is not a port"),
        ([], HEADER, "3.6.2", "has no client metrics subscriptions: they exist since 3.7.0"),
        ([], HEADER, "4.3", "4.3"),
    ],
)
def test_bad_input_is_one_line(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    configured: Any,
    clients: str,
    broker: str,
    message: str,
) -> None:
    code, _ = check(tmp_path, configured, clients, broker)
    printed = capsys.readouterr().err
    assert code == 2 and message in printed and printed.count("\n") == 1


def test_a_selector_that_depends_on_the_java_release(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = {"name": "words", "metrics": ["*"], "match": {"client_id": r".*\bżuk\b.*"}}
    clients = f"{HEADER}\n{INSTANCE},żuk,apache-kafka-java,4.3.1,127.0.0.1,1\n"
    code, _ = check(tmp_path, [words], clients)
    assert code == 0
    assert "1 values are not ASCII, where Java releases differ" in capsys.readouterr().err


def test_files_as_other_programs_write_them(tmp_path: Path) -> None:
    """Excel's mark of UTF-8, ends of lines of Windows, a blank last line; in JSON texts for numbers and an empty match."""
    (tmp_path / "configured.json").write_bytes(
        b'\xef\xbb\xbf[{"name": "a", "metrics": ["*"],\r\n"interval_ms": " 5000 ", "match": {}},\r\n'
        b'{"name": "b", "metrics": "x.,y.", "match": "client_id=other"}]\r\n'
    )
    (tmp_path / "clients.csv").write_bytes(
        b"\xef\xbb\xbf" + f"{HEADER},team\r\n{INSTANCE},orders,x,1,10.0.0.1,1,a team\r\n\r\n".encode()
    )
    output = tmp_path / "answers.csv"
    arguments = [
        "--configured",
        str(tmp_path / "configured.json"),
        "--clients",
        str(tmp_path / "clients.csv"),
    ]
    assert main([*arguments, "--broker", "4.3.1", "--output", str(output)]) == 0
    with output.open(encoding="utf-8", newline="") as file:
        (row,) = csv.DictReader(file)
    assert (row["team"], row["subscriptions"], row["push_interval_ms"]) == ("a team", "a", "5000")


def test_no_cell_is_a_formula(tmp_path: Path) -> None:
    clients = f"{HEADER},team\n{INSTANCE},=HYPERLINK(1),librdkafka,2.3.0,127.0.0.1,,＠x\n"
    _, (row,) = check(tmp_path, [JAVA_ALL], clients)
    assert (row["client_id"], row["team"]) == ("'=HYPERLINK(1)", "'＠x")


def test_a_column_twice_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    clients = f"{HEADER},client_id\n{INSTANCE},orders,x,1,10.0.0.1,1,other\n"
    assert check(tmp_path, [JAVA_ALL], clients) == (2, [])
    assert "column client_id occurs more than once" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("broker", "words"),
    [("4.3", "use one of 4.3.0, 4.3.1"), ("v4.3.1", "write it as 4.0.1"), ("3.6.2", "since 3.7.0")],
)
def test_another_spelling_of_the_release(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], broker: str, words: str
) -> None:
    assert check(tmp_path, [JAVA_ALL], f"{HEADER}\n", broker) == (2, [])
    assert words in capsys.readouterr().err


ONE = f"{HEADER}\n{INSTANCE},orders,apache-kafka-java,4.3.1,127.0.0.1,35058\n"


def test_a_carriage_return_in_a_client_id_stays_one_row(tmp_path: Path) -> None:
    code, (row,) = check(
        tmp_path, [JAVA_ALL], f'{HEADER}\n{INSTANCE},"a\rb",apache-kafka-java,4.3.1,127.0.0.1,1\n'
    )
    assert (code, row["client_id"], row["subscriptions"]) == (0, "a\rb", "java-all")


def test_a_client_without_an_id_has_no_subscription_id(tmp_path: Path) -> None:
    """A broker gives Uuid.ZERO_UUID a random id, of which the subscription's id is made."""
    clients = f"{HEADER}\nAAAAAAAAAAAAAAAAAAAAAA,orders,apache-kafka-java,4.3.1,127.0.0.1,35058\n"
    code, (row,) = check(tmp_path, [JAVA_ALL], clients)
    assert (code, row["subscriptions"], row["subscription_id"]) == (0, "java-all", "")


@pytest.mark.parametrize(
    ("configured", "code", "message"),
    [
        ([{"name": "a", "interval_ms": "1" * 5000}], 1, "Write a whole number of milliseconds"),
        ([{"name": "a", "interval_ms": "\U0001d7cf000"}], 1, "Write a whole number of milliseconds"),
        ([{"name": "\ud800"}], 2, "half of a character"),
        ([{"name": "a", "match": {"client_id": "\ud800"}}], 2, "half of a character"),
        ([{"name": "a", "match": False}], 2, '"match" must be an object of texts'),
        (
            [{"name": "a", "match": {"client_id": "(?=o)orders"}}],
            1,
            "A selector may contain only one =, so",
        ),
        ([{"name": "a", "match": {"client_id": r"\x41{2,3}"}}], 1, "write the repetitions out"),
        ([{"name": "a", "match": {"client_id": "ab{1,30}"}}], 1, "write the repetitions out"),
    ],
)
def test_hostile_subscriptions_are_answered_in_a_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], configured: Any, code: int, message: str
) -> None:
    assert check(tmp_path, configured, ONE)[0] == code
    printed = capsys.readouterr().err
    assert message in printed and "Traceback" not in printed


def test_brackets_without_end_are_not_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "c.json").write_text("[" * 200_000)
    (tmp_path / "k.csv").write_text(ONE)
    assert answer(tmp_path / "c.json", tmp_path / "k.csv", tmp_path / "o.csv") == 2
    assert "is not valid JSON" in capsys.readouterr().err


def test_an_interval_with_a_unit_is_answered_alike_before_4_0(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    check(tmp_path, [{"name": "a", "interval_ms": "5s"}], ONE, "3.9.1")
    assert "for instance 5000" in capsys.readouterr().err


def test_an_input_is_not_overwritten(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "c.json").write_text("[]")
    (tmp_path / "k.csv").write_text(ONE)
    assert answer(tmp_path / "c.json", tmp_path / "k.csv", tmp_path / "k.csv") == 2
    assert "--output is also the file of --clients" in capsys.readouterr().err
    assert (tmp_path / "k.csv").read_text() == ONE


def test_what_a_file_cannot_say_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    configured = [{"name": "a", "match": {"client_id": ".*", "client_source_address": r"127\.0\.0\.1"}}]
    check(tmp_path, configured, f"{HEADER}\n{INSTANCE},,x,1,/127.0.0.1,1\n")
    printed = capsys.readouterr().err
    assert "'.*' does not match clients without a client_id (1)" in printed
    assert "the first '/127.0.0.1'" in printed


def test_a_selector_that_backtracks_without_end_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(java_runtime, "MATCHING_SECONDS", 1.0)
    configured = [{"name": "a", "match": {"client_id": "(.*a){25}b"}}]
    clients = f"{HEADER}\n{INSTANCE},{'a' * 60},x,1,127.0.0.1,1\n"
    assert check(tmp_path, configured, clients)[0] == 4
    assert "does not finish matching" in capsys.readouterr().err
