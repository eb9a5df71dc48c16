"""Conditions of cluster notes on how the brokers are set up: `delegation.token.master.key set`, `zookeeper mode`.

Alternatives are joined by ` or `, terms of one by ` and `; `only with` before them says that more than the setup decides, so that
a broker that meets them proves nothing. docs/knowledge-base.md has the terms. A broker prints its settings
at its start, without those of single listeners (`listener.name.NAME.…`): a SASL or TLS setting that is not set for all listeners
may be set for one, so it is known not to be set only where no listener uses SASL.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache

from client_telemetry import Unusable
from client_telemetry.knowledge.logins import mechanisms_in
from client_telemetry.knowledge.vocabulary import Answer, all_of, any_of, negated

SET, NOT_SET = "[set]", "null"
"""What stands for the value of a secret or an address, and of a setting without a value."""
_EMPTY = frozenset(("", "[]", NOT_SET))
_OF_LISTENERS = ("sasl.", "ssl.")
_DEFAULT_MECHANISMS = frozenset(("GSSAPI",))
_ONLY_WITH = "only with "
_METADATA_VERSION = "metadata.version"


class UnreadableSetting(Unusable):
    """Not a valid condition; the message has the term and the reason."""


@dataclass(frozen=True)
class BrokerSetup:
    """What is known of one broker. `settings`: None = it was not seen to print them. `features`: finalized levels; None =
    not known.
    """

    settings: Mapping[str, str] | None = None
    features: Mapping[str, int] | None = None

    def is_set(self, name: str) -> str:
        """YES, NO or CONDITION_UNKNOWN."""
        value = (self.settings or {}).get(name)
        if value is None:
            return Answer.UNKNOWN
        if value not in _EMPTY:
            return Answer.YES
        of_listener = name.startswith(_OF_LISTENERS) and self.uses_sasl() != Answer.NO
        return Answer.UNKNOWN if of_listener else Answer.NO

    def uses_sasl(self) -> str:
        """Whether some listener does."""
        listeners = self.sasl_listeners()
        return Answer.UNKNOWN if listeners is None else Answer.YES if listeners else Answer.NO

    def sasl_listeners(self) -> tuple[str, ...] | None:
        """Names in upper case; None = not known."""
        settings = self.settings or {}
        names = [name for name in settings.get("listeners", "").upper().split(",") if name]
        pairs = [
            pair.upper().partition(":")
            for pair in settings.get("listener.security.protocol.map", "").split(",")
        ]
        protocols = {name.strip(): protocol.strip() for name, _, protocol in pairs}
        if not names or any(name not in protocols for name in names):
            return None
        return tuple(name for name in names if protocols[name].startswith("SASL"))

    def offered(self) -> tuple[str, tuple[str, ...]] | None:
        """The listener and its SASL mechanisms, if the setting for all listeners tells them: somebody set it, and it has
        one listener to apply to. The default (GSSAPI) tells nothing, nor does a value for several listeners: each may
        have its own, which is not printed.
        """
        listeners = self.sasl_listeners() or ()
        mechanisms = mechanisms_in((self.settings or {}).get("sasl.enabled.mechanisms"))
        if len(listeners) != 1 or not mechanisms or mechanisms == _DEFAULT_MECHANISMS:
            return None
        return listeners[0], tuple(sorted(mechanisms))

    def uses_zookeeper(self) -> str:
        """Whether the broker keeps its metadata in ZooKeeper. Only KRaft has a finalized metadata.version (KIP-778)."""
        if _METADATA_VERSION in (self.features or {}):
            return Answer.NO
        settings = self.settings or {}
        roles = settings.get("process.roles")
        if roles is not None and roles not in _EMPTY:
            return Answer.NO
        return Answer.YES if self.is_set("zookeeper.connect") == Answer.YES else Answer.UNKNOWN


@dataclass(frozen=True)
class Term:
    """`subject`: what it is about, as a person would look for it."""

    subject: str
    met: Callable[[BrokerSetup], str] = field(compare=False)


@dataclass(frozen=True)
class SettingCondition:
    """Alternatives, each with terms that all have to be met. `is_sufficient`: whether nothing else decides."""

    alternatives: tuple[tuple[Term, ...], ...]
    is_sufficient: bool = True

    def met(self, setup: BrokerSetup) -> str:
        answer = any_of(all_of(term.met(setup) for term in terms) for terms in self.alternatives)
        return answer if self.is_sufficient or answer == Answer.NO else Answer.UNKNOWN

    def subject(self, setup: BrokerSetup) -> str:
        """What meets it on this broker, in words."""
        subjects = (
            terms[0].subject
            for terms in self.alternatives
            if all_of(term.met(setup) for term in terms) == Answer.YES
        )
        return next(subjects, "")


@cache
def parse(text: str) -> SettingCondition:
    """Raises UnreadableSetting."""
    alternatives = text.removeprefix(_ONLY_WITH).split(" or ")
    return SettingCondition(
        tuple(tuple(_term(part.strip()) for part in one.split(" and ")) for one in alternatives),
        is_sufficient=not text.startswith(_ONLY_WITH),
    )


def _term(text: str) -> Term:
    if text == "zookeeper mode":
        return Term("ZooKeeper mode", BrokerSetup.uses_zookeeper)
    if text == "kraft mode":
        return Term("KRaft mode", lambda setup: negated(setup.uses_zookeeper()))
    if text == "some sasl listener":
        return Term("listeners with SASL", BrokerSetup.uses_sasl)
    if match := re.fullmatch(r"feature ([a-z.]+) below (\d+)", text):
        return _below_level(match[1], int(match[2]))
    if match := re.fullmatch(r"([a-z.]+) (not )?set", text):
        name, is_negated = match[1], match[2]
        return Term(name, lambda s: negated(s.is_set(name)) if is_negated else s.is_set(name))
    if match := re.fullmatch(r"([a-z.]+) below ([\d.]+)", text):
        return _below(match[1], match[2])
    if match := re.fullmatch(r"([a-z.]+) is (\S+)", text):
        return _equal(match[1], match[2])
    raise UnreadableSetting(
        f"{text!r} is not a term; terms are: SETTING set, SETTING not set, SETTING is VALUE, SETTING below NUMBER, "
        "feature NAME below LEVEL, zookeeper mode, kraft mode, some sasl listener"
    )


def _below_level(feature: str, level: int) -> Term:
    def met(setup: BrokerSetup) -> str:
        finalized = (setup.features or {}).get(feature)
        return Answer.UNKNOWN if finalized is None else Answer.YES if finalized < level else Answer.NO

    return Term(feature, met)


def _below(name: str, bound: str) -> Term:
    def met(setup: BrokerSetup) -> str:
        number = _numbers((setup.settings or {}).get(name, ""))
        return Answer.UNKNOWN if not number else Answer.YES if number < _numbers(bound) else Answer.NO

    return Term(name, met)


def _equal(name: str, wanted: str) -> Term:
    def met(setup: BrokerSetup) -> str:
        value = (setup.settings or {}).get(name)
        return Answer.UNKNOWN if value in (None, SET) else Answer.YES if value == wanted else Answer.NO

    return Term(name, met)


def _numbers(text: str) -> tuple[int, ...]:
    """
    >>> _numbers("2.0-IV1"), _numbers("1048576"), _numbers("null")
    ((2, 0), (1048576,), ())
    """
    match = re.match(r"\d+(?:\.\d+)*", text)
    return tuple(map(int, match[0].split("."))) if match else ()
