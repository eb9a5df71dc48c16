"""Which files of an inventory may say something about clients."""

from pathlib import Path

from client_telemetry.artefacts import files
from client_telemetry.artefacts.binaries.archives import JAVA
from client_telemetry.artefacts.binaries.images import SAVED
from client_telemetry.artefacts.owners import CATALOG, repository_of

_BINARIES = (*JAVA, ".whl", *SAVED)


def is_read(name: str) -> bool:
    """Whether an object of this name may say something: others need not be copied."""
    path = Path(name)
    return (
        files.by_name(name) is not None
        or files.beginning_decides(name)
        or name.lower().endswith(
            (*_BINARIES, ".properties", ".yaml", ".yml", ".env", ".go", ".py", ".tf", ".hcl", ".nomad")
        )
        or repository_of(name) is not None
        or path.name in (*CATALOG, "oci-layout")
        or "blobs/sha256/" in name
    )
