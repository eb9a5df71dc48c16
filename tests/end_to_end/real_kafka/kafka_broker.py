"""A real Kafka broker in a process of its own, with the plugin, and with log files that tell what it really saw."""

import json
import os
import re
import signal
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path

from client_telemetry.rehearsal.sandbox_broker import free_ports
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, pkcs12

CHECKOUT = Path(__file__).parents[3]
JARS = CHECKOUT / "var" / "end_to_end" / "jars"
_POM = (CHECKOUT / "broker-plugin" / "pom.xml").read_text()
_VERSION = re.search(r"^  <version>(.*)</version>", _POM, re.MULTILINE)[1]
PLUGIN = CHECKOUT / "broker-plugin" / "target" / f"kafka-client-telemetry-dump-{_VERSION}.jar"
CLUSTER = "4L6g3nShT-eMCtK--X86sw"
START_SECONDS = 180  # a broker takes 2 s on a quiet machine, and much longer beside others

# What the broker's own logging writes, whatever the plugin listens to: the witness of the tests.
_RELOAD4J = """\
log4j.rootLogger=INFO, S
log4j.appender.S=org.apache.log4j.FileAppender
log4j.appender.S.File={folder}/server.log
log4j.appender.S.layout=org.apache.log4j.PatternLayout
log4j.appender.S.layout.ConversionPattern=[%d] %p %m (%c)%n
log4j.appender.Q=org.apache.log4j.FileAppender
log4j.appender.Q.File={folder}/request.log
log4j.appender.Q.layout=org.apache.log4j.PatternLayout
log4j.appender.Q.layout.ConversionPattern=%d{{yyyy-MM-dd'T'HH:mm:ss.SSS}}\\t%m%n
log4j.logger.kafka.request.logger={level}, Q
log4j.additivity.kafka.request.logger=false
"""
_LOG4J2 = """\
<Configuration status="WARN"><Appenders>
<File name="S" fileName="{folder}/server.log"><PatternLayout pattern="[%d] %p %m (%c)%n"/></File>
<File name="Q" fileName="{folder}/request.log"><PatternLayout pattern="%d{{yyyy-MM-dd'T'HH:mm:ss.SSS}}&#9;%m%n"/></File>
</Appenders><Loggers>
<Root level="INFO"><AppenderRef ref="S"/></Root>
<Logger name="kafka.request.logger" level="{level}" additivity="false"><AppenderRef ref="Q"/></Logger>
</Loggers></Configuration>
"""

_STORE_PASSWORD = "of-this-test"


def _key_pair(store: Path, name: str, certificate: Path, *more: str) -> None:
    """A key with its own certificate in a PKCS12 store, and the certificate in a PEM file."""
    keytool = ["keytool", "-alias", "key", "-keystore", store, "-storepass", _STORE_PASSWORD]
    made = ["-genkeypair", "-keyalg", "EC", "-dname", f"CN={name}", *more]
    subprocess.run([*keytool, *made], check=True, capture_output=True)
    subprocess.run([*keytool, "-exportcert", "-rfc", "-file", certificate], check=True, capture_output=True)


def _with_tls(folder: Path, listener: str) -> dict[str, str | Path]:
    """Settings of a listener that speaks TLS. The certificate is `folder`/ca.pem."""
    store = folder / "broker.p12"
    if not store.exists():
        _key_pair(store, "localhost", folder / "ca.pem", "-ext", "SAN=dns:localhost,ip:127.0.0.1")
    prefix = f"listener.name.{listener.lower()}."
    return {
        f"{prefix}ssl.keystore.type": "PKCS12",
        f"{prefix}ssl.keystore.location": store,
        f"{prefix}ssl.keystore.password": _STORE_PASSWORD,
    }


def secured(folder: Path, listener: str, users: dict[str, str]) -> dict[str, str | Path]:
    """Settings of a listener that speaks SASL_SSL. `users`: their passwords. The certificate is `folder`/ca.pem."""
    known = " ".join(f'user_{name}="{secret}"' for name, secret in users.items())
    prefix = f"listener.name.{listener.lower()}."
    return {
        f"{prefix}sasl.enabled.mechanisms": "PLAIN",
        f"{prefix}plain.sasl.jaas.config": f"org.apache.kafka.common.security.plain.PlainLoginModule required {known};",
        **_with_tls(folder, listener),
    }


@dataclass(frozen=True)
class ClientCertificate:
    """`store`: PKCS12, for Java; `certificate` and `key`: PEM."""

    store: Path
    certificate: Path
    key: Path
    password: str = _STORE_PASSWORD


def mutual_tls(folder: Path, listener: str, name: str) -> tuple[dict[str, str | Path], ClientCertificate]:
    """Settings of a listener that speaks SSL and asks for certificates, and the one that it accepts, of CN=`name`."""
    client = ClientCertificate(folder / f"{name}.p12", folder / f"{name}.pem", folder / f"{name}.key")
    _key_pair(client.store, name, client.certificate)
    key, _, _ = pkcs12.load_key_and_certificates(client.store.read_bytes(), client.password.encode())
    plain = (Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    client.key.write_bytes(key.private_bytes(*plain))
    prefix = f"listener.name.{listener.lower()}."
    settings = {
        **_with_tls(folder, listener),
        f"{prefix}ssl.client.auth": "required",
        f"{prefix}ssl.truststore.type": "PEM",
        f"{prefix}ssl.truststore.location": client.certificate,
    }
    return settings, client


@dataclass
class KafkaBroker:
    """`kafka`: "broker-3", "broker-4" or "kafka-<release>", the folder of its jars, or a path that ends so. `settings`: more lines of
    server.properties. `listeners`: those for clients, with their security protocols. `format_options`: of the storage;
    by default a release that the brokers of a mixed cluster both know."""

    folder: Path
    kafka: str
    node: int
    controller_node: int
    controller_port: int
    environment: dict[str, str] = field(default_factory=dict)
    settings: dict[str, str] = field(default_factory=dict)
    request_log_level: str = "DEBUG"
    java_options: tuple[str, ...] = ("-XX:TieredStopAtLevel=1",)
    listeners: dict[str, str] = field(default_factory=lambda: {"CLIENTS": "PLAINTEXT"})
    cluster: str = CLUSTER
    format_options: tuple[str, ...] = ("--release-version", "3.9")

    def __post_init__(self) -> None:
        self.folder.mkdir(parents=True)
        names = [*self.listeners, "INTERNAL"]
        *ports, self.jmx_port = free_ports(len(names) + 1)
        self.ports = dict(zip(names, ports, strict=True))
        self.process: subprocess.Popen | None = None
        self.killed_at: float | None = None

    @property
    def bootstrap(self) -> str:
        return f"127.0.0.1:{self.ports['CLIENTS']}"

    @property
    def is_kafka_4(self) -> bool:
        return Path(self.kafka).name.startswith(("broker-4", "kafka-4"))

    @property
    def request_log(self) -> Path:
        return self.folder / "request.log"

    @property
    def spool(self) -> Path:
        return self.folder / "spool"

    def start(self) -> None:
        self.launch()
        self.wait_until_started()

    def launch(self) -> None:
        """Starts the process; brokers of one quorum are started together."""
        java = self._java()
        if not (self.folder / "data").exists():
            formatted = [*java, "kafka.tools.StorageTool", "format", "-t", self.cluster]
            options = ["-c", self.folder / "server.properties", *self.format_options]
            subprocess.run([*formatted, *options], check=True, capture_output=True)
        self._starts_before = self._starts()
        jmx = f"-Dcom.sun.management.jmxremote.port={self.jmx_port}"
        with (self.folder / "output").open("a") as output:
            self.process = subprocess.Popen(
                [*java, jmx, "kafka.Kafka", self.folder / "server.properties"],
                stdout=output,
                stderr=subprocess.STDOUT,
                env={**os.environ, **self.environment},
                start_new_session=True,
            )

    def wait_until_started(self) -> None:
        deadline = time.monotonic() + START_SECONDS
        while self._starts() == self._starts_before:
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"broker {self.node} did not start: {self._last_words()}")
            time.sleep(0.2)

    def _starts(self) -> int:
        log = self.folder / "server.log"
        return log.read_text().count("Kafka Server started") if log.exists() else 0

    def _settings(self) -> dict[str, object]:
        is_controller = self.node == self.controller_node
        ports = dict(self.ports)
        advertised = ",".join(f"{name}://127.0.0.1:{port}" for name, port in ports.items())
        if is_controller:
            ports["CONTROLLER"] = self.controller_port
        protocols = {**self.listeners, "INTERNAL": "PLAINTEXT", "CONTROLLER": "PLAINTEXT"}
        return {
            "process.roles": "broker,controller" if is_controller else "broker",
            "node.id": self.node,
            "controller.quorum.voters": f"{self.controller_node}@127.0.0.1:{self.controller_port}",
            "controller.listener.names": "CONTROLLER",
            "inter.broker.listener.name": "INTERNAL",
            "listener.security.protocol.map": ",".join(f"{n}:{p}" for n, p in protocols.items()),
            "listeners": ",".join(f"{name}://127.0.0.1:{port}" for name, port in ports.items()),
            "advertised.listeners": advertised,
            "log.dirs": self.folder / "data",
            "offsets.topic.replication.factor": 1,
            "offsets.topic.num.partitions": 4,
            "transaction.state.log.replication.factor": 1,
            "transaction.state.log.min.isr": 1,
            "group.initial.rebalance.delay.ms": 0,
            "num.partitions": 2,
            "num.network.threads": 2,
            "num.io.threads": 4,
            "log.cleaner.dedupe.buffer.size": 8388608,
            # Kafka 4 shows nothing in JMX any more where other reporters are named without its own.
            "metric.reporters": "org.apache.kafka.common.metrics.JmxReporter,clienttelemetry.broker.ClientTelemetryReporter",
            "client.telemetry.dump.spool.dir": self.spool,
            "client.telemetry.dump.spool.min.free.bytes": 0,
            "client.telemetry.dump.connections": "continuous",
            "client.telemetry.dump.roll.ms": 3000,
            **self.settings,
        }

    def _java(self) -> list[str | Path]:
        """How its programs are started; its configuration is written first."""
        settings = "".join(f"{name}={value}\n" for name, value in self._settings().items())
        (self.folder / "server.properties").write_text(settings)
        if self.is_kafka_4:
            (self.folder / "log4j2.xml").write_text(
                _LOG4J2.format(folder=self.folder, level=self.request_log_level)
            )
            logging = f"-Dlog4j2.configurationFile={self.folder}/log4j2.xml"
        else:
            (self.folder / "log4j.properties").write_text(
                _RELOAD4J.format(folder=self.folder, level=self.request_log_level)
            )
            logging = f"-Dlog4j.configuration=file:{self.folder}/log4j.properties"
        return [
            "java",
            "-Xmx512m",
            "-XX:+UseSerialGC",
            *self.java_options,
            "-Djava.net.preferIPv4Stack=true",
            "-Djava.rmi.server.hostname=127.0.0.1",
            "-Dcom.sun.management.jmxremote.host=127.0.0.1",
            "-Dcom.sun.management.jmxremote.authenticate=false",
            "-Dcom.sun.management.jmxremote.ssl=false",
            "-Duser.timezone=UTC",
            logging,
            "-cp",
            f"{PLUGIN}:{JARS / self.kafka}/*",
        ]

    def jmx(self, beans: str, attribute: str) -> list[dict]:
        """What the broker shows in JMX: `value` and the keys of the bean's name, one for each bean of the pattern."""
        reader = [Path(__file__).parent / "clients" / "JmxReader.java", str(self.jmx_port), beans, attribute]
        printed = subprocess.run(
            ["java", "-XX:TieredStopAtLevel=1", *reader], check=True, capture_output=True, text=True
        )
        return [json.loads(line) for line in printed.stdout.splitlines()]

    def dump_figure(self, name: str) -> int:
        """A figure of the plugin; its counts are since the broker's start."""
        (bean,) = self.jmx("client.telemetry.dump:type=status", name)
        return int(float(bean["value"]))

    def _last_words(self) -> str:
        """Who ended it: its exit code, and what it logged last (a signal from outside is logged as such)."""
        log = self.folder / "server.log"
        lines = log.read_text().splitlines()[-40:] if log.exists() else []
        output = (self.folder / "output").read_text().splitlines()[-10:]
        return "\n".join([f"exit code {self.process.poll()}; see {self.folder}", *lines, *output])

    def stop(self) -> None:
        """In order, as an operator does it. A broker that is gone before has been stopped by something else."""
        if self.process.poll() is not None:
            raise RuntimeError(f"broker {self.node} was stopped by something else: {self._last_words()}")
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(timeout=60)

    def kill(self) -> None:
        self.killed_at = time.time()
        self.process.kill()
        self.process.wait()

    def end(self) -> None:
        """Whatever is left at the end of the tests."""
        if self.process and self.process.poll() is None:
            self.process.kill()
            self.process.wait()
