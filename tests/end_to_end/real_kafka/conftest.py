"""`make e2e` gets the jars and the clients' Python environment."""

import os
from pathlib import Path

import pytest

from .kafka_broker import JARS, PLUGIN
from .object_store import ACCESS_KEY, SECRET_KEY

# Before Spark starts: its workers have the environment that it was started in.
os.environ.setdefault("AWS_ACCESS_KEY_ID", ACCESS_KEY)
os.environ.setdefault("AWS_SECRET_ACCESS_KEY", SECRET_KEY)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.end_to_end)
            if not JARS.exists() or not PLUGIN.exists():
                item.add_marker(
                    pytest.mark.skip(
                        "no plugin or no brokers: make e2e gets them where there are Maven and a JDK"
                    )
                )
