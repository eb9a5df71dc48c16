"""Curves of a day on the fleet page, and the files of clients."""

import json

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
