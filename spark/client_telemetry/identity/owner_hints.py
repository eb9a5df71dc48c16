"""What looks like a mistake in owner rules: valid regular expressions that a person meant as something else."""

import ipaddress
import re
from collections.abc import Sequence
from typing import Final

from client_telemetry.identity.owners import OwnerRule

_GLOB_STAR: Final = re.compile(r"(?<!\\)([\w:/ @=-])\*")
"""A letter, digit or separator that is repeated; `.*`, `\\d*`, `[a-z]*` and `(a|b)*` are not meant."""
_BRACES: Final = re.compile(r"\{([^{}]*[^\d,{}][^{}]*,[^{}]*|[^{}]*,[^{}]*[^\d,{}][^{}]*)\}")
_HOST_NAME: Final = re.compile(r"[\w.-]*[g-zG-Z][\w.-]*")
_ANY_BEGINNING: Final = re.compile(r"\^?\(*(?:\?[:i])*[.\[\\]")


def rule_hints(rules: Sequence[OwnerRule]) -> list[str]:
    """One line for each pattern that will hardly match what was meant.

    >>> from client_telemetry.identity.owners import load_owner_rules
    >>> rule_hints(load_owner_rules('[{name: a, owner: orders, client_id: orders-*}]'))
    ["owner rule 'a': client_id 'orders-*' looks like a glob, but patterns are regular expressions: write 'orders-.*'"]
    """
    return [
        f"owner rule {rule.name!r}: {key} {pattern.text!r} {hint}"
        for rule in rules
        for key in ("principal", "client_id", "group_id", "client_address")
        if (pattern := getattr(rule, key)) is not None and (hint := _hint(key, pattern.text))
    ]


def _hint(key: str, pattern: str) -> str | None:
    if key == "client_address" and (hint := _address_hint(pattern)):
        return hint
    if glob := _as_expression(pattern):
        return f"looks like a glob, but patterns are regular expressions: write {glob!r}"
    if key == "principal" and (hint := _principal_hint(pattern)):
        return hint
    return None


def _as_expression(pattern: str) -> str | None:
    """The regular expression of what looks like a glob, or like SQL's LIKE; None if it looks like neither."""
    expression = _GLOB_STAR.sub(r"\1.*", pattern)
    expression = _BRACES.sub(lambda match: f"({'|'.join(match[1].split(','))})", expression)
    expression = re.sub(r"(?<![\\\w])%|%$", ".*", expression)
    return expression if expression != pattern else None


def _address_hint(pattern: str) -> str | None:
    try:
        network = ipaddress.ip_network(pattern, strict=False) if "/" in pattern else None
    except ValueError:
        network = None
    if network is not None:
        return f"is a network, but patterns are regular expressions: write {_network_expression(network)}"
    if re.fullmatch(r"[\d.]+ *[-–] *[\d.]+", pattern):
        return "looks like a range of addresses, but patterns are regular expressions"
    if _HOST_NAME.fullmatch(pattern):
        return "looks like a host name, but brokers see addresses"
    return None


def _network_expression(network: ipaddress.IPv4Network | ipaddress.IPv6Network) -> str:
    if network.version == 4 and network.prefixlen % 8 == 0 and network.prefixlen:
        octets = str(network.network_address).split(".")[: network.prefixlen // 8]
        return repr("\\.".join(octets) + ("\\..*" if len(octets) < 4 else ""))
    return "an expression for its addresses, such as '10\\.1\\.(4|5|6|7)\\..*' for 10.1.4.0/22"


def _principal_hint(pattern: str) -> str | None:
    alternatives = [pattern] if "(" in pattern else pattern.split("|")
    for alternative in alternatives:
        if alternative.lower().startswith("user:") and not alternative.startswith("User:"):
            return "never matches: the type of principals is spelled User:"
        if ":" not in alternative and alternative and not _ANY_BEGINNING.match(alternative):
            return f"has no type: principals are User:NAME; write {'User:' + alternative.removeprefix('^')!r}"
    return None
