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


ZOOKEEPER = """\
Warning: --zookeeper is deprecated and will be removed in a future version of Kafka.
Use --bootstrap-server instead to specify a broker to connect to.
Configs for user-principal 'orders' are SCRAM-SHA-512=salt=c2FsdA==,stored_key=c3RvcmVk,server_key=c2VydmVy,iterations=4096
Configs for user-principal 'quota and scram' are producer_byte_rate=1024,SCRAM-SHA-256=salt=c2FsdA==,stored_key=c3RvcmVk,iterations=4096
Configs for user-principal 'billing', client-id 'invoices' are consumer_byte_rate=2048
Configs for default user-principal are producer_byte_rate=1024
Configs for user-principal 'emptied' are
"""


def test_a_cluster_on_zookeeper_describes_quotas_and_credentials_in_one_line():
    assert scram_principals(ZOOKEEPER) == {"User:orders", "User:quota and scram"}
    assert scram_principals(ZOOKEEPER.replace("\n", "\r\n")) == {"User:orders", "User:quota and scram"}


def test_quotas_of_the_tool_that_shows_no_credentials_prove_nothing():
    with pytest.raises(NotADescription, match="quotas only"):
        scram_principals("Configs for user-principal 'alice' are producer_byte_rate=1024.0\n")


@pytest.mark.parametrize(
    "line",
    [
        "Error retrieving SCRAM credential configs for user-principal 'bob': ClusterAuthorizationException: no",
        "Configs for topic 'orders' are retention.ms=1",
        "Completed updating config for user alice.",
        "SCRAM credential configs for user-principal 'bob' are",
        "scram credentials: bob",
    ],
)
def test_a_line_that_is_not_understood_is_named(line):
    with pytest.raises(NotADescription, match=r"^line 4 is not from the output of kafka-configs\.sh"):
        scram_principals(PRINTED + line + "\n")


@pytest.mark.parametrize(
    "beside",
    [
        "\ufeff",
        "OpenJDK 64-Bit Server VM warning: Sharing is only supported for boot loader classes\n",
        "SLF4J: Class path contains multiple SLF4J bindings.\n",
        "[2026-11-22 10:00:00,000] WARN The configuration 'a' was supplied but isn't known (org.apache.kafka.clients.admin.AdminClientConfig)\n",
        'Defaulted container "kafka" out of: kafka, init (init)\n',
        "$ bin/kafka-configs.sh --bootstrap-server b:9092 --describe --entity-type users\n",
    ],
)
def test_what_stands_beside_the_answer_is_passed_over(beside):
    assert scram_principals(beside + PRINTED) == scram_principals(PRINTED)


@pytest.mark.parametrize("printed", ["", " \n"])
def test_an_empty_file_proves_nothing(printed):
    with pytest.raises(NotADescription, match="it is empty"):
        scram_principals(printed)


@pytest.mark.parametrize("printed", ["alice\nbob\n", "Error while executing config command with args"])
def test_something_else_is_refused(printed):
    with pytest.raises(NotADescription, match=r"kafka-configs\.sh --describe --entity-type users"):
        scram_principals(printed)
