"""What a rule says of itself: a share with the percentage that it allows, a number as `no ...`."""

import re

import pytest
from client_telemetry.tables.all_tables import TABLES
from client_telemetry.tables.expectations import ExpectAggregateToBeBetween, ExpectRowsToSatisfy
from client_telemetry.tables.suite import WARNING

RULES = {
    f"{table.name}.{name}": expectation
    for table in TABLES
    for name, expectation in table.expectations().items()
}
AGGREGATES = {name: rule for name, rule in RULES.items() if isinstance(rule, ExpectAggregateToBeBetween)}
SHARES = [name for name, rule in AGGREGATES.items() if "avg(" in rule.aggregate or "/" in rule.aggregate]


@pytest.mark.parametrize("name", SHARES)
def test_a_share_names_the_percentage_that_it_allows(name):
    rule = AGGREGATES[name]
    limit = re.match(r"at most ([0-9.]+) % of ", rule.description)
    assert limit, rule.description
    assert float(limit[1]) == pytest.approx(100 * rule.max_value)


@pytest.mark.parametrize(
    "name",
    [name for name, rule in AGGREGATES.items() if rule.severity == WARNING and name not in SHARES],
)
def test_a_number_that_may_not_be_there_begins_with_no(name):
    rule = AGGREGATES[name]
    assert rule.max_value == 0 and rule.description.startswith("no ")


def test_every_rule_says_what_it_expects():
    assert not [name for name, rule in RULES.items() if not rule.description]


def test_rules_of_rows_have_no_percentage():
    rows = {name: rule for name, rule in RULES.items() if isinstance(rule, ExpectRowsToSatisfy)}
    assert not [name for name, rule in rows.items() if " % " in rule.description]
