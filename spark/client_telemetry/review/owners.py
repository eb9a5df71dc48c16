"""Who owns the clients of a review, by the user's rules. Pure."""

from collections.abc import Sequence
from dataclasses import replace

from client_telemetry.identity.owners import OwnerRule, first_match
from client_telemetry.review.model import Review, ReviewedClient


def with_owners(found: Review, rules: Sequence[OwnerRule]) -> Review:
    """The review with the owner of each client that a rule names."""
    if not rules:
        return found
    return replace(found, clients=tuple(_owned(client, rules) for client in found.clients))


def _owned(client: ReviewedClient, rules: Sequence[OwnerRule]) -> ReviewedClient:
    rule = first_match(rules, client.principal, client.client_id, client.groups, client.addresses)
    return client if rule is None else replace(client, owner=rule.owner, owner_contact=rule.contact)
