"""Nessie's REST interface does not do what stages need: it is refused before a stage computes anything, with the reason."""

import pytest
from client_telemetry.formats.raw.file_system import forget_file_systems
from client_telemetry.lake.catalog import NoSuchLake

from tests.client_telemetry.lake.conftest import created

from .servers import NESSIE_JAR, nessie, nessie_java, s3, s3_server

WAREHOUSE = "s3://lake/warehouse"


def test_nessie_is_refused_with_the_reason(tmp_path, monkeypatch):
    if s3_server() is None or not NESSIE_JAR.exists() or nessie_java() is None:
        pytest.skip(
            "no S3 server or no jar of Nessie: make e2e gets them where there is Maven; or no Java 21"
        )
    with s3(tmp_path, ("lake",)) as store:
        for name, value in store.items():
            monkeypatch.setenv(name, value)
        with nessie(tmp_path / "nessie", WAREHOUSE) as environment:
            for name, value in environment.items():
                monkeypatch.setenv(name, value)
            with pytest.raises(NoSuchLake, match="does not make a table in one commit"):
                created(WAREHOUSE)
        forget_file_systems()
