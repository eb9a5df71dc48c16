import pytest
from client_telemetry.compatibility import targets
from client_telemetry.knowledge import releases


@pytest.mark.parametrize(
    ("source", "target", "found"),
    [
        ("3.9.1", "4.0.0", "4.0.1 4.0.2 4.1.2 4.2.2 4.3.1 4.4.0"),
        ("4.0.0", "4.0.1", "4.0.2 4.1.2 4.2.2 4.3.1 4.4.0"),
        ("4.1.2", "4.2.0", "4.2.1 4.2.2 4.3.1 4.4.0"),
        ("3.4.1", "3.5.0", "3.5.2 3.6.2 3.7.2 3.8.1 3.9.2 4.4.0"),
        ("4.3.1", "4.4.0", ""),
        ("4.1.2", "3.9.1", "3.9.0 3.9.2 4.0.2"),
    ],
)
def test_nearby(monkeypatch, source, target, found):
    """As if 4.4.0 were the newest, so that a new release leaves the cases as they are."""
    known = releases.known()[: releases.known().index("4.4.0") + 1]
    monkeypatch.setattr(releases, "known", lambda: known)
    assert " ".join(targets.nearby.__wrapped__(source, target)) == found


def test_releases_to_skip_are_named_with_their_source():
    skipped = targets.skipped("3.9.1", "4.0.1")
    assert [(each.release, each.note.note_id) for each in skipped] == [
        ("4.0.0", "join_group_0_1"),
        ("4.2.0", "kafka_20322"),
        ("4.2.0", "kafka_20254"),
    ]
    assert all(each.note.source for each in skipped)
    assert not {each.release for each in skipped} & set(targets.nearby("3.9.1", "4.0.1"))


def test_the_target_itself_may_be_one_to_skip():
    assert "4.2.0" in {each.release for each in targets.skipped("4.1.2", "4.2.0")}
    assert targets.skipped("4.2.1", "4.3.1") == ()


def test_every_pair_of_releases():
    """At most six others, known, in order, on the target's side of the source, and none to skip."""
    for source in releases.known()[::5]:
        for target in releases.known()[::3]:
            if source == target:
                continue
            found = targets.nearby(source, target)
            assert len(found) <= targets.MOST and target not in found and source not in found
            assert list(found) == sorted(found, key=releases.parse)
            back = releases.is_rollback(source, target)
            assert all(releases.is_rollback(source, each) == back for each in found)
            assert not any(targets.notes_to_skip(each) for each in found)


def test_unusable_releases():
    with pytest.raises(releases.NotAnExactRelease):
        targets.nearby("3.9.1", "4.0")
