"""Real servers on 127.0.0.1, each with a data folder and a port of its own: PostgreSQL, Iceberg's REST catalog, S3."""

import os
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

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
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


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


@contextmanager
def postgres() -> Iterator[dict[str, str]]:
    """The environment in which the lake's catalog is a database of its own PostgreSQL."""
    programs, port = postgres_programs(), free_port()
    prefix: list[str] = []
    # Not below pytest's folder, which every start of pytest closes to other users.
    with tempfile.TemporaryDirectory(prefix="postgres-", ignore_cleanup_errors=True) as folder:
        data = Path(folder) / "data"
        data.mkdir()
        if os.getuid() == 0:  # as which PostgreSQL does not run
            for each in (folder, data):
                shutil.chown(each, "postgres", "postgres")
            prefix = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"]
        run = [*prefix, str(programs / "initdb"), "-D", str(data), "-U", "lake", "-A", "trust", "--no-sync"]
        subprocess.run(run, check=True, capture_output=True, cwd="/")
        options = f"-D {data} -p {port} -h 127.0.0.1 -k {data} -F -c max_connections=300".split()
        log = Path(folder) / "postgres.log"
        with log.open("wb") as out:
            process = subprocess.Popen(
                [*prefix, str(programs / "postgres"), *options], stdout=out, stderr=out, cwd="/"
            )
        try:
            wait_for(port, process, log)
            sql = f"psql -h 127.0.0.1 -p {port} -U lake -d postgres -c".split()
            for _ in range(50):
                made = subprocess.run([*sql, "create database lake"], capture_output=True, check=False)
                if made.returncode == 0:
                    break
                time.sleep(0.2)
            yield {
                "PYICEBERG_CATALOG__LAKE__TYPE": "sql",
                "PYICEBERG_CATALOG__LAKE__URI": f"postgresql+psycopg2://lake@127.0.0.1:{port}/lake",
            }
        finally:
            process.send_signal(signal.SIGINT)  # does not wait for those that are still connected
            process.wait()


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
