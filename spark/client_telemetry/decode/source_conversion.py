"""New parts of a source (request logs, a Collector's files) as objects of the raw location, before its days are recorded."""

from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial

from client_telemetry.formats.locations import absolute_url
from client_telemetry.pipeline.stage import BadArguments, Stage
from client_telemetry.sources import conversion
from client_telemetry.workers.pieces import Part, Result, in_tasks


class SourceConversion:
    """A repeated attempt of a stage converts what arrived meanwhile; `counts` and `warnings` are of everything that was
    converted.
    """

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.warnings: list[str] = []

    def convert(self, stage: Stage) -> None:
        """Convert in Spark tasks where parts are independent. Does nothing without a source."""
        if not stage.arguments.source:
            return
        try:
            source = conversion.declared(stage.arguments.source)
            raw = absolute_url(stage.arguments.raw)
            result = conversion.convert_new(source, stage.cluster, raw, spread=partial(_spread, stage))
        except conversion.REFUSALS as error:
            raise BadArguments(f"source of cluster {stage.cluster}: {error}; see docs/sources.md") from None
        print(f"collect: {result.message}", flush=True)
        self.counts.update(result.counts)
        self.warnings += [warning for warning in result.warnings if warning not in self.warnings]


def _spread(stage: Stage, work: Callable[[Part], Result], parts: Sequence[Part]) -> list[Result]:
    """Each part in a task; a single part is not worth starting Spark."""
    return in_tasks(stage.spark if len(parts) > 1 else None, work, parts)
