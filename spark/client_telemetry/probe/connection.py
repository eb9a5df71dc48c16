"""One connection to a broker: bounded in time and memory, whatever is at the other end."""

import contextlib
import socket
import ssl
import struct
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final, NamedTuple, Self

LARGEST_ANSWER: Final = 256 * 1024 * 1024
"""Bytes. Longer answers are not read: Kafka's own clients do not take them either (a broker's fetch.max.bytes is 55 MB)."""
KEPT: Final = 1024 * 1024
"""Bytes of an answer that are kept; the rest is read and forgotten."""
_PIECE: Final = 64 * 1024
_TLS_ALERT, _HTTP = b"\x15\x03", b"HTTP"


class BrokenConnection(Exception):
    """Base of the ways in which a request gets no answer; the message says what happened."""


class ConnectionClosed(BrokenConnection):
    """The other end closed the connection."""


class NoAnswer(BrokenConnection):
    """No answer, or only a part of it, in time."""


class Unreachable(BrokenConnection):
    """No connection could be made; the message says why, and what to do where that is known."""


class NotKafka(BrokenConnection):
    """Bytes came back that are not an answer of Kafka's protocol."""


class Address(NamedTuple):
    host: str
    port: int

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


class Answer(NamedTuple):
    payload: bytes
    """From the correlation id on; at most KEPT bytes."""
    length: int
    """Bytes of the whole answer."""
    mentions: bool
    """Whether the text that was looked for occurs in it, anywhere."""


class Connection:
    """Requests go out one after the other; each waits for its answer."""

    def __init__(self, opened: socket.socket) -> None:
        self._socket, self._correlation_id = opened, 0

    def ask(self, frame: Callable[[int], bytes], timeout_s: float, looked_for: bytes | None = None) -> Answer:
        """The answer to a request. `frame`: its bytes, with length, for a correlation id. Raises ConnectionClosed, NoAnswer or
        NotKafka; the connection is of no use afterwards.
        """
        self._correlation_id += 1
        deadline = time.monotonic() + timeout_s
        with _as_broken_connection():
            self._socket.settimeout(_left(deadline))
            self._socket.sendall(frame(self._correlation_id))
            (length,) = struct.unpack(">i", self._read(4, deadline))
            _check_length(length)
            answer = self._answer(length, deadline, looked_for)
        (correlation_id,) = struct.unpack(">i", answer.payload[:4])
        if correlation_id != self._correlation_id:
            raise NotKafka(
                f"the answer belongs to request {correlation_id}, not to request {self._correlation_id}: this is not a Kafka broker"
            )
        return answer

    @property
    def cipher(self) -> str | None:
        """OpenSSL's name of it; None without TLS."""
        chosen = self._socket.cipher() if isinstance(self._socket, ssl.SSLSocket) else None
        return chosen[0] if chosen else None

    def _read(self, length: int, deadline: float) -> bytes:
        content = b""
        while len(content) < length:
            content += self._piece(length - len(content), deadline)
        return content

    def _piece(self, most: int, deadline: float) -> bytes:
        self._socket.settimeout(_left(deadline))
        piece = self._socket.recv(min(most, _PIECE))
        if not piece:
            raise ConnectionClosed("the broker closed the connection")
        return piece

    def _answer(self, length: int, deadline: float, looked_for: bytes | None) -> Answer:
        kept, read, mentions, tail = b"", 0, False, b""
        while read < length:
            piece = self._piece(length - read, deadline)
            read += len(piece)
            kept += piece[: KEPT - len(kept)]
            if looked_for and not mentions:
                mentions = looked_for in tail + piece
                tail = (tail + piece)[-len(looked_for) :]
        return Answer(kept, length, mentions)

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self._socket.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def connect(
    address: Address, tls: ssl.SSLContext | None, server_name: str | None, timeout_s: float
) -> Connection:
    """Raises Unreachable. `server_name`: the name that the certificate must have, by default the host's."""
    try:
        plain = socket.create_connection(address, timeout_s)
    except socket.gaierror as error:
        raise Unreachable(f"{address}: the host is not known ({error.strerror})") from error
    except TimeoutError as error:
        raise Unreachable(f"{address}: no connection within {timeout_s:.0f} s") from error
    except (OSError, UnicodeError, OverflowError) as error:
        raise Unreachable(f"{address}: {getattr(error, 'strerror', None) or error}") from error
    if tls is None:
        return Connection(plain)
    try:
        return Connection(tls.wrap_socket(plain, server_hostname=server_name or address.host))
    except (OSError, ValueError) as error:
        plain.close()
        raise Unreachable(f"{address}: {_tls_failure(error)}") from error


def _tls_failure(error: OSError | ValueError) -> str:
    if isinstance(error, ssl.SSLCertVerificationError):
        return (
            f"its certificate is not trusted ({error.verify_message}): set ssl.truststore.location to the certificates of its "
            "authority, in PEM"
        )
    reason = getattr(error, "reason", "") or str(error)
    if reason in ("WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE", "PACKET_LENGTH_TOO_LONG", "HTTP_REQUEST"):
        return (
            "does not speak TLS: is security.protocol=PLAINTEXT (or SASL_PLAINTEXT) right for this listener?"
        )
    if isinstance(error, TimeoutError):
        return "the TLS handshake does not end: is security.protocol right for this listener?"
    if isinstance(error, ssl.SSLEOFError | ConnectionError) or "EOF" in reason:
        return (
            "closed the connection during the TLS handshake: is the listener one without TLS, or does it want a client "
            "certificate (ssl.keystore.location)?"
        )
    return f"the TLS handshake failed ({reason})"


def _check_length(length: int) -> None:
    head = struct.pack(">i", length)
    if head.startswith(_TLS_ALERT):
        raise NotKafka(
            "the listener speaks TLS: set security.protocol to SSL or SASL_SSL in --command-config"
        )
    if head == _HTTP:
        raise NotKafka("an HTTP server answers, not a Kafka broker")
    if not 4 <= length <= LARGEST_ANSWER:
        raise NotKafka(f"the answer claims {length:,} bytes: this is not a Kafka broker")


def _left(deadline: float) -> float:
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError
    return left


@contextmanager
def _as_broken_connection() -> Iterator[None]:
    try:
        yield
    except TimeoutError:
        raise NoAnswer("no answer in time") from None
    except ssl.SSLError as error:
        if "CERTIFICATE" not in (error.reason or ""):
            raise ConnectionClosed(f"the connection broke ({error.reason})") from error
        raise Unreachable(
            "the listener wants a client certificate that it trusts: set ssl.keystore.location to a PEM file with key and certificate"
        ) from error
    except OSError as error:
        raise ConnectionClosed(f"the connection broke ({error.strerror or error})") from error
