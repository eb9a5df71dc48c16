"""Who has SCRAM credentials, from the output of Kafka's own tool. Pure.

    kafka-configs.sh --bootstrap-server B:9092 --describe --entity-type users

prints one line for each user with credentials (ConfigCommand.describeClientQuotaAndUserScramCredentialConfigs): `SCRAM
credential configs for user-principal 'alice' are SCRAM-SHA-256=iterations=8192, SCRAM-SHA-512=iterations=4096`.
"""

import re

_CREDENTIALS = re.compile(
    r"^SCRAM credential configs for user-principal '(?P<user>.+)' are SCRAM-SHA-\d+=", re.M
)
_QUOTAS = re.compile(r"^(?:Quota|Configs) .*(?:user-principal|user) ", re.M)
_PRINCIPAL_TYPE = "User:"


class NotADescription(ValueError):
    """The text is not output of the tool; the message says which command to run."""


def scram_principals(printed: str) -> frozenset[str]:
    """Principals (`User:alice`) with SCRAM credentials. Raises NotADescription, also for an empty text: the tool prints
    nothing if nobody has any, but so does a command that failed, and "nobody uses SCRAM" would then call clients safe
    that are not.

    >>> sorted(scram_principals("SCRAM credential configs for user-principal 'alice' are SCRAM-SHA-256=iterations=8192"))
    ['User:alice']
    """
    if not printed.strip():
        raise NotADescription(
            "it is empty: run kafka-configs.sh --describe --entity-type users again; if no user has SCRAM credentials, leave "
            "the option out"
        )
    users = [match["user"] for match in _CREDENTIALS.finditer(printed)]
    if not users and not _QUOTAS.search(printed):
        raise NotADescription(
            "it is not the output of kafka-configs.sh --describe --entity-type users: no line begins with "
            "'SCRAM credential configs for user-principal'"
        )
    return frozenset(_PRINCIPAL_TYPE + user for user in users)
