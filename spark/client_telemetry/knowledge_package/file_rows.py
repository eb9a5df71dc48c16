"""Rows of the files of a knowledge base as text, by column: of two that are compared, both need not be loadable at once."""

import csv
import io
from collections.abc import Mapping

Row = Mapping[str, str]


def table(texts: Mapping[str, str], file: str) -> list[Row]:
    """The rows of a file; none for one that is not there."""
    return [
        {column: cell or "" for column, cell in row.items() if column is not None}
        for row in csv.DictReader(io.StringIO(texts.get(file, ""), newline=""))
    ]
