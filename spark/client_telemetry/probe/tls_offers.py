"""Which versions of TLS a listener takes, and which ciphers: a handshake for each, and nothing after it."""

import ssl
import warnings
from collections.abc import Callable
from typing import Final

from client_telemetry.probe.connection import BrokenConnection, connect
from client_telemetry.probe.listener import CONNECT_TIMEOUT_S, Listener

VERSIONS: Final = (
    ssl.TLSVersion.TLSv1,
    ssl.TLSVersion.TLSv1_1,
    ssl.TLSVersion.TLSv1_2,
    ssl.TLSVersion.TLSv1_3,
)
_MOST_CIPHERS: Final = 64
_EVEN_WEAK: Final = "ALL:@SECLEVEL=0"
"""OpenSSL itself refuses TLS 1.0 and 1.1 at its default security level."""

Pause = Callable[[], None]
"""Waits until the next handshake is due."""


def offered(at: Listener, pause: Pause) -> dict[str, str]:
    """Version -> ciphers that are taken, by OpenSSL's names, preferred first, joined by colons. Of TLS 1.3 only the preferred
    one, as Python cannot leave out another. No version that is refused, nor one that this Python cannot speak. Empty without TLS.
    """
    if at.new_tls is None:
        return {}
    found = {}
    for version in VERSIONS:
        if ciphers := _ciphers(at, at.new_tls, version, pause):
            found[version.name.replace("_", ".")] = ":".join(ciphers)
    return found


def _ciphers(
    at: Listener, new_tls: Callable[[], ssl.SSLContext], version: ssl.TLSVersion, pause: Pause
) -> list[str]:
    taken: list[str] = []
    while len(taken) < _MOST_CIPHERS:
        pause()
        cipher = _taken(at, new_tls(), version, taken)
        if cipher is None or cipher in taken:
            break
        taken.append(cipher)
        if version == ssl.TLSVersion.TLSv1_3:
            break
    return taken


def _taken(at: Listener, tls: ssl.SSLContext, version: ssl.TLSVersion, without: list[str]) -> str | None:
    """The cipher of one handshake; None if there is none."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # of old versions, which are asked for
            tls.set_ciphers(":".join([_EVEN_WEAK, *(f"!{cipher}" for cipher in without)]))
            tls.maximum_version = version
            tls.minimum_version = version
        with connect(at.address, tls, None, CONNECT_TIMEOUT_S) as opened:
            return opened.cipher
    except (BrokenConnection, ssl.SSLError, ValueError):
        return None
