"""Curves of a day on the fleet page, and the files of clients."""

import json
import re

from client_telemetry.reports.fleet.day_curves import (
    ClientFiles,
    FleetCurves,
    Grid,
    GroupDay,
    bucket,
    client_text,
    drawn,
)

GRID = Grid.of(1795239560.0, 1795241000.0)
MARKS = ((1795240000.0, "broker 3 started on 4.0.1"),)


def version(name: str = "kgo", apis: int = 1) -> GroupDay:
    found = GroupDay(name, "v1.22.2", 3, GRID)
    for api_key in range(apis):
        for slot in range(GRID.slots):
            found.add_requests(api_key, 9, slot, 10.0 / (api_key + 1), 0.0)
    for slot in range(GRID.slots):
        found.add_connections(slot, 4)
    return found


def test_there_is_a_drawing_for_each_version_and_measure() -> None:
    slow = version("<b>sarama")
    slow.add_requests(0, 2, 3, 0.0, 5.0)
    slow.add_metric("producer.request.latency.avg", 4, 12.5)
    groups = (version(), slow)
    sections = dict(drawn(FleetCurves(GRID, MARKS, groups), groups))
    assert list(sections) == [
        "Connections",
        "Requests",
        "Requests refused",
        "Request latency of producers",
    ]
    assert [str(own).count("<svg") for own in sections.values()] == [2, 2, 1, 1]
    assert all("broker 3 started on 4.0.1" in own and "<b>" not in own for own in sections.values())


def test_slots_in_which_the_evidence_begins_and_ends_do_not_look_like_a_rise_and_a_fall() -> None:
    grid = Grid.of(1795239560.0, 1795241047.0)
    assert (grid.slots, grid.seconds, grid.partial) == (38, 40, (37,))
    assert Grid.of(1795239570.0, 1795241047.0).partial == (0, 37)
    assert Grid.of(1795239560.0, 1795241038.0).partial == (), "nine tenths are as good as all"
    assert Grid.of(1795239560.0, 1795239571.0).partial == (), "there is nothing else to draw"

    def at_the_end(connections: int) -> list[tuple[str, str]]:
        group = GroupDay("kgo", "v1.22.2", 3, grid)
        for slot in range(grid.slots):
            whole = slot not in grid.partial
            group.add_connections(slot, 4 if whole else connections)
            group.add_requests(0, 9, slot, 10.0 if whole else connections, 0.0)
        return [(words, str(own)) for words, own in drawn(FleetCurves(grid, (), (group,)), (group,))]

    assert len(at_the_end(0)) == 2 and at_the_end(0) == at_the_end(3)


def test_more_lines_than_can_be_told_apart_are_one() -> None:
    groups = (version(apis=9),)
    text = str(dict(drawn(FleetCurves(GRID, (), groups), groups))["Requests"])
    assert "Produce v9" in text and "5 others" in text


def test_each_client_is_in_the_file_that_its_names_lead_to() -> None:
    clients = [(f"app-{number}", "User:a") for number in range(40)] + [(None, ""), ("\U0001f600", "ü")]
    texts = sorted(
        (bucket(*client, 4), client_text(*client, [], [("api", "0:9", [[0, 1.0, 0.0]])]))
        for client in clients
    )
    files = ClientFiles(GRID, MARKS, 4, [0], [], texts)
    written = {name: "".join(content) for name, content in files.files()}
    assert list(written) == ["curves.json", *(f"curves-{number:04}.json" for number in range(4))]
    assert json.loads(written["curves.json"])["apis"] == {"0": "Produce"}
    for client_id, principal in clients:
        document = json.loads(written[f"curves-{bucket(client_id, principal, 4):04}.json"])
        assert (client_id, principal) in [(c["client_id"], c["principal"]) for c in document["clients"]]


def test_files_that_no_client_leads_to_are_there_too() -> None:
    files = ClientFiles(GRID, MARKS, 3, [], [], [(1, client_text("a", "p", ["kgo v1"], []))])
    written = {name: "".join(content) for name, content in files.files()}
    assert len(written) == 4
    assert (
        json.loads(written["curves-0000.json"]) == {"clients": []} == json.loads(written["curves-0002.json"])
    )
    (client,) = json.loads(written["curves-0001.json"])["clients"]
    assert client["software"] == ["kgo v1"] and client["requests"] == {}


def test_as_many_lines_as_can_be_told_apart_are_all_drawn() -> None:
    groups = (version(apis=5),)
    text = str(dict(drawn(FleetCurves(GRID, (), groups), groups))["Requests"])
    assert "others" not in text and text.count('class="line ') == 5


def test_the_lines_of_most_requests_have_a_name_and_the_others_are_their_sum() -> None:
    few = [5, 1, 4, 2, 6, 3]
    group = GroupDay("kgo", None, 1, GRID)
    for api_key, requests in enumerate(few):
        group.add_requests(api_key, 0, 0, requests * GRID.seconds / 60, 0.0)
    text = str(dict(drawn(FleetCurves(GRID, (), (group,)), (group,)))["Requests"])
    assert re.findall(r'<li class="l-\d">([^<]+)</li>', text) == [
        "LeaderAndIsr v0",
        "Produce v0",
        "ListOffsets v0",
        "StopReplica v0",
        "2 others",
    ]
    assert "2 others: 0 after 05:39, at most 3" in text


def test_the_index_says_what_the_files_hold() -> None:
    files = ClientFiles(GRID, MARKS, 0, [3, 0], ["producer.request.latency.avg"], [])
    ((name, text),) = files.files()
    assert name == "curves.json" and isinstance(text, str)
    index = json.loads(text)
    assert index.keys() == {
        "schema_version", "since", "seconds", "slots", "partial", "marks", "files", "apis", "metrics"
    }  # fmt: skip
    assert (index["partial"], index["files"]) == (list(GRID.partial), 0)
    assert index["marks"] == [list(mark) for mark in MARKS]
    assert (index["since"], index["seconds"], index["slots"]) == (GRID.since, GRID.seconds, GRID.slots)
    assert list(index["apis"].items()) == [("0", "Produce"), ("3", "Metadata")]
    assert index["metrics"] == {
        "producer.request.latency.avg": {"words": "request latency of producers", "unit": "ms"}
    }


def test_a_long_name_is_cut_in_the_title() -> None:
    for name, shown in (("n" * 40, "n" * 40), ("n" * 41, "n" * 19 + "…" + "n" * 20)):
        group = GroupDay(name, None, 1, GRID)
        group.add_connections(0, 1)
        text = str(dict(drawn(FleetCurves(GRID, (), (group,)), (group,)))["Connections"])
        assert f"<figcaption>{shown} <small>" in text and ", 1 client: " in text
