from client_telemetry.identity.owner_trial import matches, trial_report
from client_telemetry.identity.owners import load_owner_rules

RULES = load_owner_rules(
    """
    - {name: orders, owner: orders, client_id: 'orders-.*'}
    - {name: payments, owner: payments, group_id: 'pay-.*'}
    - {name: orders again, owner: orders, client_id: 'orders-eu'}
    - {name: far away, owner: operations, client_address: '10\\.9\\..*'}
    - {name: gone team, owner: gone, principal: 'User:gone'}
    """
)


def client(client_id: str | None, **columns) -> dict:
    return {
        "principal": "User:app",
        "client_id": client_id,
        "client_software_name": "kgo",
        "client_software_version": "v1.22.2",
        "group_ids": [],
        "addresses": 1,
        "address_sample": ["10.0.0.1"],
    } | columns


CLIENTS = [
    client("orders-eu"),
    client("billing", group_ids=["pay-1"]),
    client('=HYPERLINK("x")\n', client_software_name="", client_software_version=""),
    client(None, addresses=9),
]


def test_every_client_has_one_match():
    found = {match.client["client_id"]: match for match in matches(RULES, CLIENTS)}
    assert len(found) == len(CLIENTS)
    assert found["orders-eu"].rule.name == "orders"
    assert [rule.name for rule in found["orders-eu"].later] == ["orders again"]
    assert found["billing"].rule.name == "payments"
    assert found[None].rule is None


def test_rules_are_counted_and_those_without_clients_explained():
    lines = list(trial_report(RULES, matches(RULES, CLIENTS)))
    table = {line.split("  ")[0]: line.split("  ", 1)[1] for line in lines[:7]}
    assert table["orders"].split() == ["orders", "1", "1"]
    assert table["(no rule)"].split() == ["2", "2"]
    assert table["orders again"].endswith("an earlier rule matches its clients: orders")
    assert table["gone team"].endswith("matches no client")


def test_clients_of_one_application_count_once():
    pods = [client(f"orders-{n}", application="orders-{n}") for n in range(3)]
    lines = list(trial_report(RULES, matches(RULES, pods), every_client=True))
    assert lines[1].split() == ["orders", "orders", "1", "3"]
    assert lines[-1].startswith("  'User:app' 'orders-2' in 'orders-{n}' (kgo v1.22.2)")


def test_clients_without_a_rule_are_listed_quoted():
    lines = list(trial_report(RULES, matches(RULES, CLIENTS)))
    (hostile,) = [line for line in lines if "HYPERLINK" in line]
    assert hostile.endswith("(software not declared)  ->  no rule")
    assert "\\n" in hostile
    assert not any("orders-eu" in line for line in lines)


def test_every_client_can_be_listed():
    lines = list(trial_report(RULES, matches(RULES, CLIENTS), every_client=True))
    assert "  'User:app' 'orders-eu' (kgo v1.22.2)  ->  orders (then orders again)" in lines


def test_addresses_that_the_table_does_not_keep_are_reported():
    assert any(
        line.startswith("1 client had more addresses")
        for line in trial_report(RULES, matches(RULES, CLIENTS))
    )
    without_addresses = [rule for rule in RULES if not rule.client_address]
    assert not any(
        "addresses" in line for line in trial_report(without_addresses, matches(without_addresses, CLIENTS))
    )


def test_the_whole_trial(same_as_kept):
    pods = [client(f"orders-{n}", application="orders-*", principal=f"User:{n % 2}") for n in range(4)]
    many = [
        client("x", group_ids=["pay-1", "a", "b", "c"], addresses=2),
        client("y", client_software_version=""),
    ]
    given = [*CLIENTS, *pods, *many]
    lines = [
        line
        for every in (False, True)
        for line in ("#", *trial_report(RULES, matches(RULES, given), every_client=every))
    ]
    lines += ["# without clients", *trial_report(RULES[:1], []), f"{matches([], CLIENTS[:1])[0].later}"]
    same_as_kept("identity", {"owner_trial.txt": "\n".join(lines) + "\n"})
