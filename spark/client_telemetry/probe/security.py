"""TLS and SASL as a client.properties file configures them."""

import ssl
from collections.abc import Mapping
from functools import partial
from pathlib import Path

from client_telemetry.probe import listener, login
from client_telemetry.probe.connection import Address
from client_telemetry.probe.listener import Listener, UnusableSettings


def listener_of(address: Address, settings: Mapping[str, str]) -> Listener:
    """Raises UnusableSettings."""
    protocol = listener.security_protocol(settings)
    new_tls = partial(_tls, settings) if protocol.endswith("SSL") else None
    tls = new_tls() if new_tls else None
    if not protocol.startswith("SASL"):
        return Listener(address, protocol, tls, None, new_tls)
    return Listener(address, protocol, tls, login.of(settings), new_tls, login.scram_credentials(settings))


def _tls(settings: Mapping[str, str]) -> ssl.SSLContext:
    """PEM files, as in Kafka's clients since 2.7 (KIP-651); Python reads no JKS and no PKCS12."""
    context = ssl.create_default_context()
    for kind in ("truststore", "keystore"):
        store_type = settings.get(f"ssl.{kind}.type", "PEM").upper()
        if store_type != "PEM":
            raise UnusableSettings(
                f"ssl.{kind}.type={store_type} cannot be read: convert the store to PEM (keytool -exportcert -rfc, or openssl "
                f"pkcs12) and set ssl.{kind}.type=PEM"
            )
    if settings.get("ssl.endpoint.identification.algorithm") == "":
        context.check_hostname = False
    trusted, own = settings.get("ssl.truststore.location"), settings.get("ssl.keystore.location")
    try:
        if trusted:
            context.load_verify_locations(Path(trusted))
        if own:
            context.load_cert_chain(Path(own), password=settings.get("ssl.key.password") or "")
    except (OSError, ValueError) as error:
        file = trusted if trusted and not Path(trusted).exists() else own or trusted
        raise UnusableSettings(
            f"{file}: not usable as PEM: {getattr(error, 'strerror', None) or error}"
        ) from error
    return context
