"""An object store that speaks S3 and checks signatures, on local files."""

import socket
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

from .kafka_broker import JARS, START_SECONDS, free_ports

BUCKET = "kafka-dumps"
ACCESS_KEY, SECRET_KEY = "local-identity", "local-credential"


@dataclass
class ObjectStore:
    folder: Path

    def __post_init__(self) -> None:
        (self.folder / "objects" / BUCKET).mkdir(parents=True)
        (self.port,) = free_ports(1)
        self.process: subprocess.Popen | None = None

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def url(self) -> str:
        """As pyarrow takes it; the credentials are in the environment."""
        return f"s3://{BUCKET}/raw?scheme=http&endpoint_override=127.0.0.1:{self.port}&region=us-east-1"

    @property
    def raw(self) -> Path:
        """The same objects, as files."""
        return self.folder / "objects" / BUCKET / "raw"

    def start(self) -> None:
        properties = self.folder / "s3proxy.conf"
        properties.write_text(
            f"s3proxy.endpoint={self.endpoint}\n"
            "s3proxy.authorization=aws-v2-or-v4\n"
            f"s3proxy.identity={ACCESS_KEY}\n"
            f"s3proxy.credential={SECRET_KEY}\n"
            "s3proxy.ignore-unknown-headers=true\n"
            "jclouds.provider=filesystem\n"
            f"jclouds.filesystem.basedir={self.folder}/objects\n"
        )
        with (self.folder / "output").open("a") as output:
            self.process = subprocess.Popen(
                [
                    "java",
                    "-Xmx256m",
                    "-cp",
                    f"{JARS}/object-store/*",
                    "org.gaul.s3proxy.Main",
                    "--properties",
                    properties,
                ],
                stdout=output,
                stderr=subprocess.STDOUT,
            )
        deadline = time.monotonic() + START_SECONDS
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
                return
            except OSError:
                if self.process.poll() is not None or time.monotonic() > deadline:
                    raise RuntimeError(f"the object store did not start: see {self.folder}") from None
                time.sleep(0.2)

    def kill(self) -> None:
        """The store is gone. What it had only begun to take goes too: a real one never shows such an object."""
        if self.process and self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        for ending in ("zst", "json"):
            for begun in self.raw.rglob(f"*.{ending}-*"):
                begun.unlink()
