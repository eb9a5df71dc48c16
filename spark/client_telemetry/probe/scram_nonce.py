"""Whether a broker minds which nonce ends a SCRAM login: libraries send wrong ones, and brokers of some releases let them in.

librdkafka up to 2.6.0 sends its own nonce twice, which Apache Kafka accepts up to 3.9 and refuses from 4.0 on; franz-go before 1.3.0 sends
another nonce, which it refuses since the fix of CVE-2024-56128 (apache/kafka: ScramSaslServer). Such a login is made by hand here (RFC
5802), as no library does it any more. It needs credentials that are right, and ends with the connection.
"""

import base64
import hashlib
import hmac
import re
import secrets
from collections.abc import Callable
from functools import partial
from typing import Final

from client_telemetry.formats.target_file import ACCEPTED, NONCE_FOREIGN, NONCE_TWICE, REFUSED
from client_telemetry.probe import login
from client_telemetry.probe.connection import BrokenConnection
from client_telemetry.probe.listener import Listener, ScramCredentials

_HASHES: Final = {"SCRAM-SHA-256": "sha256", "SCRAM-SHA-512": "sha512"}
_AUTHENTICATION_FAILED: Final = 58


Send = Callable[[bytes], tuple[int, str, bytes]]
"""Sends a token of the login; error, its message and the broker's token."""


def measured(at: Listener) -> dict[str, str]:
    """Kind of nonce -> what became of the login; nothing where none was possible, such as without SCRAM."""
    if at.scram is None:
        return {}
    outcomes = {kind: outcome(at, at.scram, kind) for kind in (NONCE_TWICE, NONCE_FOREIGN)}
    return {kind: what for kind, what in outcomes.items() if what}


def outcome(at: Listener, credentials: ScramCredentials, kind: str) -> str:
    """Of a login with that nonce, or with the right one if it is of neither kind; empty: none was possible."""
    try:
        with at.connect() as opened:
            login.handshake(opened, at.address, credentials.mechanism)
            error = _login(partial(login.send, opened), credentials, kind)
    except (BrokenConnection, ValueError):
        return ""
    return {0: ACCEPTED, _AUTHENTICATION_FAILED: REFUSED}.get(error, "")


def _login(send: Send, credentials: ScramCredentials, kind: str) -> int:
    """The error of the last message. Raises ValueError where the exchange does not come that far."""
    own = secrets.token_hex(16)
    user = credentials.username.replace("=", "=3D").replace(",", "=2C")
    first = f"n={user},r={own}"
    error, _, answer = send(f"n,,{first}".encode())
    match = re.fullmatch(r"r=([^,]+),s=([^,]+),i=(\d{1,7})(?:,.*)?", answer.decode("utf-8", "replace"))
    if error or match is None:
        raise ValueError("no challenge")
    nonce, salt, iterations = match[1], base64.b64decode(match[2]), int(match[3])
    sent = {NONCE_TWICE: own + nonce, NONCE_FOREIGN: secrets.token_hex(16)}.get(kind, nonce)
    last = f"c=biws,r={sent}"
    signed = f"{first},{answer.decode()},{last}".encode()
    error, _, _ = send(f"{last},p={_proof(credentials, salt, iterations, signed)}".encode())
    return error


def _proof(credentials: ScramCredentials, salt: bytes, iterations: int, signed: bytes) -> str:
    name = _HASHES[credentials.mechanism]
    salted = hashlib.pbkdf2_hmac(name, credentials.password.encode(), salt, iterations)
    key = hmac.digest(salted, b"Client Key", name)
    signature = hmac.digest(hashlib.new(name, key).digest(), signed, name)
    return base64.b64encode(bytes(a ^ b for a, b in zip(key, signature, strict=True))).decode()
