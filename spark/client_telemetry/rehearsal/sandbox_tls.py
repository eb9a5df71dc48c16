"""Keys and certificates of one sandbox: an authority that is made for it, and what the authority signed for the broker and for the
clients, as PEM and as PKCS12, which kafka-clients before 2.7 need.
"""

import datetime as dt
import ipaddress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from client_telemetry.rehearsal.workplace import NotInstalled

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey
    from cryptography.x509 import Certificate

LISTENERS = ("ssl", "sasl_ssl", "kerberos_ssl")
_STORE_PASSWORD = "of-the-stores"
_VALID = dt.timedelta(days=30)
_NAMES, _ADDRESS = "localhost", "127.0.0.1"


@dataclass(frozen=True)
class Tls:
    folder: Path

    @property
    def of_programs(self) -> dict[str, str]:
        """Variables of the programs."""
        return {
            "CA": str(self.folder / "ca.pem"),
            "CERTIFICATE": str(self.folder / "client.pem"),
            "KEY": str(self.folder / "client.key"),
            "TRUSTSTORE": str(self.folder / "trusted.p12"),
            "KEYSTORE": str(self.folder / "client.p12"),
            "STORE_PASSWORD": _STORE_PASSWORD,
        }

    @property
    def of_broker(self) -> dict[str, object]:
        """Its settings: the listener SSL wants a client certificate, on the others clients log in with SASL."""
        stores: dict[str, object] = {"listener.name.ssl.ssl.client.auth": "required"}
        for listener in LISTENERS:
            for kind, file in (("keystore", "broker.p12"), ("truststore", "trusted.p12")):
                prefix = f"listener.name.{listener}.ssl.{kind}"
                stores |= {
                    f"{prefix}.type": "PKCS12",
                    f"{prefix}.location": self.folder / file,
                    f"{prefix}.password": _STORE_PASSWORD,
                }
        return stores


def made(folder: Path) -> Tls:
    """Writes the files. Raises NotInstalled where the package cryptography is missing."""
    try:
        from cryptography.hazmat.primitives import serialization
        from cryptography.hazmat.primitives.serialization import pkcs12
    except ModuleNotFoundError:
        raise NotInstalled("TLS needs certificates: pip install 'client-telemetry[knowledge]'") from None
    folder.mkdir()
    pem = serialization.Encoding.PEM
    locked = serialization.BestAvailableEncryption(_STORE_PASSWORD.encode())
    authority_key, authority = _signed("authority of a rehearsal", None)
    (folder / "ca.pem").write_bytes(authority.public_bytes(pem))
    trusted = pkcs12.serialize_java_truststore([pkcs12.PKCS12Certificate(authority, b"ca")], locked)
    (folder / "trusted.p12").write_bytes(trusted)
    for name in ("broker", "client"):
        key, certificate = _signed(name, (authority_key, authority))
        store = pkcs12.serialize_key_and_certificates(name.encode(), key, certificate, [authority], locked)
        (folder / f"{name}.p12").write_bytes(store)
        (folder / f"{name}.pem").write_bytes(certificate.public_bytes(pem))
        plain = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
        (folder / f"{name}.key").write_bytes(plain)
    return Tls(folder)


def _signed(
    name: str, by: "tuple[EllipticCurvePrivateKey, Certificate] | None"
) -> "tuple[EllipticCurvePrivateKey, Certificate]":
    """`by`: key and certificate of the authority; None: it is the authority."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
    now = dt.datetime.now(dt.UTC)
    hosts = [x509.DNSName(_NAMES), x509.IPAddress(ipaddress.ip_address(_ADDRESS))]
    signing_key, issuer = (key, subject) if by is None else (by[0], by[1].subject)
    certificate = (
        x509.CertificateBuilder(issuer, subject, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - _VALID)
        .not_valid_after(now + _VALID)
        .add_extension(x509.BasicConstraints(ca=by is None, path_length=None), critical=True)
        .add_extension(x509.SubjectAlternativeName(hosts), critical=False)
        .sign(signing_key, hashes.SHA256())
    )
    return key, certificate
