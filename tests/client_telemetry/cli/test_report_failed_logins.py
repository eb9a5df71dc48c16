"""Every kind of failed login of a 3.9.1 broker, in the broker's words, reaches the report, the ticket and the owners' packs."""

import csv
import json
import re
from collections import Counter
from pathlib import Path

from client_telemetry.cli import report

SOURCES = Path(__file__).parents[2] / "data/sources"
RULES = """\
rules:
  - {name: erp, owner: erp, client_address: '10\\.9\\.0\\.[1-5]'}
  - {name: orders, owner: orders, client_address: '127\\.0\\.0\\.1'}
"""


def _failed_logins(release: str) -> list[tuple[str, str, str]]:
    """Lines, reason and mechanism of each case that the release logs as a failed login (server_log/README.md)."""
    with (SOURCES / "server_log/failed_logins.csv").open(newline="") as table:
        return [
            (row["lines"], row["reason"], row["mechanism"])
            for row in csv.DictReader(table)
            if row["kind"] == "login_failed" and release in row["releases"].split()
        ]


def _server_log(cases: list[tuple[str, str, str]]) -> str:
    """The cases, one from each address 10.9.0.N, twice."""
    text = ""
    for second, number, (lines, _, _) in [
        (at, *case) for at in (30, 31) for case in enumerate(cases, start=1)
    ]:
        address = f"10.9.0.{number}"
        for line in (
            lines.replace("ADDRESS", address)
            .replace("LOCAL-REMOTE", f"127.0.0.1:9093-{address}:4000-0-7")
            .split(" ## ")
        ):
            begins = re.match(r"[A-Z]{4,5} ", line)
            text += f"[2026-11-22 10:48:{second},000] {line}\n" if begins else f"{line}\n"
    return text


def test_failed_logins_reach_the_report_the_ticket_and_the_packs(spark, tmp_path, capsys):
    cases = _failed_logins("3.9.1")
    assert len(cases) > 10
    logs = tmp_path / "logs"
    logs.mkdir()
    (logs / "kafka-request.log").write_text((SOURCES / "server_lines.log").read_text())
    (logs / "server.log").write_text(_server_log(cases))
    (tmp_path / "owners.yaml").write_text(RULES)

    code = report.main(
        [
            "--to=4.0.1",
            f"--out={tmp_path / 'out'}",
            f"--owners={tmp_path / 'owners.yaml'}",
            "--name=shop",
            str(logs),
        ]
    )

    assert code == 0, capsys.readouterr()
    (file,) = (tmp_path / "out/published").glob("upgrade_impact/*/*/report.json")
    document = json.loads(file.read_text())
    logins = {login["client_address"]: login for login in document["failed_logins"]}
    expected = {f"10.9.0.{number}": case for number, case in enumerate(cases, start=1)}
    assert logins.keys() == expected.keys() | {"10.20.0.31"}
    for address, (_, reason, mechanism) in expected.items():
        login = logins[address]
        assert (login["reason"], login["sasl_mechanism"] or "", login["count"]) == (reason, mechanism, 2)
    assert Counter(login["owner"] for login in logins.values()) == {"erp": 5, None: len(cases) - 4}
    assert (
        f"{len(cases) + 1} addresses cannot log in today ({2 * len(cases) + 2} failed logins)"
        in document["sentence"]
    )
    ticket = (file.parent / "report.md").read_text()
    assert all(address in ticket for address in logins)
    pack = (file.parent / "owners/erp/report.md").read_text()
    assert set(re.findall(r"10\.9\.0\.\d+", pack)) == {f"10.9.0.{number}" for number in range(1, 6)}
