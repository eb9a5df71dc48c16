"""How a client logs in, as a set over its connections. What is not known of one connection is not taken from another.

A client here is a principal, client id and software: several programs, or several instances of one, may be behind it.
"""

import re
from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

SECURITY_PROTOCOLS = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")
SCRAM = frozenset(("SCRAM-SHA-256", "SCRAM-SHA-512"))
MECHANISMS = ("GSSAPI", "PLAIN", "OAUTHBEARER", "AWS_MSK_IAM", *sorted(SCRAM))
THREE_ROUNDS = "GSSAPI|OAUTHBEARER|PLAIN|SCRAM-SHA-256|SCRAM-SHA-512"
"""What a source writes for a login of three rounds: GSSAPI, or another mechanism after a login that was given up."""
_MANY_LOGINS = 10
"""So many logins of one client that all take three rounds were not all given up before."""


class Login(NamedTuple):
    """Connections that log in alike. `sasl_mechanism`: one, or several separated by bars of which each connection has one;
    None = not known. `offered`: what the listener offers (sasl.enabled.mechanisms); None = not known.
    """

    security_protocol: str | None = None
    sasl_mechanism: str | None = None
    offered: tuple[str, ...] | None = None

    @property
    def uses_sasl(self) -> bool | None:
        """None = not known."""
        return self.security_protocol.upper().startswith("SASL") if self.security_protocol else None


def possible_mechanisms(
    login: Login, has_scram: bool | None, known_elsewhere: frozenset[str]
) -> frozenset[str] | None:
    """SASL mechanisms that a connection may log in with; empty if it does not use SASL, None if it could be any.

    `has_scram`: whether the principal has SCRAM credentials. `known_elsewhere`: mechanisms of the client's other connections:
    a principal with SCRAM credentials that also logs in otherwise may do either. Where the listener offers no SCRAM, credentials
    are of no use.
    """
    if own := mechanisms_in(login.sasl_mechanism):
        return own
    if login.uses_sasl is False:
        return frozenset()
    offered = None if login.offered is None else ",".join(login.offered)
    possible = None if offered is None or names_unknown(offered) else mechanisms_in(offered)
    if has_scram is True and (possible is None or possible & SCRAM):
        return (SCRAM if possible is None else possible & SCRAM) | known_elsewhere
    if has_scram is False:
        return frozenset(MECHANISMS) - SCRAM if possible is None else possible - SCRAM
    return possible


def settled(logins: Sequence[tuple[Login, int]]) -> tuple[Login, ...]:
    """The distinct logins of a client, in order, from each with its number of connections. Many that all take three rounds
    are GSSAPI: a client with another mechanism would need fewer where nothing was given up.
    """
    sasl = [login for login, _ in logins if login.uses_sasl is not False]
    rounds = sum(connections for login, connections in logins if login.sasl_mechanism == THREE_ROUNDS)
    others_known = any(login.sasl_mechanism not in (None, THREE_ROUNDS) for login in sasl)
    if rounds < _MANY_LOGINS or others_known:
        return tuple(dict.fromkeys(login for login, _ in logins))
    return tuple(
        dict.fromkeys(
            login._replace(sasl_mechanism="GSSAPI") if login.sasl_mechanism == THREE_ROUNDS else login
            for login, _ in logins
        )
    )


@cache
def mechanisms_in(text: str | None) -> frozenset[str]:
    """The SASL mechanisms that a text names, as logs, settings and people write them; empty if it names none. Kafka
    accepts third-party mechanisms too: an unknown name stands for itself, unless it cannot be a name (RFC 4422, section 3.1)
    or is a word that people write for a login of any kind.

    >>> sorted(mechanisms_in("scram_sha_512")), sorted(mechanisms_in("SASL/SCRAM"))
    (['SCRAM-SHA-512'], ['SCRAM-SHA-256', 'SCRAM-SHA-512'])
    >>> sorted(mechanisms_in("user/password")), sorted(mechanisms_in("com.acme.ScramLoginModule"))
    ([], ['SCRAM-SHA-256', 'SCRAM-SHA-512'])
    """
    mechanisms: set[str] = set()
    for name in words_in(text):
        if _says_nothing(name):
            continue
        if match := _SCRAM_NAME.fullmatch(name):
            mechanisms |= {f"SCRAM-SHA-{match[1]}"} if match[1] else SCRAM
        elif "SCRAM" in name:
            mechanisms |= SCRAM
        else:
            mechanisms.add(_OTHER_NAMES.get(name, name))
    return frozenset(mechanisms)


def names_unknown(text: str | None) -> bool:
    """Whether a text says of something among others that it is not known.

    >>> names_unknown("PLAIN, unknown"), names_unknown("PLAIN"), names_unknown("")
    (True, False, False)
    """
    return any(_says_nothing(name) and name not in _NO_NAME for name in words_in(text))


def words_in(text: str | None) -> list[str]:
    """
    >>> words_in("SASL/PLAIN, scram_sha_512")
    ['PLAIN', 'SCRAM-SHA-512']
    """
    return [
        re.sub(r"^SASL-(?:SSL|PLAINTEXT)$|^SASL[/-]", "", word.strip("'\"[](){}").replace("_", "-"))
        for word in re.split(r"[,;|\s]+", (text or "").upper())
    ]


def _says_nothing(name: str) -> bool:
    known = name in _OTHER_NAMES or name in MECHANISMS or "SCRAM" in name
    return not known and (name in _SAYS_NOTHING or name in _ANY_LOGIN or _NAME.fullmatch(name) is None)


_NO_NAME = frozenset(("", "SASL"))
_SAYS_NOTHING = _NO_NAME | frozenset(("-", "?", "NONE", "NULL", "N/A", "NA", "UNKNOWN", "ANY"))
_ANY_LOGIN = frozenset(
    [
        "YES",
        "TRUE",
        "ENABLED",
        "ON",
        "USER",
        "USERNAME",
        "PASSWORD",
        "PASSWD",
        "PWD",
        "BASIC",
        "JAAS",
        "LDAP",
        "AD",
        "AUTH",
        "LOGIN",
        "DEFAULT",
        "SSL",
        "TLS",
        "MTLS",
    ]
)
"""What people write for a login whose mechanism they do not name: PLAIN and SCRAM both take a user and a password, and TLS
says nothing of what is inside.
"""
_SCRAM_NAME = re.compile(r"(?:SCRAM-?(?:SHA-?)?|SHA-?)(1|256|512)(?:-PLUS)?|SCRAM(?:-?SHA)?(?:-PLUS)?")
_NAME = re.compile(r"[A-Z0-9-]{1,20}")
_OTHER_NAMES = {
    "KERBEROS": "GSSAPI",
    "KRB5": "GSSAPI",
    "OAUTH": "OAUTHBEARER",
    "OAUTH2": "OAUTHBEARER",
    "OAUTH-BEARER": "OAUTHBEARER",
    "PLAINTEXT": "PLAIN",
    "AWS-MSK-IAM": "AWS_MSK_IAM",
    "MSK-IAM": "AWS_MSK_IAM",
}
