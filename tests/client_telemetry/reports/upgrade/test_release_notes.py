from client_telemetry.compatibility import cluster_notes as knowledge
from client_telemetry.reports.upgrade.release_notes import (
    WEIGHTS,
    false_alarms,
    notes,
    rollback_notes,
    skipped_releases,
)


def test_every_weight_has_its_words():
    assert tuple(WEIGHTS) == knowledge.WEIGHTS


def test_an_upgrade_has_notes_of_both_directions():
    assert "zookeeper_removed" in {note.note_id for note in notes("3.9.1", "4.0.1")}
    assert "finalized_features" in {note.note_id for note in rollback_notes("3.9.1", "4.0.1")}


def test_notes_of_a_rollback_are_those_of_the_way_back():
    assert notes("4.0.1", "3.9.1") == rollback_notes("3.9.1", "4.0.1")
    assert rollback_notes("4.0.1", "3.9.1") == ()


def test_releases_to_skip_have_their_source():
    found = {each.release: each for each in skipped_releases("3.9.1", "4.0.0")}
    assert "JoinGroup" in found["4.0.0"].what and all(each.source for each in found.values())


def test_false_alarms_are_reported_by_name_and_versions():
    assert [(each.api_name, each.versions) for each in false_alarms("3.9.1", "4.0.1")] == [
        ("JoinGroup", "0–1")
    ]
    assert false_alarms("3.9.1", "4.0.0") == (), "4.0.0 does refuse them"
