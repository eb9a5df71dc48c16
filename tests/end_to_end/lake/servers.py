"""Real servers on 127.0.0.1, each with a data folder and a port of its own: PostgreSQL, Iceberg's REST catalog."""

import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

CHECKOUT = Path(__file__).parents[3]
REST_JARS = CHECKOUT / "var" / "e2e" / "rest_catalog"
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
def postgres(folder: Path) -> Iterator[dict[str, str]]:
    """The environment in which the lake's catalog is a database of its own PostgreSQL."""
    programs, port, data = postgres_programs(), free_port(), folder / "postgres"
    data.mkdir(parents=True)
    # PostgreSQL does not run as root.
    prefix: list[str] = []
    if os.getuid() == 0:
        for each in [data, *data.parents]:
            if str(each).startswith("/tmp/"):
                each.chmod(each.stat().st_mode | 0o755)
        shutil.chown(data, "postgres", "postgres")
        prefix = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"]
    run = [*prefix, str(programs / "initdb"), "-D", str(data), "-U", "lake", "-A", "trust", "--no-sync"]
    subprocess.run(run, check=True, capture_output=True, cwd="/")
    log = folder / "postgres.log"
    options = [
        "-D",
        str(data),
        "-p",
        str(port),
        "-h",
        "127.0.0.1",
        "-k",
        str(data),
        "-F",
        "-c",
        "max_connections=300",
    ]
    with log.open("wb") as out:
        process = subprocess.Popen(
            [*prefix, str(programs / "postgres"), *options], stdout=out, stderr=out, cwd="/"
        )
    try:
        wait_for(port, process, log)
        sql = [
            "psql",
            "-h",
            "127.0.0.1",
            "-p",
            str(port),
            "-U",
            "lake",
            "-d",
            "postgres",
            "-c",
            "create database lake",
        ]
        for _ in range(50):
            if subprocess.run(sql, capture_output=True, check=False).returncode == 0:
                break
            time.sleep(0.2)
        yield {
            "PYICEBERG_CATALOG__LAKE__TYPE": "sql",
            "PYICEBERG_CATALOG__LAKE__URI": f"postgresql+psycopg2://lake@127.0.0.1:{port}/lake",
        }
    finally:
        process.send_signal(signal.SIGINT)  # does not wait for those that are still connected
        process.wait()


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
        **environment,
    }
    command = ["java", "-Xmx384m", "-cp", f"{REST_JARS}/*", "org.apache.iceberg.rest.RESTCatalogServer"]
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
