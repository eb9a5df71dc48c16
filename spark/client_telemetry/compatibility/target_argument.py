"""A release or a measured target, as the arguments `--from` and `--to` name it."""

from pathlib import Path

from client_telemetry.knowledge import measured_targets


def named(text: str) -> str:
    """The release as it stands; for the file of a measured target its name, known from now on. Raises UnusableTarget.

    >>> named("4.0.1")
    '4.0.1'
    """
    if not measured_targets.is_file(text):
        return text
    target = measured_targets.read(Path(text))
    measured_targets.use(target)
    return target.name
