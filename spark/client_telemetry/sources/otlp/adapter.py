"""Files of OpenTelemetry metrics as a source."""

import json
from collections.abc import Sequence

from client_telemetry.sources.adapter import Conversion, Source, cut_files
from client_telemetry.sources.arrivals import Form
from client_telemetry.sources.dump_root import DumpRoot
from client_telemetry.sources.log_files import LogFile
from client_telemetry.sources.otlp.conversion import convert
from client_telemetry.sources.otlp.files import FORMATS, form
from client_telemetry.sources.staged import Staged

_BEGAN = "began.json"
"""With which day the metrics of each broker began."""


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
        done = convert(parts, source.format, cluster_id, staged.folder, began)
        (staged.folder / _BEGAN).write_text(json.dumps(began), encoding="utf-8")
        message = (
            f"{done.messages} messages of {done.files} files: {done.pushes} pushes, {done.unreadable.total()} unreadable "
            f"messages, {done.other_signals} of logs or traces, {done.other_clusters} resources of other clusters"
        )
        counts = {
            "converted_messages": done.messages,
            "converted_pushes": done.pushes,
            "converted_unreadable": done.unreadable.total(),
        }
        return Conversion(message, counts, cut_files(done.cut))
