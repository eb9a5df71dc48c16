"""Real servers on 127.0.0.1, each with a data folder and a port of its own: PostgreSQL, Iceberg's REST catalog, S3."""

import os
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from client_telemetry.rehearsal.sandbox_broker import free_ports

CHECKOUT = Path(__file__).parents[3]
REST_JARS = CHECKOUT / "var" / "e2e" / "rest_catalog"
NESSIE_JAR = CHECKOUT / "var" / "e2e" / "nessie" / "nessie-quarkus-0.99.0-runner.jar"
JARS = CHECKOUT / "var" / "jars"
S3_SERVERS = (
    CHECKOUT / "var" / "e2e" / "bin" / "versitygw",
    CHECKOUT / "var" / "e2e" / "moto" / "bin" / "moto_server",
)
START_SECONDS = 90


def free_port() -> int:
    return free_ports(1)[0]


def wait_for(port: int, process: subprocess.Popen | None, log: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return
        except OSError:
            ended = process is not None and process.poll() is not None
            if ended or time.monotonic() > deadline:
                raise RuntimeError(f"nothing listens on {port}: {log.read_text()[-2000:]}") from None
            time.sleep(0.2)


def postgres_programs() -> Path | None:
    """The folder of initdb and postgres, as Debian's package installs them."""
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin"))
    return folders[-1] if folders else None


class Postgres:
    """A server of its own, with a database `lake`."""

    def __init__(self, folder: Path):
        self.port, self.data, self._log = free_port(), folder / "data", folder / "postgres.log"
        self._prefix: list[str] = []
        self.data.mkdir()
        if os.getuid() == 0:  # as which PostgreSQL does not run
            for each in (folder, self.data):
                shutil.chown(each, "postgres", "postgres")
            self._prefix = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"]
        run = [*self._prefix, str(postgres_programs() / "initdb"), "-D", str(self.data), "-U", "lake"]
        subprocess.run([*run, "-A", "trust", "--no-sync"], check=True, capture_output=True, cwd="/")

    @property
    def environment(self) -> dict[str, str]:
        return {
            "PYICEBERG_CATALOG__LAKE__TYPE": "sql",
            "PYICEBERG_CATALOG__LAKE__URI": f"postgresql+psycopg2://lake@127.0.0.1:{self.port}/lake",
        }

    def start(self) -> None:
        options = f"-D {self.data} -p {self.port} -h 127.0.0.1 -k {self.data} -F -c max_connections=300"
        command = [*self._prefix, str(postgres_programs() / "postgres"), *options.split()]
        with self._log.open("ab") as out:
            self._process = subprocess.Popen(command, stdout=out, stderr=out, cwd="/")
        wait_for(self.port, self._process, self._log)
        for _ in range(50):
            if self.sql("select 1"):
                return
            time.sleep(0.2)
        raise RuntimeError(self._log.read_text()[-2000:])

    def stop(self) -> None:
        self._process.send_signal(signal.SIGINT)  # does not wait for those that are still connected
        self._process.wait()

    def ask_for_passwords(self) -> None:
        (self.data / "pg_hba.conf").write_text("host all all 127.0.0.1/32 scram-sha-256\n")
        self._process.send_signal(signal.SIGHUP)

    def sql(self, statement: str) -> bool:
        """Whether it was done."""
        command = f"psql -h 127.0.0.1 -p {self.port} -U lake -d postgres -c".split()
        return subprocess.run([*command, statement], capture_output=True, check=False).returncode == 0


@contextmanager
def postgres_server() -> Iterator[Postgres]:
    # Not below pytest's folder, which every start of pytest closes to other users.
    with tempfile.TemporaryDirectory(prefix="postgres-", ignore_cleanup_errors=True) as folder:
        server = Postgres(Path(folder))
        server.start()
        try:
            server.sql("create database lake")
            yield server
        finally:
            server.stop()


@contextmanager
def postgres() -> Iterator[dict[str, str]]:
    """The environment in which the lake's catalog is a database of its own PostgreSQL."""
    with postgres_server() as server:
        yield server.environment


class Gateway:
    """Between clients and a server: while `fails`, it closes what is open and answers 503, as a store that is overloaded."""

    ANSWER = (
        b"HTTP/1.1 503 Slow Down\r\nContent-Type: application/xml\r\nConnection: close\r\nContent-Length: 100\r\n\r\n"
        + (
            b"<Error><Code>SlowDown</Code><Message>Please reduce your request rate.</Message></Error>".ljust(
                100
            )
        )
    )

    def __init__(self, server: int):
        self._server = server
        self._open: set[socket.socket] = set()
        self.refused = 0
        self._until = 0.0
        self._listening = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port = self._listening.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def fails(self) -> bool:
        return time.monotonic() < self._until

    def fail_for(self, seconds: float) -> None:
        self._until = time.monotonic() + seconds
        for each in list(self._open):
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        self._listening.close()
        self.fail_for(0)

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listening.accept()
                threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        with client, suppress(OSError):
            if self.fails:
                self.refused += 1
                client.recv(2**16)
                client.sendall(self.ANSWER)
                return
            with socket.create_connection(("127.0.0.1", self._server)) as server:
                ends = {client, server}
                self._open |= ends
                back = threading.Thread(target=self._copy, args=(server, client), daemon=True)
                back.start()
                self._copy(client, server)
                back.join()
                self._open -= ends

    @staticmethod
    def _copy(source: socket.socket, target: socket.socket) -> None:
        with suppress(OSError):
            while data := source.recv(2**16):
                target.sendall(data)
        for each in (source, target):
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)


def _s3_of_server() -> dict[str, str]:
    """The REST server writes the tables' metadata: to the store that the environment names."""
    return {
        "CATALOG_IO__IMPL": "org.apache.iceberg.aws.s3.S3FileIO",
        "CATALOG_S3_ENDPOINT": os.environ["AWS_ENDPOINT_URL"],
        "CATALOG_S3_PATH__STYLE__ACCESS": "true",
    }


@contextmanager
def rest_catalog(folder: Path, warehouse: str, **environment: str) -> Iterator[dict[str, str]]:
    """The environment in which the lake's catalog is Iceberg's own REST server."""
    folder.mkdir(parents=True, exist_ok=True)
    port, log = free_port(), folder / "rest.log"
    settings = {
        "CATALOG_CATALOG__IMPL": "org.apache.iceberg.jdbc.JdbcCatalog",
        "CATALOG_URI": f"jdbc:sqlite:{folder}/rest.db",
        "CATALOG_WAREHOUSE": warehouse,
        "CATALOG_JDBC_SCHEMA__VERSION": "V1",
        "CATALOG_REST_PORT": str(port),
        "REST_PORT": str(port),
        **(_s3_of_server() if warehouse.startswith("s3://") else {}),
        **environment,
    }
    aws = ":".join(str(jar) for jar in JARS.glob("*iceberg-aws-bundle*.jar"))
    path = f"{REST_JARS}/*:{aws}"
    command = ["java", "-Xmx384m", "-cp", path, "org.apache.iceberg.rest.RESTCatalogServer"]
    with log.open("wb") as out:
        process = subprocess.Popen(command, env={**os.environ, **settings}, stdout=out, stderr=out)
    try:
        wait_for(port, process, log)
        yield {
            "PYICEBERG_CATALOG__LAKE__TYPE": "rest",
            "PYICEBERG_CATALOG__LAKE__URI": f"http://127.0.0.1:{port}",
        }
    finally:
        process.terminate()
        process.wait()


def nessie_java() -> Path | None:
    """A Java for Nessie's server, which needs 21 or newer."""
    for java in sorted(Path("/usr/lib/jvm").glob("*/bin/java")):
        release = (java.parents[1] / "release").read_text() if (java.parents[1] / "release").exists() else ""
        version = re.search(r'JAVA_VERSION="(\d+)', release)
        if version and int(version[1]) >= 21:
            return java
    return None


@contextmanager
def nessie(folder: Path, warehouse: str) -> Iterator[dict[str, str]]:
    """The environment in which the lake's catalog is Nessie's REST interface, over the store that the environment names."""
    folder.mkdir(parents=True, exist_ok=True)
    port, log = free_port(), folder / "nessie.log"
    store = "nessie.catalog.service.s3.default-options"
    settings = {
        "quarkus.http.host": "127.0.0.1",
        "quarkus.http.port": str(port),
        "quarkus.management.port": str(free_port()),
        "nessie.version.store.type": "IN_MEMORY",
        "nessie.catalog.default-warehouse": "lake",
        "nessie.catalog.warehouses.lake.location": warehouse,
        f"{store}.endpoint": os.environ["AWS_ENDPOINT_URL"],
        f"{store}.region": os.environ["AWS_REGION"],
        f"{store}.path-style-access": "true",
        f"{store}.access-key": "urn:nessie-secret:quarkus:store",
        "store.name": os.environ["AWS_ACCESS_KEY_ID"],
        "store.secret": os.environ["AWS_SECRET_ACCESS_KEY"],
    }
    command = [str(nessie_java()), "-Xmx384m", *(f"-D{name}={value}" for name, value in settings.items())]
    with log.open("wb") as out:
        process = subprocess.Popen([*command, "-jar", str(NESSIE_JAR)], cwd=folder, stdout=out, stderr=out)
    try:
        wait_for(port, process, log)
        yield {
            "PYICEBERG_CATALOG__LAKE__TYPE": "rest",
            "PYICEBERG_CATALOG__LAKE__URI": f"http://127.0.0.1:{port}/iceberg",
            "PYICEBERG_CATALOG__LAKE__WAREHOUSE": "lake",
        }
    finally:
        process.terminate()
        process.wait()


def s3_server() -> Path | None:
    """The program of an S3 server that `make e2e` has installed."""
    return next((program for program in S3_SERVERS if program.exists()), None)


@contextmanager
def s3(folder: Path, buckets: Sequence[str]) -> Iterator[dict[str, str]]:
    """The environment in which `s3://` is a server of its own with these buckets."""
    program, port, data = s3_server(), free_port(), folder / "s3"
    for bucket in buckets:
        (data / bucket).mkdir(parents=True)
    environment = {
        "AWS_ACCESS_KEY_ID": "telemetry",
        "AWS_SECRET_ACCESS_KEY": "of-the-environment",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_REGION": "us-east-1",
        "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}",
        "AWS_EC2_METADATA_DISABLED": "true",
    }
    is_versitygw = program.name == "versitygw"
    command = [str(program), "-H", "127.0.0.1", "-p", str(port)]
    if is_versitygw:
        command = [str(program), "--port", f"127.0.0.1:{port}", "posix", str(data)]
    keys = {
        "ROOT_ACCESS_KEY": environment["AWS_ACCESS_KEY_ID"],
        "ROOT_SECRET_KEY": environment["AWS_SECRET_ACCESS_KEY"],
    }
    log = folder / "s3.log"
    with log.open("wb") as out:
        process = subprocess.Popen(command, env={**os.environ, **keys}, stdout=out, stderr=out)
    try:
        wait_for(port, process, log)
        if not is_versitygw:
            for bucket in buckets:
                urllib.request.urlopen(
                    urllib.request.Request(f"http://127.0.0.1:{port}/{bucket}", method="PUT")
                ).close()
        yield environment
    finally:
        process.terminate()
        process.wait()
