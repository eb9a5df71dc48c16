"""The rows of broker_api_versions.csv for one release, from its published kafka-clients jar.

    python -m client_telemetry.knowledge.broker_release --jar kafka-clients-4.0.1.jar [--check]

The jar contains the message definitions that brokers and clients of the release are built from. Without --check the
knowledge files of this checkout are rewritten; rows that already say the same keep their source. With --check the
shipped rows are compared with the jar (exit code 1 if they differ).
"""

import argparse
import csv
import io
import json
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple, TypedDict
from zipfile import BadZipFile, ZipFile

from client_telemetry import Unusable, knowledge
from client_telemetry.knowledge import apis, broker_configuration, features, releases, served
from client_telemetry.knowledge.features import Levels

NEEDS_A_PLUGIN = {"GetTelemetrySubscriptions", "PushTelemetry"}
"""Advertised only with a client telemetry plugin (KIP-714)."""
_PRODUCE_FROM_0 = b"PRODUCE_API_VERSIONS_RESPONSE_MIN_VERSION"
"""Constant of ApiKeys in releases that advertise Produce from version 0 and refuse 0-2 (KAFKA-18659)."""


Value = bool | int | float | str


class Field(TypedDict, total=False):
    """A field of a message definition; the keys that its README (clients/src/main/resources/common/message) describes."""

    name: str
    type: str
    versions: str
    nullableVersions: str
    taggedVersions: str
    flexibleVersions: str
    default: Value
    fields: list["Field"]


class Definition(TypedDict, total=False):
    apiKey: int
    name: str
    validVersions: str
    flexibleVersions: str
    fields: list[Field]
    commonStructs: list[Field]
    listeners: list[str]
    latestVersionUnstable: bool
    deprecatedVersions: str


class UnusableJar(Unusable):
    """Not a kafka-clients jar, or its message definitions cannot be read."""


class Row(NamedTuple):
    """A line of broker_api_versions.csv, without release and source."""

    api_key: int
    api_name: str
    served_min: int
    served_max: int
    advertised_min: int
    advertised_max: int
    deprecated: str
    condition: str


class Release(NamedTuple):
    release: str
    built_on: str
    rows: tuple[Row, ...]


def read_jar(path: Path) -> Release:
    """Release, build date and rows of a jar; raises UnusableJar."""
    try:
        with ZipFile(path) as jar:
            properties = jar.read("kafka/kafka-version.properties").decode()
            built = jar.getinfo("kafka/kafka-version.properties").date_time
            api_keys = jar.read("org/apache/kafka/common/protocol/ApiKeys.class")
            requests = [
                name for name in jar.namelist() if re.fullmatch(r"common/message/\w+Request\.json", name)
            ]
            definitions = [definition(jar.read(name).decode()) for name in sorted(requests)]
    except (BadZipFile, KeyError, OSError, UnicodeDecodeError, ValueError) as error:
        raise UnusableJar(f"{path}: not a kafka-clients jar: {error}") from error
    version = re.search(r"^version=(.+)$", properties, re.MULTILINE)
    if not version or not definitions:
        raise UnusableJar(f"{path}: no version or no message definitions in it")
    rows = [row for each in definitions if (row := _row(each, _PRODUCE_FROM_0 in api_keys))]
    return Release(version[1].strip(), "{:04}-{:02}-{:02}".format(*built[:3]), tuple(sorted(rows)))


def definition(text: str) -> Definition:
    """JSON with whole-line comments."""
    content: Definition = json.loads(re.sub(r"^\s*//.*$", "", text, flags=re.MULTILINE))
    return content


def _row(request: Definition, produce_from_0: bool) -> Row | None:
    """None for an API that a broker listener does not serve with default settings."""
    name, listeners = request["name"].removesuffix("Request"), request.get("listeners", [])
    valid = request["validVersions"]
    if valid == "none" or not {"broker", "zkBroker"} & set(listeners) or "apiKey" not in request:
        return None
    low_text, _, high_text = valid.partition("-")
    low, high = int(low_text), int(high_text or low_text)
    if request.get("latestVersionUnstable"):
        high -= 1
    if high < low:
        return None
    advertised = 0 if name == "Produce" and produce_from_0 else low
    condition = "telemetry plugin" if name in NEEDS_A_PLUGIN else ""
    today = apis.by_key().get(int(request["apiKey"]))
    name = today.name if today and name in today.former_names else name
    return Row(
        int(request["apiKey"]),
        name,
        low,
        high,
        advertised,
        high,
        request.get("deprecatedVersions", ""),
        condition,
    )


def shipped(release: str) -> tuple[Row, ...]:
    """The rows that the knowledge base has for a release, in the same form."""
    rows = []
    for _, cells in knowledge.rows(served.FILE, served.COLUMNS):
        if cells[0] == release:
            first, second, third, fourth = map(int, cells[3:7])
            rows.append(Row(int(cells[1]), cells[2], first, second, third, fourth, cells[7], cells[8]))
    return tuple(sorted(rows))


def differences(of_jar: Release) -> list[str]:
    """Where jar and knowledge base disagree about a release, one line each."""
    ours = {row.api_key: row for row in shipped(of_jar.release)}
    theirs = {row.api_key: row for row in _for_clients(of_jar.rows)}
    return [
        f"{of_jar.release} {(ours.get(key) or theirs[key]).api_name}: {ours.get(key)} here, {theirs.get(key)} in the jar"
        for key in sorted(ours.keys() | theirs.keys())
        if ours.get(key) != theirs.get(key)
    ]


def _for_clients(rows: Sequence[Row]) -> list[Row]:
    """Without the APIs that brokers use among themselves; unknown APIs stay."""
    known_apis = apis.by_key()
    return [
        row for row in rows if row.api_key not in known_apis or known_apis[row.api_key].used_by != "broker"
    ]


def rewritten(of_jar: Release, levels: Mapping[str, Levels] | None = None) -> dict[str, str]:
    """The files of the knowledge base including the release: file name -> text, of those that change or say it.

    `levels`: its feature levels, where another jar of the release shows them. APIs that apis.csv lacks are left out, and
    stand among what is not known of the release, as do its issues and notes: a person reads those.
    """
    unknown = unknown_apis(of_jar)
    source = f"org.apache.kafka:kafka-clients:{of_jar.release}"
    by_release: dict[str, list[list[str]]] = {}
    for _, cells in knowledge.rows(served.FILE, served.COLUMNS):
        by_release.setdefault(cells[0], []).append(cells)
    sources = {tuple(cells[:-1]): cells[-1] for cells in by_release.get(of_jar.release, [])}
    by_release[of_jar.release] = [
        [*columns, sources.get(columns, f"{source}:{row.api_name}Request.json")]
        for row in _for_clients(of_jar.rows)
        if row not in unknown
        for columns in [(of_jar.release, *map(str, row))]
    ]
    cells_by_release = {cells[0]: cells for _, cells in knowledge.rows(releases.FILE, releases.COLUMNS)}
    cells_by_release.setdefault(of_jar.release, [of_jar.release, of_jar.built_on, source])
    in_order = sorted(cells_by_release, key=releases.parse)
    rows = [
        cells
        for release in in_order
        for cells in sorted(by_release[release], key=lambda cells: int(cells[1]))
    ]
    texts = {
        releases.FILE: csv_text(releases.COLUMNS, [cells_by_release[release] for release in in_order]),
        served.FILE: csv_text(served.COLUMNS, rows),
    } | _extended_ranges(of_jar)
    if of_jar.release in releases.known():
        return texts
    before = _patch_before(of_jar.release)
    if levels and not (features.FILE in texts and before and features.supported()[before] == levels):
        texts[features.FILE] = _with_levels(of_jar.release, levels)
    return texts | {releases.UNREVIEWED_FILE: _unreviewed(of_jar, features.FILE in texts, unknown)}


def unknown_apis(of_jar: Release) -> list[Row]:
    """Those of which the knowledge base does not know what a client does with them."""
    return [row for row in of_jar.rows if row.api_key not in apis.by_key()]


def _with_levels(release: str, levels: Mapping[str, Levels]) -> str:
    """broker_features.csv with rows of its own for a release that is new."""
    source = f"org.apache.kafka:kafka-server-common:{release}"
    header, rows = _table(knowledge.texts()[features.FILE])
    added = [[release, release, name, *map(str, each), source] for name, each in levels.items()]
    return csv_text(header, [*rows, *added])


def _unreviewed(of_jar: Release, has_levels: bool, unknown: Sequence[Row]) -> str:
    """unreviewed_releases.csv with the release: a person deletes the row who has read its notes."""
    not_known = [
        *([] if has_levels or features.are_known(of_jar.release) else ["feature levels"]),
        "known issues",
        "cluster notes",
        *(f"API {row.api_key} {row.api_name}" for row in unknown),
    ]
    rows = [cells for _, cells in knowledge.rows(releases.UNREVIEWED_FILE, releases.UNREVIEWED_COLUMNS)]
    added = [of_jar.release, ", ".join(not_known), f"org.apache.kafka:kafka-clients:{of_jar.release}"]
    return csv_text(releases.UNREVIEWED_COLUMNS, [*rows, added])


_ENDS = {
    features.FILE: "release_to",
    features.APIS_FILE: "release_to",
    "known_issues.csv": "broker_to",
    "mixed_window_issues.csv": "broker_to",
    "cluster_notes.csv": "until",
}
"""Files with ranges of releases, and the column with their ends (several, separated by blanks, for some issues)."""


def _extended_ranges(of_jar: Release) -> dict[str, str]:
    """The files with the ranges that end at the patch release before extended to this one: file name -> text. Empty unless
    the jar shows that this release serves just what that one does. Patch releases bring no feature levels (KIP-584;
    MetadataVersion gets new levels in x.y.0 only), and an issue holds until somebody has read that it is fixed; what a
    jar does not show is not assumed of a new line.
    """
    before = _patch_before(of_jar.release)
    if (
        before is None
        or of_jar.release in releases.known()
        or shipped(before) != tuple(sorted(_for_clients(of_jar.rows)))
    ):
        return {}
    texts = {}
    for file, column in _ENDS.items():
        header, rows = _table(knowledge.texts()[file])
        end = header.index(column)
        for row in rows:
            # A release to skip is one that somebody has found wanting.
            if before in row[end].split(" ") and "skip_release" not in row:
                row[end] = " ".join(
                    of_jar.release if each == before else each for each in row[end].split(" ")
                )
                texts[file] = ""
        if file in texts:
            texts[file] = csv_text(header, rows)
    return texts


def _table(text: str) -> tuple[list[str], list[list[str]]]:
    header, *rows = csv.reader(io.StringIO(text, newline=""))
    return header, rows


def _patch_before(release: str) -> str | None:
    """The newest known older patch release of the same line; None if there is none."""
    line, number = releases.line(release), releases.parse(release)
    older = [
        each for each in releases.known() if releases.line(each) == line and releases.parse(each) < number
    ]
    return older[-1] if older else None


def csv_text(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(rows)
    return text.getvalue()


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m client_telemetry.knowledge.broker_release",
        description="Request versions of a Kafka release, from its kafka-clients jar into the knowledge base.",
    )
    parser.add_argument("--jar", required=True, type=Path)
    parser.add_argument("--check", action="store_true", help="compare only")
    args = parser.parse_args(arguments)
    try:
        of_jar = read_jar(args.jar)
        if not args.check:
            if unknown := unknown_apis(of_jar):
                names = ", ".join(f"{row.api_key} {row.api_name}" for row in unknown)
                raise UnusableJar(
                    f"{apis.FILE} lacks {names}: add a line for each, with what a client does with it"
                )
            texts = rewritten(of_jar)
            for file, text in texts.items():
                Path(str(files(knowledge) / file)).write_text(text, encoding="utf-8", newline="")
            print(f"{len(_for_clients(of_jar.rows))} APIs of {of_jar.release} written")
            _say_what_is_left(of_jar.release)
            return 0
    except (UnusableJar, releases.UnusableRelease) as error:
        print(error, file=sys.stderr)
        return 2
    differing = differences(of_jar)
    print("\n".join(differing) or f"{of_jar.release}: {len(shipped(of_jar.release))} APIs equal")
    return 1 if differing else 0


def _say_what_is_left(release: str) -> None:
    """What a person has to do about a release that was written."""
    if broker_configuration.not_known_for(release):
        print("its broker configuration is not known: `client-telemetry knowledge build` reads it")
    _, rows = _table((files(knowledge) / releases.UNREVIEWED_FILE).read_text(encoding="utf-8"))
    for name, not_known, _ in rows:
        if name == release and "feature levels" in not_known:
            print(f"its feature levels are not known: add them to {features.FILE}")
        if name == release:
            print(
                f"not known for {release}: {not_known}; verdicts say so until its notes are read and its line is deleted from "
                f"{releases.UNREVIEWED_FILE}"
            )


if __name__ == "__main__":
    sys.exit(main())
