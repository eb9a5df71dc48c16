"""The order of the files: pytest-xdist gives them out one after the other, and the last to end should be short."""

import pytest

LONGEST_FIRST = (
    "test_subscription_check_in_airflow.py",
    "test_cluster.py",
    "test_whole_path.py",
    "test_object_store.py",
    "test_live_roll.py",
    "test_upkeep.py",
    "test_watch_modes.py",
    "test_probe_kerberos.py",
    "test_images.py",
    "test_operators_levels.py",
    "test_rehearse.py",
    "test_question_that_waits.py",
    "test_killed_writers.py",
    "test_many_writers.py",
    "test_vended_credentials.py",
    "test_privacy.py",
    "test_full_spool.py",
    "test_kafka_classes.py",
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    order = {name: number for number, name in enumerate(LONGEST_FIRST)}
    items.sort(key=lambda item: order.get(item.path.name, len(order)))
