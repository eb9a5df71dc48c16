import datetime as dt

from client_telemetry.knowledge.broker_guess import declared
from client_telemetry.sessionize.broker_incarnations import incarnations
from client_telemetry.tables.brokers import BROKERS

DAY = dt.date(2026, 11, 21)


def test_other_software_is_recognized_by_its_name():
    software = [
        ("apache-kafka", "3.9.1"),
        (None, "3.9.1"),
        ("", "7.6.1-ccs"),
        ("automq", "1.1.0"),
        ("redpanda", ""),
        ("redpanda", None),
        ("apache-kafka", None),
    ]
    names = [column.name for column in BROKERS.columns]
    rows = [
        {
            "cluster_id": "c",
            "dt": DAY,
            "broker_id": number,
            "broker_incarnation": f"{number:032x}",
            "software_name": name,
            "software_version": version,
            "started_at": dt.datetime(2026, 11, 21, tzinfo=dt.UTC),
        }
        for number, (name, version) in enumerate(software)
    ]
    whole = [dict.fromkeys(names) | row for row in rows]
    found = {row.broker_id: row.broker_software_version for row in incarnations(whole, DAY)}
    expected = ["3.9.1", "3.9.1", "7.6.1-ccs", "automq 1.1.0", None, None, None]
    assert [found[number] or None for number in range(len(software))] == expected
    assert [declared(*each) for each in software] == expected
