"""kill -9 of a run before and after each of its commits on real catalogs: readers see all of a publication or nothing, and the
next run repairs what is left."""

from itertools import product

import pytest
from client_telemetry.lake.catalog import NAMESPACE
from client_telemetry.lake.lake import Lake

from tests.client_telemetry.lake.conftest import (
    COMMITS,
    check_consistent,
    check_killed_publication,
    create,
    created,
    killed,
    left_over,
    publish_new,
)

from .conftest import POSTGRES_IN_SHORT

MOMENTS = ("before", "after")
COMMITS_OF_A_TABLE = 4
"""It is made, gets its first snapshot, and a branch to see whether the catalog keeps it, which goes again."""


@pytest.mark.parametrize("catalog", POSTGRES_IN_SHORT, indirect=True)
def test_a_run_killed_at_any_commit_leaves_all_of_its_publication_or_nothing(catalog, warehouse):
    lake = created(warehouse)
    for at, when in product(range(1, COMMITS + 1), MOMENTS):
        check_killed_publication(lake, at, when, cluster=f"{when} {at}")


@pytest.mark.parametrize("catalog", POSTGRES_IN_SHORT, indirect=True)
@pytest.mark.parametrize("when", MOMENTS)
def test_a_run_killed_while_it_makes_a_table_leaves_a_lake_that_the_next_one_uses(catalog, warehouse, when):
    for at in range(1, COMMITS_OF_A_TABLE + 2):
        assert killed(warehouse, at, when, create)
        lake = created(warehouse)
        lake.published()
        publish_new(lake)
        assert {ref for names in left_over(lake).values() for ref in names} <= {"audit_probe"}
        check_consistent(lake)
        _drop_all(lake)


def _drop_all(lake: Lake) -> None:
    for name in lake.tables():
        lake.catalog.drop_table((NAMESPACE, name))
