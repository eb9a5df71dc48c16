"""The job on the sample of real clients: what it expects of one of the cluster's own subscriptions is what they pushed."""

import json
from pathlib import Path

import pytest
from client_telemetry.tables.client_pushes import CLIENT_PUSHES

SAMPLE = Path(__file__).parents[2] / "include" / "sample" / "telemetry_cluster" / "raw"
CLUSTER = "kQ7x0RvXTs-Y2r0m3Jw0zA"
RDKAFKA = {
    "name": "rdkafka-all",
    "metrics": ["*"],
    "interval_ms": 3000,
    "match": {"client_software_name": "confluent-kafka.*|librdkafka"},
}


@pytest.fixture
def sample(pipeline):
    collected = pipeline.done("collect", CLUSTER, day="2026-11-21", raw=SAMPLE)
    decode, derive = (",".join(collected[name]) for name in ("decode_days", "derive_days"))
    pipeline.done("decode", CLUSTER, days=decode, raw=SAMPLE)
    pipeline.done("sessionize", CLUSTER, days=derive)
    pipeline.done("profile", CLUSTER, days=derive)
    return pipeline


def test_a_subscription_of_the_cluster_itself(sample) -> None:
    def ask(**arguments: object) -> tuple[dict, dict]:
        done = sample.done(
            "subscription_check",
            CLUSTER,
            publish=sample.folder / "published",
            cluster_name="telemetry",
            report_id="one",
            **arguments,
        )
        return done, json.loads(Path(done["report"]).with_name("report.json").read_text(encoding="utf-8"))

    done, report = ask(
        changes=json.dumps([{"action": "delete", "name": "rdkafka-all"}, {**RDKAFKA, "action": "add"}])
    )
    pushes = [
        row
        for row in sample.lake.rows(CLIENT_PUSHES, cluster_id=CLUSTER)
        if row["client_software_name"] == "confluent-kafka-python"
    ]
    clients = [row for row in report["clients"] if "rdkafka-all" in row["subscriptions"]]
    assert sum(row["pushes_per_day"] for row in clients) == pytest.approx(len(pushes), rel=0.1)
    assert sum(row["points_per_day"] for row in clients) == pytest.approx(
        sum(p["points"] for p in pushes), rel=0.1
    )
    assert sum(row["bytes_per_day"] for row in clients) == pytest.approx(
        sum(p["payload_bytes"] for p in pushes), rel=0.1
    )
    assert done["answer"] == "go" and report["release"] == "4.0.1"
    points = report["totals"]["after"]["points"]
    assert 1 < report["lake_bytes_per_day"] / points < 100  # what the decode job wrote
    assert (
        report["totals"]["observed"]["pushes"] > report["totals"]["after"]["pushes"]
    )  # an interval was 5 s, now 8 s
    silent = {each["reason"] for each in report["silent"]}
    assert {"opted out", "library cannot push"} <= silent

    done, report = ask(action="add", name="consumers", metrics="org.apache.kafka.consumer.", configured="[]")
    assert report["before"] == [] and report["after"][0]["metrics"] == ["org.apache.kafka.consumer."]

    code, result = sample.run(
        "subscription_check", CLUSTER, publish=sample.folder, report_id="x", action="alter"
    )
    assert code == 2 and '"name" is needed' in result["message"]
    code, result = sample.run(
        "subscription_check",
        CLUSTER,
        publish=sample.folder,
        report_id="x",
        action="delete",
        name="a",
        configured="b",
    )
    assert code == 2 and "is not of kafka-client-metrics.sh" in result["message"]
