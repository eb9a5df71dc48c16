"""Configuration keys and defaults of brokers and topics that differ between the releases of a question, as a report tells them."""

from collections import Counter
from collections.abc import Iterator, Sequence

from client_telemetry.console.counted import counted
from client_telemetry.knowledge import broker_configuration
from client_telemetry.knowledge.broker_configuration import REQUIRED, SCOPES, TOPIC
from client_telemetry.reports.upgrade.model import ConfigurationChange, ConfigurationChanges

GONE, DEFAULT, VALID_RANGE = "gone", "default", "valid_range"
LISTED, GONE_LISTED = 10, 25
"""Keys that are named; all are in report.json."""
FAMILY = 5
"""Keys with the same first word that are told as one number."""
_EMPTY = "empty"
_NO_RANGE = "not a range"


def changes(from_release: str, to_release: str) -> ConfigurationChanges:
    """Of both scopes, gone keys first."""
    if not_known := broker_configuration.not_known_for(from_release, to_release):
        return ConfigurationChanges(not_known, (), None)
    found = [change for scope in SCOPES for change in _of_scope(scope, from_release, to_release)]
    kinds = (GONE, DEFAULT, VALID_RANGE)
    new = sum(len(broker_configuration.changes(scope, from_release, to_release).new) for scope in SCOPES)
    return ConfigurationChanges((), tuple(sorted(found, key=lambda each: kinds.index(each.change))), new)


def _of_scope(scope: str, from_release: str, to_release: str) -> Iterator[ConfigurationChange]:
    between = broker_configuration.changes(scope, from_release, to_release)
    for key, definition in between.gone:
        yield ConfigurationChange(scope, key, GONE, definition.default, "")
    for each in between.defaults:
        yield ConfigurationChange(scope, each.key, DEFAULT, each.before.default, each.after.default)
    for each in between.ranges:
        yield ConfigurationChange(
            scope, each.key, VALID_RANGE, each.before.valid_range, each.after.valid_range
        )


def name(change: ConfigurationChange) -> str:
    """The key, with the word topic for one of topics."""
    return f"topic {change.key}" if change.scope == TOPIC else change.key


def in_words(change: ConfigurationChange) -> str:
    """
    >>> in_words(ConfigurationChange("broker", "num.io.threads", "default", "1", "2"))
    'num.io.threads: 1 → 2'
    >>> in_words(ConfigurationChange("broker", "node.id", "default", "-1", "(required)"))
    'node.id: required (was -1)'
    """
    if change.change == DEFAULT and change.after == REQUIRED:
        return f"{name(change)}: required (was {change.before or _EMPTY})"
    nothing = _EMPTY if change.change == DEFAULT else _NO_RANGE
    return f"{name(change)}: {change.before or nothing} → {change.after or nothing}"


def summary(found: ConfigurationChanges, from_release: str, to_release: str) -> str:
    """One sentence."""
    if found.not_known_for:
        return f"Configuration keys and defaults of {' and '.join(found.not_known_for)} are not known."
    if not found.changes and not found.new_keys:
        return f"No configuration key or default differs between {from_release} and {to_release}."
    gone, defaults, ranges = (
        sum(each.change == kind for each in found.changes) for kind in (GONE, DEFAULT, VALID_RANGE)
    )
    return (
        f"From {from_release} to {to_release}, {counted(gone, 'configuration key')} of brokers and topics {'is' if gone == 1 else 'are'} "
        f"gone, {counted(defaults, 'default')} and {counted(ranges, 'valid range')} change, {counted(found.new_keys or 0, 'key')} "
        f"{'is' if found.new_keys == 1 else 'are'} new. What your brokers set is not seen here: check each yourself."
    )


def lists(found: ConfigurationChanges) -> list[str]:
    """A line for each kind of change that there is, with the first keys."""
    gone = _families([name(each) for each in found.changes if each.change == GONE])
    defaults, ranges = (
        [in_words(each) for each in found.changes if each.change == kind] for kind in (DEFAULT, VALID_RANGE)
    )
    kinds = (("Gone", gone, GONE_LISTED), ("Defaults", defaults, LISTED), ("Valid ranges", ranges, LISTED))
    return [_line(heading, texts, most) for heading, texts, most in kinds if texts]


def _families(names: Sequence[str]) -> list[str]:
    """Many keys with the same beginning become one text.

    >>> _families(["log.dir", *(f"zookeeper.{number}" for number in range(5))])
    ['log.dir', '5 of zookeeper.*']
    """
    counts = Counter(_family(each) for each in names)
    texts = (
        f"{counts[_family(each)]} of {_family(each)}.*" if counts[_family(each)] >= FAMILY else each
        for each in names
    )
    return list(dict.fromkeys(texts))


def _family(key: str) -> str:
    return key.partition(".")[0]


def _line(heading: str, texts: Sequence[str], most: int) -> str:
    """Values contain commas."""
    more = f"; {len(texts) - most} more are in report.json" if len(texts) > most else ""
    return f"{heading}: {'; '.join(texts[:most])}{more}."
