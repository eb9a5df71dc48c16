"""A real Kafka broker in a process of its own, with the plugin, and with log files that tell what it really saw."""

import os
import signal
import socket
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path

CHECKOUT = Path(__file__).parents[3]
JARS = CHECKOUT / "var" / "end_to_end" / "jars"
PLUGIN = CHECKOUT / "broker-plugin" / "target" / "kafka-client-telemetry-dump.jar"
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


def free_ports(count: int) -> list[int]:
    sockets = [socket.socket() for _ in range(count)]
    try:
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]
    finally:
        for each in sockets:
            each.close()


@dataclass
class KafkaBroker:
    """`kafka`: "broker-3" or "broker-4", the folder of its jars. `settings`: more lines of server.properties."""

    folder: Path
    kafka: str
    node: int
    controller_node: int
    controller_port: int
    environment: dict[str, str] = field(default_factory=dict)
    settings: dict[str, str] = field(default_factory=dict)
    request_log_level: str = "DEBUG"
    java_options: tuple[str, ...] = ("-XX:TieredStopAtLevel=1",)

    def __post_init__(self) -> None:
        self.folder.mkdir(parents=True)
        self.clients_port, self.internal_port = free_ports(2)
        self.process: subprocess.Popen | None = None
        self.killed_at: float | None = None

    @property
    def bootstrap(self) -> str:
        return f"127.0.0.1:{self.clients_port}"

    @property
    def reporter(self) -> str:
        newer = self.kafka == "broker-4"
        return "clienttelemetry.broker." + (
            "ClientTelemetryExporterReporter" if newer else "ClientTelemetryReporter"
        )

    @property
    def request_log(self) -> Path:
        return self.folder / "request.log"

    @property
    def spool(self) -> Path:
        return self.folder / "spool"

    def start(self) -> None:
        is_controller = self.node == self.controller_node
        listeners = {"CLIENTS": self.clients_port, "INTERNAL": self.internal_port}
        advertised = ",".join(f"{name}://127.0.0.1:{port}" for name, port in listeners.items())
        if is_controller:
            listeners["CONTROLLER"] = self.controller_port
        settings = {
            "process.roles": "broker,controller" if is_controller else "broker",
            "node.id": self.node,
            "controller.quorum.voters": f"{self.controller_node}@127.0.0.1:{self.controller_port}",
            "controller.listener.names": "CONTROLLER",
            "inter.broker.listener.name": "INTERNAL",
            "listener.security.protocol.map": "CONTROLLER:PLAINTEXT,INTERNAL:PLAINTEXT,CLIENTS:PLAINTEXT",
            "listeners": ",".join(f"{name}://127.0.0.1:{port}" for name, port in listeners.items()),
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
            "metric.reporters": self.reporter,
            "client.telemetry.dump.spool.dir": self.spool,
            "client.telemetry.dump.spool.min.free.bytes": 0,
            "client.telemetry.dump.connections": "continuous",
            "client.telemetry.dump.roll.ms": 3000,
            **self.settings,
        }
        properties = self.folder / "server.properties"
        properties.write_text("".join(f"{name}={value}\n" for name, value in settings.items()))
        if self.kafka == "broker-4":
            (self.folder / "log4j2.xml").write_text(
                _LOG4J2.format(folder=self.folder, level=self.request_log_level)
            )
            logging = f"-Dlog4j2.configurationFile={self.folder}/log4j2.xml"
        else:
            (self.folder / "log4j.properties").write_text(
                _RELOAD4J.format(folder=self.folder, level=self.request_log_level)
            )
            logging = f"-Dlog4j.configuration=file:{self.folder}/log4j.properties"
        java = [
            "java",
            "-Xmx512m",
            "-XX:+UseSerialGC",
            *self.java_options,
            "-Djava.net.preferIPv4Stack=true",
            "-Duser.timezone=UTC",
            logging,
            "-cp",
            f"{PLUGIN}:{JARS / self.kafka}/*",
        ]
        if not (self.folder / "data").exists():
            formatted = [*java, "kafka.tools.StorageTool", "format", "-t", CLUSTER, "-c", properties]
            # A release that both brokers know.
            subprocess.run([*formatted, "--release-version", "3.9"], check=True, capture_output=True)
        starts = self._starts()
        with (self.folder / "output").open("a") as output:
            self.process = subprocess.Popen(
                [*java, "kafka.Kafka", properties],
                stdout=output,
                stderr=subprocess.STDOUT,
                env={**os.environ, **self.environment},
                start_new_session=True,
            )
        deadline = time.monotonic() + START_SECONDS
        while self._starts() == starts:
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"broker {self.node} did not start: see {self.folder}")
            time.sleep(0.2)

    def _starts(self) -> int:
        log = self.folder / "server.log"
        return log.read_text().count("Kafka Server started") if log.exists() else 0

    def stop(self) -> None:
        """In order, as an operator does it."""
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
