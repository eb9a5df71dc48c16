"""Settings that a broker prints at its start: the block "KafkaConfig values:" (AbstractConfig.logAll, all releases).

It has each setting that the release defines, with its default where nobody set it, in alphabetical order, and masks
passwords as `[hidden]`. It does not have settings of one listener (`listener.name.NAME.…`, which are read with a prefix and
defined nowhere) and Java system properties: that such a setting is not there does not mean that it is not set.

Only settings that decide something about an upgrade are kept (KEPT, SAYS_WHETHER_SET): nothing else of the block leaves
this module.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from client_telemetry.compatibility.broker_settings import NOT_SET, SET

HEADER = "KafkaConfig values:"

KEPT = frozenset(
    (
        "authorizer.class.name",
        "inter.broker.protocol.version",
        "listener.security.protocol.map",
        "log.segment.bytes",
        "process.roles",
        "sasl.enabled.mechanisms",
    )
)
"""Settings kept with their values."""
SAYS_WHETHER_SET = frozenset(
    (
        "delegation.token.master.key",
        "delegation.token.secret.key",
        "sasl.oauthbearer.expected.audience",
        "sasl.oauthbearer.expected.issuer",
        "sasl.oauthbearer.jwks.endpoint.url",
        "sasl.oauthbearer.token.endpoint.url",
        "zookeeper.connect",
    )
)
"""Settings of which only is kept whether they are set: secrets, and addresses that are nobody's business here."""
LISTENERS = "listeners"
"""Kept without addresses: the names alone."""

_LINE = re.compile(
    r"^(?:[^\t=]{0,200}\t|(?:\s|\\t|#011)*)(?P<key>[a-z][\w.]*) = ?(?P<value>.*)$", re.IGNORECASE
)
"""Behind a tab also after what a shipper puts before each line and cannot be told without the log's own time."""
_LINE_ENDS = re.compile(r"\r?\n|(?:\\r)?\\n|#012")
"""A shipper may write the ends of lines within a message in other ways: rsyslog `#012`, escaped JSON `\\n`."""
_LISTENER = re.compile(r"([\w.-]+)://")
_NO_BROKER = frozenset(("[controller]", "controller"))


@dataclass
class SettingsBlock:
    """The lines of one block, as they come. `nanos`: when it was printed."""

    nanos: int
    settings: dict[str, str] = field(default_factory=dict)
    node_id: int | None = None
    lines: int = 0

    def add(self, text: str) -> bool:
        """Take a line after the header, or several; False if one does not belong to the block, which ends it."""
        return all(self._add_line(line) for line in _LINE_ENDS.split(text))

    @property
    def is_of_broker(self) -> bool:
        """Whether a broker printed it, and not a controller alone."""
        return bool(self.settings) and self.settings.get("process.roles") not in _NO_BROKER

    def _add_line(self, line: str) -> bool:
        match = _LINE.match(line)
        if match is None:
            return not line.strip() and not self.lines
        self.lines += 1
        key, value = match["key"], match["value"].strip()
        if key in ("node.id", "broker.id") and value.isdecimal():
            self.node_id = int(value)
        self.settings.update(_kept(key, value))
        return True


def _kept(key: str, value: str) -> Iterator[tuple[str, str]]:
    if key in KEPT:
        yield key, value
    elif key in SAYS_WHETHER_SET:
        yield key, NOT_SET if value in ("", NOT_SET) else SET
    elif key == LISTENERS:
        yield key, ",".join(_LISTENER.findall(value))
