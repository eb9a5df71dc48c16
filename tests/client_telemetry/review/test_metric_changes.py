"""What changed in request rates: nothing in unchanged records, and what was put in is found at the right client."""

import scenarios
from client_telemetry.review.metric_changes import Windows, compare
from client_telemetry.review.tracks import tracks

CLIENTS = [
    (f"client-{n}", f"Produce:9@0-900/{1 + n / 10} OffsetCommit:8@0-900/{2 + n / 5}") for n in range(20)
]


def changes(clients: list[tuple[str, str]], cut: float) -> list[tuple[str | None, str]]:
    who = [(scenarios.client(name)._replace(principal=f"User:{name}"), did) for name, did in clients]
    found = tracks(scenarios.evidence(who).activities, 0.0)
    return [
        (each.group.client_id, each.metric)
        for each in compare(found, Windows((cut - 120, cut), (cut, cut + 120)), scenarios.SLOT)
        if each.changed
    ]


def test_unchanged_records_cut_anywhere_have_no_change() -> None:
    assert [changes(CLIENTS, cut) for cut in (150.0, 173.0, 600.0, 700.0)] == [[], [], [], []]


def test_a_third_fewer_requests_are_found_at_their_client() -> None:
    fewer = [(name, did) for name, did in CLIENTS if name != "client-7"]
    fewer.append(("client-7", "Produce:9@0-600/1 Produce:9@600-900/1.5"))

    assert changes(fewer, 600.0) == [("client-7", "requests.Produce")]
