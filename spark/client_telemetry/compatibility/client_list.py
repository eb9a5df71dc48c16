"""The two files of the command line: a list of clients in, their verdicts out; CSV or JSON, by file extension.

For an unusable row the error is returned in its place, so that the other rows are still judged.
"""

import csv
import io
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from client_telemetry import Unusable
from client_telemetry.compatibility.evidence import ClientEvidence, UnreadableApiUses, parse_api_uses
from client_telemetry.console.formulas import guarded
from client_telemetry.console.output_file import whole_file, write_csv
from client_telemetry.formats.texts import NotText, decoded
from client_telemetry.knowledge import kip511, products, software
from client_telemetry.knowledge.logins import SECURITY_PROTOCOLS, Login, names_unknown

CLIENT = "client"
_DECLARED = ("client_software_name", "client_software_version")
_LIBRARY = ("library", "library_version")
OPTIONAL = (
    "client_id",
    "api_uses",
    "sasl_mechanism",
    "security_protocol",
    "subscriptions",
    "offered_sasl_mechanisms",
    "principal_has_scram",
    "product",
    "owner",
)
_COLUMNS = (CLIENT, *_DECLARED, *_LIBRARY, *OPTIONAL)
VERDICT_COLUMNS = (
    "client",
    "verdict",
    "confidence",
    "rules",
    "explanation",
    "fix",
    "identified_as",
    "when",
    "already_failing",
    "works_again",
    "condition",
)


_SEPARATORS = {";": "semicolons", "\t": "tabs", "|": "vertical bars"}
_UNKNOWN = ("?", "UNKNOWN")
_YES_NO = {"": None, "yes": True, "no": False}


class UnreadableList(Unusable):
    """The input file cannot be used at all."""


@dataclass(frozen=True)
class Entry:
    client: str
    evidence: ClientEvidence
    owner: str | None = None
    """None if the list has no column of owners."""
    library: str = ""
    """What people know of it, if the client declares nothing: a library, binding or package by name, or a package URL."""
    library_version: str = ""


@dataclass(frozen=True)
class BadRow:
    place: str
    """'line 7' of a CSV file, 'entry 3' of a JSON one."""
    column: str
    reason: str

    def __str__(self) -> str:
        return f"{self.place}, column {self.column}: {self.reason}"


def read(path: Path) -> list[Entry | BadRow]:
    """The clients of a CSV or JSON file, in its order."""
    try:
        text = decoded(path.read_bytes())
    except OSError as error:
        raise UnreadableList(f"{path}: {error.strerror}") from error
    except NotText as error:
        raise UnreadableList(f"{path}: {error}") from error
    if path.suffix.lower() == ".json":
        return _json_entries(path, text)
    return list(_csv_entries(path, text))


def _csv_entries(path: Path, text: str) -> Iterator[Entry | BadRow]:
    # str.splitlines would also split at characters that client ids may contain, such as U+2028 and vertical tabs.
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        header = [name.strip() for name in next(reader, [])]
    except csv.Error as error:
        raise UnreadableList(f"{path} line 1: {error}") from error
    _check_columns(path, header)
    line = reader.line_num + 1
    while True:
        try:
            cells = next(reader, None)
        except csv.Error as error:
            yield BadRow(f"line {line}", "(all)", str(error))
            line = reader.line_num + 1
            continue
        if cells is None:
            return
        if cells and len(cells) != len(header):
            yield BadRow(f"line {line}", "(all)", f"{len(cells)} cells, the header has {len(header)}")
        elif cells:
            yield _entry(f"line {line}", dict(zip(header, cells, strict=True)))
        line = reader.line_num + 1


def _check_columns(path: Path, header: list[str]) -> None:
    if not any(header):
        raise UnreadableList(f"{path}: no header; columns are {', '.join((CLIENT, *_DECLARED))}")
    for separator, name in _SEPARATORS.items():
        if len(header) == 1 and separator in header[0]:
            raise UnreadableList(
                f"{path} line 1: the columns are separated by {name}: separate them with commas"
            )
    tells = () if _LIBRARY[0] in header and not set(_DECLARED) & set(header) else _DECLARED
    missing = [name for name in (CLIENT, *tells) if name not in header]
    strange = [name for name in header if name not in _COLUMNS]
    twice = [name for name in set(header) if header.count(name) > 1]
    for what, names in (
        ("no column", missing),
        ("unknown column", strange),
        ("repeated column", sorted(twice)),
    ):
        if names:
            raise UnreadableList(f"{path} line 1: {what} {', '.join(names)}")


def _json_entries(path: Path, text: str) -> list[Entry | BadRow]:
    try:
        content = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UnreadableList(f"{path}: not JSON: {error}") from error
    if not isinstance(content, list):
        raise UnreadableList(f"{path}: a list of objects is expected, one for each client")
    return [_json_entry(f"entry {number}", item) for number, item in enumerate(content, start=1)]


def _json_entry(place: str, item: object) -> Entry | BadRow:
    if not isinstance(item, dict):
        return BadRow(place, "(all)", "not an object")
    for name, value in item.items():
        if name not in _COLUMNS:
            return BadRow(place, name, "unknown column")
        if value is not None and not isinstance(value, str):
            return BadRow(place, name, f"{value!r} is not a text")
    return _entry(place, {name: value or "" for name, value in item.items()})


def _entry(place: str, row: Mapping[str, str]) -> Entry | BadRow:
    if not row.get("client", "").strip():
        return BadRow(place, "client", "empty")
    protocols = row.get("security_protocol", "").upper().replace("-", "_")
    if strange := set(_words(protocols)) - {*SECURITY_PROTOCOLS, *_UNKNOWN}:
        return BadRow(
            place, "security_protocol", f"{strange.pop()!r} is none of {', '.join(SECURITY_PROTOCOLS)}"
        )
    has_scram = row.get("principal_has_scram", "").strip().lower()
    if has_scram not in _YES_NO:
        return BadRow(place, "principal_has_scram", f"{has_scram!r} is none of yes, no, or empty")
    product = row.get("product", "").strip()
    if product and not products.is_known(product):
        return BadRow(place, "product", f"{product!r} is not in {products.FILE} or {products.IDS_FILE}")
    declared, library = _named(row)
    own, *others = _logins(protocols, row.get("sasl_mechanism", ""), row.get("offered_sasl_mechanisms", ""))
    try:
        uses = parse_api_uses(row.get("api_uses", ""))
    except UnreadableApiUses as error:
        return BadRow(place, "api_uses", str(error))
    subscriptions = row.get("subscriptions", "").split()
    return Entry(
        row["client"],
        ClientEvidence(
            client_software_name=declared[0] or None,
            client_software_version=declared[1] or None,
            client_id=row.get("client_id") or None,
            product=product or None,
            api_uses=uses,
            sasl_mechanism=own.sasl_mechanism,
            security_protocol=own.security_protocol,
            offered_sasl_mechanisms=own.offered,
            other_logins=tuple(others),
            principal_has_scram=_YES_NO[has_scram],
            subscriptions=tuple(prefix for prefix in subscriptions if prefix != "none")
            if subscriptions
            else None,
        ),
        owner=row["owner"].strip() if "owner" in row else None,
        library=library[0],
        library_version=library[1],
    )


def _named(row: Mapping[str, str]) -> tuple[tuple[str, str], tuple[str, str]]:
    """What a row declares, and what its library is called, each with a version. A name that no known client declares may be
    that of a library: people fill these lists.
    """
    declared, library = (
        (row.get(name, "").strip(), row.get(version, "").strip()) for name, version in (_DECLARED, _LIBRARY)
    )
    if declared[0] in software.known():
        return declared, ("", "")
    return declared, library if library[0] or not kip511.is_known(declared[0]) else declared


def _logins(protocols: str, mechanism: str, offered: str) -> list[Login]:
    """One for each protocol, and another for connections of which the mechanism is said not to be known."""
    of_listener = tuple(_words(offered)) or None
    known = [
        Login(None if protocol in _UNKNOWN else protocol, mechanism.strip() or None, of_listener)
        for protocol in _words(protocols) or _UNKNOWN[:1]
    ]
    if names_unknown(mechanism):
        known += [login._replace(sasl_mechanism=None) for login in known]
    return list(dict.fromkeys(known))


def _words(cell: str) -> list[str]:
    return re.split(r"[,;|\s]+", cell.strip(" ,;|\t")) if cell.strip(" ,;|\t") else []


def write(path: Path, rows: Iterable[tuple[str, ...]], owners: Sequence[str] | None = None) -> None:
    """All verdicts, or no file: see whole_file. `owners`: of each row, if the list has them."""
    columns: tuple[str, ...] = VERDICT_COLUMNS
    if owners is not None:
        columns = (*columns, "owner")
        rows = ((*row, owner) for row, owner in zip(rows, owners, strict=True))
    with whole_file(path) as opened:
        if path.suffix.lower() == ".json":
            objects = [dict(zip(columns, row, strict=True)) for row in rows]
            json.dump(objects, opened, ensure_ascii=False, indent=1)
            opened.write("\n")
        else:
            write_csv(opened, columns, (tuple(map(guarded, row)) for row in rows))
