import random
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta

from client_telemetry.reports.coverage import (
    COMPLETENESS,
    coverage,
    duration,
    hour_sentences,
    incomplete_hours,
    traffic_seen,
    unobserved_reason,
    watched_for,
    watched_sentences,
)
from client_telemetry.tables import broker_hours


def test_vocabulary_is_that_of_the_table():
    assert COMPLETENESS.keys() - {"no_manifest_but_records"} == broker_hours.COMPLETENESS.keys()


def test_hours_count_until_the_one_in_which_the_evidence_ends(rows):
    hours = [rows.broker_hour(1, 5), rows.broker_hour(1, 6), rows.broker_hour(2, 5, "sequence_gap")]
    seen = coverage(rows.DAY, rows.DAY, rows.END, hours, [])
    assert seen.first_hour == datetime(2026, 11, 21, tzinfo=UTC)
    assert seen.end_hour == datetime(2026, 11, 21, 6, tzinfo=UTC)
    assert (seen.complete_broker_hours, seen.broker_hours, seen.complete_share) == (1, 12, 0.0833)
    assert seen.broker_ids == (1, 2)


def test_evidence_that_ends_on_the_hour_does_not_count_the_next(rows):
    seen = coverage(rows.DAY, rows.DAY, datetime(2026, 11, 21, 6, tzinfo=UTC), [rows.broker_hour(1, 6)], [])
    assert seen.broker_hours == 6 and seen.complete_broker_hours == 0


def test_hours_of_a_broker_without_row_are_not_known(rows):
    seen = coverage(rows.DAY, rows.DAY, None, [], [rows.broker(7)])
    assert [run.completeness for run in seen.runs] == [("no_manifest",)]
    assert seen.broker_hours == 24 and seen.complete_share == 0


def test_equal_hours_in_a_row_are_one_run_across_midnight(rows):
    next_day = date(2026, 11, 22)
    hours = [rows.broker_hour(1, hour) for hour in range(24)]
    hours += [rows.broker_hour(1, hour) | {"dt": next_day} for hour in range(24)]
    seen = coverage(rows.DAY, next_day, None, hours, [])
    assert [(run.end - run.start, run.completeness) for run in seen.runs] == [
        (timedelta(hours=48), ("complete",))
    ]
    assert seen.complete_share == 1


def test_an_hour_that_is_complete_but_for_something_is_not_complete(rows):
    seen = coverage(rows.DAY, rows.DAY, None, [rows.broker_hour(1, 5, "dropped_records", "sequence_gap")], [])
    assert seen.complete_broker_hours == 0


def test_nothing_known(rows):
    seen = coverage(rows.DAY, rows.DAY, None, [], [])
    assert seen.broker_hours == 0 and seen.complete_share is None and seen.runs == ()


def test_an_incarnation_of_several_days_is_listed_once_with_its_latest_evidence(rows):
    later = rows.broker(1) | {"dt": date(2026, 11, 22), "last_evidence_at": rows.END + timedelta(days=1)}
    untold = rows.broker(1) | {"dt": date(2026, 11, 22), "last_evidence_at": None}
    outside = rows.broker(2) | {"dt": date(2026, 11, 30)}
    seen = coverage(rows.DAY, date(2026, 11, 22), None, [], [untold, rows.broker(1), later, outside])
    assert [(b.broker_id, b.last_evidence_at) for b in seen.brokers] == [(1, rows.END + timedelta(days=1))]


def _at(*clock: int) -> datetime:
    return datetime(2026, 11, 21, *clock, tzinfo=UTC)


def test_windows_that_touch_at_the_hour_are_one(rows):
    part = "registry_not_watching"
    hours = [
        rows.broker_hour(1, 5, part, windows=["05:55:00-05:59:59"]),
        rows.broker_hour(1, 6, part, windows=["06:00:00-06:04:59"]),
        rows.broker_hour(2, 6, part, windows=["06:00:10-06:02:09"]),
        rows.broker_hour(3, 6, part, windows=[]),
    ]
    seen = coverage(rows.DAY, rows.DAY, None, hours, [])
    assert [(w.broker_id, w.start, w.end) for w in seen.watched] == [
        (1, _at(5, 55), _at(6, 4, 59)),
        (2, _at(6, 0, 10), _at(6, 2, 9)),
    ]
    assert [duration(time) for time in watched_for(seen)] == ["119 seconds", "10 minutes"]
    assert traffic_seen(seen, _at(5), _at(7)) == "at least 119 seconds of traffic on each of 2 of 3 brokers"
    assert hour_sentences(seen, _at(5), _at(7)) == []
    assert watched_sentences(seen) == [
        "Connections to broker 1 were observed from 2026-11-21 05:55 to 06:04.",
        "Connections to broker 2 were observed from 2026-11-21 06:00 to 06:02.",
        "Connections to broker 3 were not observed at all.",
        "Clients that sent no request to an observed broker in that time are not in this report.",
    ]


def test_windows_of_a_broker_are_one_though_rows_of_another_stand_between(rows):
    part = "registry_not_watching"
    hours = [
        rows.broker_hour(broker, hour, part, windows=[f"0{hour}:00:00-0{hour}:59:59"])
        for hour in (5, 6)
        for broker in (2, 1)
    ]
    seen = coverage(rows.DAY, rows.DAY, None, hours, [])
    assert [(w.broker_id, w.start, w.end) for w in seen.watched] == [
        (broker, _at(5), _at(6, 59, 59)) for broker in (1, 2)
    ]


def test_where_some_hour_was_watched_all_the_time_windows_are_no_matter(rows):
    hours = [rows.broker_hour(1, 5, windows=["05:00:00-05:04:59"]), rows.broker_hour(1, 6)]
    seen = coverage(rows.DAY, rows.DAY, None, hours, [])
    assert seen.watched is None
    assert watched_for(seen) is None
    assert watched_sentences(seen) == []


def test_a_known_broker_of_which_nothing_was_observed_is_named(rows):
    """Whether connections were watched all the time, at times, or for deprecated requests only."""
    watched = rows.broker_hour(1, 5, "registry_not_watching", windows=["05:00:00-05:04:59"])
    deprecated = rows.broker_hour(2, 5, "registry_not_watching", windows=[], mode="deprecated_only")
    missing = "was observed: clients that use no other broker are missing"
    for hours, said in (
        ([rows.broker_hour(1, 5)], f"no connection to brokers 2, 7 {missing}"),
        (
            [rows.broker_hour(1, 5), rows.broker_hour(2, 5, "sequence_gap")],
            f"no connection to broker 7 {missing}",
        ),
        ([watched, deprecated], f"no connection to broker 7 {missing}"),
    ):
        assert (
            unobserved_reason(coverage(rows.DAY, rows.DAY, None, hours, [rows.broker(2), rows.broker(7)]))
            == said
        )
    assert (
        unobserved_reason(coverage(rows.DAY, rows.DAY, None, [rows.broker_hour(1, 5)], [rows.broker(1)]))
        is None
    )
    assert unobserved_reason(coverage(rows.DAY, rows.DAY, None, [], [])) is None


def test_where_deprecated_requests_only_were_watched_the_answer_says_so(rows):
    part = "registry_not_watching"
    hours = [rows.broker_hour(1, hour, part, windows=[], mode="deprecated_only") for hour in (5, 6)]
    seen = coverage(rows.DAY, rows.DAY, None, hours, [])
    assert seen.deprecated_only == (1,)
    assert traffic_seen(seen, _at(5), _at(7)) == "2 hours of requests of deprecated versions on 1 broker"
    assert hour_sentences(seen, _at(5), _at(7)) == []
    assert watched_sentences(seen) == [
        "Of requests to broker 1, only those of deprecated versions were observed: "
        "clients that sent none to them are missing from this report, unless other brokers saw them."
    ]


def test_a_broker_that_watches_deprecated_requests_beside_one_that_watches_all(rows):
    hours = [
        rows.broker_hour(1, 5, "registry_not_watching", windows=[], mode="deprecated_only"),
        rows.broker_hour(2, 5, mode="continuous"),
    ]
    seen = coverage(rows.DAY, rows.DAY, None, hours, [])
    assert traffic_seen(seen, None, None) is None
    assert traffic_seen(seen, _at(5), _at(5, 8)) == "8 minutes of traffic on 2 brokers"
    (sentence,) = watched_sentences(seen)
    assert sentence.startswith("Of requests to broker 1, only those of deprecated versions were observed")


def test_a_broker_that_was_watched_in_full_for_an_hour_is_not_one_of_them(rows):
    hours = [
        rows.broker_hour(1, 5, "registry_not_watching", windows=[], mode="deprecated_only"),
        rows.broker_hour(1, 6, mode="continuous"),
    ]
    assert coverage(rows.DAY, rows.DAY, None, hours, []).deprecated_only == ()


def test_what_the_brokers_counted_and_the_plugin_did_not_see_is_said(rows):
    incomplete = {"connections_missed": 3, "requests_missed": 1200}
    hours = [
        rows.broker_hour(1, 5, "registry_incomplete", mode="continuous") | incomplete,
        rows.broker_hour(1, 6, "registry_incomplete", mode="continuous") | incomplete,
        rows.broker_hour(2, 5, mode="continuous") | {"connections_missed": 0, "requests_missed": 2},
    ]
    seen = coverage(rows.DAY, rows.DAY, None, hours, [])
    assert [(each.broker_id, each.connections, each.requests) for each in seen.missed] == [(1, 3, 2400)]
    assert watched_sentences(seen) == [
        "Broker 1 counted 3 connections and 2,400 requests that the plugin did not see: their clients may be missing "
        "from this report."
    ]


def test_what_was_missed_after_the_evidence_ends_does_not_count(rows):
    missed = {"connections_missed": 3, "requests_missed": 1200}
    hours = [
        rows.broker_hour(1, hour, "registry_incomplete", mode="continuous") | missed for hour in (4, 5, 6)
    ]
    until = datetime(2026, 11, 21, 5, 30, tzinfo=UTC)
    seen = coverage(rows.DAY, rows.DAY, until, hours, [])
    assert [(each.broker_id, each.connections, each.requests) for each in seen.missed] == [(1, 3, 2400)]
    before = coverage(rows.DAY, rows.DAY, datetime(2026, 11, 21, 4, tzinfo=UTC), hours, [])
    assert before.missed == ()
    nothing_counted = [row | {"connections_missed": 0, "requests_missed": None} for row in hours]
    assert coverage(rows.DAY, rows.DAY, until, nothing_counted, []).missed == ()


def test_ten_minutes_of_request_log(rows):
    part = "registry_not_watching"
    hours = [rows.broker_hour(i, 5, part, windows=["05:20:00-05:29:59"]) for i in (1, 2)]
    seen = coverage(rows.DAY, rows.DAY, None, hours, [])
    assert traffic_seen(seen, _at(5, 20), _at(5, 29)) == "10 minutes of traffic on 2 brokers"
    assert hour_sentences(seen, _at(5, 20), _at(5, 29)) == []


def test_a_day_without_and_with_a_gap(rows):
    hours = [rows.broker_hour(i, hour) for i in (1, 2, 3) for hour in range(24)]
    seen = coverage(rows.DAY, rows.DAY, None, hours, [])
    assert traffic_seen(seen, _at(0, 0, 2), _at(23, 59, 58)) == "24 hours of traffic on 3 brokers"
    assert hour_sentences(seen, _at(0, 0, 2), _at(23, 59, 58)) == [
        "Every broker hour between the first and the last evidence was seen completely."
    ]
    hours[7] = rows.broker_hour(1, 7, "sequence_gap")
    seen = coverage(rows.DAY, rows.DAY, None, [*hours, rows.broker_hour(4, 7, "no_manifest")], [])
    assert traffic_seen(seen, _at(0, 0, 2), _at(23, 59, 58)) == (
        "24 hours of traffic on 3 of 4 brokers, 1 of 72 broker hours incomplete"
    )
    assert hour_sentences(seen, _at(0, 0, 2), _at(23, 59, 58)) == [
        "Nothing was reported by broker 4.",
        "1 of 72 broker hours between the first and the last evidence was not seen completely.",
    ]


def test_hours_before_the_first_evidence_are_no_gap(rows):
    """As in a week that was asked for of a cluster that is watched since yesterday."""
    seen = coverage(date(2026, 11, 15), rows.DAY, None, [rows.broker_hour(1, hour) for hour in (5, 6, 7)], [])
    assert seen.broker_hours == 7 * 24
    assert traffic_seen(seen, _at(5, 30), _at(7, 59)) == "2 hours of traffic on 1 broker"


def test_sampled_windows(rows):
    def twice_an_hour(broker_id: int, hour: int) -> dict:
        windows = [f"{hour:02}:00:00-{hour:02}:04:59", f"{hour:02}:30:00-{hour:02}:34:59"]
        return rows.broker_hour(broker_id, hour, "registry_not_watching", windows=windows)

    hours = [twice_an_hour(broker_id, hour) for broker_id in (1, 2) for hour in range(24)]
    seen = coverage(rows.DAY, rows.DAY, None, hours, [])
    assert traffic_seen(seen, _at(0), _at(23, 34)) == "4 hours of traffic on 2 brokers, sampled over 24 hours"
    assert hour_sentences(seen, _at(0), _at(23, 34)) == []


def test_durations():
    assert [duration(timedelta(seconds=n)) for n in (0, 90, 600, 86400, 7 * 86400)] == [
        "1 second", "90 seconds", "10 minutes", "24 hours", "7 days",
    ]  # fmt: skip


def test_windows_beyond_the_fourth_are_counted(rows):
    def watched(windows: int, **more: object) -> list[str]:
        texts = [f"05:{10 * n:02}:00-05:{10 * n + 4:02}:59" for n in range(windows)]
        hours = [rows.broker_hour(1, 5, "registry_not_watching", windows=texts)]
        return watched_sentences(coverage(rows.DAY, rows.DAY, None, hours, []))

    assert len(watched(4)) == 5 and not [each for each in watched(4) if "more" in each]
    assert watched(5)[4:] == [
        "They were observed 1 more time.",
        "Clients that sent no request to an observed broker in that time are not in this report.",
    ]


def test_a_window_that_ends_on_another_day_names_it_and_one_after_the_evidence_is_none(rows):
    hours = [
        rows.broker_hour(1, 23, "registry_not_watching", windows=["23:50:00-23:59:59"]),
        rows.broker_hour(1, 0, "registry_not_watching", windows=["00:00:00-00:04:59", "00:30:00-00:40:00"])
        | {"dt": rows.DAY + timedelta(days=1)},
        rows.broker_hour(1, 2, "registry_not_watching", windows=["02:00:00-02:05:00"])
        | {"dt": rows.DAY + timedelta(days=1)},
    ]
    until = datetime(2026, 11, 22, 1, 30, tzinfo=UTC)
    seen = coverage(rows.DAY, rows.DAY + timedelta(days=1), until, hours, [])
    assert watched_sentences(seen)[:-1] == [
        "Connections to broker 1 were observed from 2026-11-21 23:50 to 2026-11-22 00:04.",
        "Connections to broker 1 were observed from 2026-11-22 00:30 to 00:40.",
    ]


def _hours(rows, chance: random.Random) -> Iterator[dict]:
    """Of up to three brokers over two days: hours of each kind, watched in each way, some not reported."""
    kinds = [("complete",), ("no_manifest",), ("sequence_gap", "dropped_records"), ("registry_incomplete",)]
    at_times = chance.random() < 0.5
    for broker_id in range(chance.choice((0, 1, 2, 3))):
        mode = chance.choice(("continuous", "deprecated_only", None))
        for hour in range(chance.choice((20, 22)), 26):
            if chance.random() < 0.15:
                continue
            windows = None
            if at_times:
                length = chance.choice((299, 599, 599, 3599))
                first = chance.choice((0, 0, 600))
                last = min(first + length, 3599)
                windows = [
                    f"{hour % 24:02}:{first // 60:02}:{first % 60:02}-{hour % 24:02}:{last // 60:02}:{last % 60:02}"
                ] * (chance.random() < 0.9)
            kind = chance.choice((kinds[0], *kinds))
            yield rows.broker_hour(broker_id, hour % 24, *kind, windows=windows, mode=mode) | {
                "dt": rows.DAY + timedelta(days=hour // 24),
                "connections_missed": chance.choice((0, 2, 5)),
                "requests_missed": chance.choice((None, 0, 7)),
                "incarnations": [] if kind == kinds[1] else ["00112233445566778899aabbccddeeff"],
            }


def test_whole_coverages(rows, same_as_kept):
    """What is said of many, as tests/data/reports/coverages.txt keeps it."""
    lines = []
    for seed in range(40):
        chance = random.Random(seed)
        hours = list(_hours(rows, chance))
        brokers = [
            rows.broker(broker_id)
            | {
                "started_at": chance.choice((None, rows.START - timedelta(hours=9), rows.START)),
                "broker_incarnation": f"{chance.randrange(2):032x}",
                "last_evidence_at": chance.choice((None, rows.START, rows.END)),
                "dt": rows.DAY + timedelta(days=chance.choice((-1, 0, 1, 1, 2))),
            }
            for broker_id in chance.sample((0, 1, 2, 7), chance.choice((1, 2, 4)))
            for _ in range(2)
        ]
        begin = _at(20) + timedelta(minutes=chance.choice((0, 7, 59, 61)))
        end = begin + timedelta(minutes=chance.choice((0, 1, 2, 53, 60, 199, 300)))
        until = chance.choice((None, end))
        seen = coverage(rows.DAY, rows.DAY + timedelta(days=1), until, hours, brokers)
        lines += [
            f"# {seed}: {begin:%H:%M} to {end:%d %H:%M}, until {until and f'{until:%d %H:%M}'}",
            f"brokers {seen.broker_ids}, {seen.complete_broker_hours} of {seen.broker_hours} hours, {seen.complete_share}",
            *(f"  {b.broker_id} {b.broker_incarnation[-1]} {b.started_at} {b.last_evidence_at}" for b in seen.brokers),
            *(f"  {r.broker_id} {r.start:%d %H} to {r.end:%d %H} {' '.join(r.completeness)}" for r in seen.runs),
            f"incomplete {incomplete_hours(seen, begin, end)}, deprecated only {seen.deprecated_only}",
            f"{traffic_seen(seen, begin, end)}; {traffic_seen(seen, None, end)}",
            *hour_sentences(seen, begin, end),
            *watched_sentences(seen),
            "",
        ]  # fmt: skip
    same_as_kept("reports", {"coverages.txt": "\n".join(lines)})
