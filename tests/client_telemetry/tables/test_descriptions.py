"""What a rule says of itself: a share with the percentage that it allows, a number as `no ...`."""

import importlib
import pkgutil
import re

import pytest
from client_telemetry import tables
from client_telemetry.tables.suite import RowRule, SliceRule

RULES = [
    rule
    for module in pkgutil.iter_modules(tables.__path__, "client_telemetry.tables.")
    if (suite := getattr(importlib.import_module(module.name), "SUITE", None))
    for rule in suite.rules
]
SHARES = [
    rule for rule in RULES if isinstance(rule, SliceRule) and ("avg(" in rule.value or "/" in rule.value)
]


@pytest.mark.parametrize("rule", SHARES, ids=lambda rule: rule.name)
def test_a_share_names_the_percentage_that_it_allows(rule):
    limit = re.match(r"at most ([0-9.]+) % of ", rule.description)
    assert limit, rule.description
    assert float(limit[1]) == pytest.approx(100 * rule.maximum)


@pytest.mark.parametrize(
    "rule",
    [r for r in RULES if isinstance(r, SliceRule) and r.severity == "warning" and r not in SHARES],
    ids=lambda rule: rule.name,
)
def test_a_number_that_may_not_be_there_begins_with_no(rule):
    assert rule.maximum == 0 and rule.description.startswith("no ")


def test_rules_of_rows_have_no_percentage():
    assert not [rule.name for rule in RULES if isinstance(rule, RowRule) and " % " in rule.description]
