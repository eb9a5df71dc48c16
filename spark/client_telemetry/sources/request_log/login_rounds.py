"""Which SASL mechanism a client logged in with, from the number of requests that the login took. The log does not have
these requests, but later ones are numbered.

A client numbers its requests, and the broker logs the first one after the login with its number (correlation id).
librdkafka counts every request of a connection from 1 (rd_kafka_buf_finalize: rkb_corrid): ApiVersions 1, SaslHandshake 2,
then a SaslAuthenticate for each round: one with PLAIN and OAUTHBEARER, two with SCRAM (client-first and client-final message,
RFC 5802), three with GSSAPI. It goes on counting when it connects again, so a higher first number says nothing; a login that
was given up in between can make one round look like two, never the other way; three are therefore GSSAPI only where many
connections of a client all show them (knowledge/logins.py). A client that names its software (KIP-511) has
sent ApiVersions. Other libraries number otherwise: Java counts its login apart (SaslClientAuthenticator).
"""

from functools import lru_cache

from client_telemetry.knowledge import software
from client_telemetry.knowledge.logins import THREE_ROUNDS

_LIBRARY = "librdkafka"
_BY_FIRST_NUMBER = {4: "OAUTHBEARER|PLAIN", 5: "SCRAM-SHA-256|SCRAM-SHA-512", 6: THREE_ROUNDS}


@lru_cache(maxsize=4096)
def mechanisms_by_number(name: str, version: str, first_correlation_id: int) -> str | None:
    """The mechanism, or indistinguishable ones separated by `|`; None if the number says nothing.

    >>> mechanisms_by_number("librdkafka", "2.3.0", 5)
    'SCRAM-SHA-256|SCRAM-SHA-512'
    """
    if first_correlation_id not in _BY_FIRST_NUMBER:
        return None
    identity = software.identify_name(name, version) if name else None
    return _BY_FIRST_NUMBER[first_correlation_id] if identity and identity.library == _LIBRARY else None
