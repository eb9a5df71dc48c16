"""Logins with SASL: the exchange of each mechanism is kafka-python's (`pip install 'client-telemetry[probe]'`)."""

import base64
import importlib
import json
import re
import struct
import sys
import time
import warnings
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Final, Protocol

from client_telemetry.probe import answers
from client_telemetry.probe.connection import Address, BrokenConnection, Connection
from client_telemetry.probe.listener import Login, ScramCredentials, UnusableSettings, security_protocol
from client_telemetry.probe.request_bodies import Request

_HANDSHAKE, _AUTHENTICATE = 17, 36
_WITH_PASSWORD: Final = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512")
_LOGIN_S: Final = 30.0
_MOST_ROUNDS: Final = 10
_UNSECURED_SUBJECT: Final = "unsecuredLoginStringClaim_sub"
_TOKEN_S: Final = 3600
_GSSAPI_NEEDS: Final = " (it needs the package gssapi and a ticket: pip install gssapi, kinit)"


class LoginFailed(BrokenConnection):
    """The broker does not take the credentials, or not the mechanism."""


class _Mechanism(Protocol):
    """What kafka.net.sasl.abc.SaslMechanism has."""

    def auth_bytes(self) -> bytes: ...
    def receive(self, auth_bytes: bytes) -> object: ...
    def is_done(self) -> bool: ...
    def is_authenticated(self) -> bool: ...


def of(settings: Mapping[str, str]) -> Login:
    """The login that a client.properties file describes. Raises UnusableSettings."""
    name = settings.get("sasl.mechanism", "GSSAPI").strip().upper()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # of kafka-python itself
            sasl = importlib.import_module("kafka.net.sasl")
    except ModuleNotFoundError as missing:
        raise UnusableSettings(
            "the package kafka is not installed, which logs in: run pip install 'client-telemetry[probe]'"
        ) from missing
    if name not in sasl.SASL_MECHANISMS:
        known = ", ".join(sorted(sasl.SASL_MECHANISMS))
        raise UnusableSettings(f"sasl.mechanism={name} is not one that can be used here: {known}")
    config = _config(name, settings)

    def login(opened: Connection, address: Address) -> None:
        try:
            mechanism: _Mechanism = sasl.get_sasl_mechanism(name)(**config, host=address.host)
        except _failures() as error:
            needs = _GSSAPI_NEEDS if name == "GSSAPI" else ""
            raise LoginFailed(f"{address}: no login with {name}: {_one_line(error)}{needs}") from error
        handshake(opened, address, name)
        _exchange(opened, address, name, mechanism)

    return login


def scram_credentials(settings: Mapping[str, str]) -> ScramCredentials | None:
    """None for another mechanism."""
    name = settings.get("sasl.mechanism", "").strip().upper()
    if not name.startswith("SCRAM-"):
        return None
    options = jaas_options(settings.get("sasl.jaas.config", ""))
    return ScramCredentials(name, options.get("username", ""), options.get("password", ""))


def _config(name: str, settings: Mapping[str, str]) -> dict[str, object]:
    """kafka-python's settings of the mechanism."""
    config: dict[str, object] = {
        "security_protocol": security_protocol(settings),
        "sasl_mechanism": name,
        "sasl_kerberos_service_name": settings.get("sasl.kerberos.service.name", "kafka"),
    }
    if name in _WITH_PASSWORD:
        options = jaas_options(settings.get("sasl.jaas.config", ""))
        if not {"username", "password"} <= options.keys():
            raise UnusableSettings(
                f'{name} needs sasl.jaas.config=… required username="…" password="…"; in --command-config'
            )
        config |= {"sasl_plain_username": options["username"], "sasl_plain_password": options["password"]}
    elif name == "OAUTHBEARER":
        config["sasl_oauth_token_provider"] = _token_provider(settings)
    return config


def jaas_options(text: str) -> dict[str, str]:
    """
    >>> jaas_options('org.example.Login required username="a" password="b\\\\"c";')
    {'username': 'a', 'password': 'b"c'}
    """
    pairs = re.findall(r"""([\w.]+)\s*=\s*(?:"((?:\\.|[^"\\])*)"|'((?:\\.|[^'\\])*)'|([^\s;"']+))""", text)
    return {key: re.sub(r"\\(.)", r"\1", double or single or bare) for key, double, single, bare in pairs}


def _token_provider(settings: Mapping[str, str]) -> object:
    """Of the token in a file (KIP-768), as read at each login, or of an unsecured one, which is made at each login."""
    url = settings.get("sasl.oauthbearer.token.endpoint.url", "")
    options = jaas_options(settings.get("sasl.jaas.config", ""))
    if _UNSECURED_SUBJECT in options and not url:
        make = partial(unsecured_token, options[_UNSECURED_SUBJECT])
    elif url.startswith("file:"):
        file = Path(re.sub("^file:(//)?", "", url))
        if not file.is_file():
            raise UnusableSettings(f"{file}: there is no such file (sasl.oauthbearer.token.endpoint.url)")
        make = partial(file.read_text, encoding="utf-8")
    else:
        raise UnusableSettings(
            "OAUTHBEARER needs a token in a file: fetch one, and set sasl.oauthbearer.token.endpoint.url=file:///path/of/token"
        )
    base = importlib.import_module("kafka.net.sasl.oauth").AbstractTokenProvider
    return type("Token", (base,), {"token": lambda _: make().strip()})()


def unsecured_token(subject: str, now: float | None = None) -> str:
    """A JWS without a signature (RFC 7515, appendix A.5), as brokers take it that have OAUTHBEARER without a token server.

    It is issued at a whole second: a broker's clock has milliseconds, and OAuthBearerValidationUtils refuses, as
    invalid_token, what was issued within the millisecond that it looks in.

    >>> unsecured_token("alice", 0.5)
    'eyJhbGciOiJub25lIn0.eyJzdWIiOiJhbGljZSIsImlhdCI6MCwiZXhwIjozNjAwfQ.'
    """
    issued = int(time.time() if now is None else now)
    claims = {"sub": subject, "iat": issued, "exp": issued + _TOKEN_S}
    parts = (json.dumps(each, separators=(",", ":")).encode() for each in ({"alg": "none"}, claims))
    return "".join(base64.urlsafe_b64encode(part).decode().rstrip("=") + "." for part in parts)


def _failures() -> tuple[type[Exception], ...]:
    """What the exchange of a mechanism raises. The package gssapi, if it has been loaded, has a class of its own for it."""
    gssapi = sys.modules.get("gssapi")
    of_kerberos = () if gssapi is None else (gssapi.exceptions.GSSError,)
    return (RuntimeError, ValueError, LookupError, OSError, ImportError, *of_kerberos)


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())


def handshake(opened: Connection, address: Address, name: str) -> None:
    """Raises LoginFailed."""
    body = struct.pack(">h", len(name)) + name.encode()
    answer = opened.ask(Request(_HANDSHAKE, "SaslHandshake", 1, False, body, 4).frame, _LOGIN_S)
    error = answers.error_code(answer.payload, 4)
    if error == answers.UNSUPPORTED_MECHANISM:
        enabled = ", ".join(answers.mechanisms(answer.payload)) or "none"
        raise LoginFailed(f"{address}: the listener does not enable {name}, but {enabled}")
    if error:
        raise LoginFailed(
            f"{address}: the listener takes no login (error {error}): is security.protocol right for it?"
        )


def send(opened: Connection, token: bytes) -> tuple[int, str, bytes]:
    """Error, its message and the broker's token. Raises BrokenConnection."""
    body = struct.pack(">i", len(token)) + token
    answer = opened.ask(Request(_AUTHENTICATE, "SaslAuthenticate", 0, False, body, 4).frame, _LOGIN_S)
    return answers.authenticated(answer.payload)


def _exchange(opened: Connection, address: Address, name: str, mechanism: _Mechanism) -> None:
    try:
        for _ in range(_MOST_ROUNDS):
            token = mechanism.auth_bytes()
            error, message, reply = send(opened, token)
            if error:
                raise LoginFailed(f"{address}: the login with {name} failed: {message or f'error {error}'}")
            mechanism.receive(reply)
            if mechanism.is_done():
                break
    except _failures() as error:
        raise LoginFailed(f"{address}: the login with {name} failed: {_one_line(error)}") from error
    if not mechanism.is_authenticated():
        raise LoginFailed(f"{address}: the login with {name} did not end")
