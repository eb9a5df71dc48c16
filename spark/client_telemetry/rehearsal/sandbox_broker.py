"""One real Kafka broker in a sandbox, from its published jars: one node on 127.0.0.1, PLAINTEXT and SASL_PLAINTEXT; where it is asked
for, with TLS (SSL, SASL_SSL) and with Kerberos (KERBEROS, KERBEROS_SSL), too.
"""

import os
import random
import re
import shutil
import socket
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from types import MappingProxyType

from client_telemetry.knowledge import releases
from client_telemetry.knowledge_package import confinement
from client_telemetry.probe.login import unsecured_token
from client_telemetry.rehearsal import sandbox_kdc, sandbox_tls
from client_telemetry.rehearsal.workplace import NotInstalled, Workplace

USERNAME, PASSWORD = "client", "of-the-client"
GSSAPI = "GSSAPI"
START_S = 120
STOP_S = 30
_HOST = "127.0.0.1"
_STARTED = r"Kafka Server started|\[KafkaServer id=1\] started|\[Kafka Server 1\], started"
_CLUSTER = "4L6g3nShT-eMCtK--X86sw"
FULL_SINCE = (2, 4)
"""Older brokers are started with one PLAINTEXT listener, for their metrics alone: the first ones have no other names of listeners
(KIP-103, 0.10.2) and no login without a file of the JVM.
"""
_CLIENTS_OF_OLDER = "2.3.1"
"""Its clients talk to each older broker; those of 0.10 have no AdminClient."""
_SECURITY = "org.apache.kafka.common.security"
OF_BROKERS = Path(__file__).parent / "jars"
_RELOAD4J = """\
log4j.rootLogger=INFO, S
log4j.appender.S=org.apache.log4j.FileAppender
log4j.appender.S.File={folder}/server.log
log4j.appender.S.layout=org.apache.log4j.PatternLayout
log4j.appender.S.layout.ConversionPattern=[%d] %p %m (%c)%n
log4j.appender.Q=org.apache.log4j.FileAppender
log4j.appender.Q.File={folder}/request.log
log4j.appender.Q.layout=org.apache.log4j.PatternLayout
log4j.appender.Q.layout.ConversionPattern=%m%n
log4j.logger.kafka.request.logger={requests}, Q
log4j.additivity.kafka.request.logger=false
"""
_LOG4J2 = """\
<Configuration status="WARN"><Appenders>
<File name="S" fileName="{folder}/server.log"><PatternLayout pattern="[%d] %p %m (%c)%n"/></File>
<File name="Q" fileName="{folder}/request.log"><PatternLayout pattern="%m%n"/></File>
</Appenders><Loggers><Root level="INFO"><AppenderRef ref="S"/></Root>
<Logger name="kafka.request.logger" level="{requests}" additivity="false"><AppenderRef ref="Q"/></Logger>
</Loggers></Configuration>
"""


class BrokerDidNotStart(RuntimeError):
    """With its own last words."""


@dataclass(frozen=True)
class Broker:
    addresses: Mapping[str, str]
    """Bootstrap address by listener, which is called as its security protocol; those for GSSAPI are KERBEROS and KERBEROS_SSL."""
    request_log: Path
    """One line for each request that it answered, as kafka.request.logger writes them at DEBUG; empty before FULL_SINCE."""
    java: "_Java"
    clients: "_Java"
    """The same jars, or those of clients that can talk to an older broker."""
    files: Mapping[str, str]
    """Variables that name the certificates and keytabs of clients."""

    def settings(self, mechanism: str = "", *, tls: bool = False) -> dict[str, str]:
        """Variables of a program that connects so. Without a mechanism, TLS is mutual."""
        end = "SSL" if tls else "PLAINTEXT"
        protocol = f"SASL_{end}" if mechanism else end
        listener = protocol
        if mechanism == GSSAPI:
            listener = "KERBEROS_SSL" if tls else "KERBEROS"
        return {
            **self.files,
            "BOOTSTRAP": self.addresses[listener],
            "PROTOCOL": protocol,
            "MECHANISM": mechanism,
            "USERNAME": USERNAME,
            "PASSWORD": PASSWORD,
            "TOKEN": unsecured_token(USERNAME),
        }

    def seed(self, topics: Sequence[str]) -> None:
        """Makes topics with one record each. Raises BrokerDidNotStart."""
        self.clients.run(str(OF_BROKERS / "Seed.java"), self._for_its_own(), *topics)

    def metrics(self) -> list[str]:
        """Names of its MBeans, once it has had something to do. Raises BrokerDidNotStart."""
        said = self.clients.run(
            str(OF_BROKERS / "BrokerMetrics.java"), str(self.java.folder), self._for_its_own()
        )
        return [line for line in said.splitlines() if line.startswith("kafka")]

    def _for_its_own(self) -> str:
        """The address of the listener whose requests are not those of the clients, where there is one."""
        return self.addresses.get("INTERNAL", self.addresses["PLAINTEXT"])

    def restart(self) -> None:
        """Stops it in order, and starts it again with what it has kept. Raises BrokerDidNotStart."""
        self.java.restart()


def jars(release: str, cache: Path) -> Path:
    """The folder with the jars of a broker release, fetched by Maven where it is not there yet. Raises NotInstalled."""
    line = "4" if _is_4(release) else "3" if _is_full(release) else "2.3"
    return _fetched(release, f"broker-{line}.pom.xml", cache)


def _fetched(name: str, pom: str, cache: Path) -> Path:
    """`name`: of the folder, a release of Kafka where the POM takes one."""
    folder = cache / "brokers" / name
    if not folder.exists():
        partial = folder.with_name(f".{name}")
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir(parents=True)
        copying = (f"-Dkafka.version={name}", f"-DoutputDirectory={partial}/jars")
        Workplace(partial, cache).do(
            "mvn", "-q", "-B", "-f", OF_BROKERS / pom, "dependency:copy-dependencies", *copying
        )
        (partial / "jars").rename(folder)
        shutil.rmtree(partial)
    return folder


@contextmanager
def running(
    broker: str,
    cache: Path,
    *formatting: str,
    tls: bool = False,
    kerberos: bool = False,
    proxies: Mapping[str, str] = MappingProxyType({}),
) -> Iterator[Broker]:
    """A fresh broker while the block runs: `4.0.1`; `4.0.1#transaction.version=0` with that feature level; `3.9.1@2.7`
    in ZooKeeper mode with that inter.broker.protocol.version. 0.10 to 2.8 are always in ZooKeeper mode, which has no SCRAM
    credentials here, nor have 3.0 to 3.4. Before FULL_SINCE
    there is no listener but PLAINTEXT. `formatting`: more arguments of StorageTool. `proxies`: more listeners, each with the address of
    a proxy that it advertises instead of its own. Raises NotInstalled or BrokerDidNotStart.
    """
    name, _, feature = broker.partition("#")
    release, _, protocol = name.partition("@")
    with tempfile.TemporaryDirectory(prefix="kafka-") as sandbox, ExitStack() as ending:
        ending.enter_context(confinement.ended_in_order())
        folder = Path(sandbox)
        is_full = _is_full(release)
        listeners = _listeners(tls=tls, kerberos=kerberos) if is_full else {"PLAINTEXT": ("PLAINTEXT", _HOST)}
        listeners |= dict.fromkeys(proxies, ("PLAINTEXT", _HOST))
        other, *ports = free_ports(1 + len(listeners))
        addresses = {
            each: f"{host}:{port}" for (each, (_, host)), port in zip(listeners.items(), ports, strict=True)
        }
        java = _Java(release, folder, jars(release, cache), ending)
        files, more = _credentials(folder, cache, ending, tls=tls, kerberos=kerberos)
        settings = _settings(folder, addresses) | more
        settings["advertised.listeners"] = _as_setting({**addresses, **proxies})
        clients = java
        if is_full:
            settings |= _of_listeners({each: kind for each, (kind, _) in listeners.items()})
        else:
            clients = _Java(_CLIENTS_OF_OLDER, folder, jars(_CLIENTS_OF_OLDER, cache), ending)
        if protocol or releases.parse(release) < (3,):
            settings |= _zookeeper(java, other, protocol)
            java.start("kafka.Kafka", _written(folder / "server.properties", settings))
        else:
            properties = _written(folder / "server.properties", settings | _kraft(settings, other))
            adding = _scram(release)
            adding += ["--feature", feature] if feature else []
            java.run(
                "kafka.tools.StorageTool", "format", "-t", _CLUSTER, "-c", properties, *adding, *formatting
            )
            java.start("kafka.Kafka", properties)
        java.wait_until_kafka_is_started()
        yield Broker(addresses, folder / "request.log", java, clients, files)


def _scram(release: str) -> list[str]:
    """Arguments of StorageTool, which makes credentials since 3.5 (KIP-900)."""
    if releases.parse(release) < (3, 5):
        return []
    credentials = [f"SCRAM-SHA-{bits}=[name={USERNAME},password={PASSWORD}]" for bits in (256, 512)]
    return [word for each in credentials for word in ("--add-scram", each)]


def _listeners(*, tls: bool, kerberos: bool) -> dict[str, tuple[str, str]]:
    """Listener -> its security protocol and host. What the broker sends itself goes over INTERNAL: it is not among the requests of
    the clients.
    """
    found = {
        "PLAINTEXT": ("PLAINTEXT", _HOST),
        "SASL_PLAINTEXT": ("SASL_PLAINTEXT", _HOST),
        "INTERNAL": ("PLAINTEXT", _HOST),
    }
    if tls:
        found |= {"SSL": ("SSL", _HOST), "SASL_SSL": ("SASL_SSL", _HOST)}
    if kerberos:
        found["KERBEROS"] = ("SASL_PLAINTEXT", sandbox_kdc.HOST)
    if tls and kerberos:
        found["KERBEROS_SSL"] = ("SASL_SSL", sandbox_kdc.HOST)
    return found


def _credentials(
    folder: Path, cache: Path, ending: ExitStack, *, tls: bool, kerberos: bool
) -> tuple[dict[str, str], dict[str, object]]:
    """Variables of the clients and settings of the broker; starts the Kerberos server."""
    files: dict[str, str] = {}
    settings: dict[str, object] = {}
    if tls:
        made = sandbox_tls.made(folder / "tls")
        files, settings = made.of_programs, made.of_broker
    if kerberos:
        (port,) = free_ports(1)
        realm = sandbox_kdc.configured(folder / "kerberos", port, USERNAME)
        java = _Java("", realm.folder, _fetched("kerby", sandbox_kdc.POM, cache), ending)
        java.start(str(OF_BROKERS / sandbox_kdc.PROGRAM), *realm.arguments)
        java.wait_until(lambda: sandbox_kdc.STARTED in (realm.folder / "output").read_text(errors="replace"))
        files, settings = files | realm.of_programs, settings | realm.of_broker
    return files, settings


class _Java:
    """Programs of one release's jars; what they print goes to `output` in a folder, the broker's log to server.log."""

    def __init__(self, release: str, folder: Path, jars: Path, ending: ExitStack) -> None:
        self.folder, self.ending = folder, ending
        self.environment = confinement.of_programs(folder / "home")
        self.command = ["java", "-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"]
        self.command += ["-Djava.net.preferIPv4Stack=true", "-Duser.timezone=UTC", _logging(release, folder)]
        self.command += [f"-Djava.security.krb5.conf={folder}/kerberos/krb5.conf"]
        self.command += ["-cp", f"{jars}/*"]
        self.processes: list[subprocess.Popen[bytes]] = []
        self._started: tuple[str, ...] = ()
        self._starts = 0

    def run(self, *program: str) -> str:
        """Gives what it printed. Raises BrokerDidNotStart or NotInstalled."""
        try:
            ended = confinement.run([*self.command, *program], self.environment, self.folder, START_S)
        except OSError:
            raise NotInstalled("java is not installed") from None
        if ended.code != 0:
            raise BrokerDidNotStart(_last_words(ended.output) or program[0])
        return ended.output

    def start(self, *program: str) -> None:
        output = self.ending.enter_context((self.folder / "output").open("a"))
        try:
            process = self.ending.enter_context(
                confinement.started([*self.command, *program], self.environment, self.folder, output.fileno())
            )
        except OSError:
            raise NotInstalled("java is not installed") from None
        self.processes.append(process)
        self._started, self._starts = program, self._starts_in_log() + 1

    def restart(self) -> None:
        """The program that was started last."""
        process = self.processes.pop()
        process.terminate()
        try:
            process.wait(timeout=STOP_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        self.start(*self._started)
        self.wait_until_kafka_is_started()

    def _starts_in_log(self) -> int:
        log = self.folder / "server.log"
        return len(re.findall(_STARTED, log.read_text(errors="replace"))) if log.exists() else 0

    def wait_until_kafka_is_started(self) -> None:
        self.wait_until(lambda: self._starts_in_log() >= self._starts)

    def wait_until(self, is_ready: Callable[[], bool]) -> None:
        """Raises BrokerDidNotStart if the program that was started last ends, or takes too long."""
        log, deadline = self.folder / "server.log", time.monotonic() + START_S
        while not is_ready():
            if self.processes[-1].poll() is not None or time.monotonic() > deadline:
                said = log if log.exists() else self.folder / "output"
                raise BrokerDidNotStart(_last_words(said.read_text(errors="replace")) or "it said nothing")
            time.sleep(0.2)


def _last_words(output: str) -> str:
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    saying = [line for line in lines if re.search(r"ERROR|FATAL|Exception|required|invalid", line)]
    return (saying or lines or [""])[-1][:300]


def _zookeeper(java: _Java, port: int, protocol: str) -> dict[str, object]:
    """Starts a ZooKeeper; gives the broker's settings for it."""
    settings = {"dataDir": java.folder / "zookeeper", "clientPort": port, "clientPortAddress": "127.0.0.1"}
    file = _written(java.folder / "zookeeper.properties", settings | {"admin.enableServer": "false"})
    java.start("org.apache.zookeeper.server.quorum.QuorumPeerMain", file)
    of_protocol = {"inter.broker.protocol.version": protocol} if protocol else {}
    connecting = {"zookeeper.connect": f"127.0.0.1:{port}", "zookeeper.connection.timeout.ms": START_S * 1000}
    return {"broker.id": 1, **connecting, **of_protocol}


def _is_full(release: str) -> bool:
    return releases.parse(release) >= FULL_SINCE


def _is_4(release: str) -> bool:
    """Or later. Empty: a program that is no broker."""
    return bool(release) and int(release.split(".")[0]) >= 4


def _logging(release: str, folder: Path) -> str:
    name, text, option = (
        ("log4j2.xml", _LOG4J2, "log4j2.configurationFile=")
        if _is_4(release)
        else ("log4j.properties", _RELOAD4J, "log4j.configuration=file:")
    )
    # 1.0.0 fails to log the answer to a version of ApiVersions that it does not have, and then does not send it.
    requests = "DEBUG" if not release or _is_full(release) else "WARN"
    (folder / name).write_text(text.format(folder=folder, requests=requests))
    return f"-D{option}{folder}/{name}"


def _settings(folder: Path, addresses: Mapping[str, str]) -> dict[str, object]:
    """`addresses`: by listener."""
    return {
        "listeners": _as_setting(addresses),
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


def _of_listeners(protocols: Mapping[str, str]) -> dict[str, object]:
    """Settings of listeners that have names and logins of their own. `protocols`: by listener."""
    scram = f"{_SECURITY}.scram.ScramLoginModule required;"
    protocol_map = ",".join(f"{name}:{protocol}" for name, protocol in protocols.items())
    found: dict[str, object] = {
        "inter.broker.listener.name": "INTERNAL",
        "listener.security.protocol.map": f"{protocol_map},CONTROLLER:PLAINTEXT",
        "sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-256,SCRAM-SHA-512,OAUTHBEARER",
    }
    for listener in ("sasl_plaintext", "sasl_ssl"):
        prefix = f"listener.name.{listener}"
        found |= {
            f"{prefix}.plain.sasl.jaas.config": f'{_SECURITY}.plain.PlainLoginModule required user_{USERNAME}="{PASSWORD}";',
            f"{prefix}.scram-sha-256.sasl.jaas.config": scram,
            f"{prefix}.scram-sha-512.sasl.jaas.config": scram,
            # Tokens without a signature, which its default handlers take.
            f"{prefix}.oauthbearer.sasl.jaas.config": f'{_SECURITY}.oauthbearer.OAuthBearerLoginModule required unsecuredLoginStringClaim_sub="broker";',
        }
    return found


def _as_setting(addresses: Mapping[str, str]) -> str:
    return ",".join(f"{name}://{address}" for name, address in addresses.items())


def _kraft(settings: dict[str, object], controller: int) -> dict[str, object]:
    return {
        "process.roles": "broker,controller",
        "node.id": 1,
        "controller.quorum.voters": f"1@127.0.0.1:{controller}",
        "controller.listener.names": "CONTROLLER",
        "listeners": f"{settings['listeners']},CONTROLLER://127.0.0.1:{controller}",
    }


def _written(file: Path, settings: Mapping[str, object]) -> str:
    file.write_text("".join(f"{name}={value}\n" for name, value in settings.items()))
    return str(file)


_PORTS = range(15_000, 31_000)
_OF_ONE_PROCESS = 1_000
_given: set[int] = set()
_giving = threading.Lock()


def free_ports(count: int) -> list[int]:
    """Ports of 127.0.0.1 that nobody listens on, each given once by a process. They lie below those that Linux gives to
    outgoing connections (from 32768 on): one of these may be taken by a client before the broker has started. Processes
    that were started one after the other draw from different thousands.
    """
    first = _PORTS.start + os.getpid() * _OF_ONE_PROCESS % len(_PORTS)
    own = range(first, first + _OF_ONE_PROCESS)
    with _giving:
        drawn = dict.fromkeys([*random.sample(own, len(own)), *random.sample(_PORTS, 400)])
        found = list(islice(filter(_is_free, (port for port in drawn if port not in _given)), count))
        _given.update(found)
    if len(found) < count:
        raise RuntimeError(f"no {count} free ports between {_PORTS.start} and {_PORTS.stop}")
    return found


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True
