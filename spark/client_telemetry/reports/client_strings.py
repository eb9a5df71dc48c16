"""Client-supplied strings as they are shown: nothing in them is invisible, nothing reorders its surroundings,
long ones are cut in the middle. Tables and report.json keep the strings themselves."""

import unicodedata
from functools import lru_cache

LONGEST_SHOWN = 64
"""Characters of a client id, principal or software name that the page and the ticket show."""

NO_CLIENT_ID = "(no client id)"
EMPTY = "(empty)"

# Default_Ignorable_Code_Point of Unicode that are not of category Cf, and Braille blank: they show as nothing.
_BLANK = {0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x2800, 0x3164, 0xFFA0}
_BLANK |= {*range(0x180B, 0x1810), *range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0)}
_BLANK_CHARACTERS = frozenset(map(chr, _BLANK))
_INVISIBLE_CATEGORIES = {"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp"}


@lru_cache(maxsize=20_000)
def shown(text: str) -> str:
    """`text` with each character visible: control characters as their Unicode pictures, other invisible ones
    as `[U+202E]`, spaces at the ends or in a row as `␠`.

    >>> shown("a\\nb\\u202ec")
    'a␊b[U+202E]c'
    >>> shown(" orders  eu")
    '␠orders ␠eu'
    """
    if _is_plain(text) and "  " not in text and text == text.strip(" "):
        return text
    return "".join(piece for piece, _ in pieces(text))


def without_invisible(text: str) -> str:
    """`text` with spaces as they are, other invisible characters as `shown` has them. For our own words, into
    which client-supplied ones may have found their way."""
    return text if _is_plain(text) else "".join(_picture(character) or character for character in text)


def pieces(text: str) -> list[tuple[str, bool]]:
    """`text` cut into (what is shown, whether it stands for an invisible character)."""
    result: list[tuple[str, bool]] = []
    last = len(text) - 1
    for index, character in enumerate(text):
        is_edge = index in (0, last) or text[index - 1] == " "
        replacement = "␠" if character == " " and is_edge else _picture(character)
        if replacement is not None:
            result.append((replacement, True))
        elif result and not result[-1][1]:
            result[-1] = (result[-1][0] + character, False)
        else:
            result.append((character, False))
    return result


def shortened(text: str, limit: int = LONGEST_SHOWN) -> str:
    """`text`, cut in the middle to `limit` characters when it is longer: both ends tell clients apart.

    >>> shortened("consumer-0123456789-eu", 11)
    'consu…89-eu'
    """
    if len(text) <= limit:
        return text
    head = (limit - 1) // 2
    return f"{text[:head]}…{text[len(text) - (limit - 1 - head) :]}"


def _is_plain(text: str) -> bool:
    """Quick answer for nearly all strings: every character can be seen or is a space. `str.isprintable` refuses the
    categories that `_picture` replaces, and all spaces but the ordinary one."""
    return text.isprintable() and (text.isascii() or _BLANK_CHARACTERS.isdisjoint(text))


def _picture(character: str) -> str | None:
    """What stands for an invisible character; None for one that can be seen."""
    code = ord(character)
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "␡"
    category = unicodedata.category(character)
    is_odd_space = category == "Zs" and character != " "
    if category in _INVISIBLE_CATEGORIES or is_odd_space or code in _BLANK:
        return f"[U+{code:04X}]"
    return None


def client_label(client_id: str | None) -> str:
    """A client id as shown in one line of text."""
    return NO_CLIENT_ID if client_id is None else EMPTY if client_id == "" else shown(client_id)
