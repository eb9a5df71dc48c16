"""Client instances from a CSV file with the columns of COLUMNS; further columns are kept."""

import csv
import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path

from client_telemetry import Unusable
from client_telemetry.console.formulas import guarded
from client_telemetry.console.output_file import whole_file, write_csv
from client_telemetry.subscriptions.instances import (
    NO_INSTANCE_ID,
    BadInstanceId,
    ClientInstance,
    instance_id_of,
)

COLUMNS = ("client_instance_id", *(field.name for field in fields(ClientInstance)[1:]))


class UnreadableClients(Unusable):
    """The file is unusable; one line with the file and the reason."""


@dataclass(frozen=True)
class ClientFile:
    columns: tuple[str, ...]
    rows: list[dict[str, str]]
    instances: list[ClientInstance]


def read(path: Path) -> ClientFile:
    """A blank field is an attribute that the broker does not have. Raises UnreadableClients."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(file, strict=True)
            columns = tuple(reader.fieldnames or ())
            _check_columns(path, columns)
            rows, instances = [], []
            for row in reader:
                if None in row or None in row.values():
                    raise UnreadableClients(
                        f"{path}: line {reader.line_num} does not have {len(columns)} fields, as the first line has"
                    )
                try:
                    instances.append(instance_of(row))
                except ValueError as error:
                    raise UnreadableClients(f"{path}: line {reader.line_num}: {error}") from error
                rows.append(row)
    except OSError as error:
        raise UnreadableClients(f"{path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise UnreadableClients(f"{path} is not UTF-8: save it as UTF-8") from error
    except csv.Error as error:
        raise UnreadableClients(f"{path}: {error}") from error
    return ClientFile(columns, rows, instances)


def _check_columns(path: Path, columns: tuple[str, ...]) -> None:
    missing = [column for column in COLUMNS if column not in columns]
    if len(columns) == 1 and missing and re.search("[;\t]", columns[0]):
        raise UnreadableClients(
            f"{path}: fields are separated by {columns[0][len(COLUMNS[0])]!r}: use commas"
        )
    if missing:
        raise UnreadableClients(f"{path}: no column {missing[0]}: the file needs {', '.join(COLUMNS)}")
    for column in columns:
        if columns.count(column) > 1:
            raise UnreadableClients(f"{path}: column {column} occurs more than once")


def instance_of(row: Mapping[str, str]) -> ClientInstance:
    """The all-zero id means that a client has none yet: a broker assigns it a random one. Raises ValueError."""
    port = row["source_port"]
    if port and not (port.isascii() and port.isdigit() and len(port) < 6 and int(port) < 65536):
        raise ValueError(f"source_port {port!r} is not a port")
    try:
        instance_id = instance_id_of(row["client_instance_id"])
    except BadInstanceId as error:
        raise ValueError(f"client_instance_id {error}") from error
    return ClientInstance(
        None if instance_id == NO_INSTANCE_ID else instance_id,
        row["client_id"] or None,
        row["software_name"] or None,
        row["software_version"] or None,
        row["source_address"] or None,
        int(port) if port else None,
    )


def write(path: Path, columns: tuple[str, ...], rows: list[dict[str, str]]) -> None:
    """Write all rows, or no file: see whole_file."""
    with whole_file(path) as opened:
        write_csv(opened, columns, ([guarded(row[column]) for column in columns] for row in rows))
