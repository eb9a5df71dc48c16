import csv
from pathlib import Path

import pytest
from client_telemetry.compatibility import cluster_notes
from client_telemetry.compatibility.broker_settings import BrokerSetup, UnreadableSetting, parse

with (Path(__file__).parents[2] / "data/compatibility/broker_setups.csv").open(newline="") as table:
    CASES = list(csv.DictReader(table))


def _pairs(text: str) -> dict[str, str] | None:
    return dict(pair.split("=", 1) for pair in text.split(";")) if text else None


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["case"])
def test_conditions_on_the_setup_of_a_broker(case):
    levels = _pairs(case["features"])
    setup = BrokerSetup(_pairs(case["settings"]), levels and {name: int(n) for name, n in levels.items()})
    assert parse(case["setting"]).met(setup) == case["met"]


@pytest.mark.parametrize("text", ["", "a.b", "a.b is set not", "feature x above 3", "A=b"])
def test_a_condition_that_cannot_be_read(text):
    with pytest.raises(UnreadableSetting, match="terms are: SETTING set"):
        parse(text)


TOKENS = next(note for note in cluster_notes.known() if note.note_id == "delegation_token_master_key")
OLD_NAME = BrokerSetup({"delegation.token.master.key": "[set]", "delegation.token.secret.key": "null"})
NO_TOKENS = BrokerSetup({"delegation.token.master.key": "null", "delegation.token.secret.key": "null"})


@pytest.mark.parametrize(
    ("setups", "applies"),
    [
        ({}, ("unknown", (), "")),
        ({1: NO_TOKENS, 2: OLD_NAME, 3: BrokerSetup()}, ("yes", (2,), "delegation.token.master.key")),
        ({1: NO_TOKENS, 2: BrokerSetup()}, ("unknown", (), "")),
        ({1: NO_TOKENS, 2: NO_TOKENS}, ("no", (1, 2), "")),
    ],
)
def test_one_broker_shows_that_a_note_applies_and_all_that_it_does_not(setups, applies):
    assert TOKENS.applies(setups) == applies
