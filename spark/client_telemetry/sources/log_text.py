"""The lines within a log file, whatever the file is: text in UTF-8 or UTF-16, one JSON document with the lines in it,
JSON objects without line feeds between them, a CSV export, or lines that were cut into parts (cut_lines.py).

Text comes out as it is. Records of documents and rows of CSV come out as one JSON object a line. What the lines say is
not here (request_log/log_line.py).
"""

import codecs
import csv
import json
import re
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO

import orjson

from client_telemetry.sources.archives import UNREAD, is_tar
from client_telemetry.sources.compression import (
    BLOCK_BYTES,
    HEAD_BYTES,
    as_file,
    peeked,
)
from client_telemetry.sources.cut_lines import MAX_JOINED_BYTES, joined

_MAX_DOCUMENT_CHARACTERS = 2**28
_DECODER = json.JSONDecoder()

TEXT_KEYS = (
    "log", "full_message", "short_message", "message", "MESSAGE", "@message", "msg", "_raw", "line", "textPayload", "text",
    "body", "Body", "stringValue", "content", "Content", "Message", "LogMessage", "LogEntry", "RawData", "Line", "event", "value",
)  # fmt: skip
"""Fields of JSON objects that have a line of a log, in the order in which they are asked."""
_NAME = re.compile(r"[@_A-Za-z][\w@.\-/ ()\[\]]{0,60}")
_NOT_IN_HEADER = re.compile(
    r"\d{4}-\d\d-\d\d|\b(?:TRACE|DEBUG|INFO|WARN|ERROR) |\(kafka\.|Completed request|apiKey"
)

_UNNAMED_TAR = "a tar archive in an object whose name does not say so: let it end with .tar, .tgz or .tar.gz"
"""In a store only the name tells (stored_file.py)."""

_STAMP = rb"\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3}\] "
_STAMP_BYTES = len("[2026-11-22 10:48:20,123] ")
_JOINED_BY_TABS = re.compile(rb"\s*" + _STAMP + rb"[^\t\n]*\t" + _STAMP)
_TAB = re.compile(rb"\t(?=" + _STAMP + rb")")
_COUNTED = re.compile(rb"(\d{1,7}) (?=<\d{1,3}>1 )")
"""Before a message of syslog over TCP that has no line feed behind it (RFC 6587, octet counting)."""


def open_text(file: BinaryIO) -> BinaryIO:
    """The lines of a file (decompressed), as bytes of UTF-8."""
    head, file = peeked(file)
    encoding = _encoding(head)
    if encoding is not None:
        return open_text(as_file(_transcoded(file, encoding)))
    if is_tar(head):
        return as_file((f"{UNREAD}{_UNNAMED_TAR}\n".encode(),))
    if head.startswith(codecs.BOM_UTF8):
        file.read(len(codecs.BOM_UTF8))
        return open_text(file if file.seekable() else as_file((), file))
    if _is_document(head):
        return joined(as_file(_records_of_documents(file, _records)))
    if b"\r" in head and b"\n" not in head:
        return open_text(as_file(_with_line_feeds(file)))
    if _COUNTED.match(head) and b"\n" not in head[: int(head.partition(b" ")[0])]:
        return joined(as_file(_counted(file)))
    if _JOINED_BY_TABS.match(head):
        return joined(as_file(_split_at_tabs(file)))
    delimiter = _delimiter(head)
    if delimiter is not None:
        return as_file(_records_of_csv(file, delimiter))
    return joined(file)


def _encoding(head: bytes) -> str | None:
    """UTF-16 with a byte order mark, or ASCII in two bytes each without one."""
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    begin = head[:200]
    if len(begin) > 20 and begin[::2].isascii():
        if not any(begin[1::2]) and all(begin[::2]):
            return "utf-16-le"
        if not any(begin[::2]) and all(begin[1::2]):
            return "utf-16-be"
    return None


def _split_at_tabs(file: BinaryIO) -> Iterator[bytes]:
    """Lines of `aws logs … --query 'events[*].message' --output text`, which puts all in one, with tabs between them. Kafka
    writes a tab within an entry as `\\t`.
    """
    rest = b""
    while block := file.read(BLOCK_BYTES):
        text = rest + block
        end = text.find(b"\t", max(0, len(text) - _STAMP_BYTES))
        end = len(text) if end < 0 else end
        yield _TAB.sub(b"\n", text[:end])
        rest = text[end:]
    yield rest


def _with_line_feeds(file: BinaryIO) -> Iterator[bytes]:
    """Lines that end with a carriage return alone."""
    while block := file.read(BLOCK_BYTES):
        yield block.replace(b"\r", b"\n")


def _counted(file: BinaryIO) -> Iterator[bytes]:
    """Messages of syslog, each behind the number of its bytes; what has no number comes out as it is."""
    text = b""
    while block := file.read(BLOCK_BYTES):
        text += block
        at = 0
        while match := _COUNTED.match(text, at):
            end = match.end() + int(match[1])
            if end > len(text) and int(match[1]) <= MAX_JOINED_BYTES:
                break
            yield text[match.end() : end] + b"\n"
            at = end
        text = text[at:]
        if text and _COUNTED.match(text) is None and len(text) > _STAMP_BYTES:
            yield text
            text = b""
    yield text


def _transcoded(file: BinaryIO, encoding: str) -> Iterator[bytes]:
    decoder = codecs.getincrementaldecoder(encoding)("replace")
    while block := file.read(BLOCK_BYTES):
        yield decoder.decode(block).encode("utf-8", "replace")
    yield decoder.decode(b"", final=True).encode("utf-8", "replace")


def _is_document(head: bytes) -> bool:
    """Whether a file is JSON other than one record a line."""
    text = head.decode("utf-8", "replace").lstrip()
    if not re.match(r"\[\s*[\[{\"]|\{", text):
        return False
    if text[0] == "[":
        return True
    first_line, has_end, _ = text.partition("\n")
    try:
        value, end = _DECODER.raw_decode(first_line)
    except ValueError:
        # An object over several lines; one that is longer than what is looked at may be either, which is slower to read.
        return (
            not has_end or first_line.strip() in ("{", "[") or first_line.rstrip().endswith(("{", "[", ","))
        )
    return bool(first_line[end:].strip()) or not _is_record(value)


def _is_record(value: dict[str, object]) -> bool:
    """Whether an object is a line of a log, not something that has such lines in lists."""
    if any(isinstance(value.get(key), str) for key in TEXT_KEYS) or isinstance(value.get("body"), dict):
        return True
    return not any(_has_containers(item) for item in value.values())


def _has_containers(value: object) -> bool:
    if isinstance(value, dict):
        return any(_has_containers(item) for item in value.values())
    return isinstance(value, list) and bool(value) and isinstance(value[0], dict | list)


def _records(value: object, context: dict[str, object]) -> Iterator[dict[str, object]]:
    """The lines of a log within a JSON value, with the labels of what they are in."""
    if isinstance(value, list):
        is_timed = len(value) in (2, 3) and all(isinstance(item, str) for item in value[:2])
        if is_timed and value[0].isdigit():
            yield {**context, "timestamp": value[0], "line": value[1]}  # Loki
            return
        for item in value:
            yield from _records(item, context)
    elif isinstance(value, str):
        yield {**context, "message": value}
    elif isinstance(value, dict):
        yield from _records_of_object(value, context)


def _records_of_object(value: dict[str, Any], context: dict[str, Any]) -> Iterator[dict[str, Any]]:
    if _is_record(value):
        yield {**context, **value}
        return
    if names := _column_names(value):
        for row in value["rows"]:
            yield {**context, **dict(zip(names, row, strict=False))}
        return
    scalars = {key: item for key, item in value.items() if isinstance(item, str)}
    stream = value.get("stream")
    labels = stream if isinstance(stream, dict) else {}
    for item in value.values():
        if _has_containers(item):
            yield from _records(item, {**context, **scalars, **labels})


def _column_names(table: dict[str, object]) -> list[str]:
    """Of an answer with columns and rows (Azure Monitor, Splunk); empty if it is none."""
    columns = table.get("columns") or table.get("fields")
    if not isinstance(columns, list) or not isinstance(table.get("rows"), list):
        return []
    return [str(column.get("name")) if isinstance(column, dict) else str(column) for column in columns]


def open_objects(file: BinaryIO) -> BinaryIO:
    """JSON objects, one a line, of a file (decompressed) that has them in any form: over several lines, in arrays,
    without line feeds between them.
    """
    head, file = peeked(file)
    begin = head.decode("utf-8", "replace").lstrip("\ufeff \t\r\n")
    first_line, has_end, _ = begin.partition("\n")
    if begin[:1] not in ("{", "[") or (not has_end and len(head) == HEAD_BYTES):
        return file
    try:
        value, end = _DECODER.raw_decode(first_line)
    except ValueError:
        is_several_lines = re.fullmatch(r"[\[{\s]*(?:\"\w+\"\s*:\s*[\[{]*\s*)?", first_line) is not None
        return as_file(_records_of_documents(file, _objects)) if is_several_lines else file
    if isinstance(value, dict) and not first_line[end:].strip():
        return file
    return as_file(_records_of_documents(file, _objects))


def _objects(value: object, context: dict[str, object]) -> Iterator[dict[str, object]]:
    if isinstance(value, dict):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from _objects(item, context)


def _records_of_documents(
    file: BinaryIO, records: Callable[[object, dict[str, object]], Iterator[dict[str, object]]]
) -> Iterator[bytes]:
    """A JSON object a line for each record; what is not JSON comes out as it is, to the end of its line."""
    decoder = codecs.getincrementaldecoder("utf-8-sig")("replace")
    text, at, is_end, step = "", 0, False, BLOCK_BYTES
    while True:
        while at < len(text) and text[at] in " \t\r\n,":
            at += 1
        try:
            value, end = _DECODER.raw_decode(text, at)
        except ValueError:
            if not is_end and len(text) - at < _MAX_DOCUMENT_CHARACTERS:
                block = file.read(step)
                is_end, step = len(block) < step, min(2 * step, 2**26)
                text, at = text[at:] + decoder.decode(block, final=is_end), 0
                continue
            if at >= len(text):
                return
            line_end = text.find("\n", at)
            line_end = len(text) if line_end < 0 else line_end
            yield text[at:line_end].encode("utf-8", "replace") + b"\n"
            at = line_end
            continue
        if isinstance(value, dict | list):
            for record in records(value, {}):
                yield orjson.dumps(record) + b"\n"
        at, step = end, BLOCK_BYTES


def _delimiter(head: bytes) -> str | None:
    """What separates the fields of a CSV export with a header; None = it is none."""
    text = head.decode("utf-8", "replace")
    header, _, rest = text.partition("\n")
    if not rest or len(header) > 4000 or _NOT_IN_HEADER.search(header):
        return None
    for delimiter in (",", ";", "\t"):
        try:
            names = next(csv.reader([header.rstrip("\r")], delimiter=delimiter), [])
        except csv.Error:
            return None
        if not all(_NAME.fullmatch(name) for name in names):
            continue
        if len(names) > 1 and rest.partition("\n")[0].count(delimiter) >= len(names) - 1:
            return delimiter
        if len(names) == 1 and names[0] in TEXT_KEYS and rest.startswith('"'):
            return delimiter
    return None


def _records_of_csv(file: BinaryIO, delimiter: str) -> Iterator[bytes]:
    """The limit of a field is that of the process, so it is put back for other readers."""
    before = csv.field_size_limit()
    csv.field_size_limit(max(before, MAX_JOINED_BYTES))
    try:
        yield from _json_of_rows(file, delimiter)
    finally:
        csv.field_size_limit(before)


def _json_of_rows(file: BinaryIO, delimiter: str) -> Iterator[bytes]:
    lines = iter(lambda: file.readline(MAX_JOINED_BYTES), b"")
    rows = csv.reader((line.decode("utf-8", "replace") for line in lines), delimiter=delimiter)
    names = next(rows, [])
    while True:
        try:
            row = next(rows)
        except StopIteration:
            return
        except csv.Error as error:
            yield f"a row that cannot be read: {error}\n".encode()
            continue
        if row:
            yield orjson.dumps(dict(zip(names, row, strict=False))) + b"\n"
