import shlex
from typing import Any

import pytest
from client_telemetry.activity.subscription_brokers import described
from client_telemetry.subscriptions.commands import commands
from client_telemetry.subscriptions.configured_file import Resource
from client_telemetry.subscriptions.proposal import UnusableProposal, operations_of, propose

JAVA = Resource(
    "java-all", {"metrics": "*", "interval.ms": "5000", "match": "client_software_name=apache-kafka-java"}
)
FAST = Resource("fast", {"metrics": "org.apache.kafka.producer.", "match": "client_id=fast-.*"})


def after(*operations: dict[str, Any]) -> tuple[dict[str, dict[str, str]], str]:
    proposed, remarks = propose([JAVA, FAST], operations_of(list(operations)))
    return {each.name: dict(each.properties) for each in proposed}, " ".join(remarks)


def test_an_alter_keeps_what_it_does_not_name() -> None:
    configured, remarks = after({"action": "alter", "name": "java-all", "interval_ms": 8000})
    assert configured["java-all"] == {**JAVA.properties, "interval.ms": "8000"} and not remarks


def test_an_empty_value_deletes_a_key_and_the_last_one_the_resource() -> None:
    configured, _ = after({"action": "alter", "name": "fast", "match": {}})
    assert configured["fast"] == {"metrics": "org.apache.kafka.producer."}
    configured, remarks = after({"action": "alter", "name": "fast", "match": {}, "metrics": []})
    assert "fast" not in configured and "Kafka removes it" in remarks


def test_several_at_once() -> None:
    configured, _ = after(
        {"action": "delete", "name": "fast"},
        {"action": "add", "name": "new", "metrics": ["*"], "match": {"client_id": "a"}},
    )
    assert list(configured) == ["java-all", "new"]


@pytest.mark.parametrize(
    ("operation", "remark"),
    [
        ({"action": "delete", "name": "java-al"}, "Did you mean 'java-all'?"),
        (
            {"action": "alter", "name": "jav-all", "metrics": ["*"]},
            "Kafka creates it. Did you mean 'java-all'?",
        ),
        ({"action": "add", "name": "fast", "metrics": ["*"]}, "Kafka alters it and keeps the keys not named"),
    ],
)
def test_what_kafka_does_that_was_hardly_meant(operation: dict[str, Any], remark: str) -> None:
    assert remark in after(operation)[1]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ([], "A proposal is a list"),
        ([{"action": "drop", "name": "a"}], "action 'drop' is not one of add, alter, delete"),
        ([{"action": "alter", "metrics": ["*"]}], '"name" is needed'),
        ([{"action": "delete", "name": "a", "metrics": ["*"]}], "a deletion has a name and nothing else"),
        ([{"action": "alter", "name": "a"}], "it names neither metrics nor interval_ms nor match"),
        ([{"action": "alter", "name": "a", "interval": 1}], "unknown key 'interval'"),
    ],
)
def test_an_unusable_proposal_is_one_line(content: Any, message: str) -> None:
    with pytest.raises(UnusableProposal, match=r"^[^\n]*$") as unusable:
        operations_of(content)
    assert message in str(unusable.value)


def test_commands_survive_a_shell() -> None:
    operations = operations_of(
        [
            {
                "action": "alter",
                "name": "java all",
                "interval_ms": 8000,
                "match": {"client_id": "it's \\d+.*"},
            },
            {"action": "delete", "name": "fast"},
            {"action": "add", "metrics": ["a.", "b."]},
            {"action": "add", "name": "classes", "metrics": ["*"], "match": {"client_id": "[a-z]\\d"}},
        ]
    )
    found = commands(operations, [Resource("java all", {"interval.ms": "5000"}), FAST], "b:9092")
    first = shlex.split(found.apply[0])
    assert (
        first[first.index("--name") + 1] == "java all"
        and first[first.index("--match") + 1] == "client_id=it's \\d+.*"
    )
    assert found.apply[1] == "kafka-client-metrics.sh --bootstrap-server b:9092 --delete --name fast"
    assert "--generate-name --metrics a.,b." in found.apply[2]
    assert found.take_back[0].endswith("--delete --name classes")
    assert found.take_back[2].endswith(
        "--name fast --metrics org.apache.kafka.producer. --match 'client_id=fast-.*'"
    )
    assert shlex.split(found.take_back[3])[-4:] == ["--interval", "5000", "--match", ""]
    assert shlex.split(found.apply_with_configs[0])[-1] == "interval.ms=[8000],match=[client_id=it's \\d+.*]"
    assert "match=client_id=[a-z]\\\\d" in found.apply_with_configs[-1]
    assert "--operation AlterConfigs --operation DescribeConfigs --cluster" in found.acls[0]


CLIENT_METRICS = """Client metrics configs for java-all are:
  interval.ms=5000
  match=client_software_name=apache-kafka-java,client_software_version=4\\..*
  metrics=*
Client metrics configs for with spaces are:
  metrics=org.apache.kafka.producer.
"""
CONFIGS = """Dynamic configs for client-metric java-all are:
  interval.ms=5000 sensitive=false synonyms={DYNAMIC_CLIENT_METRICS_CONFIG:interval.ms=5000}
  match=client_id=a b sensitive=false synonyms={DYNAMIC_CLIENT_METRICS_CONFIG:match=client_id=a b}
  metrics= sensitive=false synonyms={DEFAULT_CONFIG:metrics=}
"""


def test_pasted_descriptions() -> None:
    assert described(CLIENT_METRICS) == [
        Resource(
            "java-all",
            {
                "interval.ms": "5000",
                "match": "client_software_name=apache-kafka-java,client_software_version=4\\..*",
                "metrics": "*",
            },
        ),
        Resource("with spaces", {"metrics": "org.apache.kafka.producer."}),
    ]
    assert described(CONFIGS) == [Resource("java-all", {"interval.ms": "5000", "match": "client_id=a b"})]
    for text in ("nonsense", "", CLIENT_METRICS + CLIENT_METRICS):
        with pytest.raises(ValueError, match=r"--describe|one description"):
            described(text)
