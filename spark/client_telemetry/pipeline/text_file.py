"""A text that a user names by a path or URL, read and parsed: owner rules, SCRAM users."""

from collections.abc import Callable
from typing import TypeVar

from client_telemetry.formats.locations import absolute_url
from client_telemetry.formats.raw.file_system import file_system
from client_telemetry.formats.texts import decoded
from client_telemetry.pipeline.stage import BadArguments

_T = TypeVar("_T")


def read_text_file(location: str, contents: str, parse: Callable[[str], _T]) -> _T:
    """The result of `parse` for the text at `location`; it raises a ValueError for a mistake in the text.

    Raises BadArguments with the location; `contents` says there what the file should contain ("owner rules").
    """
    files, path = file_system(absolute_url(location))
    try:
        with files.open_input_file(path) as source:
            return parse(decoded(source.read()))
    except FileNotFoundError:
        raise BadArguments(f"there is no file of {contents} at {location}") from None
    except (OSError, ValueError) as error:
        raise BadArguments(f"{location}: {error}") from error
