"""`make e2e` gets the jars of the REST catalog and the S3 server; PostgreSQL is the system's."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from .servers import CHECKOUT, REST_JARS, postgres, postgres_programs, rest_catalog


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.end_to_end)


@pytest.fixture
def warehouse() -> Iterator[str]:
    """A folder that is none of the temporary ones, in which a server's catalog takes no tables."""
    (CHECKOUT / "var" / "e2e").mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=CHECKOUT / "var" / "e2e", prefix="warehouse-") as folder:
        yield f"file://{folder}"


CATALOGS = ("postgres", "rest")
POSTGRES_IN_SHORT = ("postgres", pytest.param("rest", marks=pytest.mark.long))
"""Of tests that take minutes with each: `catalog` is given them by parametrize(..., indirect=True)."""


@pytest.fixture(params=CATALOGS)
def catalog(request, tmp_path, monkeypatch, warehouse) -> Iterator[str]:
    """A real catalog in the environment; its name."""
    if request.param == "postgres":
        if postgres_programs() is None:
            pytest.skip("no PostgreSQL: on Debian, apt-get install postgresql")
        server = postgres()
    else:
        if not REST_JARS.exists():
            pytest.skip("no jars of the REST catalog: make e2e gets them where there are Maven and a JDK")
        server = rest_catalog(tmp_path / "rest", warehouse)
    with server as environment:
        environment["PYICEBERG_CATALOG__LAKE__WAREHOUSE"] = warehouse
        for name, value in environment.items():
            monkeypatch.setenv(name, value)
        yield request.param
