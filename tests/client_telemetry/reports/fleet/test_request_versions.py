"""Request versions that newer releases refuse, and requests that no known client explains."""

import pytest
from client_telemetry.knowledge import releases
from client_telemetry.reports.fleet.request_versions import deprecated_uses, refused_by, request_counts


@pytest.mark.parametrize(
    ("case", "api_key", "version", "release", "expected"),
    [
        ("Produce 2 is gone from 4.0.0 on", 0, 2, "3.9.1", "4.0.0 and later"),
        (
            "two releases refuse it, up to the newest",
            0,
            2,
            releases.known()[-3],
            f"{releases.known()[-2]} and later",
        ),
        ("JoinGroup 1 came back in 4.0.1", 11, 1, "3.9.1", "4.0.0"),
        ("Produce 9 is served by all", 0, 9, "3.9.1", None),
        ("a version that is too new is not deprecated", 0, 99, "3.9.1", None),
        ("nothing was removed after 4.0.0", 1, 4, "4.0.0", None),
        ("no release newer than the newest known one", 0, 2, "99.0.0", None),
        ("without a release the newest one is asked", 0, 2, None, "4.4.0"),
        ("an API that is not known", 9999, 0, "3.9.1", None),
        ("an API between brokers that is gone", 4, 0, "3.9.1", None),
    ],
)
def test_refused_by(case, api_key, version, release, expected):
    assert refused_by(api_key, version, release) == expected, case


def test_requests_that_are_refused_already_count(day_rows):
    (found,) = deprecated_uses([day_rows.use(0, 2, requests=0, rejected=7)], "3.9.1")
    assert found.requests == 7


def test_what_known_clients_do_not_explain(day_rows):
    counted = [
        {"api_key": 0, "version": 9, "requests": 100},
        {"api_key": 8, "version": 1, "requests": 5},
        {"api_key": 1, "version": 17, "requests": 900},
        {"api_key": 1, "version": 3, "requests": 2},
    ]
    hours = [day_rows.hour(5, counted), day_rows.hour(6, None), day_rows.hour(7, counted[:1])]
    known = [day_rows.client(api_uses=[day_rows.use(0, 9, 200)])]
    nobody = [day_rows.client(api_uses=[day_rows.use(8, 1, 2)])]
    found = request_counts(hours, known, nobody, "3.9.1")
    assert (found.broker_hours, found.of_broker_hours, found.counted, found.unexplained) == (2, 3, 1107, 7)
    commits, old_fetches, fetches = found.versions
    assert (commits.api_name, commits.unexplained, commits.of_unidentified) == ("OffsetCommit", 5, 2)
    assert commits.refused_by == "4.0.0 and later"
    assert (fetches.api_name, fetches.sent_by_brokers) == ("Fetch", True)
    assert (old_fetches.version, old_fetches.sent_by_brokers) == (3, False)  # no broker sends it any more


def test_manifests_without_counts_leave_it_unknown(day_rows):
    found = request_counts([day_rows.hour(5)], [day_rows.client()], [], "3.9.1")
    assert (found.broker_hours, found.of_broker_hours, found.versions) == (0, 1, ())


def test_rows_of_before_the_column_existed_leave_it_unknown(day_rows):
    row = day_rows.hour(5)
    del row["requests_counted"]
    assert request_counts([row], [], [], None).broker_hours == 0
