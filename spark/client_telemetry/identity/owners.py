"""Who owns a client: ordered rules that the user writes. Loading the file is done elsewhere."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import get_type_hints

import yaml

from client_telemetry import Unusable
from client_telemetry.knowledge.user_patterns import BadPattern, UserPattern

_PATTERNS = ("principal", "client_id", "group_id", "client_address")
_TEXTS = ("name", "owner", "contact")


class BadOwnerRule(Unusable):
    """A rule cannot be used; the message names the rule, its line and the mistake."""


@dataclass(frozen=True)
class OwnerRule:
    """Patterns are regular expressions (RE2) for the whole string; all given patterns must match. Of a client's groups
    and addresses one match is enough.
    """

    name: str
    owner: str
    contact: str | None = None
    principal: UserPattern | None = None
    client_id: UserPattern | None = None
    group_id: UserPattern | None = None
    client_address: UserPattern | None = None

    def matches(
        self,
        principal: str | None,
        client_id: str | None,
        group_ids: Collection[str],
        client_addresses: Collection[str],
    ) -> bool:
        """Whether the rule is for this client. A pattern never matches what the client does not have: a null client id
        is not an empty one.
        """
        # Most rules have one or two patterns, and each client is compared with each rule.
        return (
            (self.principal is None or _fits(self.principal, (principal,)))
            and (self.client_id is None or _fits(self.client_id, (client_id,)))
            and (self.group_id is None or _fits(self.group_id, group_ids))
            and (self.client_address is None or _fits(self.client_address, client_addresses))
        )


def _fits(pattern: UserPattern, values: Collection[str | None]) -> bool:
    return any(value is not None and pattern.fullmatch(value) for value in values)


def first_match(
    rules: Sequence[OwnerRule],
    principal: str | None,
    client_id: str | None,
    group_ids: Collection[str] = (),
    client_addresses: Collection[str] = (),
) -> OwnerRule | None:
    """The first rule that matches; None if the client has no owner."""
    return next((r for r in rules if r.matches(principal, client_id, group_ids, client_addresses)), None)


def load_owner_rules(text: str) -> tuple[OwnerRule, ...]:
    """Rules from YAML or JSON: a list of mappings, or a mapping `rules:` with that list. Keys: `name`, `owner`,
    `contact` (may be absent), and at least one of `principal`, `client_id`, `group_id`, `client_address`.

    Raises `BadOwnerRule`.

    >>> [rule.owner for rule in load_owner_rules('[{name: a, owner: billing, principal: "User:billing.*"}]')]
    ['billing']
    """
    try:
        content = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise BadOwnerRule(f"the owner rules are not valid YAML: {' '.join(str(error).split())}") from None
    if isinstance(content, dict) and set(content) == {"rules"}:
        content = content["rules"]
    if not isinstance(content, list):
        raise BadOwnerRule(
            "the owner rules are not a list: write `rules:` and below it one `- name: ...` for each rule"
        )
    lines = _lines(yaml.compose(text, Loader=yaml.SafeLoader))
    rules = tuple(_rule(number, lines[number - 1], entry) for number, entry in enumerate(content, 1))
    names = [rule.name for rule in rules]
    for name in names:
        if names.count(name) > 1:
            raise BadOwnerRule(f"owner rule {name!r} occurs twice: rule names must be unique")
    return rules


def _lines(node: yaml.Node | None) -> list[dict[str, int]]:
    """The lines of each rule, counted from 1: by key, and that of the rule itself under ""."""
    if isinstance(node, yaml.MappingNode):
        ((_, node),) = node.value
    lines = []
    for rule in node.value if isinstance(node, yaml.SequenceNode) else ():
        pairs = rule.value if isinstance(rule, yaml.MappingNode) else ()
        by_key = {str(key.value): value.start_mark.line + 1 for key, value in pairs}
        lines.append(by_key | {"": rule.start_mark.line + 1})
    return lines


def _rule(number: int, lines: Mapping[str, int], entry: object) -> OwnerRule:
    rule_line = lines[""]
    if not isinstance(entry, dict):
        raise BadOwnerRule(
            f"owner rule {number} (line {rule_line}) is not a mapping of keys to texts: {entry!r}"
        )
    name = f"owner rule {number} ({entry['name']!r})" if entry.get("name") else f"owner rule {number}"
    where = f"{name} (line {rule_line})"
    field_types = get_type_hints(OwnerRule)
    for key, value in entry.items():
        if key not in field_types:
            raise BadOwnerRule(f"{where} has an unknown key {key!r}; known are {', '.join(field_types)}")
        if not isinstance(value, str):
            raise BadOwnerRule(f"{where}: {key} is not text but {value!r}; put it in quotes")
        if value == "" and key in _TEXTS:
            raise BadOwnerRule(f"{where}: {key} is empty")
    for key in ("name", "owner"):
        if key not in entry:
            raise BadOwnerRule(f"{where} has no {key}")
    if not entry.keys() & set(_PATTERNS):
        raise BadOwnerRule(
            f"{where} has no pattern and would match every client; if that is meant, write principal: '.*'"
        )
    patterns = {
        key: _pattern(f"{name} (line {lines.get(key, rule_line)})", key, value)
        for key, value in entry.items()
        if key in _PATTERNS
    }
    return OwnerRule(entry["name"], entry["owner"], entry.get("contact"), **patterns)


def _pattern(where: str, key: str, value: str) -> UserPattern:
    try:
        return UserPattern(value)
    except BadPattern as error:
        raise BadOwnerRule(f"{where}: {key} {value!r} {error}") from None
