"""Known vulnerabilities of pinned Python packages: pip-audit asks OSV (https://osv.dev), or a folder with OSV's records.

    python include/audit/known_vulnerabilities.py requirements.txt [FOLDER]

FOLDER holds records in OSV's format (https://ossf.github.io/osv-schema/), one a file (`*.json`), or the archive of all records of
PyPI that OSV publishes (`all.zip`). Then nothing leaves this machine: they are served on 127.0.0.1 for as long as it takes.

Exit code 0: none is known; 1: some are, as pip-audit lists them; 2: not checked, with the reason in one line.
"""

import json
import re
import subprocess
import sys
import tempfile
import threading
import urllib.request
import zipfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

OSV = "https://api.osv.dev/v1/query"
ECOSYSTEM = "PyPI"


class NotChecked(Exception):
    """Nothing is known of the packages, for this reason."""


def records(folder: Path) -> Iterator[dict]:
    """Every record of the folder's files and archives. Raises NotChecked if it has none or one cannot be read."""
    found = False
    for path in sorted(folder.rglob("*.json")):
        found = True
        yield _record(path.read_bytes(), str(path))
    for path in sorted(folder.rglob("*.zip")):
        try:
            with zipfile.ZipFile(path) as archive:
                for name in archive.namelist():
                    found = True
                    yield _record(archive.read(name), f"{path}: {name}")
        except zipfile.BadZipFile as error:
            raise NotChecked(f"{path}: {error}") from error
    if not found:
        raise NotChecked(f"{folder} has no OSV records (*.json, or the archive all.zip)")


def _record(content: bytes, name: str) -> dict:
    try:
        record = json.loads(content)
    except ValueError as error:
        raise NotChecked(f"{name} is not an OSV record: {error}") from error
    if not isinstance(record, dict) or not record.get("id"):
        raise NotChecked(f"{name} is not an OSV record: it has no id")
    return record


def is_affected(version: str, affected: dict) -> bool:
    """Whether an entry of a record's `affected` covers the version: it lists it, or one of its ranges reaches over it.

    >>> is_affected("1.5", {"ranges": [{"type": "ECOSYSTEM", "events": [{"introduced": "0"}, {"fixed": "2.0"}]}]})
    True
    >>> is_affected("2.0", {"ranges": [{"type": "ECOSYSTEM", "events": [{"introduced": "0"}, {"fixed": "2.0"}]}]})
    False
    """
    if version in affected.get("versions", []):
        return True
    ranges = [each["events"] for each in affected.get("ranges", []) if each.get("type") != "GIT"]
    return any(_is_within(Version(version), events) for events in ranges)


def _is_within(version: Version, events: Sequence[dict]) -> bool:
    """As OSV's schema evaluates a range: the last event at or before the version decides; `last_affected` is inclusive."""
    steps: list[tuple[Version, int, bool]] = []
    for event in events:
        ((kind, text),) = event.items()
        if kind == "limit":
            continue
        try:
            at = Version("0.dev0" if text == "0" else text)
        except InvalidVersion as error:
            raise NotChecked(f"a range has the version {text!r}, which is none") from error
        steps.append((at, kind == "last_affected", kind == "introduced"))
    within = False
    for at, is_after, begins in sorted(steps, key=lambda step: step[:2]):
        if at < version or (at == version and not is_after):
            within = begins
    return within


class Database:
    """OSV's records by package, asked as OSV's interface is."""

    def __init__(self, folder: Path) -> None:
        self._by_package: dict[str, list[dict]] = defaultdict(list)
        for record in records(folder):
            affected = _of_ecosystem(record)
            for each in affected:
                each["package"]["name"] = canonicalize_name(each["package"]["name"])
            for name in {each["package"]["name"] for each in affected}:
                self._by_package[name].append(record)

    def query(self, name: str, version: str) -> list[dict]:
        """Records that cover this version of the package; those that were withdrawn are left out."""
        return [
            record
            for record in self._by_package.get(canonicalize_name(name), [])
            if not record.get("withdrawn")
            and any(
                is_affected(version, affected)
                for affected in _of_ecosystem(record)
                if affected["package"]["name"] == canonicalize_name(name)
            )
        ]


def _of_ecosystem(record: dict) -> list[dict]:
    affected = record.get("affected", [])
    return [each for each in affected if each.get("package", {}).get("ecosystem") == ECOSYSTEM]


def server_of(database: Database) -> ThreadingHTTPServer:
    """Answers `POST /v1/query` on 127.0.0.1 as OSV does, from the database."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            query = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            found = database.query(query["package"]["name"], query["version"])
            content = json.dumps({"vulns": found} if found else {}).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *args: object) -> None:
            pass

    return ThreadingHTTPServer(("127.0.0.1", 0), Handler)


def pinned(requirements: str) -> str:
    """Requirements without their hashes, which take pip-audit a minute to read; `make install` checks them.

    >>> pinned("a==1 ; sys_platform == 'linux' \\\\\\n    --hash=sha256:12\\n    # via b\\n")
    "a==1 ; sys_platform == 'linux'\\n"
    """
    lines = re.sub(r"\s*\\\n\s*--hash=\S+", "", requirements).splitlines()
    return "".join(f"{line}\n" for line in lines if re.match(r"[A-Za-z0-9]", line))


def audit(requirements: Path, url: str) -> int:
    """What pip-audit says with the OSV at this address; its list goes to standard output."""
    probe = json.dumps({"package": {"name": "pip", "ecosystem": ECOSYSTEM}, "version": "26.0"}).encode()
    request = urllib.request.Request(url, data=probe, headers={"Content-Type": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=20) as answer:
            json.load(answer)
    except (OSError, ValueError) as error:
        raise NotChecked(
            f"{url} cannot be reached ({error}); without it: make audit DATABASE=FOLDER"
        ) from error
    with tempfile.TemporaryDirectory() as folder:
        packages = Path(folder, "requirements.txt")
        packages.write_text(pinned(requirements.read_text(encoding="utf-8")), encoding="utf-8")
        options = ["--no-deps", "--disable-pip", "--progress-spinner", "off", "--desc", "off"]
        asked = [sys.executable, "-m", "pip_audit", "-r", packages, "-s", "osv", "--osv-url", url, *options]
        done = subprocess.run([str(part) for part in asked], capture_output=True, text=True, check=False)
    print(done.stdout, end="")
    lines = [line for line in done.stderr.splitlines() if line.strip() and not line.startswith("WARNING")]
    if done.returncode not in (0, 1) or "Traceback" in done.stderr:
        raise NotChecked(f"pip-audit: {lines[-1] if lines else done.returncode}")
    print(*lines, sep="\n", file=sys.stderr)
    return done.returncode


def main(requirements: str, database: str | None = None) -> int:
    try:
        if database is None:
            return audit(Path(requirements), OSV)
        with server_of(Database(Path(database))) as server:
            threading.Thread(target=server.serve_forever, daemon=True).start()
            try:
                return audit(Path(requirements), f"http://127.0.0.1:{server.server_address[1]}/v1/query")
            finally:
                server.shutdown()
    except NotChecked as reason:
        print(f"not checked for known vulnerabilities: {reason}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
