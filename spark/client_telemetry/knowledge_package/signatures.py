"""Signatures of data packages: Ed25519 over the bytes of manifest.json, by the library `cryptography`.

A public key is one line: its 32 bytes in base64, and a comment. `manifest.sig` is one line too: the key id (the first 16
hex digits of the SHA-256 of the key) and the signature in base64. A signing key is a PEM file (PKCS 8), or its text in
the environment. Keys that ship: trusted_keys.txt in this folder.
"""

import base64
import binascii
import hashlib
import os
from collections.abc import Iterable
from importlib.resources import files as resources
from pathlib import Path
from typing import TYPE_CHECKING

from client_telemetry import Unusable
from client_telemetry.knowledge import UnusablePackage
from client_telemetry.knowledge_package.package_files import MANIFEST, SIGNATURE, PackageFiles

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

SIGNING_KEY = "CLIENT_TELEMETRY_KNOWLEDGE_SIGNING_KEY"
"""Environment variable with the PEM text of a signing key, or the path of its file."""
TRUSTED = "CLIENT_TELEMETRY_KNOWLEDGE_TRUST"
"""Environment variable with public keys to trust beside those that ship: keys or files of them, separated by commas."""
SHIPPED_KEYS = "trusted_keys.txt"


class UnusableKey(Unusable):
    """Text or file that is no Ed25519 key; the message says which form is expected."""


def public_keys(text: str) -> list[bytes]:
    """The keys of a file's text: one a line, comments after `#` or a blank. Raises UnusableKey."""
    words_of_lines = (line.partition("#")[0].split() for line in text.splitlines())
    return [_public_key(words[0]) for words in words_of_lines if words]


def _public_key(text: str) -> bytes:
    try:
        key = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        key = b""
    if len(key) != 32:
        raise UnusableKey(
            f"{text[:60]!r} is not a public key: 44 characters of base64, as knowledge key prints it"
        )
    return key


def keys_of(text: str) -> list[bytes]:
    """A key itself, or the path of a file of them."""
    path = Path(text)
    try:
        is_file = path.is_file()
    except (OSError, ValueError):
        is_file = False
    if not is_file:
        return [_public_key(text.strip())]
    try:
        keys = public_keys(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise UnusableKey(f"{path}: cannot be read as a file of public keys") from error
    if not keys:
        raise UnusableKey(f"{path}: has no public key")
    return keys


def trusted(more: Iterable[bytes] = ()) -> list[bytes]:
    """The keys that ship, those of the environment, and `more`. Raises UnusableKey."""
    shipped = public_keys((resources(__package__) / SHIPPED_KEYS).read_text(encoding="utf-8"))
    named = [
        key
        for each in os.environ.get(TRUSTED, "").split(",")
        if each.strip()
        for key in keys_of(each.strip())
    ]
    return [*shipped, *named, *more]


def in_base64(key: bytes) -> str:
    """The key as one line."""
    return base64.b64encode(key).decode()


def key_id(key: bytes) -> str:
    return hashlib.sha256(key).hexdigest()[:16]


def verify(files: PackageFiles, keys: Iterable[bytes]) -> str:
    """The id of the key that signed the package. Raises UnusablePackage unless it is one of these."""
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    if SIGNATURE not in files.contents:
        raise UnusablePackage(f"{files.origin}: not signed: it has no {SIGNATURE}")
    words = files.contents[SIGNATURE].decode("ascii", "replace").split()
    try:
        signer, signature = words[0], base64.b64decode(words[1], validate=True)
    except (LookupError, ValueError):
        raise UnusablePackage(
            f"{files.origin}: damaged: {SIGNATURE} is not a key id and a signature"
        ) from None
    for key in keys:
        if key_id(key) == signer:
            try:
                Ed25519PublicKey.from_public_bytes(key).verify(signature, files.contents[MANIFEST])
            except InvalidSignature:
                raise UnusablePackage(
                    f"{files.origin}: its signature does not fit its {MANIFEST}: it was changed after it was signed"
                ) from None
            return signer
    raise UnusablePackage(
        f"{files.origin}: signed by another key ({signer[:16]}) than those trusted here; if you know whose it is: --trust KEY"
    )


def sign(manifest: bytes, key: "Ed25519PrivateKey") -> bytes:
    """The content of manifest.sig."""
    signature = base64.b64encode(key.sign(manifest)).decode()
    return f"{key_id(key.public_key().public_bytes_raw())} {signature}\n".encode()


def signing_key(file: Path | None = None) -> "Ed25519PrivateKey | None":
    """The key of a file or of the environment; None if neither is given. Raises UnusableKey."""
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    named = str(file) if file else os.environ.get(SIGNING_KEY, "")
    if not named:
        return None
    where = named if file else SIGNING_KEY
    try:
        pem = named.encode() if "-----BEGIN" in named else Path(named).read_bytes()
        key = load_pem_private_key(pem, None)
    except OSError as error:
        raise UnusableKey(f"{where}: cannot be read: {error.strerror}") from error
    except (ValueError, TypeError, UnsupportedAlgorithm) as error:
        raise UnusableKey(f"{where}: not an Ed25519 key in PEM without a password") from error
    if not isinstance(key, Ed25519PrivateKey):
        raise UnusableKey(f"{where}: not an Ed25519 key")
    return key


def new_key(file: Path) -> str:
    """Write a new signing key, for its owner's eyes alone, and return its public key. Raises FileExistsError."""
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    key = Ed25519PrivateKey.generate()
    pem = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as opened:
        opened.write(pem)
    return in_base64(key.public_key().public_bytes_raw())
