"""The logs of a real roll, cut where it was under way: what a person who asks then is told. tests/data/roll, whose README says
what was done when; outcomes.csv there has what each application's own log says."""

import json
from pathlib import Path
from typing import Any

import pytest
import zstandard
from client_telemetry.cli.review import main

ROLL = Path(__file__).parents[2] / "data" / "roll"
FAILING_BY_THEN = {
    "click-ingest": "refused",
    "kafka_exporter": "partly",
    "sarama": "partly",
    "search-pinned": "partly",
    "shop-tx": "stuck",
}
"""All of these fail by their own logs, too. `sarama` is click-sink, `kafka_exporter` lag-monitor-old."""


def ask(until: str, folder: Path) -> int:
    """The exit code of a review of the logs that end at a time of 2026-11-22."""
    for stored in ROLL.glob("node*/*.zst"):
        with zstandard.open(stored, "rt", encoding="utf-8") as log:
            lines = log.read().splitlines(keepends=True)
        # Lines that begin otherwise go on with what stands above them.
        later = (n for n, line in enumerate(lines) if line.startswith("[2026") and line[12:] > until)
        kept = lines[: next(later, len(lines))]
        if kept:
            path = folder / "logs" / stored.parent.name / stored.stem
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("".join(kept), encoding="utf-8")
    return main(["--from", "3.9.1", "--to", "4.0.1", "--publish", str(folder), str(folder / "logs")])


def published(folder: Path) -> dict[str, Any]:
    (found,) = folder.glob("upgrade_review/*/*/review.json")
    review: dict[str, Any] = json.loads(found.read_text(encoding="utf-8"))
    return review


def test_a_broker_that_is_up_for_twenty_seconds_cannot_be_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ask("12:10:40", tmp_path) == 4
    told = published(tmp_path)
    assert [(b["broker_id"], b["decision"], b["clients"]) for b in told["brokers"]] == [
        (3, "cannot_tell", [])
    ]
    assert "broker 3: cannot tell: up for 18 s: wait 42 s more\n" in capsys.readouterr().out
    assert not [each["client_id"] for each in told["clients"] if each["outcome"] == "failing"]


def test_clients_that_fail_stop_the_roll_and_are_named(tmp_path: Path) -> None:
    assert ask("12:11:30", tmp_path) == 3
    told = published(tmp_path)
    assert [(broker["broker_id"], broker["decision"]) for broker in told["brokers"]] == [
        (3, "stop"),
        (2, "stop"),
    ]
    failing = {each["client_id"]: each["kind"] for each in told["clients"] if each["outcome"] == "failing"}
    assert failing == FAILING_BY_THEN
    assert {client["client_id"] for client in told["brokers"][0]["clients"]} == failing.keys()
    assert not told["is_complete"]


def test_before_a_broker_is_up_again_there_is_nothing_to_review(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ask("12:10:20", tmp_path) == 2
    assert (
        "no broker went from 3.9.1 to 4.0.1: broker 1: 3.9.1; broker 2: 3.9.1; broker 3: 3.9.1"
        in capsys.readouterr().err
    )
