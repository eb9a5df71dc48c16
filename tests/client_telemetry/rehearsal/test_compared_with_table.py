"""Runs of a library on brokers that offer less, beside its rows."""

from client_telemetry.knowledge import client_ranges, client_versions
from client_telemetry.rehearsal import compared_with_table
from client_telemetry.rehearsal.offering_proxy import Sent
from client_telemetry.rehearsal.older_brokers import OnRelease
from client_telemetry.rehearsal.subjects import Subject

PRODUCE, METADATA, API_VERSIONS = 0, 3, 18
FRANZ = Subject("franz-go", "1.20.0")
WORKS = {"connect": "ok", "produce": "ok", "consume": "ok", "group": "ok", "commit": "ok", "txn": "n/a"}


def row(key: int) -> client_ranges.Row:
    return next(row for row in compared_with_table.table_rows("franz-go", "1.20.0", "") if row.api_key == key)


def sent(*versions: tuple[int, int]) -> tuple[Sent, ...]:
    return tuple(Sent(key, version, True) for key, version in versions)


def with_table(*runs: OnRelease) -> compared_with_table.Compared:
    return compared_with_table.with_table("franz-go", "1.20.0", "", runs)


def test_an_api_is_as_in_the_table_where_each_release_gets_the_newest_that_both_have():
    newest = row(PRODUCE).versions.max
    compared = with_table(
        OnRelease("0.10.0.1", WORKS, sent((PRODUCE, 2), (METADATA, 1))),
        OnRelease("4.4.0", WORKS, sent((PRODUCE, newest))),
    )
    assert (compared.equal, compared.differences) == (("Produce", "Metadata"), ())
    assert "Fetch" in compared.not_sent
    # No broker offered less than Produce v2 and Metadata v1.
    assert compared.lowest_sent == ()


def test_a_version_outside_of_the_row_is_a_difference():
    above = row(PRODUCE).versions.max + 1
    compared = with_table(OnRelease("4.4.0", WORKS, sent((PRODUCE, above), (999, 0))))
    assert compared.equal == ()
    assert compared.differences == (
        f"Produce: v{above} is sent, and the table has v0–v{above - 1}",
        "api key 999: v0 is sent, and the table has no row",
    )


def test_a_version_that_is_held_back_on_the_newest_release_is_a_difference():
    runs = [OnRelease("0.11.0.3", WORKS, sent((PRODUCE, 2))), OnRelease("1.0.2", WORKS, sent((PRODUCE, 2)))]
    (difference,) = with_table(*runs).differences
    assert difference == "Produce: v2 is sent to 1.0.2, and the table lets v5 expect"
    assert with_table(runs[0], OnRelease("1.0.2", WORKS, sent((PRODUCE, 5)))).differences == ()


def test_rows_of_all_configurations_count_where_a_library_has_no_default():
    """kafka-go: what its Writer and Client send, and its Reader."""
    rows = {row.api_key: row for row in compared_with_table.table_rows("kafka-go", "0.4.50", "")}
    assert rows[PRODUCE].versions.min == 0 and rows[METADATA].versions.max >= 6
    assert compared_with_table.table_rows("kafka-python", "2.0.2", ""), "of the file of those without a name"


def test_what_only_the_program_says_is_no_word_of_the_library():
    runs = [
        OnRelease("0.10.2.2", {"connect": "ok", "group": "ok", "commit": "Error: committed: []"}, ()),
        OnRelease("4.4.0", {"connect": "ok", "group": "IllegalStateException: no record in 20 s"}, ()),
    ]
    said = compared_with_table.messages("franz-go", "1.20.0", FRANZ, runs)
    assert [each[3:8] for each in said] == [["group_consumer", "4.4.0", "", "", ""]]


def test_words_stand_once_for_releases_in_a_row():
    def refused(release: str, words: str) -> OnRelease:
        return OnRelease(
            release, {"connect": "ok", "produce": words, "txn": "n/a"}, (Sent(PRODUCE, 2, False),)
        )

    runs = [
        refused("0.10.0.1", "Error: too old"),
        refused("0.10.2.2", "Error: too old"),
        OnRelease("3.9.2", WORKS, ()),
        refused("4.0.2", "no delivery report in 12 s"),
        refused("4.4.0", "no delivery report in 12 s"),
    ]
    source = "measured: franz-go 1.20.0 (knowledge measure)"
    assert compared_with_table.messages("franz-go", "1.20.0", FRANZ, runs) == [
        ["franz-go", "1.20.0", "", "producer", "0.10.0.0", "0.10.2.2", "Produce:2", "Error: too old", source],
        ["franz-go", "1.20.0", "", "producer", "4.0.0", "", "Produce:2", "", source],
    ]


def test_where_the_connection_already_fails_every_role_says_so():
    runs = [OnRelease("4.4.0", {"connect": "Error: no"}, (Sent(API_VERSIONS, 9, False),))]
    said = compared_with_table.messages("franz-go", "1.20.0", FRANZ, runs)
    assert {(each[3], each[6], each[7]) for each in said} == {
        (role, "", "Error: no")
        for role in ("producer", "group_consumer", "assigned_consumer", "transactional_producer", "admin")
    }
    assert client_versions.parse(said[0][1]) == (1, 20, 0, 0)
