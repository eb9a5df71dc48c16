"""Drawings of little and of much, of minutes and of months, as tests/data/reports/whole/drawings.html keeps them: each number,
coordinate and tick. And what coverage says in words, with the strip of the same hours."""

import math
from datetime import UTC, datetime, timedelta

from client_telemetry.reports import charts
from client_telemetry.reports.coverage import coverage, hour_sentences, traffic_seen, watched_sentences
from client_telemetry.reports.curves import MOST_POINTS, Line, Mark, Shaded, curve, small_multiples
from client_telemetry.reports.evidence import DaySeen
from client_telemetry.reports.outcomes import OUTCOMES

START = 1795239560.0
SPANS = (30, 300, 301, 1500, 7200, 40_000, 172_800, 172_801, 400_000, 4_000_000, 40_000_000)


def curves() -> list[str]:
    found = []
    for number, span in enumerate(SPANS):
        at = [START + span * n / 6 for n in range(7)]
        top = 3.3 * 10.0 ** (number - 3)
        one = Line(
            "one & more", [(t, [0.0, top, None, top / 3, math.nan, -1.0, top][n]) for n, t in enumerate(at)]
        )
        marks = [Mark(START + span * share, f"broker {share}") for share in (-0.1, 0.0, 0.5, 1.0, 1.1)]
        shaded = [
            Shaded(START + span * a, START + span * b, "brokers differ")
            for a, b in ((-1, 0), (-1, 0.2), (0.9, 2))
        ]
        found.append(curve(f"span {span}", "ms", [one], marks, shaded))
    several = [Line(f"line {n}", [(START, n), (START + 60, n / 7), (START + 90, None)]) for n in range(7)]
    bounds = {"least_time": START - 100, "greatest_time": START + 500, "greatest_value": 1.5}
    found += [curve("several", "a minute", several), curve("bounds", "", several, **bounds)]
    found += [curve("one moment", "", [Line("a", [(START, 0.0)]), Line("nothing", [(START, None)])])]
    for points in (MOST_POINTS, MOST_POINTS + 1, 3 * MOST_POINTS + 7):
        values = [(START + n, None if n % 50 < 3 else float(n % 9)) for n in range(points)]
        found.append(curve(f"{points} points", "", [Line("", values)]))
    return [*map(str, found), str(small_multiples(["", found[0], found[-1]]))]


def bars() -> list[str]:
    counts = dict(zip(OUTCOMES, (1, 0, 12_345, 3, 0, 7), strict=True))
    found = [
        charts.patterns(),
        charts.bar(counts, 20_000),
        charts.bar(dict.fromkeys(OUTCOMES, 0), 1, height=8),
    ]
    found += [
        charts.count_bar(*each, "some <words>") for each in ((7, 0, 9), (7, 3, 9), (7, 7, 9), (1, 0, 3))
    ]
    found += [charts.pareto_bar(*each) for each in ((0, 7), (3, 7), (7, 7), (0, 0), (12_345, 20_000))]
    begin = datetime(2026, 11, 1, tzinfo=UTC)
    days = [
        DaySeen(begin.date(), begin + timedelta(hours=first), begin + timedelta(hours=last), 1000 * first)
        for first, last in ((0, 5), (7, 7), (48, 200), (-9, 1))
    ]
    found += [
        charts.days_seen_strip(days[:number], begin, begin + timedelta(hours=99)) for number in (1, 2, 4)
    ]
    return list(map(str, found))


def seen_in_words(rows) -> list[str]:
    part, mode = "registry_not_watching", "deprecated_only"
    missed = {"connections_missed": 3, "requests_missed": 1200}
    one, many = [rows.broker_hour(1, 5)], [rows.broker_hour(b, h) for b in (1, 2, 3) for h in range(24)]
    sampled = [
        rows.broker_hour(b, h, part, windows=[f"{h:02}:00:00-{h:02}:04:59", f"{h:02}:30:00-{h:02}:34:59"])
        for b in (1, 2) for h in (3, 4, 6)
    ]  # fmt: skip
    day = timedelta(days=1)
    begin, end = rows.START, rows.END
    cases = {
        "nothing": ([], [], 0, None, None),
        "nothing, of known brokers": ([], [rows.broker(1), rows.broker(2)], 0, begin, end),
        "an hour": (one, [rows.broker(1)], 0, begin, end),
        "an hour of two brokers": (one, [rows.broker(1), rows.broker(2) | {"started_at": None, "last_evidence_at": None}], 0, begin, end),
        "a day": (many, [], 0, begin - 5 * timedelta(hours=1), begin + timedelta(hours=18)),
        "a day with gaps": ([*many[1:30], *many[31:]], [], 0, begin - timedelta(hours=5), begin + timedelta(hours=18)),
        "a day with many gaps": (many[::3], [], 0, begin - timedelta(hours=5), begin + timedelta(hours=18)),
        "a week": (many, [], 6, begin - 6 * day, begin + timedelta(hours=18)),
        "a quarter": (many, [], 90, begin - 90 * day, None),
        "end before begin": (one, [], 0, end, begin),
        "windows": (sampled[:1], [], 0, begin, end),
        "a few windows": (sampled[:2], [], 0, begin, end),
        "many windows": (sampled, [rows.broker(3)], 0, begin, end),
        "windows over midnight": ([*sampled, rows.broker_hour(1, 23, part, windows=["23:50:00-23:59:59"]),
            rows.broker_hour(1, 0, part, windows=["00:00:00-00:09:59"]) | {"dt": rows.DAY + day}], [], 0, begin, end),
        "deprecated": ([rows.broker_hour(1, 5, part, windows=[], mode=mode)], [], 0, begin, end),
        "deprecated and windows": ([rows.broker_hour(2, 5, part, windows=[], mode=mode), *sampled[:1]], [], 0, begin, end),
        "missed": ([rows.broker_hour(b, h, "registry_incomplete") | missed for b in (1, 2) for h in (5, 6)], [], 0, begin, end),
        "requests missed": ([rows.broker_hour(7, 5, "registry_incomplete") | missed | {"connections_missed": 0}], [], 0, begin, end),
    }  # fmt: skip
    found = []
    for case, (hours, brokers, days, first, last) in cases.items():
        for until in (None, rows.END):
            seen = coverage(rows.DAY - days * day, rows.DAY, until, hours, brokers)
            said = [
                traffic_seen(seen, first, last),
                *hour_sentences(seen, first, last),
                *watched_sentences(seen),
            ]
            numbers = f"{seen.complete_broker_hours} of {seen.broker_hours}, {seen.complete_share}"
            found += [f"<h2>{case}, until {until}: {numbers}</h2>", *(f"<p>{words}</p>" for words in said)]
            found += [f"<p>{each}</p>" for each in seen.cluster_states]
            found += [str(charts.coverage_strip(seen, first, last))] if len(brokers) < 2 else []
    return found


def test_whole_drawings(rows, same_as_kept):
    text = "\n".join([*curves(), *bars(), *seen_in_words(rows)])
    same_as_kept("reports/whole", {"drawings.html": text.replace("><", ">\n<") + "\n"})
