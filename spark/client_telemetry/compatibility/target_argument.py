"""A release or a measured target, as the arguments `--from` and `--to` name it."""

from pathlib import Path

from client_telemetry.knowledge import measured_targets, target_profiles


def named(text: str) -> str:
    """The release as it stands; for a measured target its name, known from now on: that of a file, or of a profile that ships.
    Raises UnusableTarget.

    >>> named("4.0.1")
    '4.0.1'
    """
    profile = target_profiles.by_name(text)
    if profile is not None:
        target = measured_targets.of_text(target_profiles.text(profile), profile.name)
    elif measured_targets.is_file(text):
        target = measured_targets.read(Path(text))
    else:
        return text
    measured_targets.use(target)
    return target.name


def without_knowledge(vendor: str) -> str:
    """A sentence, where nothing was measured of a vendor's brokers; otherwise empty.

    >>> without_knowledge("redpanda")
    'nothing is known of the brokers of Redpanda: ask them (client-telemetry probe), and name the file as the target'
    >>> without_knowledge("apache-kafka")
    ''
    """
    profile = target_profiles.by_name(vendor)
    if profile is None or profile.version:
        return ""
    return f"nothing is known of the brokers of {profile.product}: {target_profiles.ASK}"
