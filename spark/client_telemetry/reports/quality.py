"""Warnings of the quality checks, as reports list them."""

from collections.abc import Iterable

from client_telemetry.formats.typed_values import of_row
from client_telemetry.reports.evidence import QualityWarning
from client_telemetry.tables.rows import QualityResultRow


def quality_warnings(rows: Iterable[QualityResultRow]) -> tuple[QualityWarning, ...]:
    failed = (row for row in rows if row["severity"] == "warning" and not row["success"])
    found = [of_row(QualityWarning, row) for row in failed]
    return tuple(sorted(found, key=lambda w: (w.dt, w.stage, w.table_name, w.expectation)))
