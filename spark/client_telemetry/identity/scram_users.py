"""Who has SCRAM credentials, from the output of Kafka's own tool. Pure.

    kafka-configs.sh --bootstrap-server B:9092 --describe --entity-type users

prints one line for each user with credentials (ConfigCommand.describeClientQuotaAndUserScramCredentialConfigs, KIP-554):
`SCRAM credential configs for user-principal 'alice' are SCRAM-SHA-256=iterations=8192, SCRAM-SHA-512=iterations=4096`.
With `--zookeeper Z` (KIP-84, before 4.0) a line has the quotas and the credentials of a user: `Configs for user-principal
'alice' are producer_byte_rate=1024,SCRAM-SHA-512=salt=…,stored_key=…,server_key=…,iterations=4096`.
"""

import re
from typing import Final

from client_telemetry import Unusable

_CREDENTIALS: Final = re.compile(
    r"SCRAM credential configs for user-principal '(?P<user>.+)' are (?P<configs>SCRAM-SHA-\d+=.*)"
)
_ZOOKEEPER: Final = re.compile(
    r"Configs for (?:the )?(?:default user-principal|user-principal '(?P<user>.+?)')(?:, .+)? are ?(?P<configs>.*)"
)
_QUOTAS: Final = re.compile(
    r"Quota configs for (?:the )?(?:default )?(?:user-principal|client-id|ip).* are .*"
)
_MECHANISM: Final = re.compile(r"(?:^|,\s*)SCRAM-SHA-\d+=")
_CONFIG: Final = re.compile(r"[A-Za-z0-9_.-]+=.*")
_BESIDE: Final = re.compile(
    r"Warning: --zookeeper is deprecated|Use --bootstrap-server instead to specify a broker to connect to\.$"
    r"|Picked up _?JAVA_\w*OPTIONS: |NOTE: Picked up JDK_JAVA|(?:OpenJDK|Java HotSpot\(TM\)) .*VM warning: |SLF4J(?:\([WI]\))?: "
    r"|\[\d{4}-\d\d-\d\d [\d:,]+\] (?:INFO|WARN) .* \((?:org\.apache|kafka)\.[\w.$]+\)$"
    r"|Defaulted container |[$#>] *(?:\S*/)?kafka-configs"
)
"""What the tool (ConfigCommand), its JVM, its loggers, `kubectl exec` and a terminal print beside the answer."""
_PRINCIPAL_TYPE: Final = "User:"
_COMMAND: Final = "kafka-configs.sh --describe --entity-type users"


class NotADescription(Unusable):
    """The text is not output of the tool; the message says which command to run."""


def scram_principals(printed: str) -> frozenset[str]:
    """Principals (`User:alice`) with SCRAM credentials. Raises NotADescription, also for an empty text: the tool prints
    nothing if nobody has any, but so does a command that failed, and "nobody uses SCRAM" would then call clients safe
    that are not. For the same reason every line has to be understood.

    >>> sorted(scram_principals("SCRAM credential configs for user-principal 'alice' are SCRAM-SHA-256=iterations=8192"))
    ['User:alice']
    """
    lines = [
        (number, line.strip())
        for number, line in enumerate(printed.removeprefix("\ufeff").split("\n"), start=1)
        if line.strip()
    ]
    if not lines:
        raise NotADescription(
            f"it is empty: run {_COMMAND} again; if no user has SCRAM credentials, leave the option out"
        )
    described = [(number, line) for number, line in lines if not _BESIDE.match(line)]
    if not described:
        raise NotADescription(
            f"it has only warnings, no line about a user: run {_COMMAND} again; if no user has SCRAM credentials, leave "
            "the option out"
        )
    users = {user for number, line in described if (user := _user_with_credentials(number, line))}
    if not users and any(_ZOOKEEPER.fullmatch(line) for _, line in described):
        raise NotADescription(
            "it has quotas only, and the tool of Kafka 2.6 prints these without SCRAM credentials: run it with --zookeeper, or "
            f"{_COMMAND} of Kafka 2.7 or later; if no user has SCRAM credentials, leave the option out"
        )
    return frozenset(_PRINCIPAL_TYPE + user for user in users)


def _user_with_credentials(number: int, line: str) -> str | None:
    """None for a line about quotas only."""
    if match := _CREDENTIALS.fullmatch(line):
        return match["user"]
    if _QUOTAS.fullmatch(line):
        return None
    match = _ZOOKEEPER.fullmatch(line)
    if match is None or (match["configs"] and not _CONFIG.match(match["configs"])):
        raise NotADescription(
            f"line {number} is not from the output of {_COMMAND}: a line begins with 'SCRAM credential configs for "
            f"user-principal', 'Quota configs for', or, with --zookeeper, 'Configs for user-principal': {line[:80]!r}"
        )
    return match["user"] if _MECHANISM.search(match["configs"]) else None
