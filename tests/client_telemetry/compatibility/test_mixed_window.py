"""What clients meet while brokers of two releases are at work: the fleet's first roll, and the rules one by one."""

import csv
from pathlib import Path

import pytest
from client_telemetry.compatibility import (
    ApiUse,
    ClientEvidence,
    judge,
    judge_mixed_window,
    mixed_window,
    parse_api_uses,
)
from client_telemetry.knowledge import DamagedKnowledge

ROOT = Path(__file__).parents[3]
DATA = ROOT / "tests" / "data" / "compatibility"


def table(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as opened:
        return list(csv.DictReader(opened))


ROLLING = table(DATA / "fleet_rolling_3.9.1_to_4.0.0.csv")
BEFORE = {row["case"]: row for row in table(DATA / "fleet_3.9.1_to_4.0.0.csv")}


def mixed(uses: str, source: str, target: str, name: str | None = None, version: str | None = None):
    upgraded = judge(ClientEvidence(name, version, None, parse_api_uses(uses)), source, target)
    return judge_mixed_window(source, target, upgraded)


@pytest.mark.parametrize("row", [pytest.param(row, id=row["case"]) for row in ROLLING])
def test_fleet_application_during_the_first_roll(row):
    """Evidence from before the roll against what became of it from 05:47:54 to 05:49:45.

    The capture calls an application degraded where more than 3 % (producer) or 5 % (consumer) of its
    operations failed: one that breaks step by step is degraded over the whole window.
    """
    before = BEFORE[row["case"]]
    also = before["also_declared"].split()
    evidence = ClientEvidence(
        before["client_software_name"] or None,
        before["client_software_version"] or None,
        before["client_id"] or None,
        parse_api_uses(before["api_uses"]),
        before["sasl_mechanism"] or None,
        before["security_protocol"] or None,
        None,
        tuple(zip(also[::2], also[1::2], strict=True)),
    )
    outlook = judge_mixed_window("3.9.1", "4.0.0", judge(evidence, "3.9.1", "4.0.0"))
    assert (outlook.verdict, outlook.when or "") == (row["predicted"], row["when"])
    expected = "degraded" if outlook.verdict == "breaks" and outlook.when == "at_once" else "works"
    assert bool(row["explained"]) == (row["happened"] != expected)


def test_the_truth_table_holds_what_the_capture_holds():
    happened = {
        row["app"]: row["verdict"]
        for row in table(ROOT / "include" / "sample" / "fleet" / "outcomes.csv")
        if row["phase"] == "rolling-1"
    }
    assert {row["case"] for row in ROLLING} == set(BEFORE)
    for row in ROLLING:
        assert row["application"] == BEFORE[row["case"]]["application"]
        assert row["happened"] == happened.get(row["application"], "not run")


@pytest.mark.parametrize(
    ("uses", "says"),
    [
        ("Produce:2", "breaks step by step, as the leaders of its partitions move to brokers on 4.0.0"),
        ("Fetch:4 JoinGroup:1", "when its group's coordinator moves"),
        ("CreateTopics:0", "breaks step by step, as it turns to brokers"),
        ("Produce:9 CreateTopics:0", "degrades step by step"),
        ("Produce:9", "Both releases accept what it uses"),
        ("ApiVersions:0", "Not known, because its behaviour on 4.0.0"),
    ],
)
def test_where_it_breaks(uses, says):
    assert says in mixed(uses, "3.9.1", "4.0.0").explanation


def test_latent_trouble_waits_for_its_trigger():
    outlook = mixed("Fetch:11 JoinGroup:5 OffsetCommit:7", "3.9.1", "4.0.0", "librdkafka", "1.7.0")
    assert (outlook.verdict, outlook.when) == ("breaks", "latent")
    assert "works until this reaches a broker on 4.0.0: offset reset" in outlook.explanation


def test_transactions_fail_while_a_roll_to_4_2_0_goes_on():
    """KAFKA-20322, for transactional producers, on 4.2.0 only, and over with the last broker."""
    transactional = "Produce:11 InitProducerId:5 AddPartitionsToTxn:3 EndTxn:4"
    outlook = mixed(transactional, "4.1.2", "4.2.0")
    assert (outlook.verdict, outlook.confidence, outlook.when) == ("breaks", "observed", "at_once")
    assert "WriteTxnMarkers v2" in outlook.explanation
    assert judge(ClientEvidence(api_uses=parse_api_uses(transactional)), "4.1.2", "4.2.0").verdict == "safe"
    assert mixed(transactional, "4.1.2", "4.2.1").verdict == "safe"
    assert mixed(transactional, "4.2.0", "4.2.1").verdict == "safe"
    assert mixed("Produce:11", "4.1.2", "4.2.0").verdict == "safe"
    also = mixed(transactional + " ListOffsets:0 Produce:2", "3.9.1", "4.2.0")
    assert also.verdict == "breaks" and "Also, while brokers differ" in also.explanation


def test_a_client_whose_role_was_not_seen_may_write_in_transactions_while_brokers_differ():
    unseen = mixed("ApiVersions:3 Metadata:12", "3.9.1", "4.2.0", "apache-kafka-java", "3.9.1")
    assert unseen.verdict == "insufficient_evidence" and "WriteTxnMarkers" in unseen.explanation
    assert mixed("ApiVersions:3 Metadata:12 Fetch:17x90 ListOffsets:9", "3.9.1", "4.2.0").verdict == "safe"


def test_transactions_fail_while_a_roll_from_before_3_6_to_3_6_goes_on():
    """KAFKA-16692: brokers 3.6.0 to 3.7.0 verify transactions at coordinators that do not know such a request."""
    transactional = "Produce:9 InitProducerId:4 AddPartitionsToTxn:3 EndTxn:3"
    outlook = mixed(transactional, "3.5.2", "3.6.2")
    assert (outlook.verdict, outlook.when) == ("breaks", "at_once")
    assert "AddPartitionsToTxn v4 at coordinators" in outlook.explanation
    assert mixed(transactional, "3.5.2", "3.7.1").verdict == "safe"
    assert mixed(transactional, "3.6.2", "3.7.0").verdict == "safe"
    assert mixed("Produce:9", "3.5.2", "3.6.2").verdict == "safe"


def test_a_client_newer_than_the_brokers_is_safe():
    upgraded = judge(ClientEvidence(api_uses=(ApiUse(18, 4, 0, 7), ApiUse(0, 9, 5))), "3.9.1", "4.0.1")
    assert judge_mixed_window("3.9.1", "4.0.1", upgraded).verdict == "safe"


@pytest.mark.parametrize(
    ("column", "value", "says"),
    [
        ("broker_from", "4.2", "not an exact release"),
        ("verdict", "safe", "is none of"),
        ("roles", "reader", "are not known"),
        ("roles", "", "are not known"),
        ("source", "", "are required"),
    ],
)
def test_damage_is_refused(damaged, column, value, says):
    damaged(mixed_window, 0, column, value)
    with pytest.raises(DamagedKnowledge, match=r"mixed_window_issues\.csv line 2: ") as refused:
        mixed_window.known()
    assert says in str(refused.value)
