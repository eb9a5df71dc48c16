"""The programs of this package, one for each library: how a version of the library is installed beside it, and what runs it.

A program does steps, each with an outcome (STEPS); it takes its settings from the environment (BOOTSTRAP, TOPIC, GROUP,
PROTOCOL, MECHANISM, USERNAME, PASSWORD, TOKEN, CONFIGURATION, and the files of TLS and Kerberos) and prints each step as a line of JSON.
"""

import shutil
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from client_telemetry.knowledge import client_versions
from client_telemetry.rehearsal import registries
from client_telemetry.rehearsal.registries import Published
from client_telemetry.rehearsal.workplace import PROGRAMS, Workplace

STEPS = ("connect", "produce", "consume", "group", "commit", "txn", "create")
"""connect: log in, metadata. produce: one record, compressed. consume: from the beginning, without a group. group: join and read.
commit: and read the offset back. txn: two transactions. create: a topic, and what else an administrator asks."""


@dataclass(frozen=True)
class Program:
    source: str
    """Folder of programs/."""
    install: Callable[[Workplace, str], None]
    """Installs a version of the library, and the program, into the workplace's folder."""
    command: Callable[[Path], list[str]]
    """What runs it from there."""
    for_gssapi: Callable[[Workplace], None] | None = None
    """Installs what a login with Kerberos needs besides; None: it needs nothing."""
    published: Published | None = None
    """Versions that the registry has; None: it is not asked."""


def _go(
    module: str,
    *files: str,
    needs: Mapping[str, str] = MappingProxyType({}),
    since: Mapping[str, str] = MappingProxyType({}),
) -> Program:
    """`files`: of go/, which are the program. `since`: those that need a version of the library -> which; before it the file of the
    same name with `_before` is there instead. `needs`: module that one of the files needs -> its version.
    """

    def install(at: Workplace, version: str) -> None:
        path, folder = go_module(module, version), PROGRAMS / "go"
        of = client_versions.parse(version)
        chosen = [
            f"{file}_before" if of < client_versions.parse(since.get(file, "0")) else file for file in files
        ]
        texts = {file: (folder / f"{file}.go").read_text(encoding="utf-8") for file in ("steps", *chosen)}
        for file, text in texts.items():
            (at.folder / f"{file}.go").write_text(text.replace(f'"{module}', f'"{path}'), encoding="utf-8")
        more = [
            f"{each}@v{own}" for each, own in needs.items() if any(each in text for text in texts.values())
        ]
        at.do("go", "mod", "init", "rehearsal")
        at.do("go", "get", f"{path}@v{version}", *more)
        at.do("go", "build", "-o", "client", ".")

    return Program(
        "go",
        install,
        lambda folder: [str(folder / "client")],
        published=registries.of_go(lambda version: go_module(module, version)),
    )


def go_module(module: str, version: str) -> str:
    """Module paths change with the library: confluent-kafka-go is /v2 from 2.0 on, Sarama was Shopify's before 1.40.

    >>> go_module("github.com/IBM/sarama", "1.29.0"), go_module("github.com/IBM/sarama", "1.41.0")
    ('github.com/Shopify/sarama', 'github.com/IBM/sarama')
    """
    major, minor = (int(each) for each in version.split(".")[:2])
    if module.endswith("confluent-kafka-go") and major >= 2:
        return f"{module}/v2"
    if module == "github.com/IBM/sarama" and (major, minor) < (1, 40):
        return "github.com/Shopify/sarama"
    return module


def _pip(file: str, package: str, *more: str) -> Program:
    def install(at: Workplace, version: str) -> None:
        at.do(sys.executable, "-m", "venv", "venv")
        pip = ("venv/bin/python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check")
        at.do(*pip, f"{package}=={version}", *more)
        at.copy("python/*.py")

    return Program(
        "python",
        install,
        lambda folder: [f"{folder}/venv/bin/python", f"{folder}/{file}"],
        _install_gssapi,
        registries.of_pip(package),
    )


def _install_gssapi(at: Workplace) -> None:
    """It is compiled, with the headers of MIT Kerberos (libkrb5-dev)."""
    at.do("venv/bin/python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "gssapi")


def _npm(file: str, package: str, node: str = "") -> Program:
    """`node`: a version of Node.js that is newer than what most have; the registry has it too."""

    def install(at: Workplace, version: str) -> None:
        (at.folder / "package.json").write_text("{}", encoding="utf-8")
        packages = [f"{package}@{version}", *([f"node@{node}"] if node else [])]
        at.do("npm", "install", "--no-audit", "--no-fund", *packages)
        at.copy("node/*")

    return Program(
        "node",
        install,
        lambda folder: [f"{folder}/node_modules/.bin/node" if node else "node", f"{folder}/{file}"],
        published=registries.of_npm(package),
    )


def _crate(source: str, crate: str, *options: str) -> Program:
    """`source`: folder of programs/ with its main.rs. `options`: of `cargo add`."""

    def install(at: Workplace, version: str) -> None:
        at.do("cargo", "init", "-q", "--vcs", "none", "--name", "client")
        at.do("cargo", "add", "-q", f"{crate}@={version}", *options)
        shutil.copy(PROGRAMS / source / "main.rs", at.folder / "src")
        at.do("cargo", "build", "-q")
        shutil.copy(at.folder / "target" / "debug" / "client", at.folder)
        shutil.rmtree(at.folder / "target")

    return Program(
        source, install, lambda folder: [str(folder / "client")], published=registries.of_cargo(crate)
    )


def _install_jars(at: Workplace, version: str) -> None:
    java = PROGRAMS / "java"
    jars = (f"-Dkafka.version={version}", f"-DoutputDirectory={at.folder}/jars")
    at.do("mvn", "-q", "-B", "-f", java / "pom.xml", "dependency:copy-dependencies", *jars)
    at.do("javac", "-nowarn", "-cp", "jars/*", "-d", ".", java / "JavaClient.java")


def _java(folder: Path) -> list[str]:
    options = ["-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", f"-Duser.home={folder}/home"]
    return ["java", *options, "-cp", f"{folder}:{folder}/jars/*", "JavaClient"]


BY_NAME: Mapping[str, Program] = MappingProxyType(
    {
        "kafka-clients": Program("java", _install_jars, _java),
        # Without a wheel there is no librdkafka in it.
        "confluent-kafka-python": _pip("confluent.py", "confluent-kafka", "--only-binary=confluent-kafka"),
        "confluent-kafka-go": _go("github.com/confluentinc/confluent-kafka-go", "librdkafka"),
        "kafka-python": _pip("kafka_python.py", "kafka-python", "six"),
        # Up to 0.8 it takes parts of kafka-python that later versions of that do not have any more.
        "aiokafka": _pip("aio_kafka.py", "aiokafka", "kafka-python==2.0.2"),
        "pykafka": _pip("py_kafka.py", "pykafka", "setuptools<81"),
        "sarama": _go(
            "github.com/IBM/sarama",
            "sarama",
            "sarama_scram",
            "sarama_transaction",
            needs={"github.com/xdg-go/scram": "1.1.2"},
            since={"sarama_transaction": "1.38.0"},
        ),
        "franz-go": _go(
            "github.com/twmb/franz-go",
            "franz_go",
            "franz_go_kerberos",
            needs={"github.com/twmb/franz-go/pkg/sasl/kerberos": "1.1.0"},
        ),
        "kafka-go": _go(
            "github.com/segmentio/kafka-go", "kafka_go", "kafka_go_writer", since={"kafka_go_writer": "0.4.1"}
        ),
        "kafkajs": _npm("kafkajs.js", "kafkajs"),
        "platformatic-kafka": _npm("platformatic.mjs", "@platformatic/kafka", node="22"),
        "kafka-node": _npm("kafka_node.js", "kafka-node"),
        "node-rdkafka": _npm("node_rdkafka.js", "node-rdkafka"),
        "kafka-rust": _crate("kafka_rust", "kafka", "--no-default-features", "--features", "gzip"),
        "rust-rdkafka": _crate("rust_rdkafka", "rdkafka", "--no-default-features", "--features", "libz"),
    }
)
"""By the name of the library, or of the binding that carries librdkafka."""
