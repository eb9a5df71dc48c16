"""JSON of strangers: parsed whole or refused with the reason, and the line on which a text stands in it."""

import json
from collections.abc import Mapping
from typing import Any

from client_telemetry.artefacts.packages import Unreadable


def parse(text: str) -> object:
    """Raises Unreadable with line and column of the mistake."""
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise Unreadable(f"not JSON: {error.msg} at line {error.lineno}, column {error.colno}") from None
    except (ValueError, RecursionError):
        raise Unreadable("not JSON: nested too deeply, or a number with too many digits") from None


def parse_object(text: str) -> dict[str, object]:
    content = parse(text)
    if not isinstance(content, dict):
        raise Unreadable("the file is not a JSON object")
    return content


def mapping(value: object) -> Mapping[str, Any]:
    """A value as an object; empty if it is something else."""
    return value if isinstance(value, dict) else {}


def elements(value: object) -> list[Any]:
    """A value as a list; empty if it is something else."""
    return value if isinstance(value, list) else []


def objects(value: object) -> list[dict[str, object]]:
    """The objects of a list; empty if it is something else."""
    return [entry for entry in elements(value) if isinstance(entry, dict)]


def text_of(value: object) -> str | None:
    """A text that is not empty."""
    return value.strip() or None if isinstance(value, str) else None


class Lines:
    """Lines of texts, found in the order in which they are asked for, so that repeated names get their own line."""

    def __init__(self, text: str) -> None:
        self._text, self._after = text, 0

    def of(self, *needles: str) -> int | None:
        """The line of the first needle that occurs, as JSON writes it; later ones are for other ways to escape it."""
        for needle in needles:
            place = self._text.find(needle, self._after)
            if place < 0:
                place = self._text.find(needle)
            if place >= 0:
                self._after = place + 1
                return self._text.count("\n", 0, place) + 1
        return None
