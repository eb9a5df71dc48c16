from collections.abc import Iterator

import pytest
from client_telemetry.subscriptions.java_runtime import JavaRuntime


@pytest.fixture(scope="session")
def java() -> Iterator[JavaRuntime]:
    with JavaRuntime() as runtime:
        yield runtime
