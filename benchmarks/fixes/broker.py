"""One real Kafka broker, from its published jars: one node, PLAINTEXT and SASL_PLAINTEXT on 127.0.0.1."""

import os
import random
import re
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

CHECKOUT = Path(__file__).parents[2]
WORK = CHECKOUT / "var" / "fixes"
USERNAME, PASSWORD = "client", "of-the-client"
START_SECONDS = 120
_STARTED = r"Kafka Server started|\[KafkaServer id=1\] started"
_CLUSTER = "4L6g3nShT-eMCtK--X86sw"
_SECURITY = "org.apache.kafka.common.security"
_POMS = CHECKOUT / "tests" / "end_to_end" / "real_kafka" / "jars"
_RELOAD4J = """\
log4j.rootLogger=INFO, S
log4j.appender.S=org.apache.log4j.FileAppender
log4j.appender.S.File={folder}/server.log
log4j.appender.S.layout=org.apache.log4j.PatternLayout
log4j.appender.S.layout.ConversionPattern=[%d] %p %m (%c)%n
"""
_LOG4J2 = """\
<Configuration status="WARN"><Appenders>
<File name="S" fileName="{folder}/server.log"><PatternLayout pattern="[%d] %p %m (%c)%n"/></File>
</Appenders><Loggers><Root level="INFO"><AppenderRef ref="S"/></Root></Loggers></Configuration>
"""


class BrokerDidNotStart(RuntimeError):
    """With the folder that holds what it printed."""


def jars(release: str) -> Path:
    """The folder with the jars of a broker release, fetched from the package repository where it is not there yet."""
    folder = WORK / "brokers" / release
    if not folder.exists():
        pom = _POMS / f"broker-{'4' if _is_4(release) else '3'}.pom.xml"
        copying = [
            "dependency:copy-dependencies",
            f"-Dkafka.version={release}",
            f"-DoutputDirectory={folder}",
        ]
        subprocess.run(["mvn", "-q", "-B", "-f", pom, *copying], check=True)
    return folder


@contextmanager
def running(broker: str) -> Iterator[dict[str, str]]:
    """A fresh broker while the block runs: `4.0.1`; `4.0.1#transaction.version=0` with that feature level; `3.9.1@2.7`
    in ZooKeeper mode with that inter.broker.protocol.version. 2.x is always in ZooKeeper mode, which has no SCRAM
    credentials here.

    Gives the bootstrap address by security protocol.
    """
    name, _, feature = broker.partition("#")
    release, _, protocol = name.partition("@")
    folder = WORK / "run" / f"{broker}-{os.getpid()}"
    folder.mkdir(parents=True)
    plain, sasl, other = _free_ports(3)
    java = _Java(release, folder)
    try:
        settings = _settings(folder, plain, sasl)
        if protocol or release.startswith("2."):
            settings |= _zookeeper(java, other, protocol)
            java.start("kafka.Kafka", _written(folder / "server.properties", settings))
        else:
            properties = _written(folder / "server.properties", settings | _kraft(settings, other))
            scram = [f"SCRAM-SHA-{bits}=[name={USERNAME},password={PASSWORD}]" for bits in (256, 512)]
            adding = [word for each in scram for word in ("--add-scram", each)]
            adding += ["--feature", feature] if feature else []
            java.run("kafka.tools.StorageTool", "format", "-t", _CLUSTER, "-c", properties, *adding)
            java.start("kafka.Kafka", properties)
        java.wait_until_kafka_is_started()
        yield {"PLAINTEXT": f"127.0.0.1:{plain}", "SASL_PLAINTEXT": f"127.0.0.1:{sasl}"}
    finally:
        java.end()


class _Java:
    """Programs of one release's jars; what they print goes to `output` in a folder, the broker's log to server.log."""

    def __init__(self, release: str, folder: Path) -> None:
        self.folder = folder
        self.command = ["java", "-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"]
        self.command += ["-Djava.net.preferIPv4Stack=true", _logging(release, folder)]
        self.command += ["-cp", f"{jars(release)}/*"]
        self.processes: list[subprocess.Popen[bytes]] = []

    def run(self, *program: str) -> None:
        with (self.folder / "output").open("a") as output:
            subprocess.run([*self.command, *program], check=True, stdout=output, stderr=subprocess.STDOUT)

    def start(self, *program: str) -> None:
        with (self.folder / "output").open("a") as output:
            process = subprocess.Popen(
                [*self.command, *program], stdout=output, stderr=subprocess.STDOUT, start_new_session=True
            )
        self.processes.append(process)

    def wait_until_kafka_is_started(self) -> None:
        log, deadline = self.folder / "server.log", time.monotonic() + START_SECONDS
        while not (log.exists() and re.search(_STARTED, log.read_text())):
            if self.processes[-1].poll() is not None or time.monotonic() > deadline:
                raise BrokerDidNotStart(f"see {self.folder}")
            time.sleep(0.3)

    def end(self) -> None:
        for each in reversed(self.processes):
            each.kill()
            each.wait()


def _zookeeper(java: _Java, port: int, protocol: str) -> dict[str, object]:
    """Starts a ZooKeeper; gives the broker's settings for it."""
    settings = {"dataDir": java.folder / "zookeeper", "clientPort": port, "clientPortAddress": "127.0.0.1"}
    file = _written(java.folder / "zookeeper.properties", settings | {"admin.enableServer": "false"})
    java.start("org.apache.zookeeper.server.quorum.QuorumPeerMain", file)
    of_protocol = {"inter.broker.protocol.version": protocol} if protocol else {}
    return {"broker.id": 1, "zookeeper.connect": f"127.0.0.1:{port}", **of_protocol}


def _is_4(release: str) -> bool:
    return int(release.split(".")[0]) >= 4


def _logging(release: str, folder: Path) -> str:
    name, text, option = (
        ("log4j2.xml", _LOG4J2, "log4j2.configurationFile=")
        if _is_4(release)
        else ("log4j.properties", _RELOAD4J, "log4j.configuration=file:")
    )
    (folder / name).write_text(text.format(folder=folder))
    return f"-D{option}{folder}/{name}"


def _settings(folder: Path, plain: int, sasl: int) -> dict[str, object]:
    scram = f"{_SECURITY}.scram.ScramLoginModule required;"
    listeners = f"PLAINTEXT://127.0.0.1:{plain},SASL_PLAINTEXT://127.0.0.1:{sasl}"
    prefix = "listener.name.sasl_plaintext"
    return {
        "listeners": listeners,
        "advertised.listeners": listeners,
        "sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-256,SCRAM-SHA-512",
        f"{prefix}.plain.sasl.jaas.config": f'{_SECURITY}.plain.PlainLoginModule required user_{USERNAME}="{PASSWORD}";',
        f"{prefix}.scram-sha-256.sasl.jaas.config": scram,
        f"{prefix}.scram-sha-512.sasl.jaas.config": scram,
        "log.dirs": folder / "data",
        "offsets.topic.replication.factor": 1,
        "offsets.topic.num.partitions": 4,
        "transaction.state.log.replication.factor": 1,
        "transaction.state.log.min.isr": 1,
        "transaction.state.log.num.partitions": 4,
        "group.initial.rebalance.delay.ms": 0,
        "num.partitions": 1,
        "num.network.threads": 2,
        "num.io.threads": 4,
        "log.cleaner.dedupe.buffer.size": 8388608,
        "auto.create.topics.enable": "true",
    }


def _kraft(settings: dict[str, object], controller: int) -> dict[str, object]:
    return {
        "process.roles": "broker,controller",
        "node.id": 1,
        "controller.quorum.voters": f"1@127.0.0.1:{controller}",
        "controller.listener.names": "CONTROLLER",
        "listeners": f"{settings['listeners']},CONTROLLER://127.0.0.1:{controller}",
        "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,SASL_PLAINTEXT:SASL_PLAINTEXT,CONTROLLER:PLAINTEXT",
    }


def _written(file: Path, settings: Mapping[str, object]) -> str:
    file.write_text("".join(f"{name}={value}\n" for name, value in settings.items()))
    return str(file)


def _free_ports(count: int) -> list[int]:
    """Ports of 127.0.0.1 that nobody listens on, below those that Linux gives to outgoing connections."""
    found: list[int] = []
    for port in random.sample(range(15_000, 32_000), 400):
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
        found.append(port)
        if len(found) == count:
            return found
    raise RuntimeError(f"no {count} free ports between 15000 and 32000")
