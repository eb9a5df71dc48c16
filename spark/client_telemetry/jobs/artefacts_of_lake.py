"""What the lake's table of artefacts says beside a report that is being made."""

from dataclasses import replace
from typing import Final

from client_telemetry.formats.written_file import Written
from client_telemetry.inventory import stored, workload_files
from client_telemetry.inventory.joined import join
from client_telemetry.inventory.workloads import UnusableWorkloads, Workloads
from client_telemetry.pipeline.inputs import as_read
from client_telemetry.pipeline.stage import Stage
from client_telemetry.pipeline.text_file import read_text_file
from client_telemetry.reports.inventory.document import as_json
from client_telemetry.reports.upgrade import decision
from client_telemetry.reports.upgrade.model import UpgradeReport
from client_telemetry.reports.upgrade.seen_clients import seen_clients
from client_telemetry.tables.artefacts import ARTEFACTS

STAGE: Final = "artefact_inventory"


def workloads_at(location: str | None) -> Workloads:
    """Of one file; a hosts file says nothing about images. Raises BadArguments."""
    if not location:
        return Workloads()

    def parse(text: str) -> Workloads:
        try:
            return workload_files.parse(text, location.rpartition("/")[2])
        except UnusableWorkloads as error:
            raise ValueError(str(error)) from None

    return read_text_file(location, "workloads", parse)


def has_inventory(stage: Stage) -> bool:
    """Whether a day of artefacts of the cluster is published."""
    return bool(stage.lake.published_days(stage.cluster, STAGE))


def with_artefacts(stage: Stage, report: UpgradeReport) -> UpgradeReport:
    """The report with what the newest day of artefacts says beside it, in the snapshot that the question names."""
    snapshot = report.question.snapshots.get(ARTEFACTS.name)
    days = stage.lake.published_days(stage.cluster, STAGE) if snapshot is not None else set()
    for day in sorted(days, reverse=True):
        if rows := as_read(stage, ARTEFACTS, snapshot or 0, dt=day):
            seen = seen_clients(report)
            written = stored.written(rows, seen.source, seen.target)
            joined = join(written, seen, workloads_at(stage.arguments.workloads))
            document: Written = {**as_json(joined, ()), "inventory": day.isoformat()}
            lines = decision.with_written(report.for_management, document)
            return replace(report, written=document, for_management=lines)
    return report
