"""Scripts and notebooks that install by themselves what they need, as people write them; images of Terraform and Nomad."""

import json
from pathlib import Path

import pytest
from client_telemetry.artefacts import files, libraries, named_images
from client_telemetry.artefacts.packages import Unreadable
from client_telemetry.artefacts.scan import scan


def clients(name: str, text: str) -> list[tuple[int | None, str, str]]:
    """(line, client as shown, why its version is unknown) of each Kafka client."""
    reader = files.by_name(name) or files.by_beginning(name, text[:4096])
    assert reader is not None, name
    named = [(package, libraries.of(package)) for package in reader(text, {}.get)]
    return [(package.line, client.text, client.why_unknown) for package, client in named if client]


JBANG = """///usr/bin/env jbang "$0" "$@" ; exit $?
//JAVA 21+
//REPOS central,confluent=https://packages.confluent.io/maven
//DEPS info.picocli:picocli:4.6.3 org.apache.kafka:kafka-clients:3.3.1
//-- //DEPS org.apache.kafka:kafka-streams:1.0.0
// //DEPS org.apache.kafka:kafka-streams:1.1.0
//DEPS org.apache.kafka:kafka-streams:${kafka.version:2.8.0}, org.apache.kafka:connect-api
class Produce {}
"""
GROOVY = """#!/usr/bin/env groovy
//@Grab(group='org.apache.kafka', module='kafka-clients', version='0.11.0.0')
/*
 * @Grab('org.apache.kafka:kafka-clients:0.8.2.0')
 */
@Grapes([
        @GrabConfig(systemClassLoader=true),
        @Grab(group='org.apache.kafka', module='kafka-clients', version='2.0.0'),
        @Grab(version = "1.8.2", module="avro", group = "org.apache.avro")
])
@Grab('org.apache.kafka:kafka-streams:0.10.2.0')
@Grab("org.springframework.kafka#spring-kafka;[2.0,)")
@Grab(
    group='org.apache.kafka',
    module='connect-api', version="${v}")
import org.apache.kafka.clients.consumer.KafkaConsumer
"""
PYTHON = """#!/usr/bin/env -S uv run --script
# Copyright

# /// script
# requires-python = ">=3.12"
# dependencies = [
#   "confluent-kafka[avro,schemaregistry]==1.4.0",
#   "psycopg[binary]==3.3.6",
#   # "aiokafka==0.8.1",
#   "kafka-python",
# ]
#
# [tool.uv]
# exclude-newer = "2026-01-01T00:00:00Z"
# ///
# A comment that is none of it.
from confluent_kafka import Consumer
"""
DATABRICKS = """# Databricks Notebook Source
# MAGIC %md
# MAGIC !pip is explained here

# COMMAND ----------

# DBTITLE 1,Install
# MAGIC %pip install --upgrade kafka-python==1.4.7 tqdm
# pip install aiokafka==0.7.0

# COMMAND ----------

# MAGIC %sh
# MAGIC apt-get update && pip install aiokafka==0.8.1

# COMMAND ----------

!pip install confluent_kafka
pip install aiokafka==0.9.0
"""


def notebook(*cells: object, **more: object) -> str:
    return json.dumps({"cells": [{"metadata": {}, **cell} for cell in cells], **more}, indent=1)  # type: ignore[dict-item]


def code(*lines: str) -> dict[str, object]:
    return {"cell_type": "code", "source": [f"{line}\n" for line in lines]}


JUPYTER = notebook(
    {"cell_type": "markdown", "source": ["!pip install kafka-python==1.0.0"]},
    code("#!pip install kafka-python==1.1.0", "x = 1 # %pip install kafka-python==1.1.1"),
    code("!pip install -q findspark; pip install 'kafka-python==1.3.5' # pinned", "print('ü')"),
    code('!{sys.executable} -m pip install "aiokafka==0.8.1"'),
    {"cell_type": "code", "source": "%%bash\necho\npip3 install pykafka==2.8.0"},
    code("%conda install -c conda-forge python-confluent-kafka"),
    code("os.environ['A'] = '--packages org.apache.spark:spark-sql-kafka-0-10_2.12:3.1.2 pyspark-shell'"),
)


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        (
            "tools/Produce.java",
            JBANG,
            [
                (4, "kafka-clients 3.3.1", ""),
                (7, "kafka-clients 2.8.0", ""),
                (7, "connect-api", "version not locked (no version)"),
            ],
        ),
        (
            "kcons.groovy",
            GROOVY,
            [
                (8, "kafka-clients 2.0.0", ""),
                (11, "kafka-clients 0.10.2.0", ""),
                (12, "spring-kafka", "brings kafka-clients, whose version is not written here"),
                (13, "connect-api", "version not locked (${v})"),
            ],
        ),
        (
            "verify.py",
            PYTHON,
            [
                (7, "librdkafka 1.4.0 in confluent-kafka-python 1.4.0", ""),
                (10, "kafka-python", "version not locked (no version)"),
            ],
        ),
        (
            "etl.py",
            DATABRICKS,
            [
                (8, "kafka-python 1.4.7", ""),
                (14, "aiokafka 0.8.1", ""),
                (18, "confluent-kafka", "version not locked (confluent_kafka)"),
            ],
        ),
        (
            "a.ipynb",
            JUPYTER,
            [
                (22, "kafka-python 1.3.5", ""),
                (30, "aiokafka 0.8.1", ""),
                (36, "pykafka 2.8.0", ""),
                (
                    42,
                    "python-confluent-kafka",
                    "brings librdkafka, whose version is not written here (links conda-forge's librdkafka)",
                ),
                (49, "kafka-clients 2.6.0 brought by spark-sql-kafka-0-10_2.12 3.1.2", ""),
            ],
        ),
    ],
)
def test_what_a_script_or_notebook_installs(name, text, expected):
    assert clients(name, text) == expected
    assert clients(name, text.replace("\n", "\r\n")) == expected


def test_a_notebook_of_version_3_has_worksheets():
    cell = {"cell_type": "code", "input": ["%pip install kafka-python==2.0.2"]}
    assert clients("a.ipynb", json.dumps({"worksheets": [{"cells": [cell]}]})) == [
        (1, "kafka-python 2.0.2", "")
    ]


def test_one_that_is_empty_says_nothing_and_one_that_is_damaged_is_said_to_be_unread(tmp_path):
    assert clients("a.ipynb", "\n") == []
    (tmp_path / "a.ipynb").write_text('{"cells": [')
    (tmp_path / "a.py").write_text("# /// script\n# dependencies = [\n# ///\n")
    found = scan([tmp_path], "3.9.2", "4.3.1")
    assert [each.file for each in found.unread] == [f"{tmp_path}/a.ipynb", f"{tmp_path}/a.py"]


def test_a_source_file_that_names_nothing_is_not_read_as_one_that_does(tmp_path):
    (tmp_path / "A.java").write_text(
        'class A { String grab = "//DEPS org.apache.kafka:kafka-clients:2.0.0"; }\n'
    )
    (tmp_path / "a.py").write_text("import kafka\nprint('# /// script')\n")
    assert scan([tmp_path], "3.9.2", "4.3.1").read == 0


def test_comments_of_a_script_may_be_in_any_encoding(tmp_path):
    """Shift JIS, as people had it: what it needs is ASCII."""
    (tmp_path / "a.groovy").write_bytes(
        "@Grab('org.apache.kafka:kafka-clients:2.0.0')\n// 送信\n".encode("shift_jis")
    )
    found = scan([tmp_path], "3.9.2", "4.3.1")
    assert [each.client.text for each in found.found] == ["kafka-clients 2.0.0"] and found.unread == []


def test_each_script_has_packages_of_its_own(tmp_path):
    """What one of them pins says nothing of another, or of what the folder's application installs; its own lock file does."""

    def said() -> list[str]:
        found = scan([tmp_path], "3.9.2", "4.3.1").found
        return sorted(f"{Path(each.place.file).name} {each.client.text}" for each in found)

    (tmp_path / "requirements.txt").write_text("kafka-python\n")
    (tmp_path / "a.ipynb").write_text(notebook(code("%pip install kafka-python==1.4.7")))
    (tmp_path / "b.py").write_text("# /// script\n# dependencies = ['kafka-python']\n# ///\n")
    assert said() == ["a.ipynb kafka-python 1.4.7", "b.py kafka-python", "requirements.txt kafka-python"]
    (tmp_path / "requirements.txt").write_text("kafka-python==2.0.2\n")
    assert said() == [
        "a.ipynb kafka-python 1.4.7",
        "b.py kafka-python",
        "requirements.txt kafka-python 2.0.2",
    ]
    lock = 'version = 1\n[[package]]\nname = "kafka-python"\nversion = "2.2.3"\nsource = { registry = "https://pypi.org/simple" }\n'
    (tmp_path / "b.py.lock").write_text(lock)
    assert said()[1:] == ["b.py.lock kafka-python 2.2.3", "requirements.txt kafka-python 2.0.2"]


def test_scripts_of_strangers_take_no_time_that_grows_with_a_power_of_their_length():
    """It does not end otherwise."""
    assert clients("a.py", "# /// script\n" * 200_000) == []
    assert clients("a.groovy", "@Grab(" * 200_000) == []
    assert clients("a.java", "//DEPS " + "a:" * 200_000) == []
    with pytest.raises(Unreadable):
        clients("a.ipynb", "[" * 200_000)
    assert clients("b.ipynb", notebook(code("!pip " + "a " * 200_000))) == []


TERRAFORM = """resource "kubernetes_deployment" "connect" {
  spec { template { spec {
        container {
          name  = "connect"
          image = "confluentinc/cp-kafka-connect:7.4.0" # pinned
          # image = "confluentinc/cp-kafka:7.6.0"
        } } } }
}
resource "aws_ecs_task_definition" "orders" {
  container_definitions = jsonencode([{
    "image" : "ghcr.io/acme/orders",
  }, {
    image     = "1.dkr.ecr.eu-west-1.amazonaws.com/orders:${var.tag}",
    image     = "${aws_ecr_repository.app.repository_url}:latest"
    image     = var.image
  }])
}
resource "google_compute_instance" "vm" { boot_disk { initialize_params {
      image = "debian-cloud/debian-11"
}}}
"""


@pytest.mark.parametrize("name", ["main.tf", "kafka.nomad", "job.hcl"])
def test_terraform_and_nomad_name_images_of_containers(name):
    assert named_images.is_read(name, len(TERRAFORM)) and not named_images.is_read(name, 2**21)
    images = named_images.read(name, name, TERRAFORM, {}.get)
    assert [(image.reference, image.line, image.why_unknown) for image in images] == [
        ("confluentinc/cp-kafka-connect:7.4.0", 5, ""),
        ("ghcr.io/acme/orders", 11, "no tag is written"),
        (
            "1.dkr.ecr.eu-west-1.amazonaws.com/orders",
            13,
            "its tag is a variable (1.dkr.ecr.eu-west-1.amazonaws.com/orders:${var.tag})",
        ),
    ]
