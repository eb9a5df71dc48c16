import pytest
from client_telemetry.artefacts.named_client import named


@pytest.mark.parametrize(
    ("text", "version", "is_"),
    [
        ("kafka-clients", "2.0.1", "kafka-clients 2.0.1"),
        ("Kafka_Python", "1.4.7", "kafka-python 1.4.7"),
        ("IBM/sarama", "v1.43.0", "sarama 1.43.0"),
        ("Shopify/sarama", "1.26.1", "sarama 1.26.1"),
        ("github.com/segmentio/kafka-go", "0.4.47", "kafka-go 0.4.47"),
        ("org.apache.kafka:kafka-clients", "3.5.1", "kafka-clients 3.5.1"),
        ("confluent-kafka-python", "2.3.0", "librdkafka 2.3.0 in confluent-kafka-python 2.3.0"),
        ("confluent-kafka", "2.3.0", "librdkafka 2.3.0 in confluent-kafka-python 2.3.0"),
        ("Confluent.Kafka", "1.4.0", "librdkafka 1.4.0 in confluent-kafka-dotnet 1.4.0"),
        ("pkg:npm/kafkajs@2.2.4", "", "kafkajs 2.2.4"),
        ("pkg:npm/kafkajs", "2.2.4", "kafkajs 2.2.4"),
        ("spring-kafka", "3.1.2", "kafka-clients 3.6.1 brought by spring-kafka 3.1.2"),
    ],
)
def test_names_that_people_write(text, version, is_):
    client = named(text, version)
    assert (client.text, client.why_unknown) == (is_, "")


@pytest.mark.parametrize(
    ("text", "version", "library", "why"),
    [
        ("librdkafka", "", "librdkafka", "its version is not written"),
        ("librdkafka", "2.6", "librdkafka", "'2.6' names a line of releases, not one"),
        ("kafkajs", "1.x", "kafkajs", "'1.x' names a line of releases, not one"),
        ("kafkajs", "2.0.0+", "kafkajs", "'2.0.0+' is not the version of one release"),
        ("kafkajs", "^2.2.4", "kafkajs", "'^2.2.4' is not the version of one release"),
        (
            "kafka-clients",
            "2.8.1, 1.1.0",
            "kafka-clients",
            "'2.8.1, 1.1.0' is not the version of one release",
        ),
        ("kafka-clients", "2.4.0-2.8.1", "kafka-clients", "'2.4.0-2.8.1' is not the version of one release"),
        (
            "no-such-client",
            "1.0.0",
            "",
            "no library, binding or package named 'no-such-client' is known here",
        ),
        ("pkg:npm/no-such", "1.0.0", "", "no package npm/no-such is known here"),
        ("pkg:nonsense", "1.0.0", "", "'pkg:nonsense' is not a package URL"),
    ],
)
def test_a_version_that_is_not_one_is_not_known(text, version, library, why):
    client = named(text, version)
    assert (client.written, client.library, client.why_unknown) == (None, library, why)


def test_a_name_of_several_packages_is_none_of_them():
    client = named("kafka", "1.4.0")
    assert client.written is None and client.library == ""
    assert "pkg:cargo/kafka" in client.why_unknown and "write which one it is" in client.why_unknown
    same_library = named("rdkafka", "0.36.2")
    assert same_library.written is None and "pkg:gem/rdkafka" in same_library.why_unknown


def test_a_list_of_versions_is_no_client():
    client = named("pkg:maven/org.springframework.boot/spring-boot-starter-parent", "2.7.18")
    assert client.written is None
