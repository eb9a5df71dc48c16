"""docs/broker-plugin.md does what it says: a broker that is set up by the recipe for plain tarballs, with the rules for
Prometheus' JMX exporter in its real agent. The recipes for other ways to install are read and compared with the jar and
with the plugin's settings; they are not run here."""

import re
import shutil
import subprocess
import time
import urllib.request
import zipfile
from collections.abc import Iterator

import pytest
import yaml

from . import kafka_broker
from .kafka_broker import CHECKOUT, JARS, PLUGIN, KafkaBroker, free_ports
from .play import Play

PAGE = (CHECKOUT / "docs" / "broker-plugin.md").read_text()
MONITORING = CHECKOUT / "broker-plugin" / "monitoring"
SETTINGS = CHECKOUT / "broker-plugin/src/main/java/clienttelemetry/broker/settings/Settings.java"
PREFIX = "client.telemetry.dump."
LOOK_SECONDS = 11
"""The plugin looks into the metadata log every ten seconds."""


def _blocks(language: str) -> list[str]:
    """Fenced blocks of the page, without the indentation that a list gives them."""
    found = re.findall(rf"^ *```{language}\n(.*?)^ *```$", PAGE, re.MULTILINE | re.DOTALL)
    return [re.sub(r"^ +(?=\S)", "", block, flags=re.MULTILINE) if not language else block for block in found]


def _properties(text: str) -> dict[str, str]:
    lines = [line.strip() for line in text.splitlines()]
    return dict(line.split("=", 1) for line in lines if re.match(r"[a-z.]+=", line))


def _documented() -> dict[str, str]:
    """The lines for server.properties."""
    (settings,) = [_properties(block) for block in _blocks("") if "metric.reporters=" in block]
    return settings


@pytest.fixture(scope="module")
def play(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Play]:
    folder = tmp_path_factory.mktemp("play")
    libraries = folder / "libs" / "broker-4"
    shutil.copytree(JARS / "broker-4", libraries)
    shutil.copy(PLUGIN, libraries)
    spool = folder / "kafka-client-telemetry"
    (made,) = re.findall(r"`(install -d [^`]*)`", PAGE)
    made = made.replace("-o kafka -g kafka ", "").replace("/var/spool/kafka-client-telemetry", str(spool))
    subprocess.run(made.split(), check=True)
    settings = _documented()
    assert settings["client.telemetry.dump.spool.dir"] == "/var/spool/kafka-client-telemetry"
    settings["client.telemetry.dump.spool.dir"] = str(spool)
    settings["client.telemetry.dump.location"] = (folder / "raw").as_uri()
    exporter_port, controller = free_ports(2)
    (agent,) = (JARS / "jmx-exporter").glob("jmx_prometheus_javaagent-*.jar")
    broker = KafkaBroker(
        folder / "broker",
        libraries.name,
        1,
        1,
        controller,
        settings=settings,
        java_options=(f"-javaagent:{agent}={exporter_port}:{MONITORING / 'jmx_exporter.yml'}",),
    )
    played = Play(folder, folder / "raw", str(folder / "raw"), [broker])
    played.exporter = f"http://127.0.0.1:{exporter_port}/metrics"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kafka_broker, "JARS", libraries.parent)
        patch.setattr(kafka_broker, "PLUGIN", "")
        try:
            broker.start()
            played.java(
                "broker-4", "alter-broker", broker.bootstrap, "1", f"{PREFIX}conections", "off"
            ).finish()
            yield played
        finally:
            played.end()


def _exported(play: Play) -> str:
    with urllib.request.urlopen(play.exporter, timeout=30) as answer:
        return answer.read().decode()


def test_a_broker_of_the_plain_recipe_dumps(play):
    (broker,) = play.brokers
    assert "dumping client telemetry to file://" in (broker.folder / "server.log").read_text()


def test_the_exporter_shows_every_figure_that_alerts_use(play):
    time.sleep(LOOK_SECONDS)
    exported = _exported(play)
    names = set(re.findall(r"^(client_telemetry_dump_\w+?)(?:\{.*?\})? ", exported, re.MULTILINE))
    rules = yaml.safe_load((MONITORING / "alerts.yml").read_text())["groups"][0]["rules"]
    patterns = {p for rule in rules for p in re.findall(r'__name__=~"([^"]+)"', rule["expr"])}
    assert len(patterns) >= 8
    for pattern in patterns:
        assert any(re.fullmatch(pattern, name) for name in names), pattern
    assert re.search(r"^client_telemetry_dump_IgnoredSettings(\{.*\})? 1\.0$", exported, re.MULTILINE)


def test_promtool_accepts_what_the_exporter_shows(play):
    if not shutil.which("promtool"):
        pytest.skip("promtool is not installed (on Debian: apt-get install prometheus)")
    own = [line for line in _exported(play).splitlines() if "client_telemetry_dump_" in line]
    checked = subprocess.run(
        ["promtool", "check", "metrics"], input="\n".join(own) + "\n", capture_output=True, text=True
    )
    assert "error" not in checked.stderr.lower(), checked.stderr
    for command in (("check", "rules", "alerts.yml"), ("test", "rules", "alerts_test.yml")):
        subprocess.run(["promtool", *command], cwd=MONITORING, check=True, capture_output=True)


def test_classes_that_are_named_are_in_the_jar():
    named = set(re.findall(r"\bclienttelemetry\.broker\.\w+", PAGE))
    assert named
    with zipfile.ZipFile(PLUGIN) as jar:
        classes = set(jar.namelist())
    assert {f"{name.replace('.', '/')}.class" for name in named} <= classes


def test_recipes_name_settings_that_exist():
    source = SETTINGS.read_text()
    known = {PREFIX + name for name in re.findall(r'= PREFIX \+ "([a-z0-9.]+)"', source)}
    by_environment = {
        name.removeprefix("KAFKA_").lower().replace("_", ".") for name in re.findall(r"\bKAFKA_[A-Z_]+", PAGE)
    }
    named = set(_documented()) | by_environment
    for block in _blocks("yaml"):
        named |= set(re.findall(rf"(?:{re.escape(PREFIX)}[a-z.]+|metric\.reporters)(?=[=:])", block))
    assert {name for name in named if name.startswith(PREFIX)} == {f"{PREFIX}location", f"{PREFIX}spool.dir"}
    assert named <= {*known, "metric.reporters"}


def test_recipes_for_ansible_and_strimzi_are_valid_yaml():
    ansible, strimzi = (yaml.safe_load(block) for block in _blocks("yaml"))
    modules = [next(iter(task)) for task in ansible[0]["tasks"]]
    assert modules == ["copy", "shell", "file", "blockinfile", "systemd"]
    assert _properties(ansible[0]["tasks"][3]["blockinfile"]["block"]) == _documented()
    pod = strimzi["spec"]["kafka"]["template"]["pod"]
    mount = strimzi["spec"]["kafka"]["template"]["kafkaContainer"]["volumeMounts"][0]
    assert mount["name"] == pod["volumes"][0]["name"]
    assert mount["mountPath"] == strimzi["spec"]["kafka"]["config"][f"{PREFIX}spool.dir"]
