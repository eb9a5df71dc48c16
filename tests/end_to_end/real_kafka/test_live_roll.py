"""A rolling upgrade of three real brokers, 3.9.1 to 4.0.1, with real clients, reviewed from the brokers' logs while it rolls and
after it.

Each client is there for one outcome: refused by request version (kafka-python as a client of 0.10.1), cannot log in any more
(librdkafka 2.3.0 with SCRAM), the same library replaced in the middle (fixed), latent (librdkafka 1.7.0 with committed offsets),
stopped by its owner, and three that stay.
"""

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from client_telemetry.cli import review

from .kafka_broker import CHECKOUT, KafkaBroker, free_ports
from .play import CLIENTS, CLIENTS_PYTHON, Play, wait_until

BEFORE_SECONDS, BETWEEN_SECONDS, AFTER_SECONDS = 60, 8, 95
LOGIN = "org.apache.kafka.common.security.scram.ScramLoginModule"
MECHANISM, USERS = "SCRAM-SHA-256", ("locked-out", "fixed", "scram-stays")
NAMED_WITHIN_SECONDS = 300
OLD_PYTHON = CHECKOUT / "var" / "end_to_end" / "kafka-python-2.0.2"


def broker(folder: Path, node: int, ports: list[int]) -> KafkaBroker:
    voters = ",".join(f"{n}@127.0.0.1:{port}" for n, port in enumerate(ports, start=1))
    prefix = "listener.name.scram."
    users = [part for name in USERS for part in ("--add-scram", f"{MECHANISM}=[name={name},password={name}]")]
    return KafkaBroker(
        folder / f"broker-{node}",
        "broker-3",
        node,
        node,
        ports[node - 1],
        settings={
            "controller.quorum.voters": voters,
            "metric.reporters": "org.apache.kafka.common.metrics.JmxReporter",
            "offsets.topic.replication.factor": "3",
            "default.replication.factor": "3",
            "num.partitions": "3",
            f"{prefix}sasl.enabled.mechanisms": MECHANISM,
            f"{prefix}scram-sha-256.sasl.jaas.config": f"{LOGIN} required;",
        },
        listeners={"CLIENTS": "PLAINTEXT", "SCRAM": "SASL_PLAINTEXT"},
        format_options=("--release-version", "3.9", *users),
    )


def library(release: str) -> Path:
    (found,) = (CHECKOUT / "var" / "end_to_end" / f"librdkafka-{release}").rglob("librdkafka*.so*")
    return found


def librdkafka(
    play: Play, release: str, name: str, what: str, topic: str, *, scram: bool = False, key: str = ""
) -> None:
    script = [CLIENTS_PYTHON, CLIENTS / "librdkafka_client.py", library(release)]
    settings = [f"group.id={name}-group", "auto.offset.reset=earliest"] if what == "consume" else []
    bootstrap = play.bootstrap
    if scram:
        bootstrap = ",".join(f"127.0.0.1:{each.ports['SCRAM']}" for each in play.brokers)
        settings += ["security.protocol=SASL_PLAINTEXT", f"sasl.mechanism={MECHANISM}"]
        settings += [f"sasl.username={name}", f"sasl.password={name}"]
    play.start(key or name, [*script, bootstrap, name, what, topic, *settings])


def refused_producer(play: Play) -> None:
    script = [CLIENTS_PYTHON, CLIENTS / "python_client.py", "kafka-python", play.bootstrap, "refused"]
    play.start("refused", ["env", f"PYTHONPATH={OLD_PYTHON}", *script, "api_version=0.10.1"])


@pytest.fixture(scope="module")
def play(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Play]:
    folder = tmp_path_factory.mktemp("roll")
    ports = free_ports(3)
    played = Play(folder, folder, str(folder), [broker(folder, node, ports) for node in (1, 2, 3)])
    try:
        for each in played.brokers:  # a controller needs a second one to be of use
            each.launch()
        for each in played.brokers:
            each.wait_until_started()
        yield played
    finally:
        played.end()


def reviewed(play: Play) -> tuple[int, dict[str, Any]]:
    arguments = [f"{each.folder}" for each in play.brokers]
    out = play.folder / "published"
    code = review.main([*arguments, "--from=3.9.1", "--to=4.0.1", f"--publish={out}", "--name=live"])
    (found,) = (out / "upgrade_review/live").glob("*/review.json")
    return code, json.loads(found.read_text())


def outcomes(found: dict[str, Any], phase: str) -> dict[str, tuple[str, str | None]]:
    return {
        (row["client_id"] or "").removesuffix("-producer"): (row["outcome"], row["kind"])
        for row in found["clients"]
        if row["phase"] == phase
    }


def test_every_outcome_of_a_live_roll_is_right(play: Play) -> None:
    librdkafka(play, "2.8.0", "stays", "produce", "orders")
    librdkafka(play, "2.8.0", "reads-on", "consume", "orders")
    librdkafka(play, "2.8.0", "scram-stays", "produce", "orders", scram=True)
    librdkafka(play, "2.3.0", "locked-out", "produce", "orders", scram=True)
    librdkafka(play, "2.3.0", "fixed", "produce", "orders", scram=True)
    librdkafka(play, "1.7.0", "latent", "consume", "orders")
    librdkafka(play, "2.8.0", "stopped", "consume", "orders")
    refused_producer(play)
    wait_until("every client was served", lambda: len(_seen(play)) == 8)
    time.sleep(BEFORE_SECONDS)

    named_after = None
    for number, each in enumerate(play.brokers):
        each.stop()
        each.kafka = "kafka-4.0.1"
        each.start()
        if number == 0:
            started = time.monotonic()
        if number == 1:
            play.clients["fixed"].kill()
            librdkafka(play, "2.8.0", "fixed", "produce", "orders", scram=True, key="fixed-again")
            play.clients["stopped"].finish()
        time.sleep(BETWEEN_SECONDS)
        if number == 1:
            code, found = reviewed(play)
            failing = {row["client_id"] for row in found["clients"] if row["outcome"] == "failing"}
            if "refused-producer" in failing:
                named_after = time.monotonic() - started
                assert code == 3
    time.sleep(AFTER_SECONDS)
    code, found = reviewed(play)
    last = outcomes(found, "not_finalized")
    if named_after is None:
        named_after = time.monotonic() - started

    assert last["refused"] == ("failing", "refused")
    assert last["locked-out"] == ("failing", "authentication_failed")
    assert last["latent"] == ("unaffected", None)
    assert last["stopped"] == ("gone_or_locked_out", "left_group")
    assert [last[name][0] for name in ("stays", "reads-on", "scram-stays")] == ["unaffected"] * 3
    assert "changed" in {outcomes(found, phase)["fixed"][0] for phase in ("rolling", "not_finalized")}
    assert last["fixed"][0] in ("changed", "unaffected")
    comparisons = {row["client_id"]: row["comparison"] for row in found["clients"]}
    assert comparisons["latent"] == "not_triggered"
    assert named_after < NAMED_WITHIN_SECONDS
    assert code == 0


def _seen(play: Play) -> set[str]:
    names = (
        "stays",
        "reads-on",
        "scram-stays",
        "locked-out",
        "fixed",
        "latent",
        "stopped",
        "refused-producer",
    )
    found = set()
    for each in play.brokers:
        text = each.request_log.read_text() if each.request_log.exists() else ""
        for name in names:
            work = '"requestApiKeyName":"PRODUCE"', '"requestApiKeyName":"OFFSET_COMMIT"'
            if any(
                f'"clientId":"{name}"' in line and any(key in line for key in work)
                for line in text.splitlines()
            ):
                found.add(name)
    return found
