"""A real Gitea on 127.0.0.1, with SQLite and a folder of its own: `make e2e-long` builds it."""

import getpass
import json
import os
import subprocess
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from .lake.servers import free_port, wait_for

FOLDER = Path(__file__).parents[2] / "var" / "e2e" / "gitea"
PROGRAM = FOLDER / "gitea"
SOURCE = FOLDER / "source"
ADMINISTRATOR: Final = "platform"

_SETTINGS = """\
RUN_USER = {user}
I_AM_BEING_UNSAFE_RUNNING_AS_ROOT = {is_root}

[server]
HTTP_ADDR = 127.0.0.1
HTTP_PORT = {port}
ROOT_URL = http://{root}:{port}/
STATIC_ROOT_PATH = {source}
OFFLINE_MODE = true
DISABLE_SSH = true

[database]
DB_TYPE = sqlite3

[security]
INSTALL_LOCK = true

[api]
MAX_RESPONSE_ITEMS = 50

[log]
MODE = console
LEVEL = Warn

[cron]
ENABLED = false
"""


class Gitea:
    """`base`: its URL, also of its web pages. Tokens are made by its command line."""

    def __init__(self, folder: Path, *, root: str = "127.0.0.1") -> None:
        self.port, self._folder = free_port(), folder
        self.base = f"http://127.0.0.1:{self.port}"
        self._settings, self._log = folder / "app.ini", folder / "gitea.log"
        is_root = "true" if os.getuid() == 0 else "false"
        self._settings.write_text(
            _SETTINGS.format(
                user=getpass.getuser(), is_root=is_root, port=self.port, root=root, source=SOURCE
            )
        )
        self._run("migrate")
        self.add_user(ADMINISTRATOR, "--admin")
        self.administrator = self.token(ADMINISTRATOR, "all")

    def start(self) -> None:
        with self._log.open("ab") as out:
            self._process = subprocess.Popen(self._command("web"), stdout=out, stderr=out, cwd=self._folder)
        wait_for(self.port, self._process, self._log)

    def stop(self) -> None:
        self._process.terminate()
        self._process.wait(60)

    def add_user(self, name: str, *options: str) -> None:
        self._run(
            "admin", "user", "create", "--username", name, "--email", f"{name}@example.com", "--random-password",
            "--must-change-password=false", *options,
        )  # fmt: skip

    def token(self, user: str, scopes: str) -> str:
        """`scopes`: as Gitea names them: write:issue, all."""
        name = scopes.replace(":", "-")
        return self._run(
            "admin", "user", "generate-access-token", "--username", user, "--token-name", name, "--scopes", scopes, "--raw"
        )  # fmt: skip

    def api(self, method: str, path: str, document: dict[str, Any] | None = None) -> Any:
        """As the administrator."""
        text = self.api_text(method, path, document)
        return json.loads(text) if text.strip() else None

    def api_text(self, method: str, path: str, document: dict[str, Any] | None = None) -> str:
        headers = {"Authorization": f"token {self.administrator}", "Content-Type": "application/json"}
        data = None if document is None else json.dumps(document).encode()
        request = urllib.request.Request(f"{self.base}/api/v1{path}", data, headers, method=method)
        with urllib.request.urlopen(request, timeout=30) as answer:
            return str(answer.read().decode())

    def version(self) -> str:
        return str(self.api("GET", "/version")["version"])

    def _command(self, *arguments: str) -> list[str]:
        return [str(PROGRAM), "--config", str(self._settings), "--work-path", str(self._folder), *arguments]

    def _run(self, *arguments: str) -> str:
        """The last line; before it are warnings of the log."""
        ran = subprocess.run(
            self._command(*arguments), capture_output=True, text=True, cwd=self._folder, check=False
        )
        assert ran.returncode == 0, ran.stdout + ran.stderr
        return ran.stdout.strip().rpartition("\n")[2]


@contextmanager
def gitea(folder: Path, **options: str) -> Iterator[Gitea]:
    folder.mkdir(parents=True, exist_ok=True)
    server = Gitea(folder, **options)
    server.start()
    try:
        yield server
    finally:
        server.stop()
