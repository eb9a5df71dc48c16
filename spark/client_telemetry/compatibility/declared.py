"""The library that a client declares, or that is written where it is built."""

from client_telemetry.compatibility.evidence import ClientEvidence
from client_telemetry.knowledge import software


def declared_library(evidence: ClientEvidence) -> software.Identity | None:
    """The library behind the declared software, or the written one; None if there is none or the name is unknown."""
    if evidence.written is not None:
        return software.identify_written(evidence.written)
    if not evidence.declares_software:
        return None
    return software.identify_name(evidence.client_software_name or "", evidence.client_software_version or "")
