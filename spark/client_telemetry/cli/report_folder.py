"""A published upgrade report of which something is tried: a rehearsal, a replay."""

from pathlib import Path

from client_telemetry.formats import report_file
from client_telemetry.formats.report_file import NotAReport, Report


def read(named: Path) -> tuple[Path, Report]:
    """The report's folder, and its content. Raises NotAReport."""
    report, applications = report_file.read(named, lambda report: (_checked(report), report["applications"]))
    if not applications:
        raise NotAReport(f"{named} has no application: there is nothing to try")
    return named if named.is_dir() else named.parent, report


def _checked(report: Report) -> Report:
    """Raises LookupError or TypeError."""
    for name in ("to_release", "from_release"):
        report["question"][name]
    report["clients"]
    return report
