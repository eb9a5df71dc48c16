"""Settings of brokers in YAML: the forms that people keep them in, one reading for each container, and what is not theirs."""

import pytest
from client_telemetry.compatibility import settings_in_yaml
from client_telemetry.compatibility.broker_settings import SET
from client_telemetry.compatibility.java_properties import Setting
from client_telemetry.compatibility.settings_in_yaml import UnreadableYaml

STATEFUL_SET = """
apiVersion: v1
kind: Service
metadata: {name: kafka}
spec: {ports: [{name: kafka, port: 9092}]}
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: kafka}
spec:
  template:
    spec:
      containers:
        - name: broker
          env:
            - name: KAFKA_CFG_PROCESS_ROLES
              value: "broker,controller"
            - name: KAFKA_CFG_NODE_ID
              valueFrom: {fieldRef: {fieldPath: metadata.name}}
            - {name: KAFKA_HEAP_OPTS, value: -Xmx1g}
            - {name: POD_NAME, value: a}
        - name: ui
          env: [{name: KAFKA_CLUSTERS_0_NAME, value: a}]
"""
STRIMZI = """
apiVersion: kafka.strimzi.io/v1beta2
kind: Kafka
metadata: {name: my}
spec:
  kafka:
    listeners: [{name: plain, port: 9092}]
    config: {min.insync.replicas: 2, confluent.tier.enable: true}
---
apiVersion: kafka.strimzi.io/v1beta2
kind: KafkaTopic
metadata: {name: topic}
spec: {config: {min.insync.replicas: 2}}
"""
CONFLUENT = """
apiVersion: platform.confluent.io/v1beta1
kind: Kafka
metadata: {name: kafka}
spec:
  configOverrides:
    server: [auto.create.topics.enable=false, "log.dirs=/a=b"]
    jvm: ["-Xms8g"]
---
apiVersion: platform.confluent.io/v1beta1
kind: Connect
metadata: {name: connect}
spec: {configOverrides: {server: [ssl.keystore.location=a]}}
"""
COMPOSE = """
x-env: &env
  KAFKA_PROCESS_ROLES: broker
  KAFKA_LOG_DIRS: /a
services:
  one:
    environment:
      <<: *env
      KAFKA_LOG_DIRS: /b
      KAFKA_LISTENERS:
  two:
    environment: [KAFKA_PROCESS_ROLES=broker, KAFKA_NODE_ID]
    command: start
"""
VALUES = """
overrideConfiguration: {log.dirs: /a, listeners: A}
broker:
  extraConfig: |
    # a comment
    log.dirs=/b

    port=1
  extraEnvVars:
    - name: KAFKA_CFG_LOG_DIRS
      value: {{ .Values.dirs }}
"""
CONFIG_MAP = """
kind: ConfigMap
metadata: {name: files}
data:
  KAFKA_LOG_DIRS: /a
  log4j.properties: |
    log4j.rootLogger=INFO
  server.properties: |
    log.dirs=/b
"""
ANSIBLE = """
all:
  vars:
    kafka_connect_custom_properties: {ssl.keystore.location: a}
    kafka_broker_custom_properties: {log.dirs: "{{ dirs }}", num.partitions: 3}
"""


ZOOKEEPER_OF_OPERATORS = {
    "Strimzi": "apiVersion: kafka.strimzi.io/v1beta2\nkind: Kafka\nmetadata: {name: my}\nspec: {kafka: {}, zookeeper: {replicas: 3}}\n",
    "Confluent": "apiVersion: platform.confluent.io/v1beta1\nkind: Kafka\nmetadata: {name: my}\nspec: {dependencies: {zookeeper: {endpoint: a}}}\n",
    "Koperator": "apiVersion: kafka.banzaicloud.io/v1beta1\nkind: KafkaCluster\nmetadata: {name: my}\nspec: {zkAddresses: [a]}\n",
}


def read(text: str) -> dict[str, dict[str, str]]:
    return {each.where: {one.key: one.value for one in each.settings} for each in settings_in_yaml.read(text)}


@pytest.mark.parametrize(
    ("text", "settings"),
    [
        (
            STATEFUL_SET,
            {
                "StatefulSet kafka spec template spec containers broker env": {
                    "process.roles": "broker,controller",
                    "node.id": SET,
                }
            },
        ),
        (STRIMZI, {"Kafka my spec kafka config": {"min.insync.replicas": "2", "confluent.tier.enable": "true"}}),
        (CONFLUENT, {"Kafka kafka spec configOverrides server": {"auto.create.topics.enable": "false", "log.dirs": "/a=b"}}),
        (
            COMPOSE,
            {
                "services one environment": {"process.roles": "broker", "log.dirs": "/b", "listeners": SET},
                "services two environment": {"process.roles": "broker", "node.id": SET},
            },
        ),
        (
            VALUES,
            {
                "overrideConfiguration": {"log.dirs": "/a", "listeners": "A"},
                "broker extraConfig": {"log.dirs": "/b", "port": "1"},
                "broker extraEnvVars": {"log.dirs": SET},
            },
        ),
        (
            CONFIG_MAP,
            {
                "ConfigMap files data": {"log.dirs": "/a"},
                "ConfigMap files data server.properties": {"log.dirs": "/b"},
            },
        ),
        (ANSIBLE, {"all vars kafka_broker_custom_properties": {"log.dirs": "{{ dirs }}", "num.partitions": "3"}}),
        ("env: {KAFKA_BOOTSTRAP_SERVERS: a, KAFKA_SSL_TRUSTSTORE_LOCATION: /a, KAFKA_METRIC_REPORTERS: a.B}", {}),
        (
            "env: {KAFKA_BOOTSTRAP_SERVERS: a, KAFKA_LOG_DIRS: /a}",
            {"env": {"bootstrap.servers": "a", "log.dirs": "/a"}},
        ),
        ("a: {extraConfig: log.dirs=/a}\nb: log.dirs is where logs are", {"a extraConfig": {"log.dirs": "/a"}}),
        ("services: {ui: {environment: {KAFKA_CLUSTERS_0_NAME: a}}}", {}),
        ("a: [1, {b: null}]\n---\n", {}),
        ("", {}),
    ],
)  # fmt: skip
def test_forms_that_people_keep_them_in(text, settings):
    found = read(text)
    assert found == settings


def test_lines_are_those_of_the_file():
    lines = {one.key: one.line for each in settings_in_yaml.read(VALUES) for one in each.settings}
    for key, text in (("port", "port=1"), ("listeners", "listeners: A"), ("log.dirs", "KAFKA_CFG_LOG_DIRS")):
        assert text in VALUES.splitlines()[lines[key] - 1]


@pytest.mark.parametrize("operator", ZOOKEEPER_OF_OPERATORS)
def test_a_resource_that_names_zookeeper_is_of_brokers_that_have_it(operator):
    text = ZOOKEEPER_OF_OPERATORS[operator]
    (found,) = settings_in_yaml.read(text)
    assert (found.settings, found.is_part) == ([Setting(4, "zookeeper.connect", SET)], True)
    assert found.where.endswith(" my")


def test_a_resource_in_kraft_mode_may_still_name_zookeeper():
    """After the migration, until its next change (Strimzi)."""
    enabled = "metadata: {name: my, annotations: {strimzi.io/kraft: enabled}}"
    assert read(ZOOKEEPER_OF_OPERATORS["Strimzi"].replace("metadata: {name: my}", enabled)) == {}
    assert read("services: {kafka: {image: a}, zookeeper: {image: b}}") == {}


def test_overrides_of_a_command():
    text = 'command: [sh, -c, "exec start /a.properties --override broker.id=${HOSTNAME##*-} --override log.dirs=/a"]'
    assert read(text) == {"command 2": {"broker.id": "${HOSTNAME##*-}", "log.dirs": "/a"}}


def test_brokers_with_one_name_stay_two():
    """As those of two namespaces, or of two values files behind each other."""
    values = "config: {log.dirs: /a}\n---\nconfig: {log.dirs: /b}\n"
    assert read(values) == {"config": {"log.dirs": "/a"}, "config (no. 2, line 3)": {"log.dirs": "/b"}}


def test_of_many_documents_every_broker_is_found():
    documents = [f"a{number}: {{b: {{config: {{log.dirs: /a}}}}}}\n" for number in range(500)]
    assert len(settings_in_yaml.read("---\n".join(documents))) == 500


def test_only_the_variables_of_a_container_can_be_all_that_is_set():
    def parts(text):
        return [each.is_part for each in settings_in_yaml.read(text)]

    assert parts(STATEFUL_SET) == [False]
    assert parts(STATEFUL_SET.replace("- name: broker", "- name: broker\n          command: [a]")) == [True]
    assert parts(COMPOSE) == [False, True]
    assert parts(STRIMZI) == parts(CONFLUENT) == [True]
    for beside in ("extends: base", "build: .", "entryPoint: [a]", "secrets: [a]", "environmentFiles: [a]"):
        assert parts(COMPOSE.replace("command: start", beside)) == [False, True]


def test_aliases_do_not_make_a_document_larger_than_its_text():
    text = "a0: &a0 {KAFKA_LOG_DIRS: /a}\n" + "".join(
        f"a{number}: &a{number} [{', '.join([f'*a{number - 1}'] * 9)}]\n" for number in range(1, 30)
    )
    assert len(settings_in_yaml.read(text)) == 1


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("a: b\nc: [", "line 3: not valid YAML: "),
        ("env:\n  {{- if .a }}\n  - b", "line 2: not valid YAML: .*render a Helm template first"),
        ("[" * 5000, "not valid YAML: "),
        (" " * (settings_in_yaml.LARGEST + 1), "has more than 4,194,304 characters"),
    ],
)
def test_what_is_no_yaml_is_one_line(text, says):
    with pytest.raises(UnreadableYaml, match=says) as refused:
        settings_in_yaml.read(text)
    assert "\n" not in str(refused.value)
