import re
from xml.etree import ElementTree

import pytest
from client_telemetry.reports.curves import (
    HEIGHT,
    LEFT,
    RIGHT,
    WIDTH,
    Line,
    Mark,
    Shaded,
    curve,
    number,
    small_multiples,
)
from client_telemetry.reports.markup import text_file


def drawing(*lines: Line, **more) -> str:
    return str(curve("Request latency", "ms", lines, **more))


def test_points_lie_between_the_ends_of_the_axes():
    svg = drawing(Line("one", [(0.0, 0.0), (50.0, 5.0), (100.0, 10.0)]))
    (path,) = re.findall(r'<path d="([^"]+)"', svg)
    points = [tuple(map(float, p.split())) for p in path[1:].split("L")]
    assert points[0][0] == LEFT and points[-1][0] == WIDTH - RIGHT
    assert points[0][1] > points[1][1] > points[2][1]
    assert all(0 <= y <= HEIGHT for _, y in points)


def test_a_gap_is_not_drawn_over_and_a_lone_point_is_a_dot():
    svg = drawing(
        Line("one", [(0.0, 1.0), (1.0, 1.0), (2.0, None), (3.0, 1.0), (4.0, None), (5.0, 2.0), (6.0, 2.0)])
    )
    (path,) = re.findall(r'<path d="([^"]+)"', svg)
    assert path.count("M") == 2
    assert svg.count("<circle") == 1


def test_brokers_changes_are_marked_within_the_time_shown():
    marks = [Mark(-50.0, "before"), Mark(30.0, "broker 1 on 4.0.1")]
    svg = drawing(
        Line("one", [(0.0, 1.0), (60.0, 1.0)]), marks=marks, shaded=[Shaded(10.0, 40.0, "brokers differ")]
    )
    assert svg.count('class="mark"') == 1 and "broker 1 on 4.0.1" in svg
    assert svg.count('class="mixed"') == 1 and "brokers differ" in svg


def test_names_of_clients_are_text():
    svg = drawing(Line('<script>"', [(0.0, 1.0), (1.0, 2.0)]), Line("b", [(0.0, 1.0)]))
    assert "<script" not in svg
    ElementTree.fromstring(svg)


def test_nothing_measured_is_no_drawing():
    assert drawing(Line("one", [(0.0, None)])) == ""
    assert small_multiples([curve("a", "ms", [])]) == ""
    assert str(small_multiples([curve("a", "ms", [Line("x", [(0.0, 1.0)])])])).startswith(
        '<div class="curves">'
    )


def test_every_line_has_a_look_of_its_own():
    lines = [Line(str(i), [(0.0, float(i)), (1.0, 1.0)]) for i in range(7)]
    svg = drawing(*lines)
    css = text_file("page.css")
    shown = set(re.findall(r'class="line l-(\d)"', svg))
    assert shown == set("01234")
    assert all(f".l-{number} " in css for number in shown)


def test_long_lines_are_thinned():
    svg = drawing(Line("one", [(float(i), 1.0) for i in range(5000)]))
    (path,) = re.findall(r'<path d="([^"]+)"', svg)
    assert path.count("L") < 450


def test_the_scale_ends_at_a_round_number_above_the_greatest_value():
    def end(*values: float, **more) -> str:
        return re.findall(r">([\d.]+k?)</text>", drawing(Line("a", list(enumerate(values))), **more))[-1]

    assert {end(0.0, 3.7), end(3.7, 0.0), end(0.0, greatest_value=3.7)} == {"4"}
    assert end(0.0, 0.0) == "1"
    assert end(0.0, 37.0) == "40"
    assert (end(0.0, 9.9), end(0.0, 999.999)) == ("10", "1000")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0123, "0.012"),
        (0.99, "0.99"),
        (1.234, "1.23"),
        (-1.234, "-1.23"),
        (999.0, "999"),
        (1000.0, "1000"),
        (9999.0, "9999"),
        (10_000.0, "10k"),
        (2.5e6, "2.5M"),
        (-2.5e6, "-2.5M"),
        (1e9, "1G"),
    ],
)
def test_numbers_of_a_scale(value, text):
    assert number(value) == text


def labels(svg: str) -> list[tuple[float, int, str]]:
    found = re.findall(r'<text class="of-mark" x="([\d.]+)" y="(-?\d+)">([^<]*)</text>', svg)
    return [(float(x), int(y), text) for x, y, text in found]


def test_starts_of_brokers_have_labels_that_do_not_cover_each_other_or_the_drawing():
    marks = [Mark(10.0 + number, f"broker {number} started on 4.0.1") for number in range(5)]
    svg = drawing(Line("one", [(0.0, 1.0), (60.0, 1.0)]), marks=[*marks, Mark(59.0, "broker 9 on 4.0.1")])
    found = labels(svg)
    assert [text for _, _, text in found][:3] == [f"broker {number}: 4.0.1" for number in range(3)]
    assert "broker 9: 4.0.1" in svg and svg.count('class="mark"') == 6
    by_row = [
        [(x, x + 5 * len(text)) for x, y, text in found if y == row] for row in {y for _, y, _ in found}
    ]
    for row in by_row:
        assert all(end <= begin for (_, end), (begin, _) in zip(sorted(row), sorted(row)[1:], strict=False))
        assert all(begin >= 0 and end <= WIDTH for begin, end in row)
    (top,) = re.findall(r'viewBox="0 (-\d+) ', svg)
    assert all(int(top) < y <= 10 for _, y, _ in found)


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ([1.0, 3.0, 2.0], "1 at first, 2 at last, at most 3"),
        ([1.0, 3.0, 0.0, None], "0 after 00:01, at most 3"),
        ([None, 0.0, 3.0, 2.0], "0 until 00:02, 2 at last, at most 3"),
        ([0.0, 0.0], "0 throughout"),
        ([2.0, 2.0, None, None], "2 at first, nothing after 00:01, at most 2"),
        ([None, None, 2.0, 1.0], "from 00:02 on, 1 at last, at most 2"),
    ],
)
def test_the_caption_says_what_the_curve_shows(values, said):
    svg = drawing(Line("one", [(60.0 * minute, value) for minute, value in enumerate(values)]))
    assert f"<small>ms: {said}</small>" in svg
