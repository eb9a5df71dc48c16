from client_telemetry.reports.versions import version_order
from hypothesis import given
from hypothesis import strategies as st


def test_order():
    versions = [
        "10.0.0",
        "3.9.1",
        "v1.15.4",
        "1.4.2-dirty",
        "1.4.2",
        "2.16.1-rdkafka-2.16.0",
        "3.10.0",
        "weird",
        None,
    ]
    assert sorted(versions, key=version_order) == [
        "1.4.2", "1.4.2-dirty", "v1.15.4", "2.16.1-rdkafka-2.16.0", "3.9.1", "3.10.0", "10.0.0", "weird", None,
    ]  # fmt: skip


@given(st.lists(st.none() | st.text()))
def test_whatever_clients_tell_can_be_ordered(versions):
    sorted(versions, key=version_order)
