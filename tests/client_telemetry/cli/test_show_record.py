import json
from pathlib import Path

import pytest
from client_telemetry.cli import show_record
from client_telemetry.formats.raw.raw_dump_v1_pb2 import ClientPush

RAW = Path(__file__).parents[3] / "include" / "sample" / "fleet" / "raw"
KEY = min(str(path.relative_to(RAW)) for path in RAW.glob("v1/dataset=connections/**/*.zst"))


def printed(capsys, *arguments: str) -> str:
    assert show_record.main(["--raw", str(RAW), *arguments]) == 0
    return capsys.readouterr().out


def test_the_record_that_a_finding_cites(capsys):
    all_ = [json.loads(line) for line in printed(capsys, KEY, "all").splitlines()]
    assert [record["sequence"] for record in all_] == list(range(len(all_)))
    cited = next(record for record in all_ if record.get("api_uses"))
    assert json.loads(printed(capsys, KEY, str(cited["sequence"]))) == cited
    use = cited["api_uses"][0]
    assert (use["api"], use["api_key"]) == ("Metadata", 3) and use["requests"] > 0
    assert use["first_request_at_nanos"].startswith("2026-11-21T05:")
    assert cited["kind"] in ("ACTIVE", "CLOSED") and len(cited["incarnation"]) == 32


def test_an_instance_id_is_as_kafka_and_its_logs_write_it(capsys):
    push = ClientPush(client_instance_id=bytes(range(16)), incarnation=bytes(16), payload=b"\1")
    assert show_record.readable(push)["client_instance_id"] == "AAECAwQFBgcICQoLDA0ODw"
    assert show_record.readable(push)["incarnation"] == "00" * 16
    assert show_record.readable(ClientPush(client_instance_id=b"\xff"))["client_instance_id"] == "ff"


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ((KEY, "99999999"), "it has 0 to "),
        ((KEY, "first"), "is not a sequence"),
        ((KEY.replace("broker=1", "broker=7"), "0"), "no object v1/"),
        (("orders.zst", "0"), "not the key of an object"),
    ],
    ids=["no such sequence", "no number", "no such object", "no key"],
)
def test_what_is_not_there_is_said(arguments, says, capsys):
    assert show_record.main(["--raw", str(RAW), *arguments]) == 2
    assert says in capsys.readouterr().err
