"""30 clusters, 60 days, 4 writers at once, tables in PostgreSQL and S3: what fails, what is done twice, what is left over, what a day
costs.

    make bench ARGS=lake_servers
    MINUTES=60 make bench ARGS=lake_servers    # begins no day after that

Days are those of lake_growth.py, which has the rest of the words, with its maintenance each week. The servers are started for
it, each in a folder of its own: `make e2e ARGS=tests/end_to_end/lake` installs the S3 server, and PostgreSQL is the system's.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from client_telemetry.lake.lake import Lake
from client_telemetry.lake.local_catalog import LOCAL_CATALOG
from client_telemetry.tables.publications import PUBLICATIONS

from benchmarks.bench import Section
from benchmarks.lake_growth import ROWS, STAGES, Growth, grow, sections
from tests.client_telemetry.lake.conftest import left_over
from tests.end_to_end.lake.servers import postgres, postgres_programs, s3, s3_server

CLUSTERS, DAYS, WRITERS = 30, 60, 4
MINUTES = float(os.environ.get("MINUTES", 24 * 60))
WAREHOUSE = "s3://lake/warehouse"


def run() -> Iterator[Section]:
    if s3_server() is None or postgres_programs() is None:
        raise SystemExit(
            "needs PostgreSQL (on Debian: apt-get install postgresql) and the S3 server of `make e2e`"
        )
    with TemporaryDirectory() as folder, s3(Path(folder), ("lake",)) as store, postgres() as catalog:
        os.environ.update(store | catalog)
        os.environ.pop(LOCAL_CATALOG, None)
        found = grow(WAREHOUSE, CLUSTERS, DAYS, WRITERS, list(STAGES), ROWS, MINUTES)
        (section,) = sections(found, CLUSTERS, WRITERS, list(STAGES))
        yield Section("Growth with several writers", f"{section.text} {_state(found)}", section.rows)


def _state(found: Growth) -> str:
    """What the lake holds in the end. No stage is tried again: what a writer loses is a failed run."""
    for error in found.failed[:5]:
        print(error)
    lake = Lake(None, WAREHOUSE)
    publications = lake.rows(PUBLICATIONS)
    keys = {(row["cluster_id"], row["run_id"], row["stage"]) for row in publications}
    refs = sum(len(names) for names in left_over(lake).values())
    return (
        f"The tables are in PostgreSQL and on an S3 server on the same machine. {len(keys)} of {CLUSTERS * len(found.cpu) * len(STAGES)} "
        f"stages published, {len(publications) - len(keys)} of them twice; {refs} branches are left over."
    )
