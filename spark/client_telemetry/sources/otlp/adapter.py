"""Files of OpenTelemetry metrics as a source."""

import json
from collections.abc import Sequence

from client_telemetry.sources.adapter import Conversion, Source, cut_files
from client_telemetry.sources.arrivals import Form
from client_telemetry.sources.dump_root import DumpRoot
from client_telemetry.sources.log_files import LogFile
from client_telemetry.sources.otlp.conversion import Converted, convert
from client_telemetry.sources.otlp.files import FORMATS, form
from client_telemetry.sources.staged import Staged

_BEGAN = "began.json"
"""Stores the day on which the metrics of each broker began."""


class OtlpAdapter:
    formats = tuple(FORMATS)
    options: frozenset[str] = frozenset()

    def form(self, source: Source) -> Form:
        return form(source.format)

    def convert(
        self, source: Source, parts: Sequence[LogFile], cluster_id: str, before: DumpRoot, staged: Staged
    ) -> Conversion:
        starts = json.loads(before.read(_BEGAN) or b"{}")
        began = {int(broker_id): nanos for broker_id, nanos in starts.items()}
        converted = convert(parts, source.format, cluster_id, staged.folder, began)
        (staged.folder / _BEGAN).write_text(json.dumps(began), encoding="utf-8")
        message = (
            f"{converted.messages} messages of {converted.files} files: {converted.pushes} pushes, {converted.unreadable.total()} unreadable "
            f"messages, {converted.other_signals} of logs or traces, {converted.other_clusters} resources of other clusters"
        )
        counts = {
            "converted_messages": converted.messages,
            "converted_pushes": converted.pushes,
            "converted_unreadable": converted.unreadable.total(),
        }
        nothing_read = _reason_for_nothing(converted, source.format)
        return Conversion(message, counts, cut_files(converted.cut), nothing_read=nothing_read)


def _reason_for_nothing(converted: Converted, format_: str) -> str:
    """Why there is not a single push; empty if there is one."""
    if converted.pushes:
        return ""
    if converted.unreadable:
        reason, count = converted.unreadable.most_common(1)[0]
        return (
            f"nothing was read: {count:,} messages cannot be read as {format_}: {reason}; the formats are "
            f"{', '.join(FORMATS)}"
        )
    if converted.other_clusters:
        return f"nothing was read: all {converted.other_clusters:,} resources name another cluster"
    if converted.other_signals:
        return f"nothing was read: all {converted.other_signals:,} messages are logs or traces, not metrics"
    return f"nothing was read: {converted.messages:,} messages in {converted.files:,} files have no metrics"
