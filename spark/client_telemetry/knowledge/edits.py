"""A fix as it is typed: the line of go.mod, pom.xml, requirements.txt and the like, or the setting, with the release
notes.

library_edits.csv has the phrases that fixes consist of. `{version}` stands for a version in the phrase; the edit may
also use `{kafka_release}` (a release of Kafka in full: 0.11.0.0), `{version_4}` (as in Sarama's constants: 2_1_0_0) and
`{go_suffix}` (`/v2` from major version 2 on). An edit that begins with `-` is a line to remove.
"""

import re
from functools import cache
from typing import NamedTuple

from client_telemetry.knowledge import DamagedKnowledge, rows

FILE = "library_edits.csv"
COLUMNS = ("phrase", "file", "edit", "release_notes", "source")
_VERSION = r"(?P<version>\d+(?:\.\d+)*)"


class Edit(NamedTuple):
    """`file`: what to open; `line`: what to write there, or with a leading `-` what to remove; `release_notes`: a URL
    or empty.
    """

    file: str
    line: str
    release_notes: str


@cache
def _phrases() -> tuple[tuple[re.Pattern[str], Edit], ...]:
    """What finds a phrase in a fix, and its edit with the names of what is to be filled in."""
    phrases = []
    for line, (phrase, file, edit, notes, source) in rows(FILE, COLUMNS):
        if not (phrase and file and edit and source):
            raise DamagedKnowledge(FILE, line, "phrase, file, edit and source are required")
        if notes and not notes.startswith("https://"):
            raise DamagedKnowledge(FILE, line, f"release_notes {notes!r} is not an https address")
        pattern = re.escape(phrase).replace(re.escape("{version}"), _VERSION)
        phrases.append((re.compile(rf"(?<![\w-]){pattern}(?![\w-])"), Edit(file, edit, notes)))
    return tuple(phrases)


def of(fix: str) -> tuple[Edit, ...]:
    """The edits of a fix, in the order of its phrases.

    >>> of("upgrade sarama to 1.41.0 or later")[0].line
    'github.com/IBM/sarama v1.41.0'
    """
    placed_edits = []
    for pattern, edit in _phrases():
        if match := pattern.search(fix):
            file, *templates = edit
            filled = (_filled(each, match.groupdict().get("version", "")) for each in templates)
            placed_edits.append((match.start(), Edit(file, *filled)))
    return tuple(dict.fromkeys(edit for _, edit in sorted(placed_edits, key=lambda placed: placed[0])))


def kafka_release(version: str) -> str:
    """The first release of Kafka with this version. Before 1.0.0 releases have four numbers: Maven Central and
    archive.apache.org have 0.11.0.0 to 0.11.0.3, and no 0.11.0.

    >>> kafka_release("0.11.0"), kafka_release("2.1.0")
    ('0.11.0.0', '2.1.0')
    """
    return f"{version}.0" if version.startswith("0.") and version.count(".") == 2 else version


def _filled(template: str, version: str) -> str:
    numbers = version.split(".") if version else []
    major = int(numbers[0]) if numbers else 0
    values = {
        "{version}": version,
        "{kafka_release}": kafka_release(version) if version else "",
        "{version_4}": "_".join([*numbers, "0", "0", "0", "0"][:4]),
        "{go_suffix}": f"/v{major}" if major > 1 else "",
    }
    for name, value in values.items():
        template = template.replace(name, value)
    return template
