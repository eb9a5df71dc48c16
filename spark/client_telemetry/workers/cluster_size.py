"""Whether what a stage asks of a standalone master fits its workers, from the master's page (`/json/`): Spark itself waits
without an end for an executor that no worker has room for.
"""

import json
import os
import urllib.request
from collections.abc import Mapping, Sequence
from typing import TypedDict, cast

_SECONDS = 5
_UNITS = {"k": 2**-10, "m": 1.0, "g": 2.0**10, "t": 2.0**20}


class Worker(TypedDict):
    """`memory`: MiB."""

    state: str
    cores: int
    memory: int


class ClusterState(TypedDict):
    url: str
    workers: list[Worker]


def master_state(master: str) -> ClusterState | None:
    """What the page of the first master that answers says; None where there is no such page, and nothing is known. Its port is
    SPARK_MASTER_WEBUI_PORT, 8080 by default, as for Spark.
    """
    port = os.environ.get("SPARK_MASTER_WEBUI_PORT", "8080")
    for address in master.removeprefix("spark://").split(","):
        url = f"http://{address.rpartition(':')[0]}:{port}/json/"
        try:
            with urllib.request.urlopen(url, timeout=_SECONDS) as answer:
                state = json.load(answer)
        except (OSError, ValueError):
            continue
        if isinstance(state, dict) and state.get("status") == "ALIVE" and "workers" in state:
            return cast("ClusterState", state)
    return None


def does_not_fit(state: ClusterState, settings: Mapping[str, str]) -> str | None:
    """Why no executor of these settings can start, in one line; None if one can."""
    cores = int(settings.get("spark.executor.cores") or 1)
    memory = mebibytes(settings.get("spark.executor.memory") or "1g")
    workers = _alive(state)
    if any(worker["cores"] >= cores and worker["memory"] >= memory for worker in workers):
        return None
    sizes = sorted({f"{worker['cores']} cores and {worker['memory']} MiB" for worker in workers})
    there = f"its workers have {'; '.join(sizes)}" if workers else "it has no worker"
    return (
        f"no worker of {state.get('url')} can hold an executor of {cores} cores and {memory} MiB (spark.executor.cores, "
        f"spark.executor.memory): {there}. Make executors smaller or workers larger (docs/deployment.md)"
    )


def too_many_slots(state: ClusterState, settings: Mapping[str, str], slots: int) -> str | None:
    """Why stages that run at once may wait for each other's cores, in one line; None if they do not."""
    most, cores = settings.get("spark.cores.max"), sum(worker["cores"] for worker in _alive(state))
    if most is None or slots * int(most) <= cores:
        return None
    return (
        f"{slots} stages at once (slots of the pool lake_writer) x {most} cores (spark.cores.max) are more than the {cores} cores of "
        f"{state.get('url')}: a stage may wait for the cores of others. Set spark.cores.max to {max(1, cores // slots)}, or fewer slots"
    )


def mebibytes(text: str) -> int:
    """Of a size as Spark writes it; without a unit, bytes.

    >>> mebibytes("6g"), mebibytes("512m"), mebibytes("1536MB")
    (6144, 512, 1536)
    """
    lowered = text.strip().lower().removesuffix("b")
    unit = lowered[-1:] if lowered[-1:] in _UNITS else ""
    number = float(lowered.removesuffix(unit))
    return int(number * _UNITS[unit] if unit else number / 2**20)


def _alive(state: ClusterState) -> Sequence[Worker]:
    return [worker for worker in state["workers"] if worker.get("state") == "ALIVE"]
