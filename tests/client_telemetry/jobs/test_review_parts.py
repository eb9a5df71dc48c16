"""Lines and rows of a review that is written in several parts."""

from client_telemetry.jobs import review_parts as written_parts


def test_every_item_is_in_one_part_and_in_order() -> None:
    found = written_parts.parts(range(7), 3)

    assert [list(part) for part in found] == [[0, 1, 2], [3, 4, 5], [6]]
    assert written_parts.parts([], 3) == []
