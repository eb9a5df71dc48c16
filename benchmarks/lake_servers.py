"""30 clusters, 4 writers at once, tables in PostgreSQL and S3: what fails, what is done twice, what is left over, what a day costs.

    make bench ARGS=lake_servers

Days are those of lake_growth.py, which has the rest of the words, with its maintenance each week. The servers are started for
it, each in a folder of its own: `make e2e ARGS=tests/end_to_end/lake` installs the S3 server, and PostgreSQL is the system's.
"""

import datetime as dt
import os
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from client_telemetry.lake.lake import Lake
from client_telemetry.tables.publications import PUBLICATIONS

from benchmarks.bench import Section
from benchmarks.lake_growth import FIRST, ROWS, Growth, grow, sections
from tests.client_telemetry.lake.conftest import left_over
from tests.end_to_end.lake.servers import postgres, postgres_programs, s3, s3_server

CLUSTERS, DAYS, WRITERS = 30, 58, 4
STAGES = ("collect",)
BROUGHT_IN = range(2, 56)
"""Days 3 to 56: the first days are compared with those after 56 days, with upkeep just before them."""
WAREHOUSE = "s3://lake/warehouse"


def run() -> Iterator[Section]:
    if s3_server() is None or postgres_programs() is None:
        raise SystemExit(
            "needs PostgreSQL (on Debian: apt-get install postgresql) and the S3 server of `make e2e`"
        )
    with TemporaryDirectory() as folder, s3(Path(folder), ("lake",)) as store, postgres() as catalog:
        os.environ.update(store | catalog)
        found = grow(WAREHOUSE, CLUSTERS, DAYS, WRITERS, STAGES, ROWS, minutes=24 * 60, brought_in=BROUGHT_IN)
        (section,) = sections(found, CLUSTERS, WRITERS, STAGES)
        text = (
            f"{section.text} Days {BROUGHT_IN.start + 1} to {BROUGHT_IN.stop} were not run: their rows were written to the tables, "
            f"one commit per day for all clusters, and maintained. {_state(found)}"
        )
        yield Section("Growth with several writers", text, section.rows)


def _state(found: Growth) -> str:
    """What the lake holds in the end. No stage is tried again: what a writer loses is a failed run."""
    for error in found.failed[:5]:
        print(error)
    lake = Lake(None, WAREHOUSE)
    publications = lake.rows(PUBLICATIONS)
    ours = {f"scheduled__{FIRST + dt.timedelta(days=number)}" for number in found.cpu}
    publications = [row for row in publications if row["run_id"] in ours]
    keys = {(row["cluster_id"], row["run_id"], row["stage"]) for row in publications}
    refs = sum(len(names) for names in left_over(lake).values())
    return (
        f"The tables are in PostgreSQL and on an S3 server on the same machine. {len(keys)} of {CLUSTERS * len(found.cpu) * len(STAGES)} "
        f"stages published, {len(publications) - len(keys)} of them twice; {refs} branches are left over."
    )
