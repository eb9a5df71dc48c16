from datetime import date

import pytest
from client_telemetry.reports.coverage import coverage
from client_telemetry.reports.lost_data import lost_data

DAY = date(2026, 11, 21)
WHOLE = "0" * 31


def stored(
    hour=5, first=0, last=9, read=10, status="decoded", dataset="client_pushes", incarnation=1, **changes
):
    key = f"v1/dataset={dataset}/hour={hour:02}/{WHOLE}{incarnation}-{first:020}-{last:020}.zst"
    return {
        "dt": DAY,
        "object_key": key,
        "dataset": dataset,
        "hour": hour,
        "broker_id": 1,
        "broker_incarnation": f"{WHOLE}{incarnation}",
        "first_sequence": first,
        "last_sequence": last,
        "status": status,
        "error": None if status == "decoded" else f"it is {status}",
        "records": read,
        "rows": read,
        "duplicates": 0,
        "undecodable": 0,
        **changes,
    }


def hour(hour=5, expected=None, read=None, completeness=("complete",), **changes):
    return {
        "dt": DAY,
        "broker_id": 1,
        "hour": hour,
        "completeness": list(completeness),
        "objects": 1,
        "pushes_expected": expected,
        "pushes_read": read,
        "connection_events_expected": None,
        "connection_events_read": 0,
        "incarnations": [],
        "registry_mode": None,
        "registry_windows": None,
        **changes,
    }


@pytest.mark.parametrize(
    ("case", "objects", "hours", "text"),
    [
        ("all read", [stored()], [hour(expected=10, read=10)], ""),
        (
            "a cut object that a manifest lists",
            [stored(status="torn", read=7, records=8, undecodable=1), stored(hour=6, first=10, last=19)],
            [hour(expected=10, read=7), hour(6, expected=10, read=10)],
            "1 of 2 objects damaged, 3 of 20 pushes not read",
        ),
        (
            "a damaged object without a manifest: its name says what it held",
            [stored(status="damaged", read=1)],
            [hour(completeness=("no_manifest",), read=1)],
            "1 of 1 object damaged, 9 of 10 pushes not read",
        ),
        (
            "an object that is gone: the manifest says what it held",
            [stored()],
            [hour(expected=15, read=10)],
            "5 of 15 pushes not read",
        ),
        (
            "objects that overlap",
            [stored(), stored(first=5, last=14, read=10, rows=5, duplicates=5)],
            [hour(expected=20, read=20)],
            "",
        ),
        (
            "an overlap does not hide a cut object",
            [stored(), stored(first=5, last=14, read=7, rows=2, duplicates=5, status="torn")],
            [hour(expected=20, read=17)],
            "1 of 2 objects damaged, 3 of 15 pushes not read",
        ),
        (
            "connection events are counted apart",
            [stored(dataset="connections", status="empty", read=0)],
            [hour(read=0)],
            "1 of 1 object damaged, 10 of 10 connection events not read",
        ),
        (
            "a manifest that cannot be read",
            [
                stored(),
                stored(dataset="manifests", status="unreadable", first_sequence=None, last_sequence=None),
            ],
            [hour(completeness=("bad_manifest", "no_manifest"), read=10)],
            "1 of 2 objects damaged",
        ),
        (
            "what came too late was not read",
            [
                stored(),
                stored(first=10, last=19, status="too_late", records=None, rows=None, undecodable=None),
            ],
            [hour(read=10)],
            "1 of 2 objects damaged, 10 of 20 pushes not read",
        ),
        (
            "a name that does not follow the contract says nothing",
            [stored(status="torn", read=3, broker_incarnation=None, first_sequence=None, last_sequence=None)],
            [hour(read=3)],
            "1 of 1 object damaged",
        ),
    ],
)
def test_what_was_lost_is_counted(case, objects, hours, text):
    assert lost_data(objects, hours).sentence == text, case


def test_damaged_objects_are_named_with_their_error():
    lost = lost_data([stored(status="torn", read=7), stored(hour=6)], [])
    assert [(each.object_key, each.status, each.error) for each in lost.damaged] == [
        (stored()["object_key"], "torn", "it is torn")
    ]


def test_an_hour_without_a_manifest_but_with_objects_is_not_called_empty():
    rows = [
        hour(5, completeness=("no_manifest",), read=272),
        hour(6, completeness=("no_manifest",), objects=0),
    ]
    runs = {run.start.hour: run.completeness for run in coverage(DAY, DAY, None, rows, []).runs}
    assert runs[5] == ("no_manifest_but_records",)
    assert runs[6] == ("no_manifest",)
