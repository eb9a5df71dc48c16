"""What a search over 31 days that finds nothing costs the pages inside Airflow, with the index of each day and without.

    python -m benchmarks.search_days [--instances 200000] [--days 31]

Days are synthetic, written by the code of the fleet page, with a client for every four instances. CPU seconds of this process.
"""

import argparse
import os
import random
import sys
import tempfile
import time
from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

from client_telemetry.reports.fleet.search import (
    SearchIndex,
    as_json,
    client_entry,
    instance_entry,
    names_of,
)
from client_telemetry.subscriptions.instances import kafka_uuid

CHECKOUT = Path(__file__).parents[1]
QUERIES = {
    "instance id": "00000000-0000-4000-8000-0123456789ab",
    "address": "203.0.113.7",
    "name": "nobody-has-this-name",
}


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--instances", type=int, default=200_000)
    parser.add_argument("--days", type=int, default=31)
    args = parser.parse_args(argv)
    sys.path.insert(0, str(CHECKOUT / "plugins"))
    from telemetry_pages.published import Published
    from telemetry_pages.search import search

    with tempfile.TemporaryDirectory(dir=CHECKOUT / "var") as folder:
        files = {name: "".join(content) for name, content in _day(args.instances).files()}
        for name, text in files.items():
            print(f"{name}: {len(text) / 1e6:.1f} MB a day")
        _write(Path(folder), files, args.days)
        published = Published(folder)
        for kind, query in QUERIES.items():
            started, cpu = time.monotonic(), time.process_time()
            (hits,) = search(published, query, ["c"], args.days)
            assert hits.day is None
            print(
                f"{kind}, {len(hits.searched)} days, index: {time.process_time() - cpu:.2f} CPU s, {time.monotonic() - started:.2f} s"
            )
        for file in Path(folder).glob("fleet/c/*/search.*.txt"):
            file.unlink()
        cpu = time.process_time()
        search(published, QUERIES["name"], ["c"], args.days)
        print(f"name, {args.days} days, without the index: {time.process_time() - cpu:.2f} CPU s")
    return 0


def _write(root: Path, files: dict[str, str], days: int) -> None:
    """The same content for every day, once on the disk."""
    latest = date(2026, 11, 21)
    first = None
    for day in range(days):
        folder = root / "fleet" / "c" / (latest - timedelta(days=day)).isoformat()
        folder.mkdir(parents=True)
        for name, text in files.items():
            if first is None:
                (folder / name).write_text(text, encoding="utf-8")
            else:
                os.link(first / name, folder / name)
        first = first or folder


def _day(instances: int) -> SearchIndex:
    numbers = random.Random(21)
    at = datetime(2026, 11, 21, 5, tzinfo=UTC)

    def identity(client: int) -> dict[str, Any]:
        return {
            "client_id": f"service-{client:06}-consumer",
            "principal": f"User:team-{client % 500:03}",
            "client_software_name": "apache-kafka-java",
            "client_software_version": "3.9.1",
            "group_ids": [f"group-{client:06}"],
            "transactional_ids": [],
        }

    def address(number: int) -> str:
        return f"10.{number >> 16 & 255}.{number >> 8 & 255}.{number & 255}"

    clients = [
        {
            **identity(n),
            "owner": f"team-{n % 500:03}",
            "connections": 8,
            "instances": 4,
            "first_seen_at": at,
            "last_seen_at": at,
        }
        | {"client_addresses": [address(4 * n)]}
        for n in range(instances // 4)
    ]
    rows = [
        {
            **identity(n // 4),
            "client_instance_id": numbers.randbytes(16),
            "client_addresses": [address(n)],
            "broker_ids": [1, 2, 3],
            "racks": [],
        }
        | {"pushes": 1440, "first_evidence_at": at, "last_evidence_at": at, "end_reason": "still_open"}
        for n in range(instances)
    ]
    return SearchIndex(
        "c",
        "2026-11-21",
        (as_json(client_entry(row)) for row in clients),
        (as_json(instance_entry(row)) for row in rows),
        sorted(kafka_uuid(row["client_instance_id"]) for row in rows),
        sorted({name for row in (*clients, *rows) for name in names_of(row)}),
    )


if __name__ == "__main__":
    sys.exit(main())
