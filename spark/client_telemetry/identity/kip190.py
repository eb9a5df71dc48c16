"""Strings as Kafka writes them into quota metrics, ZooKeeper nodes and JMX names (KIP-190).

The same as `org.apache.kafka.common.utils.Sanitizer` (Kafka 1.0 and later) on Java 17, for every string. A Python
string can hold surrogates that Java's could not tell from characters: two that make a pair count as that character,
one alone becomes `?` where bytes are asked for, as in Java.
"""

import re
import unicodedata

_UNESCAPED = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_")
_SURROGATE = re.compile("[\ud800-\udfff]")
_JMX_PLAIN = re.compile(r"[a-zA-Z0-9_\-%. \t]*")
_JMX_ESCAPED = str.maketrans({"\\": "\\\\", '"': '\\"', "*": "\\*", "?": "\\?", "\n": "\\n"})
_SURROGATE_IN_UTF8 = re.compile(rb"\xed[\xa0-\xbf][\x80-\xbf]?")
_REPLACEMENT = "\ufffd".encode()


class NotSanitized(ValueError):
    """The string cannot come from `sanitize`: it has a `%` without two hex digits after it."""


def sanitize(name: str) -> str:
    """URL-encode: UTF-8, all but ASCII letters, digits, `.`, `-` and `_` as `%XX`. Kafka does it to user principals
    and, with ZooKeeper, to client ids of quotas; not to the client-id tag of metrics.

    >>> sanitize("orders producer/1")
    'orders%20producer%2F1'
    """
    return "".join(chr(byte) if byte in _UNESCAPED else f"%{byte:02X}" for byte in _utf8(name))


def desanitize(name: str) -> str:
    """Undo `sanitize`, as java.net.URLDecoder does: `+` is a space, bytes that are not UTF-8 become U+FFFD.

    Raises `NotSanitized`.

    >>> desanitize("CN%3Dorders")
    'CN=orders'
    """
    parts = []
    at = 0
    while at < len(name):
        if name[at] != "%":
            parts.append(" " if name[at] == "+" else name[at])
            at += 1
            continue
        escaped = bytearray()
        while at < len(name) and name[at] == "%":
            escaped.append(_byte(name, at))
            at += 3
        parts.append(_decode(bytes(escaped)))
    return "".join(parts)


def jmx_sanitize(name: str) -> str:
    """Quote for a JMX object name, if necessary: javax.management.ObjectName.quote.

    >>> jmx_sanitize("ok-1.2_3 %"), jmx_sanitize('a*"')
    ('ok-1.2_3 %', '"a\\\\*\\\\""')
    """
    return name if _JMX_PLAIN.fullmatch(name) else f'"{name.translate(_JMX_ESCAPED)}"'


def _utf8(name: str) -> bytes:
    if _SURROGATE.search(name):
        paired = name.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
        name = _SURROGATE.sub("?", paired)
    return name.encode()


def _byte(name: str, at: int) -> int:
    """The byte that `%XX` at this position stands for. Java's Integer.parseInt accepts more than ASCII hex digits: a
    plus sign before one digit, digits of other scripts, full-width letters; so does this.
    """
    digits = name[at + 1 : at + 3]
    if len(digits) < 2:
        raise NotSanitized(f"the string ends within an escape: {name[at:]!r}")
    values = [_digit(c) for c in digits]
    if digits[0] == "+" and values[1] is not None:
        return values[1]
    if values[0] is None or values[1] is None:
        raise NotSanitized(
            f"{name[at : at + 3]!r} at character {at} is not an escape: two hex digits must follow the %"
        )
    return values[0] * 16 + values[1]


def _digit(character: str) -> int | None:
    """java.lang.Character.digit(character, 16) for a char: nothing beyond the basic plane."""
    if ord(character) > 0xFFFF:
        return None
    for first in ("a", "A", "\uff41", "\uff21"):
        if 0 <= ord(character) - ord(first) < 6:
            return ord(character) - ord(first) + 10
    return unicodedata.decimal(character, None)


def _decode(escaped: bytes) -> str:
    # Java decodes a surrogate in UTF-8, or its first two bytes, to a single U+FFFD; Python decodes each byte to one.
    return _SURROGATE_IN_UTF8.sub(_REPLACEMENT, escaped).decode(errors="replace")
