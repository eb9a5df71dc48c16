"""Dry run of owner rules: which applications and clients each rule matches, and which clients no rule matches. Pure;
the command that reads the clients of a day is cli/owners.py.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from client_telemetry.identity.client_key import HasClientKey, client_key
from client_telemetry.identity.owners import OwnerRule
from client_telemetry.knowledge import kip511


class ClientRow(HasClientKey):
    """Of the table `clients`: what rules match, and what is shown."""

    application: str
    group_ids: list[str]
    addresses: int
    address_sample: list[str]


@dataclass(frozen=True)
class Match:
    """A client (a row of the table `clients`) with the first rule that matches, and later ones that would match too."""

    client: ClientRow
    rule: OwnerRule | None
    later: tuple[OwnerRule, ...]

    @property
    def is_uncertain(self) -> bool:
        """Whether an address that the table does not keep could have matched an earlier rule, or any rule."""
        return self.client["addresses"] > len(self.client["address_sample"])


def matches(rules: Sequence[OwnerRule], clients: Iterable[ClientRow]) -> list[Match]:
    """One per client, ordered by principal, client id and software."""
    trial = []
    for client in clients:
        fitting = [
            rule
            for rule in rules
            if rule.matches(
                client["principal"], client["client_id"], client["group_ids"], client["address_sample"]
            )
        ]
        trial.append(Match(client, fitting[0] if fitting else None, tuple(fitting[1:])))
    return sorted(trial, key=lambda match: [each or "" for each in client_key(match.client)])


def trial_report(
    rules: Sequence[OwnerRule], matches: Sequence[Match], every_client: bool = False
) -> Iterator[str]:
    """For people: each rule with the number of its applications and clients, rules that match none and why, clients
    without a rule; with `every_client` each client with its rule. Clients' strings are quoted, as they can contain
    anything.
    """
    rows = [("rule", "owner", "applications", "clients", "")]
    for rule in rules:
        owned = [match.client for match in matches if match.rule is rule]
        note = "" if owned else _why_no_client(rule, matches)
        rows.append((rule.name, rule.owner, str(applications(owned)), str(len(owned)), note))
    without = [match for match in matches if match.rule is None]
    rows.append(
        ("(no rule)", "", str(applications(match.client for match in without)), str(len(without)), "")
    )
    widths = [max(len(row[column]) for row in rows) for column in range(4)]
    for name, owner, programs, clients, note in rows:
        numbers = f"{programs:>{widths[2]}}  {clients:>{widths[3]}}"
        yield f"{name:<{widths[0]}}  {owner:<{widths[1]}}  {numbers}  {note}".rstrip()
    uncertain = sum(match.is_uncertain for match in matches)
    if uncertain and any(rule.client_address for rule in rules):
        yield ""
        yield (
            f"{uncertain:,} client{'s' * (uncertain != 1)} had more addresses than the table keeps: rules with client_address may match "
            "one that is not shown."
        )
    shown = matches if every_client else without
    if shown:
        yield ""
        yield "every client:" if every_client else "clients that no rule matches:"
    for match in shown:
        later = f" (then {', '.join(rule.name for rule in match.later)})" if match.later else ""
        yield f"  {_client(match.client)}  ->  {match.rule.name if match.rule else 'no rule'}{later}"


def applications(clients: Iterable[ClientRow]) -> int:
    """How many applications these rows belong to, as grouped when the day was processed; rows from before applications
    were introduced count as one each.
    """
    return len(
        {(client["principal"], client.get("application") or client["client_id"]) for client in clients}
    )


def _why_no_client(rule: OwnerRule, matches: Sequence[Match]) -> str:
    earlier = {match.rule.name for match in matches if rule in match.later and match.rule}
    if not earlier:
        return "matches no client"
    return f"an earlier rule matches its clients: {', '.join(sorted(earlier))}"


def _client(client: ClientRow) -> str:
    software = kip511.software(
        client["client_software_name"], client["client_software_version"], otherwise="software not declared"
    )
    groups = f", groups {', '.join(map(repr, client['group_ids'][:3]))}" if client["group_ids"] else ""
    application = client.get("application") or client["client_id"]
    part_of = f" in {application!r}" if application != client["client_id"] else ""
    return f"{client['principal']!r} {client['client_id']!r}{part_of} ({software}{groups})"
