import json
from dataclasses import dataclass
from datetime import UTC, date, datetime

import pytest
from client_telemetry.formats.typed_values import typed
from client_telemetry.reports.json_text import json_text


@dataclass(frozen=True)
class Inner:
    at: datetime
    names: tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class Outer:
    day: date | None
    inner: tuple[Inner, ...]
    note: str = "none"


def test_what_was_written_is_read_again():
    value = Outer(
        date(2026, 12, 5), (Inner(datetime(2026, 12, 5, 1, 2, tzinfo=UTC), (("a", 1), ("b", 2))),), "x"
    )
    assert typed(Outer, json.loads(json_text(value))) == value


def test_a_missing_field_has_its_default():
    assert typed(Outer, {"day": None, "inner": []}) == Outer(None, ())


@pytest.mark.parametrize(
    "document",
    [None, 1, "text", [], {}, {"day": "soon", "inner": []}, {"day": None, "inner": [{"names": []}]}],
    ids=str,
)
def test_what_is_something_else_is_refused(document):
    with pytest.raises((LookupError, TypeError, ValueError, AttributeError)):
        typed(Outer, document)
