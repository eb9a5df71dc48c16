"""Long lines that something on the way to the file cut into parts, as one line again; and several lines that something put
into one text, as lines.

Container runtimes cut at 16 KiB and mark the parts (CRI's `P` and `F`, Docker's json-file by the missing line feed), shippers
and log drivers hand these marks on as fields, journald cuts at 48 KiB and CloudWatch at 256 KiB, by the length only. A
line with a missing part is marked with PARTIAL.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any, BinaryIO, NamedTuple

import orjson

from client_telemetry.sources.compression import as_file, peeked

PARTIAL = b"<part of a line> "
"""Precedes the text of a line whose other parts are missing."""

MAX_JOINED_BYTES = 16 * 2**20
_LINES_LOOKED_AT = 20
_BEGINS_ENTRY = re.compile(rb"Completed request:|Handling request:")

_CRI = re.compile(rb"(?P<begin>\S+T\S+ (?P<stream>stdout|stderr) )(?P<tag>[PF])(?::\S*)?(?: |$)")
_JOURNAL = re.compile(
    rb"(?:<\d+>)?(?:[A-Z][a-z]{2} +\d+ [\d:.]+|[A-Z]?[a-z]{0,2} ?\d{4}-\S+(?: [\d:.]+ [A-Z]{3,5})?|\d{10}\.\d+) "
    rb"(?P<who>\S+ [^\s:\[\]]+(?:\[\d+\])?: )"
)
_JOURNAL_BYTES_OF_TEXT = re.compile(rb'"MESSAGE" ?: ?(\[(?:\d{1,3}, ?)*\d{1,3}\])')
_JOURNAL_BYTES = (48 * 2**10 - 1, 48 * 2**10)
"""LineMax= of journald.conf(5)."""

_DOCKER_BYTES = 16 * 2**10
"""defaultBufSize of Docker's daemon/logger/copier.go."""

_DOCKER_END = b'\\n","'
_CLOUDWATCH_BYTES = frozenset(limit - less for limit in (2**18, 2**20) for less in range(30))
"""The most bytes of an event, by what its writer allows for: 26 bytes of overhead, a character that would be cut (Docker's
driver awslogs; the quota of PutLogEvents was 256 KiB and is 1 MiB).
"""

_HAS_LINES = re.compile(rb"\\n\[?\d{4}-\d\d-\d\d[ T]")
_NEXT_LINE = re.compile(r"\r?\n(?=\[?\d{4}-\d\d-\d\d[ T])")
"""Before a line of a log within a text; the lines of an exception belong to the line before."""

_MAY_BE_PART = re.compile(
    rb'"(?:logtag|_p)":\s*"[PF]"|"(?:CONTAINER_PARTIAL_MESSAGE|partial_message)":\s*"?true|"_partial":\s*true|"split":\s*\{'
)
_TEXT_KEYS = ("log", "message", "MESSAGE", "msg", "@message", "textPayload")
_ORIGIN_KEYS = (
    "stream", "partial_id", "CONTAINER_PARTIAL_ID", "kubernetes", "container_id", "CONTAINER_ID", "logStreamName", "@logStream",
    "_HOSTNAME", "_SYSTEMD_UNIT", "_PID", "resource", "logName",
)  # fmt: skip
"""Fields that are the same in the parts of a line."""


def joined(file: BinaryIO) -> BinaryIO:
    """The file, with lines joined if it is of something that cuts long lines."""
    head, file = peeked(file)
    first_lines = head.split(b"\n", _LINES_LOOKED_AT)[:_LINES_LOOKED_AT]
    if any(_CRI.match(line) or line[:1] in (b"{", b'"') or _JOURNAL.match(line) for line in first_lines):
        return as_file(_Joiner(file, has_line_feeds=_DOCKER_END in head).lines())
    return file


def _apart(line: bytes) -> Iterator[bytes]:
    """A record for each line of the text in a record, with its other fields: what `ansible` registers, `jq -Rs` makes of a
    file, or a shipper made of lines that it took for one.
    """
    if line[:1] not in (b"{", b'"') or _HAS_LINES.search(line) is None:
        yield line
        return
    try:
        record = orjson.loads(line)
    except ValueError:
        yield line
        return
    where, text = _text_of_lines(record)
    if not text:
        yield line
        return
    for part in _NEXT_LINE.split(text):
        yield orjson.dumps(_replaced(record, where, part)) + b"\n"


def _text_of_lines(record: object) -> tuple[tuple[str, ...], str]:
    """Where in a record the first text of several lines is, and the text; empty if there is none."""
    if isinstance(record, str):
        return ((), record) if _NEXT_LINE.search(record) else ((), "")
    for key, value in record.items() if isinstance(record, dict) else ():
        where, text = _text_of_lines(value)
        if text:
            return (key, *where), text
    return (), ""


def _replaced(record: Any, where: tuple[str, ...], text: str) -> Any:
    return {**record, where[0]: _replaced(record[where[0]], where[1:], text)} if where else text


class _Part(NamedTuple):
    """`key`: the same for the parts of one line. `begin`: what precedes the text, or the key of the text in `fields`.
    `has_more`: whether another part follows.
    """

    key: bytes
    begin: bytes
    text: bytes
    has_more: bool
    fields: Any = None

    def line(self, text: bytes) -> bytes:
        if self.fields is None:
            return self.begin + text
        name = self.begin.decode()
        return orjson.dumps(self.fields | {name: text.decode("utf-8", "replace")})


class _Joiner:
    """`has_line_feeds`: whether the texts in JSON records end with them, as Docker's do and those of shippers need not."""

    def __init__(self, file: BinaryIO, has_line_feeds: bool) -> None:
        self._file, self._has_line_feeds = file, has_line_feeds
        self._open: dict[bytes, tuple[_Part, list[bytes]]] = {}

    def lines(self) -> Iterator[bytes]:
        while line := self._file.readline(MAX_JOINED_BYTES):
            line = _JOURNAL_BYTES_OF_TEXT.sub(_as_text, line)
            part = self._part(line)
            if part is None:
                yield from _apart(line)
                continue
            first, texts = self._open.pop(part.key, (part, []))
            if texts and _BEGINS_ENTRY.search(part.text[:1000]):
                yield first.line(PARTIAL + b"".join(texts)) + b"\n"
                first, texts = part, []
            texts.append(part.text)
            if part.has_more and sum(map(len, texts)) < MAX_JOINED_BYTES:
                self._open[part.key] = first, texts
            else:
                yield from _apart(first.line(b"".join(texts)) + b"\n")
        for first, texts in self._open.values():
            yield first.line(PARTIAL + b"".join(texts)) + b"\n"

    def _part(self, line: bytes) -> _Part | None:
        """None for a line that is whole."""
        if line[:1] == b"{":
            return self._part_of_json(line)
        match = _CRI.match(line)
        text = line.rstrip(b"\r\n")
        if match is not None:
            has_more = match["tag"] == b"P"
            if not has_more and match["stream"] not in self._open:
                return None
            return _Part(match["stream"], match["begin"] + b"F ", text[match.end() :], has_more)
        journal = _JOURNAL.match(line) if self._open or len(line) > _JOURNAL_BYTES[0] else None
        if journal is not None:
            has_more = len(text) - journal.end() in _JOURNAL_BYTES
            if has_more or journal["who"] in self._open:
                return _Part(journal["who"], journal[0], text[journal.end() :], has_more)
        return None

    def _part_of_json(self, line: bytes) -> _Part | None:
        is_docker = line.startswith(b'{"log":"') and b'"stream":' in line
        is_docker &= self._has_line_feeds or len(line) > _DOCKER_BYTES
        may_be_part = (
            self._open
            or len(line) > _JOURNAL_BYTES[0]
            or (is_docker and _DOCKER_END not in line)
            or _MAY_BE_PART.search(line)
        )
        if not may_be_part:
            return None
        try:
            fields = orjson.loads(line)
        except ValueError:
            return None
        name = next((name for name in _TEXT_KEYS if isinstance(fields.get(name), str)), None)
        if name is None:
            return None
        text = fields[name].encode("utf-8", "replace")
        key = repr([fields.get(k) for k in _ORIGIN_KEYS]).encode()
        has_more = _has_more(fields, name, text, is_docker)
        if not has_more and key not in self._open:
            return None
        return _Part(key, name.encode(), text, has_more, fields)


def _has_more(fields: Mapping[str, object], name: str, text: bytes, is_docker: bool) -> bool:
    """Whether another part follows the one in these fields of a record."""
    for mark, last in (
        ("partial_message", "partial_last"),
        ("CONTAINER_PARTIAL_MESSAGE", "CONTAINER_PARTIAL_LAST"),
    ):
        if mark in fields:
            return _is_true(fields[mark]) and not _is_true(fields.get(last))
    if tag := fields.get("logtag") or fields.get("_p"):
        return bool(tag == "P")
    if isinstance(split := fields.get("split"), dict):  # LogEntry of Google Cloud
        return int(split.get("index", 0)) + 1 < int(split.get("totalSplits", 0))
    if fields.get("_partial") is True:
        return True
    if name == "MESSAGE":
        return len(text) in _JOURNAL_BYTES
    if is_docker:
        return not text.endswith(b"\n")
    return len(text) in _CLOUDWATCH_BYTES


def _as_text(match: re.Match[bytes]) -> bytes:
    """journalctl -o json has a message that is not plain text, such as one with colours, as a list of bytes."""
    return b'"MESSAGE":' + orjson.dumps(bytes(orjson.loads(match[1])).decode("utf-8", "replace"))


def _is_true(value: object) -> bool:
    return value is True or value == "true"
