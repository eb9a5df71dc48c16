from datetime import timedelta

from client_telemetry.compatibility import cluster_notes as knowledge
from client_telemetry.compatibility.broker_settings import BrokerSetup
from client_telemetry.reports.upgrade.release_notes import (
    WEIGHTS,
    blockers,
    blockers_sentence,
    broker_setups,
    false_alarms,
    not_applying,
    notes,
    rollback_notes,
    skipped_releases,
)


def test_every_weight_has_its_words():
    assert tuple(WEIGHTS) == knowledge.WEIGHTS


def test_an_upgrade_has_notes_of_both_directions():
    assert "zookeeper_removed" in {note.note_id for note in notes("3.9.1", "4.0.1", {})}
    assert "finalized_features" in {note.note_id for note in rollback_notes("3.9.1", "4.0.1", {})}


def test_notes_of_a_rollback_are_those_of_the_way_back():
    assert notes("4.0.1", "3.9.1", {}) == rollback_notes("3.9.1", "4.0.1", {})
    assert rollback_notes("4.0.1", "3.9.1", {}) == ()


def test_releases_to_skip_have_their_source():
    found = {each.release: each for each in skipped_releases("3.9.1", "4.0.0")}
    assert "JoinGroup" in found["4.0.0"].what and all(each.source for each in found.values())


def test_false_alarms_are_reported_by_name_and_versions():
    assert [(each.api_name, each.versions) for each in false_alarms("3.9.1", "4.0.1")] == [
        ("JoinGroup", "0–1")
    ]
    assert false_alarms("3.9.1", "4.0.0") == (), "4.0.0 does refuse them"


def test_a_setting_that_was_seen_makes_a_note_a_blocker():
    setups = {
        1: BrokerSetup({"process.roles": "[]", "zookeeper.connect": "[set]", "log.segment.bytes": "4096"})
    }
    known = notes("3.9.1", "4.0.1", setups)
    assert [note.note_id for note in blockers(known)] == ["segment_bytes_minimum", "zookeeper_removed"]
    assert known[:2] == blockers(known)
    assert blockers_sentence(blockers(known)) == (
        "2 blockers in the setup of the brokers: log.segment.bytes, ZooKeeper mode."
    )


def test_without_settings_a_note_may_block():
    weights = {note.note_id: note.weight for note in notes("3.9.1", "4.0.1", {1: BrokerSetup()})}
    assert weights["zookeeper_removed"] == weights["oauth_allowed_urls"] == "may_block"


def test_a_note_that_no_broker_can_need_is_not_listed():
    setups = {1: BrokerSetup({"log.segment.bytes": "1073741824"}, {"metadata.version": 21})}
    listed = {note.note_id for note in notes("3.9.1", "4.0.1", setups)}
    ruled_out = {note.note_id for note in not_applying("3.9.1", "4.0.1", setups)}
    assert ruled_out == {"zookeeper_removed", "metadata_version_minimum", "segment_bytes_minimum"}
    assert not listed & ruled_out


def test_setups_are_those_of_the_release_that_is_left(rows):
    def row(broker_id, release, minutes, settings):
        at = rows.START + timedelta(minutes=minutes)
        return rows.broker(broker_id, release, at, releases=[release], settings=settings)

    setups = broker_setups(
        [
            row(1, "3.9.1", 0, {"a": "1"}),
            row(1, "3.9.1", 5, {"a": "2"}),
            row(1, "4.0.1", 9, {"a": "3"}),
            row(2, "4.0.1", 0, {"a": "4"}),
            row(3, "3.9.1", 0, None),
        ],
        "3.9.1",
    )
    assert {number: setup.settings for number, setup in setups.items()} == {1: {"a": "2"}, 2: None, 3: None}
