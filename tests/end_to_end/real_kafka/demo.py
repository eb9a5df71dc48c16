"""The whole loop, to look at (`make demo`): a real broker with the plugin, four real clients, an object store that speaks S3, and
Airflow, which processes what they leave behind, answers an upgrade question, and reviews the upgrade.

Everything lies in var/demo, which each start empties: Airflow's state, tables and the published pages stay there to be looked at.
The programs end with the demo, also at Ctrl-C.
"""

import argparse
import contextlib
import datetime as dt
import json
import os
import secrets
import shutil
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from tests.end_to_end import airflow_server

from .kafka_broker import CHECKOUT, KafkaBroker, free_ports
from .object_store import ACCESS_KEY, BUCKET, SECRET_KEY, ObjectStore
from .play import CLIENTS, CLIENTS_PYTHON, Play

FOLDER = CHECKOUT / "var" / "demo"
OLD_PYTHON = CHECKOUT / "var" / "end_to_end" / "kafka-python-2.0.2"
BEFORE, AFTER = "3.9.1", "4.0.1"
MINUTES_BEFORE, MINUTES_AFTER = 5.0, 0.5
STARTS_WITHIN_S, RUNS_WITHIN_S = 300, 1800
SAID_EVERY_S = 15
_INTERRUPTED = 130
_OWNERS = """\
rules:
  - {name: orders, owner: orders, contact: orders@example.com, client_id: orders-.*}
  - {name: billing, owner: billing, contact: billing@example.com, client_id: billing-.*}
  - {name: search, owner: search, contact: "#team-search", client_id: search-.*}
  - {name: reports, owner: reports, contact: reports@example.com, client_id: legacy-reports-.*}
"""


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="make demo", description="A real broker, four clients, and the whole pipeline over them."
    )
    parser.add_argument("--minutes", type=float, default=MINUTES_BEFORE, help="traffic before the question")
    parser.add_argument("--after", type=float, default=MINUTES_AFTER, help="minutes of it after the upgrade")
    parser.add_argument(
        "--yes", action="store_true", help="upgrade the broker without asking, and end after the review"
    )
    arguments = parser.parse_args(argv)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir(parents=True)
    try:
        with _cluster() as (play, store):
            worked_enough_at = time.monotonic() + arguments.minutes * 60
            with _airflow(store) as airflow:
                _first_step(play, airflow, arguments.minutes, worked_enough_at)
                if not arguments.yes:
                    _ask("Press Enter to upgrade the broker to " + AFTER + " (Ctrl-C ends the demo): ")
                _second_step(play, airflow, arguments.after)
                if not arguments.yes:
                    _ask(f"Airflow stays on {airflow.url} until you press Enter: ")
    except KeyboardInterrupt:
        print("\ninterrupted", file=sys.stderr)
        return _INTERRUPTED
    say(f"Everything has ended. What was published stays in {FOLDER / 'published'}.")
    return 0


def say(line: str) -> None:
    now = time.strftime("%H:%M:%S")
    print(f"{now}  {line}", flush=True)


def _ask(question: str) -> None:
    with contextlib.suppress(EOFError):
        input(question)


def _first_step(play: Play, airflow: "Airflow", minutes: float, worked_enough_at: float) -> None:
    say(f"four clients work on Kafka {BEFORE} for {_minutes(minutes)}, which began when they started ...")
    _let_work(play, worked_enough_at)
    day = dt.datetime.now(dt.UTC).date().isoformat()
    airflow.run("client_telemetry_daily", {"day": day}, "summary")
    question = {"cluster": "demo", "from": BEFORE, "to": AFTER, "day": day}
    answer = airflow.run("broker_upgrade_impact", question, "publish")
    say(f"{BEFORE} to {AFTER}: {answer['sentence']}")
    say(f"The report: {answer['report']}")


def _second_step(play: Play, airflow: "Airflow", minutes: float) -> None:
    (broker,) = play.brokers
    say(f"upgrading the broker: {BEFORE} stops, {AFTER} starts on its data ...")
    broker.stop()
    broker.kafka = f"kafka-{AFTER}"
    broker.start()
    say(f"the same clients work on Kafka {AFTER} for {_minutes(minutes)} ...")
    _let_work(play, time.monotonic() + minutes * 60)
    day = dt.datetime.now(dt.UTC).date().isoformat()
    airflow.run("client_telemetry_daily", {"day": day}, "summary")
    question = {"cluster": "demo", "from": BEFORE, "to": AFTER, "day": day}
    answer = airflow.run("broker_upgrade_review", question, "review")
    say(f"The review: {answer['sentence']}")
    say(f"Its page: {answer['review']}")


def _minutes(count: float) -> str:
    return f"{count:g} minute{'s' * (count != 1)}"


def _let_work(play: Play, ends: float) -> None:
    """`ends`: by time.monotonic()."""
    while (left := ends - time.monotonic()) > 0:
        time.sleep(min(SAID_EVERY_S, left))
        objects = len(list(play.raw.rglob("*.zst")))
        say(f"  {max(0, round(ends - time.monotonic()))} s left: {objects} raw objects in s3://{BUCKET}/raw")
    (broker,) = play.brokers
    say("restarting the broker, so that its plugin reports this hour now and not at its end ...")
    broker.stop()
    broker.start()


@contextlib.contextmanager
def _cluster() -> Iterator[tuple[Play, ObjectStore]]:
    """The store, the broker and the clients."""
    store = ObjectStore(FOLDER / "store")
    settings = {
        "client.telemetry.dump.location": f"s3://{BUCKET}/raw",
        "client.telemetry.dump.s3.endpoint": store.endpoint,
        "client.telemetry.dump.s3.path.style": "true",
    }
    keys = {"AWS_ACCESS_KEY_ID": ACCESS_KEY, "AWS_SECRET_ACCESS_KEY": SECRET_KEY}
    broker = KafkaBroker(FOLDER / "broker", "broker-3", 1, 1, free_ports(1)[0], keys, settings)
    play = Play(FOLDER, store.raw, store.url, [broker])
    try:
        say("starting an object store ...")
        store.start()
        say(f"starting Kafka {BEFORE} with the plugin ...")
        broker.start()
        play.subscribe(interval_ms=10_000)
        _start_clients(play)
        yield play, store
    finally:
        play.end()
        store.kill()
        for folder in (FOLDER / "broker", FOLDER / "store"):
            shutil.rmtree(folder, ignore_errors=True)


def _start_clients(play: Play) -> None:
    say(
        "starting clients: Java 3.9.1 (orders), librdkafka (billing), kafka-python 3 (search), and an old one:"
    )
    say("  kafka-python 2.0.2, configured for Kafka 0.10.1 (legacy-reports)")
    play.java("broker-3", "work", play.bootstrap, "orders", name="orders")
    play.python("confluent", "billing")
    play.python("kafka-python", "search")
    script = [CLIENTS_PYTHON, CLIENTS / "python_client.py", "kafka-python", play.bootstrap, "legacy-reports"]
    play.start("legacy-reports", ["env", f"PYTHONPATH={OLD_PYTHON}", *script, "api_version=0.10.1"])


class Airflow:
    """A running Airflow, over its REST interface."""

    def __init__(self, url: str, password: str):
        self.url, self._password = url, password

    def answers(self) -> bool:
        try:
            urllib.request.urlopen(f"{self.url}/api/v2/version", timeout=5).close()
        except OSError:
            return False
        return True

    def run(self, dag: str, conf: Mapping[str, str], result_task: str) -> Any:
        """Triggers a DAG, waits for it, and gives the result of a task."""
        say(f"Airflow runs {dag} {dict(conf)} ...")
        started = time.monotonic()
        _wait(f"{dag} is known to Airflow", STARTS_WITHIN_S, lambda: self._knows(dag))
        path = f"dags/{dag}/dagRuns"
        run_id = self._call(path, {"logical_date": None, "conf": dict(conf)})["dag_run_id"]
        state = ""

        def has_ended() -> bool:
            nonlocal state
            state = self._call(f"{path}/{run_id}")["state"]
            return state in ("success", "failed")

        _wait(f"{dag} ends", RUNS_WITHIN_S, has_ended, lambda: self._how_far(path, run_id))
        say(f"  {state} after {time.monotonic() - started:.0f} s")
        if state == "failed":
            # Airflow ends with the demo: its page of the run is gone when this line is read.
            logs = FOLDER / "airflow" / "logs" / f"dag_id={dag}" / f"run_id={run_id}"
            raise SystemExit(f"{dag} failed: its logs are in {logs}")
        entry = self._call(
            f"{path}/{run_id}/taskInstances/{result_task}/xcomEntries/return_value?deserialize=true"
        )
        return entry["value"]

    def _how_far(self, path: str, run_id: str) -> str:
        tasks = self._call(f"{path}/{run_id}/taskInstances")["task_instances"]
        running = [task["task_id"].rpartition(".")[2] for task in tasks if task["state"] == "running"]
        done = sum(task["state"] in ("success", "skipped") for task in tasks)
        return f"{done} tasks done, {', '.join(running) or 'none'} running"

    def _knows(self, dag: str) -> bool:
        try:
            self._call(f"dags/{dag}")
        except urllib.error.HTTPError as error:
            if error.code == 404:
                return False
            raise
        return True

    def _call(self, path: str, body: Mapping[str, Any] | None = None) -> dict[str, Any]:
        return self._send(f"/api/v2/{path}", body, {"Authorization": f"Bearer {self._token()}"})

    def _token(self) -> str:
        login = {"username": "admin", "password": self._password}
        return str(self._send("/auth/token", login, {})["access_token"])

    def _send(self, path: str, body: Mapping[str, Any] | None, headers: Mapping[str, str]) -> dict[str, Any]:
        data = None if body is None else json.dumps(body).encode()
        sent = {"Content-Type": "application/json", **headers}
        request = urllib.request.Request(f"{self.url}{path}", data, sent)
        with urllib.request.urlopen(request, timeout=60) as answer:
            found: dict[str, Any] = json.load(answer)
        return found


def _wait(
    what: str, seconds: int, is_so: Callable[[], bool], how_far: Callable[[], str] = lambda: ""
) -> None:
    started = said_at = time.monotonic()
    while not is_so():
        now = time.monotonic()
        if now - started > seconds:
            raise SystemExit(f"after {seconds} s it is not so that {what}: see {FOLDER}")
        if now - said_at > SAID_EVERY_S:
            said_at = now
            say(f"  {now - started:.0f} s: waiting until {what}{f': {how_far()}' if how_far() else ''}")
        time.sleep(1)


@contextlib.contextmanager
def _airflow(store: ObjectStore) -> Iterator[Airflow]:
    """Airflow with the project's DAGs, which know one cluster, `demo`."""
    home = FOLDER / "airflow"
    home.mkdir(mode=0o750)
    (FOLDER / "owners.yaml").write_text(_OWNERS)
    clusters = FOLDER / "clusters.yaml"
    clusters.write_text(
        f"lake: {FOLDER}/lake\npublish: {FOLDER}/published\nresults: {FOLDER}/results\nclusters:\n"
        f"  - {{name: demo, cluster_id: {KafkaBroker.cluster}, raw: '{store.url}', owners: {FOLDER}/owners.yaml}}\n"
    )
    password = secrets.token_urlsafe(12)
    airflow_server.set_password(home, password)
    port = int(os.environ.get("PORT") or free_ports(1)[0])
    settings = airflow_server.settings_of(
        home,
        clusters,
        port,
        CLIENT_TELEMETRY_LOCAL_CATALOG="1",
        AWS_ACCESS_KEY_ID=ACCESS_KEY,
        AWS_SECRET_ACCESS_KEY=SECRET_KEY,
    )
    say("installing what Airflow and the stages need, where it is not there yet ...")
    if subprocess.run(["make", "--no-print-directory", "install"], cwd=CHECKOUT, check=False).returncode != 0:
        raise SystemExit("make install did not succeed: its last lines say why")
    say("preparing Airflow ...")
    preparations = (["db", "migrate"], ["pools", "set", "lake_writer", "1", "Stages that write tables"])
    command = (str(CHECKOUT / "include" / "warm.sh"), "python", "-m", "include.standalone")
    with airflow_server.started(command, preparations, settings) as (url, _, _):
        airflow = Airflow(url, password)
        _wait("Airflow answers", STARTS_WITHIN_S, airflow.answers)
        say(f"Airflow: {url}  user: admin  password: {password}")
        yield airflow


if __name__ == "__main__":
    sys.exit(main())
