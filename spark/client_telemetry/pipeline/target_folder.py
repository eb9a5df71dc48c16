"""Measured targets by name: the files of `client-telemetry probe` in a folder, which the clusters file lists (`targets`)."""

import re
from typing import Final

from pyarrow import fs

from client_telemetry.compatibility import target_argument
from client_telemetry.formats.locations import absolute_url
from client_telemetry.formats.raw.file_system import file_system
from client_telemetry.formats.target_file import LARGEST_FILE, UnusableTarget
from client_telemetry.knowledge import measured_targets, target_profiles

_ENDING: Final = ".json"
_NAME = re.compile(r"[A-Za-z0-9][\w.-]*")
_LISTED: Final = 12


def named(text: str, folder: str | None) -> str:
    """What `target_argument.named` gives, for the name of a file in `folder` (without `.json`), too. Raises UnusableTarget."""
    if folder and _NAME.fullmatch(text):
        names = _names(folder)
        if text in names:
            target = measured_targets.of_text(_text(folder, text), f"{text} in {folder}")
            measured_targets.use(target)
            return target.name
        if text[0].isalpha() and not measured_targets.is_measured(text) and not target_profiles.by_name(text):
            raise UnusableTarget(_unknown(text, folder, names))
    return target_argument.named(text)


def _unknown(text: str, folder: str, names: list[str]) -> str:
    more = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
    there = f"{', '.join(names[:_LISTED])}{more}" if names else "no file of `client-telemetry probe`"
    return f"{text!r} is neither a Kafka release nor a measured target: {folder} has {there}"


def _names(folder: str) -> list[str]:
    """Of the files, without `.json`, sorted."""
    files, path = file_system(absolute_url(folder))
    try:
        found = files.get_file_info(fs.FileSelector(path))
    except FileNotFoundError:
        raise UnusableTarget(f"there is no folder of measured targets at {folder}") from None
    except OSError as error:
        raise UnusableTarget(f"{folder}: {error}") from error
    return sorted(each.base_name.removesuffix(_ENDING) for each in found if each.base_name.endswith(_ENDING))


def _text(folder: str, name: str) -> str:
    files, path = file_system(absolute_url(folder))
    try:
        with files.open_input_file(f"{path}/{name}{_ENDING}") as source:
            if source.size() > LARGEST_FILE:
                raise UnusableTarget(
                    f"{name} in {folder}: too large for a file that `client-telemetry probe` wrote"
                )
            return str(source.read().decode("utf-8-sig"))
    except (OSError, UnicodeDecodeError) as error:
        raise UnusableTarget(f"{name} in {folder}: {error}") from error
