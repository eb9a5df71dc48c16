import json
from pathlib import Path

import pytest
from client_telemetry.cli import show_record

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
