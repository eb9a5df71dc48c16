import pytest
from client_telemetry.identity.scram_users import NotADescription, scram_principals

PRINTED = """\
Quota configs for user-principal 'alice' are producer_byte_rate=1048576.0
SCRAM credential configs for user-principal 'alice' are SCRAM-SHA-256=iterations=8192, SCRAM-SHA-512=iterations=4096
SCRAM credential configs for user-principal 'o'brien the 2nd' are SCRAM-SHA-512=iterations=4096
"""


def test_who_has_credentials():
    assert scram_principals(PRINTED) == {"User:alice", "User:o'brien the 2nd"}


def test_nobody_has_any_where_only_quotas_are_described():
    assert scram_principals(PRINTED.splitlines()[0]) == frozenset()


@pytest.mark.parametrize("printed", ["", " \n"])
def test_an_empty_file_proves_nothing(printed):
    with pytest.raises(NotADescription, match="it is empty"):
        scram_principals(printed)


@pytest.mark.parametrize("printed", ["alice\nbob\n", "Error while executing config command with args"])
def test_something_else_is_refused(printed):
    with pytest.raises(NotADescription, match=r"kafka-configs\.sh --describe --entity-type users"):
        scram_principals(printed)
