"""Names of the measured targets of a cluster: the files of `client-telemetry probe` in the folder that the clusters file names."""

import re
from pathlib import PurePosixPath

import fsspec

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9._-]*")
"""As the parameters of the DAGs take it (include/run_day.py)."""


def measured_targets(folder: str | None) -> list[str]:
    """Without `.json`, sorted; none where the folder cannot be read: who names one is told why by the run."""
    if not folder:
        return []
    try:
        files, path = fsspec.core.url_to_fs(folder)
        found = [PurePosixPath(each) for each in files.ls(path, detail=False)]
    except (OSError, ValueError, ImportError):
        return []
    return sorted(file.stem for file in found if file.suffix == ".json" and _NAME.fullmatch(file.stem))
