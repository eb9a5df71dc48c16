"""Pieces of GitHub Flavored Markdown. Client-supplied text stands in code spans only, where it is neither link nor
HTML; our own words are escaped."""

import re
from collections.abc import Collection, Iterable, Sequence
from functools import lru_cache

from client_telemetry.reports.client_strings import client_label, shortened, shown, without_invisible


def code(text: str, limit: int = 80) -> str:
    """Client-supplied text as a code span that fits a table cell: invisible characters visible, cut in the middle,
    pipes written out since renderers disagree about `\\|` in code.

    >>> code("a|b`c\\n")
    '`` a[U+007C]b`c␊ ``'
    """
    safe = shortened(shown(text), limit).replace("|", "[U+007C]")
    fence = "`" * (1 + max((len(run) for run in re.findall("`+", safe)), default=0))
    pad = " " if "`" in safe or not safe.strip() else ""
    return f"{fence}{pad}{safe}{pad}{fence}"


def label(name: str | None) -> str:
    """A name that clients chose as a code span; words of our own where there is none."""
    return code(name) if name else client_label(name)


@lru_cache(maxsize=20_000)
def prose(text: str) -> str:
    """Our own words, with whatever could be markup escaped, on one line."""
    return re.sub(r"([\\`*_\[\]<>|#~])", r"\\\1", without_invisible(text)).replace("&", "&amp;")


def bullets(sentences: Iterable[str]) -> list[str]:
    return [f"- {prose(sentence)}" for sentence in sentences]


def section(heading: str, lines: Sequence[str]) -> list[str]:
    """A part of a document; nothing without lines."""
    return [f"## {heading}", "", *lines, ""] if lines else []


def row(cells: Iterable[str]) -> str:
    """A line of a table."""
    return f"| {' | '.join(cells)} |"


def table(columns: Sequence[str], rows: Iterable[Iterable[str]], numbers: Collection[str] = ()) -> list[str]:
    """`numbers`: columns that are set to the right.

    >>> table(("Owner", "Left"), [("erp", "2")], ("Left",))
    ['| Owner | Left |', '| --- | ---: |', '| erp | 2 |']
    """
    return [row(columns), row("---:" if each in numbers else "---" for each in columns), *map(row, rows)]
