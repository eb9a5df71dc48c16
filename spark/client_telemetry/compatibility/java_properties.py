r"""Java properties files, read as `java.util.Properties` reads them: comments, continued lines, `=`, `:` or blanks after the key, and
escapes.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

_LINE_ENDS = re.compile(r"\r\n|\n|\r")
_BLANKS = " \t\f"
_KEY = re.compile(r"(?:\\.|[^\\=: \t\f])*", re.DOTALL)
_SEPARATOR = re.compile(r"[ \t\f]*[=:]?[ \t\f]*")
_ESCAPE = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|(.)|$)", re.DOTALL)
_LETTERS = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}
_WRONG_ESCAPE = re.compile(r"(?<!\\)(?:\\\\)*\\u(?![0-9A-Fa-f]{4})")


class Setting(NamedTuple):
    line: int
    """Where it begins."""
    key: str
    value: str


class UnreadableProperties(ValueError):
    r"""A `\u` without four hex digits, which Java refuses too; the message has the line."""


def parse(text: str) -> list[Setting]:
    r"""The settings in order; a key may occur more than once, of which Java takes the last. Raises UnreadableProperties.

    >>> parse("# comment\nlog.dirs : /a,\\\n   /b\nnode.id 1\n")
    [Setting(line=2, key='log.dirs', value='/a,/b'), Setting(line=4, key='node.id', value='1')]
    """
    return [_setting(line, logical) for line, logical in _logical_lines(text)]


def _logical_lines(text: str) -> Iterator[tuple[int, str]]:
    """With the number of the first line of each; a comment is not continued."""
    begun, first = "", 0
    for number, line in enumerate(_LINE_ENDS.split(text), 1):
        content = line.lstrip(_BLANKS)
        if not first:
            if not content or content[0] in "#!":
                continue
            first = number
        ends_in = len(content) - len(content.rstrip("\\"))
        begun += content[:-1] if ends_in % 2 else content
        if ends_in % 2 == 0:
            yield first, begun
            begun, first = "", 0
    if first:
        yield first, begun


def _setting(line: int, logical: str) -> Setting:
    if _WRONG_ESCAPE.search(logical):
        raise UnreadableProperties(
            f"line {line}: \\u is not followed by four hex digits: Java refuses the file"
        )
    key = _KEY.match(logical)
    assert key is not None
    separator = _SEPARATOR.match(logical, key.end())
    assert separator is not None
    return Setting(line, _unescaped(key[0]), _unescaped(logical[separator.end() :]))


def _unescaped(text: str) -> str:
    return _ESCAPE.sub(
        lambda match: chr(int(match[1], 16)) if match[1] else _LETTERS.get(match[2], match[2] or ""), text
    )
