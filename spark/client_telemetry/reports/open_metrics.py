"""OpenMetrics text, which Prometheus reads from a textfile collector or an endpoint, and where it is published."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from pathlib import Path
from typing import Final

from client_telemetry.reports.folder import replace_file
from client_telemetry.reports.names import folder_name

FOLDER: Final = "metrics"
OWNERS_MEASURED: Final = 100
"""Owners with series of their own; the others are one. It bounds the series of a cluster, whatever the fleet."""
OTHER_OWNERS: Final = "other owners"


@dataclass(frozen=True)
class Gauge:
    """A family. `samples`: labels and value of each. `unit`: with which the name ends, if it is to be told."""

    name: str
    words: str
    samples: tuple[tuple[Mapping[str, str], float], ...]
    unit: str = ""


Measured = tuple[str, str, float | date | None]
"""Name of a number, what it says, and the number: a time in seconds since 1970, a day as its begin; None = there is none."""


def number_gauges(prefix: str, labels: Mapping[str, str], numbers: Iterable[Measured]) -> Iterator[Gauge]:
    """A family for each number, all with the same labels."""
    for name, words, value in numbers:
        if isinstance(value, date):
            begin = value if isinstance(value, datetime) else datetime.combine(value, time(), UTC)
            value = begin.timestamp()
        if value is not None:
            yield Gauge(f"{prefix}_{name}", words, ((labels, value),))


def exposition(gauges: Iterable[Gauge]) -> str:
    """
    >>> print(exposition([Gauge("x_applications", "Applications", (({"owner": 'a"b'}, 2),))]), end="")
    # TYPE x_applications gauge
    # HELP x_applications Applications.
    x_applications{owner="a\\"b"} 2
    # EOF
    """
    lines = []
    for gauge in gauges:
        lines += [f"# TYPE {gauge.name} gauge"]
        lines += [f"# UNIT {gauge.name} {gauge.unit}"] if gauge.unit else []
        lines += [f"# HELP {gauge.name} {gauge.words}."]
        lines += [f"{gauge.name}{{{_labels(labels)}}} {value}" for labels, value in gauge.samples]
    return "\n".join([*lines, "# EOF"]) + "\n"


def publish_numbers(root: Path, kind: str, name: str, text: str) -> None:
    """As `metrics/<kind>-<name>.prom` below the published folder: one folder for a textfile collector to watch."""
    folder = root / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    replace_file(folder / f"{kind}-{folder_name(name)}.prom", text)


def _labels(labels: Mapping[str, str]) -> str:
    return ",".join(f'{name}="{_label(value)}"' for name, value in labels.items())


def _label(text: str) -> str:
    """The value of a label, escaped; half of a surrogate pair, which UTF-8 cannot have, as a question mark."""
    plain = text.encode("utf-8", "replace").decode("utf-8")
    return plain.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
