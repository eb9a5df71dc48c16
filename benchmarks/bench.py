"""Run benchmarks, keep their results and show them.

    python -m benchmarks.bench [NAME ...]

Each name is a module of this folder with a function `run()` that gives its Sections, as a list or one by one as they
are ready; without names, all of BENCHMARKS run, and those of BY_NAME_ONLY do not.
Results go to benchmarks/results/<date>.json, and the latest of each benchmark to docs/performance.md. Nothing here
passes or fails: on a busy machine only ratios are meaningful, and they are what the tables show.
"""

import datetime as dt
import importlib
import json
import os
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from client_telemetry.lake.local_catalog import LOCAL_CATALOG

from benchmarks.measure import machine

BENCHMARKS: tuple[str, ...] = ("decode", "sessions", "profile", "impact", "subscriptions")
BY_NAME_ONLY = (
    "scale",
    "fleet_page",
    "artefact_join",
    "lake_growth",
    "lake_servers",
    "lake_stages",
    "lake_files",
    "review",
    "request_logs",
    "queries",
    "submitted_day",
)
RESULTS = Path(__file__).parent / "results"
PAGE = Path(__file__).parents[1] / "docs" / "performance.md"


@dataclass(frozen=True)
class Section:
    """One table of a benchmark's result. `text` says in Markdown what was measured and how to read it; `rows` have
    the same columns each, in the order shown, and plain values."""

    title: str
    text: str
    rows: Sequence[dict[str, str | float | int | None]]


def main(names: Sequence[str]) -> int:
    known = (*BENCHMARKS, *BY_NAME_ONLY)
    unknown = [name for name in names if name not in known]
    if unknown:
        print(f"no benchmark {', '.join(unknown)}; there are {', '.join(known)}", file=sys.stderr)
        return 2
    today = dt.datetime.now(dt.UTC).date()
    os.environ[LOCAL_CATALOG] = "1"
    for name in names or BENCHMARKS:
        print(f"{name} ...", flush=True)
        sections: list[Section] = []
        for section in importlib.import_module(f"benchmarks.{name}").run():
            sections.append(section)
            print(f"\n{section.title}\n\n{table(section.rows)}\n", flush=True)
            keep(RESULTS / f"{today}.json", name, sections, is_complete=False)
        keep(RESULTS / f"{today}.json", name, sections)
    PAGE.write_text(page(RESULTS), encoding="utf-8")
    print(f"\nwritten: {RESULTS.name}/{today}.json and docs/{PAGE.name}")
    return 0


def keep(file: Path, name: str, sections: Sequence[Section], *, is_complete: bool = True) -> None:
    """Add or replace one benchmark's results in the file of the day. `is_complete`: whether no section is missing."""
    results = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    result = {"machine": machine(), "sections": [asdict(section) for section in sections]}
    results[name] = result if is_complete else {"is_complete": False, **result}
    file.parent.mkdir(exist_ok=True)
    file.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")


def page(folder: Path) -> str:
    """docs/performance.md: the latest result of each benchmark. A run that was interrupted replaces the sections that it
    finished.
    """
    latest: dict[str, dict[str, tuple[str, dict]]] = {}
    for file in sorted(folder.glob("*.json")):
        for name, result in json.loads(file.read_text(encoding="utf-8")).items():
            measured = f"Measured {file.stem}: {_listed(result['machine'])}."
            sections = {section["title"]: (measured, section) for section in result["sections"]}
            latest[name] = sections if result.get("is_complete", True) else latest.get(name, {}) | sections
    parts = [
        "# Performance\n\nWritten by `make bench` (`make bench ARGS=NAME` runs one benchmark). CPU time is user + "
        "system time of the JVM and all Python workers, the median of rounds in which the cases took turns after a "
        "warm-up. Compare ratios, not seconds: ratios hold on a busy machine and on other machines."
    ]
    for name in sorted(latest, key=_place):
        parts.append(f"## {name}")
        earlier = None
        for measured, section in latest[name].values():
            if measured != earlier:
                parts.append(measured)
            earlier = measured
            parts.append(shown(**section))
    return "\n\n".join(parts) + "\n"


def _listed(machine: dict[str, str | int]) -> str:
    return ", ".join(f"{key} {value}" for key, value in machine.items())


def shown(title: str, text: str, rows: Sequence[dict]) -> str:
    """A Section in Markdown."""
    return f"### {title}\n\n{text}\n\n{table(rows)}"


def _place(name: str) -> int:
    return BENCHMARKS.index(name) if name in BENCHMARKS else len(BENCHMARKS)


def table(rows: Sequence[dict]) -> str:
    """Rows as a Markdown table; numbers to the right."""
    if not rows:
        return "(no rows)"
    columns = list(rows[0])
    numeric = [all(isinstance(row[c], int | float | None) for row in rows) for c in columns]
    lines = [columns, ["---:" if right else "---" for right in numeric]]
    lines += [[_cell(row[column]) for column in columns] for row in rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _cell(value: str | float | int | None) -> str:
    if value is None:
        return ""
    return f"{value:,.2f}" if isinstance(value, float) else f"{value:,}" if isinstance(value, int) else value


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
