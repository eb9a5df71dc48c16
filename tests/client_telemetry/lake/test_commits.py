"""A commit costs little more with many snapshots in the table than with one."""

import datetime as dt

import pytest
from client_telemetry.tables.publications import PUBLICATIONS
from pyiceberg.table import metadata

from .conftest import DAY, created, staged

COPIES_OF_A_COMMIT = 5
"""Of the table's whole metadata: at the start, after each of two updates at most, and two by the catalog."""


def test_a_commit_copies_the_metadata_a_few_times(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    lake = created(str(tmp_path))
    staged(lake, "a", "first").publish("a", "first", "collect", [DAY])
    copies: list[int] = []
    original = metadata.TableMetadataV2.model_copy

    def counted(self, *, update=None, deep=False):
        copies.append(deep)
        return original(self, update=update, deep=deep)

    monkeypatch.setattr(metadata.TableMetadataV2, "model_copy", counted)
    row = {"cluster_id": "a", "run_id": "second", "stage": "collect", "dt": DAY, "snapshots": {}}
    lake.append(PUBLICATIONS, [{**row, "published_at": dt.datetime(2026, 11, 21, tzinfo=dt.UTC)}])
    assert 0 < sum(copies) <= COPIES_OF_A_COMMIT


def test_a_change_sees_what_it_did_before(tmp_path) -> None:
    lake = created(str(tmp_path))
    seen = []

    def change(iceberg, transaction) -> None:
        seen.append(dict(transaction.table_metadata.properties))
        transaction.set_properties(purpose="test")
        seen.append(dict(transaction.table_metadata.properties))

    iceberg = lake.committed(PUBLICATIONS.name, change)
    assert "purpose" not in seen[0]
    assert seen[1]["purpose"] == "test" == iceberg.metadata.properties["purpose"]


@pytest.mark.parametrize("code", ["RESOURCE_NOT_FOUND", "NO_SUCH_KEY"])
def test_a_table_whose_metadata_others_replaced_meanwhile_is_loaded_again(
    tmp_path, monkeypatch, code
) -> None:
    """As an object store says it, which is no FileNotFoundError."""
    lake = created(str(tmp_path))
    load, failures = lake.catalog.load_table, [OSError(f"AWS Error {code} during GetObject operation")]

    def gone_once(name):
        if failures:
            raise failures.pop()
        return load(name)

    monkeypatch.setattr(lake.catalog, "load_table", gone_once)
    assert lake.rows(PUBLICATIONS) == []
    failures.append(OSError("AWS Error ACCESS_DENIED during GetObject operation"))
    with pytest.raises(OSError, match="ACCESS_DENIED"):
        lake.rows(PUBLICATIONS)
