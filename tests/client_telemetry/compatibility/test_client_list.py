import csv
import json
from dataclasses import replace

import pytest
from client_telemetry.cli import compatibility
from client_telemetry.compatibility import (
    ApiUse,
    ClientEvidence,
    client_list,
    judge,
    parse_api_uses,
)
from client_telemetry.compatibility.client_list import BadRow, Entry, UnreadableList

HEADER = "client,client_software_name,client_software_version,client_id,api_uses"


def read(path, text: str, **writing):
    path.write_text(text, **writing)
    return client_list.read(path)


def test_rows_in_order(tmp_path):
    first, second = read(
        tmp_path / "in.csv", f"{HEADER},subscriptions\na,kgo,v1.2.3,x,Produce:3,none\n\nb,,,,,\n"
    )
    assert isinstance(first, Entry) and isinstance(second, Entry)
    assert (first.client, first.evidence.client_software_name, first.evidence.subscriptions) == (
        "a",
        "kgo",
        (),
    )
    assert (second.client, second.evidence.subscriptions, second.evidence.api_uses) == ("b", None, ())


def test_bom_and_windows_line_ends(tmp_path):
    (entry,) = read(tmp_path / "in.csv", f"\ufeff{HEADER}\r\na,,,,Produce:3\r\n", newline="")
    assert isinstance(entry, Entry)


def test_bad_rows_name_line_and_column(tmp_path):
    text = f'{HEADER},security_protocol\na,,,,Fech:1,\n"b\nc",,,,Produce:3,TLS\n,,,,,\nd,,\ne,,,,Produce:3,\n'
    found = read(tmp_path / "in.csv", text)
    assert [str(each) for each in found if isinstance(each, BadRow)] == [
        "line 2, column api_uses: no API 'Fech'; did you mean Fetch?",
        "line 3, column security_protocol: 'TLS' is none of PLAINTEXT, SSL, SASL_PLAINTEXT, SASL_SSL",
        "line 5, column client: empty",
        "line 6, column (all): 3 cells, the header has 6",
    ]
    assert [each.client for each in found if isinstance(each, Entry)] == ["e"]


@pytest.mark.parametrize("character", ["\u2028", "\x0b", "\x0c", "\x1c", "\x85"])
def test_only_line_ends_end_a_row(tmp_path, character):
    text = f"{HEADER}\na{character}b,,,c{character},Produce:3\nd,,,,Produce:x\n"
    entry, bad = read(tmp_path / "in.csv", text, encoding="utf-8")
    assert (entry.client, entry.evidence.client_id) == (f"a{character}b", f"c{character}")
    assert str(bad).startswith("line 3, column api_uses")


@pytest.mark.parametrize(
    ("row", "says"),
    [
        ('"a"b,,,,Produce:3', "',' expected after '\"'"),
        (f"{'a' * 200_000},,,,Produce:3", "field larger than field limit"),
    ],
)
def test_rows_after_one_that_is_not_csv_are_judged(tmp_path, row, says):
    bad, entry, worse = read(tmp_path / "in.csv", f"{HEADER}\n{row}\nc,,,,Produce:3\nd,,,,Produce:x\n")
    assert isinstance(bad, BadRow) and bad.place == "line 2" and says in bad.reason
    assert isinstance(entry, Entry) and entry.client == "c"
    assert isinstance(worse, BadRow) and worse.place == "line 4"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "no header"),
        ("client,client_id\n", "no column client_software_name"),
        (
            "client;client_software_name;client_software_version\n",
            "separated by semicolons: separate them with commas",
        ),
        ("client\tclient_software_name\n", "separated by tabs"),
        (f"{HEADER},colour\n", "unknown column colour"),
        (f"{HEADER},client\n", "repeated column client"),
    ],
)
def test_a_file_that_is_no_list(tmp_path, text, says):
    with pytest.raises(UnreadableList, match=says):
        read(tmp_path / "in.csv", text)


def test_a_list_in_utf_16_as_powershell_writes_it(tmp_path):
    text = f"{HEADER}\r\nKöln,apache-kafka-java,3.6.2,a,\r\n"
    (tmp_path / "in.csv").write_bytes(text.encode("utf-16"))
    (entry,) = client_list.read(tmp_path / "in.csv")
    assert isinstance(entry, client_list.Entry) and entry.client == "Köln"


def test_files_that_cannot_be_read(tmp_path):
    with pytest.raises(UnreadableList, match="No such file"):
        client_list.read(tmp_path / "none.csv")
    (tmp_path / "latin.csv").write_bytes(b"client\xe9")
    with pytest.raises(UnreadableList, match="not UTF-8 at byte 6"):
        client_list.read(tmp_path / "latin.csv")
    (tmp_path / "open.csv").write_text(f'{HEADER}\n"a,,,,\n')
    (bad,) = client_list.read(tmp_path / "open.csv")
    assert isinstance(bad, BadRow) and bad.place == "line 2"


def test_json_that_is_too_deep_is_one_line(tmp_path):
    with pytest.raises(UnreadableList, match="not JSON"):
        read(tmp_path / "in.json", "[" * 100_000)


def test_json(tmp_path):
    given = [{"client": "a", "api_uses": "Produce:3", "client_id": None}, {"client": 7}, 3, {"colour": "red"}]
    entry, *bad = read(tmp_path / "in.json", json.dumps(given))
    assert isinstance(entry, Entry)
    assert [str(each) for each in bad] == [
        "entry 2, column client: 7 is not a text",
        "entry 3, column (all): not an object",
        "entry 4, column colour: unknown column",
    ]
    for text, says in (("{", "not JSON"), ("{}", "a list of objects is expected")):
        with pytest.raises(UnreadableList, match=says):
            read(tmp_path / "in.json", text)


def test_no_cell_is_a_formula(tmp_path):
    row = ("=1+1", "safe", "none", "", "@x", "-y", "+z", "\n=1", "＝1", " =1", "|cmd")
    client_list.write(tmp_path / "out.csv", [row])
    with (tmp_path / "out.csv").open(newline="") as opened:
        assert list(csv.reader(opened))[1] == ["'=1+1", *row[1:4], *(f"'{cell}" for cell in row[4:])]
    client_list.write(tmp_path / "out.json", [row])
    assert json.loads((tmp_path / "out.json").read_text())[0]["client"] == "=1+1"


def test_names_are_readable_in_what_is_written(tmp_path):
    row = ("Köln-注文", *("",) * (len(client_list.VERDICT_COLUMNS) - 1))
    for name in ("out.csv", "out.json"):
        client_list.write(tmp_path / name, [row])
        assert "Köln-注文" in (tmp_path / name).read_text(encoding="utf-8")


def test_a_product_is_one_that_is_known(tmp_path):
    good, bad = read(tmp_path / "in.csv", f"{HEADER},product\na,,,sarama,OffsetCommit:1,Dapr\nb,,,,,Dapper\n")
    assert isinstance(good, Entry) and good.evidence.product == "Dapr"
    assert str(bad) == "line 3, column product: 'Dapper' is not in products.csv or product_client_ids.csv"


def test_every_column_reaches_the_evidence(tmp_path):
    header = (
        "client, client_id ,client_software_name,client_software_version,api_uses,sasl_mechanism,security_protocol,"
        "offered_sasl_mechanisms,principal_has_scram,subscriptions"
    )
    rows = (
        'a, x , kgo , v1.2 ,Produce:3x7, PLAIN ,sasl-ssl,"PLAIN,GSSAPI SCRAM-SHA-256", Yes ,a. none b.\n'
        "b,,,,,,,,no,\nc,,,,,,,,,none\n"
    )
    first, second, third = (each.evidence for each in read(tmp_path / "in.csv", f"{header}\n{rows}"))
    assert first == ClientEvidence(
        client_software_name="kgo",
        client_software_version="v1.2",
        client_id=" x ",
        api_uses=(ApiUse(0, 3, 7),),
        sasl_mechanism="PLAIN",
        security_protocol="SASL_SSL",
        offered_sasl_mechanisms=("PLAIN", "GSSAPI", "SCRAM-SHA-256"),
        principal_has_scram=True,
        subscriptions=("a.", "b."),
    )
    assert second == ClientEvidence(principal_has_scram=False)
    assert third == ClientEvidence(subscriptions=())


def test_whether_a_principal_has_scram_credentials_is_yes_or_no(tmp_path):
    (bad,) = read(tmp_path / "in.csv", f"{HEADER},principal_has_scram\na,,,,,perhaps\n")
    assert str(bad) == "line 2, column principal_has_scram: 'perhaps' is none of yes, no, or empty"


def test_a_whole_line_of_verdicts(tmp_path):
    """In the order of the columns, as the file of the documentation has them."""
    sends = parse_api_uses("Produce:2x90 Fetch:3x90 Metadata:4")
    verdict = judge(ClientEvidence("apache-kafka-java", "0.10.2.0", "orders", sends), "3.9.1", "4.0.1")
    client_list.write(tmp_path / "out.csv", [compatibility.verdict_row("orders", verdict)])
    with (tmp_path / "out.csv").open(encoding="utf-8", newline="") as opened:
        (row,) = csv.DictReader(opened)
    assert list(row) == list(client_list.VERDICT_COLUMNS)
    assert (row["client"], row["verdict"], row["confidence"], row["when"]) == (
        "orders",
        "breaks",
        "observed",
        "at_once",
    )
    assert row["rules"] == "observed_version_refused", "each once"
    assert (row["explanation"], row["fix"]) == (verdict.explanation, verdict.fix)
    assert (row["identified_as"], row["condition"]) == (verdict.identified_as, verdict.condition)
    assert (row["already_failing"], row["works_again"]) == ("no", "no")
    failing = replace(verdict, already_failing=True, works_again=True, when=None)
    assert compatibility.verdict_row("orders", failing)[7:10] == ("", "yes", "yes")


def test_client_id_and_api_uses_may_be_missing_and_owners_come_through(tmp_path):
    clients, verdicts = tmp_path / "clients.csv", tmp_path / "verdicts.csv"
    clients.write_text(
        "client,client_software_name,client_software_version,owner\na,apache-kafka-java,3.9.1,=team\n"
    )
    options = [f"--input={clients}", f"--output={verdicts}"]
    assert compatibility.main(["--from=3.9.1", "--to=4.0.1", *options]) == 0
    (row,) = csv.DictReader(verdicts.read_text(encoding="utf-8").splitlines())
    assert row["owner"] == "'=team"


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("OffsetRequest", 2), ("ListOffsetRequest", 2), ("LIST_OFFSETS", 2), ("Offset", 2), ("TopicMetadataRequest", 3),
        ("ProducerRequest", 0), ("ConsumerMetadata", 10), ("GroupCoordinatorRequest", 10), ("InitPidRequest", 22),
        ("OffsetsForLeaderEpoch", 23), ("SaslHandShakeRequest", 17), ("FetchRequest", 1),
    ],
)  # fmt: skip
def test_former_names_of_apis_and_their_classes(name, key):
    assert [use.api_key for use in parse_api_uses(f"{name}:1")] == [key]
