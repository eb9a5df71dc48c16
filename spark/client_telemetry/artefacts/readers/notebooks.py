"""What notebooks install: `%pip` and `!pip` in Jupyter's files, and in notebooks of Databricks and Fabric that are kept as source files."""

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Final

from client_telemetry.artefacts.packages import Package
from client_telemetry.artefacts.readers import dockerfile, jar_downloads
from client_telemetry.artefacts.readers.json_text import Lines, elements, objects, parse_object
from client_telemetry.artefacts.readers.lines import LONGEST

_SOURCE: Final = re.compile(r"^\ufeff?(?:#|//) (?:Databricks|Fabric) notebook source\b", re.IGNORECASE)
_MAGIC_COMMENT = re.compile(r"^(?:#|//) MAGIC ?")
_COMMAND = re.compile(r"\s*(?:!|%(?=(?:pip|conda|mamba|micromamba|uv)\b)|%%?(?:sh|bash|shell)\b)(.*)")
_SHELL = re.compile(r"\s*%%?(?:sh|bash|shell)\b")
_CELL_ENDS = re.compile(r"(?:#|//) COMMAND -|# (?:CELL|METADATA) \*")
_COMMENT = re.compile(r"(?:^|\s)#.*$")


def begins(beginning: str) -> bool:
    """Whether a source file is a notebook."""
    return bool(_SOURCE.search(beginning))


def read(text: str) -> Iterator[Package]:
    """An *.ipynb file, of version 3 of the format (with worksheets) too. Raises Unreadable."""
    if not text.strip():
        return
    content, lines = parse_object(text), Lines(text)
    sheets = [content, *objects(content.get("worksheets"))]
    for cell in (cell for sheet in sheets for cell in objects(sheet.get("cells"))):
        if cell.get("cell_type") != "code":
            continue
        source = cell.get("source", cell.get("input"))
        code = source if isinstance(source, str) else "".join(map(str, elements(source)))
        for line, packages in _of_cell(code.split("\n")):
            if packages:
                number = lines.of(*(json.dumps(line, ensure_ascii=ascii)[1:-1] for ascii in (False, True)))
                yield from (replace(package, line=number) for package in packages)


def read_source(text: str) -> Iterator[Package]:
    """A notebook as a source file, whose cells end at comments; lines of other languages begin with `# MAGIC`."""
    cell: list[str] = []
    first = 1
    for number, line in enumerate([*text.split("\n"), "# COMMAND -"], 1):
        if not _CELL_ENDS.match(line):
            cell.append(_MAGIC_COMMENT.sub("", line.rstrip("\r")))
            continue
        for place, (_, packages) in enumerate(_of_cell(cell), first):
            yield from (replace(package, line=place) for package in packages)
        cell, first = [], number + 1


def _of_cell(lines: Iterable[str]) -> Iterator[tuple[str, list[Package]]]:
    """Each line of a cell, with what it installs."""
    is_shell = False
    for line in lines:
        is_shell = is_shell or bool(_SHELL.match(line))
        match = _COMMAND.match(line)
        command = match[1] if match else line if is_shell else ""
        code = _COMMENT.sub("", command) if len(line) <= LONGEST else ""
        yield line, [*dockerfile.installed(code, 0), *jar_downloads.read(line)]
