"""A fix as a diff: only of a line that people write, for the package on it."""

import subprocess

import pytest
from client_telemetry.artefacts.scan import scan


def diff(tmp_path, name: str, text: str) -> str:
    (tmp_path / name).write_text(text)
    (found,) = scan([tmp_path], "3.9.2", "4.3.1").found
    return found.diff


@pytest.mark.parametrize(
    ("name", "text", "changed"),
    [
        ("requirements.txt", "a==1\nkafka-python==1.3.5\n", "kafka-python==2.1.3"),
        ("requirements.txt", "confluent-kafka==1.0.0  # old\n", "confluent-kafka==2.6.1  # old"),
        (
            "go.mod",
            "module x\n\nrequire github.com/IBM/sarama v1.40.1\n",
            "require github.com/IBM/sarama v1.41.0",
        ),
        ("package.json", '{"dependencies": {\n"node-rdkafka": "2.5.0"}}\n', '"node-rdkafka": "3.2.1"}}'),
        (
            "build.gradle",
            'implementation "org.apache.kafka:kafka-clients:0.10.2.0"\n',
            'implementation "org.apache.kafka:kafka-clients:0.11.0.0"',
        ),
    ],
)
def test_the_diff_changes_the_line_and_applies(tmp_path, name, text, changed):
    made = diff(tmp_path, name, text)
    assert f"\n+{changed}" in made
    (tmp_path / "patch").write_text(made + "\n")
    # As git does: the path without its first folder, "a", from the root for a scan of an absolute path.
    subprocess.run(["patch", "-p1", "-s", "-i", tmp_path / "patch"], cwd="/", check=True)
    assert changed in (tmp_path / name).read_text()


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("poetry.lock", '[[package]]\nname = "kafka-python"\nversion = "1.3.5"\n'),
        ("go.mod", "module x\n\nrequire github.com/Shopify/sarama v1.27.0\n"),
        ("go.mod", "module x\n\nrequire github.com/confluentinc/confluent-kafka-go v1.5.2\n"),
        ("requirements.txt", "kafka-python>=1.3\n"),
        ("package.json", '{"dependencies": {"kafka-node": "5.0.0"}}'),
        ("requirements.txt", "kafka-python==2.0.2\n"),
    ],
    ids=["lock file", "renamed", "another path", "range", "no version helps", "nothing to fix"],
)
def test_no_diff(tmp_path, name, text):
    assert diff(tmp_path, name, text) == ""
