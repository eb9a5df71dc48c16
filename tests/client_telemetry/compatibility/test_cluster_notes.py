import pytest
from client_telemetry.compatibility import cluster_notes
from client_telemetry.knowledge import DamagedKnowledge, releases


def ids(source: str, target: str) -> list[str]:
    return [note.note_id for note in cluster_notes.for_upgrade(source, target)]


def test_notes_of_a_pair_of_releases_most_urgent_first():
    found = ids("3.9.1", "4.0.0")
    assert found.index("zookeeper_removed") < found.index("join_group_0_1")
    assert found.index("join_group_0_1") < found.index("timestamps_in_the_future") < found.index("tools_4_0")
    assert "list_settings" not in found and "idempotent_write_acl" not in found


def test_the_order_of_the_steps_after_the_roll_is_told():
    (note,) = (
        each
        for each in cluster_notes.for_upgrade("3.9.1", "4.0.1")
        if each.note_id == "transaction_version_first"
    )
    first, then, last = (
        note.what.index(each)
        for each in ("transaction.version 1", "move the coordinator", "metadata.version last")
    )
    assert first < then < last and "frees new transactional ids only" in note.what
    assert "transaction_version_first" not in ids("4.0.0", "4.3.1")


def test_releases_to_skip_are_patch_exact():
    assert "join_group_0_1" not in ids("3.9.1", "4.0.1")
    assert "kafka_20322" in ids("4.1.0", "4.2.0") and "kafka_20322" not in ids("4.1.0", "4.2.1")


def test_an_upgrade_over_several_releases_collects_them():
    assert {"zookeeper_removed", "eligible_leader_replicas", "assignment_interval"} <= set(
        ids("3.9.1", "4.3.1")
    )


def test_false_alarms_are_those_of_the_brokers_as_they_run_now():
    assert {"deprecation_marks", "deprecation_marks_join_group"} <= set(ids("3.7.1", "4.0.1"))
    assert "deprecation_marks" not in ids("3.9.1", "4.0.1")
    assert "deprecation_marks_join_group" not in ids("3.9.2", "4.0.1")


def test_an_upgrade_to_4_0_goes_through_3_9():
    assert "through_3_9" in ids("2.8.2", "4.0.0") and "through_3_9" in ids("3.8.1", "4.3.1")
    assert "through_3_9" not in ids("3.9.0", "4.0.0") and "through_3_9" not in ids("2.8.2", "3.9.1")


def back(source: str, target: str) -> set[str]:
    return {note.note_id for note in cluster_notes.for_rollback(source, target)}


def test_what_stands_in_the_way_back():
    assert back("3.9.1", "4.0.1") == {"finalized_metadata_version", "finalized_features", "converted_groups"}
    assert "no_way_back_from_metadata_4_3" in back("4.2.1", "4.3.1")
    assert "no_way_back_from_metadata_4_3" not in back("4.3.0", "4.3.1")
    assert "inter_broker_protocol_version" in back("2.8.2", "3.9.1")
    assert {"idempotent_write_acl_again", "java_4_clients"} <= back("2.0.1", "2.8.2")


def test_patch_releases_of_one_line_can_be_exchanged():
    assert back("4.0.0", "4.0.1") == set()


def test_a_rollback_asked_for_gets_the_notes_of_the_way_back():
    assert cluster_notes.for_upgrade("4.0.1", "3.9.1") == cluster_notes.for_rollback("3.9.1", "4.0.1")
    upgrade = {note.note_id for note in cluster_notes.for_upgrade("3.9.1", "4.0.1")}
    assert not upgrade & back("3.9.1", "4.0.1")


def test_unusable_releases():
    with pytest.raises(releases.NotAnExactRelease):
        cluster_notes.for_upgrade("3.9.1", "4.0")


@pytest.mark.parametrize(
    ("column", "value", "says"),
    [
        ("since", "4.0", "not an exact release"),
        ("until", "9.9.9", "unknown Kafka release 9.9.9"),
        ("from_until", "3.9", "not an exact release"),
        ("change", "sideways", "is none of"),
        ("weight", "heavy", "is none of"),
        ("weight_if_set", "heavy", "is none of"),
        ("weight_if_set", "", "a setting that decides"),
        ("setting", "only with kraft mode", "a setting that decides"),
        ("setting", "zookeeper", "is not a term"),
        ("what", "", "are required"),
    ],
)
def test_damage_is_refused(damaged, column, value, says):
    damaged(cluster_notes, 0, column, value)
    with pytest.raises(DamagedKnowledge, match=r"cluster_notes\.csv line 2: ") as refused:
        cluster_notes.known()
    assert says in str(refused.value)


def test_readers_of_committed_offsets_meet_new_records():
    """Burrow and CMAK saw no groups after an upgrade to 2.1, and no members after one to 2.3 (their issues are the source)."""
    assert "consumer_offsets_2_1" in ids("2.0.1", "2.1.0") and "consumer_offsets_2_3" not in ids(
        "2.0.1", "2.1.0"
    )
    assert "consumer_offsets_2_3" in ids("2.2.2", "2.3.0") and "consumer_offsets_2_1" not in ids(
        "2.2.2", "2.3.0"
    )
    assert {"consumer_offsets_2_1", "consumer_offsets_2_3"} <= set(ids("1.1.1", "2.8.2"))
