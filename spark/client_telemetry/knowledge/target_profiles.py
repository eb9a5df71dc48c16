"""Brokers that were measured for everybody: their target files ship, and each can be named where a release can.

`target_profiles.csv` has a row for each, `target_profile_lines.csv` the lines of their files. A row without a version is a product of
which nothing is known. benchmarks/target_profiles measures them.
"""

from functools import cache
from typing import NamedTuple

from client_telemetry.formats.target_file import UnusableTarget
from client_telemetry.knowledge import DamagedKnowledge, due, rows, rows_if_there

FILE = "target_profiles.csv"
COLUMNS = ("name", "product", "version", "source")
LINES_FILE = "target_profile_lines.csv"
LINES_COLUMNS = ("profile", "line")


ASK = "ask them (client-telemetry probe), and name the file as the target"


class Profile(NamedTuple):
    name: str
    product: str
    """In words, with its version."""
    version: str
    """As its registry has it; empty: nothing is known."""


@cache
def known() -> tuple[Profile, ...]:
    """Those that can be named; none in a data package that is older than profiles."""
    profiles: dict[str, Profile] = {}
    for line, (name, product, version, source) in rows_if_there(FILE, COLUMNS):
        due(FILE, line, name=name, product=product, source=source)
        if name in profiles:
            raise DamagedKnowledge(FILE, line, f"the profile {name} occurs twice")
        profiles[name] = Profile(name, product, version)
    return tuple(profiles.values())


@cache
def texts() -> dict[str, str]:
    """Name -> text of its target file, of those that were measured."""
    lines: dict[str, list[str]] = {}
    names = {profile.name for profile in known()}
    for number, (name, text) in rows(LINES_FILE, LINES_COLUMNS):
        if name not in names:
            raise DamagedKnowledge(LINES_FILE, number, f"the profile {name} is not in {FILE}")
        lines.setdefault(name, []).append(text)
    return {name: "\n".join([*of_profile, ""]) for name, of_profile in lines.items()}


def by_name(name: str) -> Profile | None:
    return next((profile for profile in known() if profile.name == name), None)


def text(profile: Profile) -> str:
    """Of its target file. Raises UnusableTarget for a product of which nothing is known."""
    found = texts().get(profile.name)
    if found is None:
        raise UnusableTarget(f"nothing is known of the brokers of {profile.product}: {ASK}")
    return found
