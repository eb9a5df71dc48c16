import json
import time
from pathlib import Path

import pytest
from client_telemetry.identity.owner_hints import rule_hints
from client_telemetry.identity.owners import BadOwnerRule, first_match, load_owner_rules

SAMPLE = Path(__file__).parents[3] / "include" / "sample" / "owners.yaml"
RULES = """
rules:
  - name: payments batch
    owner: batch
    contact: batch@example.com
    principal: User:payments
    client_id: batch-.*
  - name: payments
    owner: payments
    principal: User:payments
  - name: lab groups
    owner: lab
    group_id: lab-.*
  - name: old data centre
    owner: operations
    client_address: 10\\.9\\..*
  - name: empty client id
    owner: nobody in particular
    client_id: ''
"""


def owner(principal=None, client_id=None, groups=(), addresses=()) -> str | None:
    rule = first_match(load_owner_rules(RULES), principal, client_id, groups, addresses)
    return rule.owner if rule else None


def test_first_match_wins_and_all_patterns_must_match():
    assert owner("User:payments", "batch-1") == "batch"
    assert owner("User:payments", "web") == "payments"
    assert owner("User:other", "batch-1") is None


def test_whole_strings_match():
    assert owner("User:payments2") is None
    assert owner("xUser:payments") is None
    assert owner(client_id="batch-1\n", principal="User:payments") == "payments", "a dot is no line feed"


def test_one_of_several_groups_or_addresses_is_enough():
    assert owner(groups=["web", "lab-1"]) == "lab"
    assert owner(addresses=["10.1.0.1", "10.9.0.1"]) == "operations"
    assert owner(groups=["my-lab-1"]) is None


def test_what_is_not_there_matches_nothing():
    assert owner(client_id="") == "nobody in particular"
    assert owner(client_id=None) is None
    assert owner() is None


def test_contact_may_be_absent():
    rules = load_owner_rules(RULES)
    assert [rule.contact for rule in rules[:2]] == ["batch@example.com", None]


def test_json_and_a_bare_list_are_fine():
    assert load_owner_rules('[{"name": "a", "owner": "b", "principal": ".*"}]')[0].owner == "b"
    assert load_owner_rules("rules: []") == ()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("rules: [", "not valid YAML"),
        ("", "not a list"),
        ("owner: x", "not a list"),
        ("- just a text", "owner rule 1 (line 1) is not a mapping"),
        ("- {owner: a, principal: x}", "owner rule 1 (line 1) has no name"),
        ("- {name: a, principal: x}", "owner rule 1 ('a') (line 1) has no owner"),
        ("- {name: a, owner: b}", "has no pattern and would match every client"),
        ("- {name: a, owner: b, topic: x}", "unknown key 'topic'"),
        ("- {name: a, owner: b, client_id: '['}", "client_id '[' is not a valid regular expression"),
        (
            "rules:\n- name: a\n  owner: b\n  # not on Fridays\n  client_id: '(?!test).*'",
            "owner rule 1 ('a') (line 5): client_id '(?!test).*' is not a valid regular expression: invalid perl "
            "operator: (?!; patterns run on RE2, which has no lookaround and no backreferences",
        ),
        ("- {name: a, owner: b, client_id: no}", "client_id is not text but False"),
        ("- {name: a, owner: b, client_id: 17}", "put it in quotes"),
        ("- {name: a, owner: '', client_id: x}", "owner is empty"),
        ("- {name: 5, owner: b, client_id: x}", "name is not text"),
        ("[{name: a, owner: b, client_id: x}, {name: a, owner: c, client_id: y}]", "'a' occurs twice"),
    ],
)
def test_bad_rules_are_named(text: str, said: str):
    with pytest.raises(BadOwnerRule) as error:
        load_owner_rules(text)
    assert said in str(error.value)


def test_no_client_id_keeps_a_rule_busy():
    rules = load_owner_rules("[{name: a, owner: b, client_id: '(?:[a-z]+-?)+[0-9]'}]")
    began = time.process_time()
    assert first_match(rules, None, "a" * 40) is None
    assert time.process_time() - began < 0.1


def test_rules_of_the_sample():
    rules = load_owner_rules(SAMPLE.read_text())
    assert first_match(rules, "User:billing", "billing-ledger").owner == "billing"
    assert first_match(rules, "User:billing", "batch-settlement").owner == "batch"
    assert first_match(rules, "User:ANONYMOUS", "ops-admin") is None


@pytest.mark.parametrize(
    ("key", "pattern", "hint"),
    [
        ("client_id", "orders-*", "write 'orders-.*'"),
        ("client_id", "*-orders", "not a valid regular expression"),
        ("client_id", "orders-{eu,us}", "write 'orders-(eu|us)'"),
        ("group_id", "orders-%", "write 'orders-.*'"),
        ("client_address", "10.1.0.0/16", r"write '10\\.1\\..*'"),
        ("client_address", "10.1.4.0/22", "is a network"),
        ("client_address", "fd00::/8", "is a network"),
        ("client_address", "10.1.0.1-10.1.0.9", "range of addresses"),
        ("client_address", "app-1.example.com", "host name"),
        ("principal", "billing", "write 'User:billing'"),
        ("principal", "user:billing", "spelled User:"),
        ("principal", "User:a|b", "write 'User:b'"),
        ("principal", "CN=billing.*", "has no type"),
    ],
)
def test_what_was_meant_as_something_else_gets_a_hint(key, pattern, hint):
    try:
        hints = rule_hints(load_owner_rules(f"[{{name: n, owner: o, {key}: {json.dumps(pattern)}}}]"))
    except BadOwnerRule as error:
        hints = [str(error)]
    assert len(hints) == 1
    assert hint in hints[0]


@pytest.mark.parametrize(
    ("key", "pattern"),
    [
        ("client_id", r"orders-\d*"),
        ("client_id", "orders-[a-z]*"),
        ("client_id", "(a|b)*"),
        ("client_id", r"batch-\d{2,3}.*"),
        ("client_address", r"10\.1\..*"),
        ("client_address", "10.1.*"),
        ("client_address", "fd00:.*"),
        ("principal", "User:(billing|orders)"),
        ("principal", ".*billing"),
        ("principal", "(User|Group):billing"),
    ],
)
def test_usual_expressions_get_no_hint(key, pattern):
    assert rule_hints(load_owner_rules(f"[{{name: n, owner: o, {key}: {json.dumps(pattern)}}}]")) == []
