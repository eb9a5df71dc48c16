"""What `knowledge build` finds by itself: the rows of the last twelve months are taken away, read and measured again, and are as
they were. It needs Maven Central and the registries of the libraries.
"""

import csv
import datetime as dt
import io
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
from client_telemetry import knowledge
from client_telemetry.cli import knowledge_measure
from client_telemetry.console.progress import Progress
from client_telemetry.knowledge import client_ranges, client_versions, features, releases, served
from client_telemetry.knowledge.broker_release import csv_text
from client_telemetry.knowledge.package import Package
from client_telemetry.knowledge_package import brokers
from client_telemetry.knowledge_package.artefacts import MavenRepository
from client_telemetry.rehearsal import compared_with_table, newer, older_brokers
from client_telemetry.rehearsal.library_rows import file_of
from client_telemetry.rehearsal.subjects import Subject, known_versions, version_text

CACHE = Path(__file__).parents[2] / "var" / "e2e" / "rehearsal"
LIBRARIES = ("kafka-clients", "franz-go", "kafka-python", "sarama")
"""Of Java, Go and Python: those whose newest rows hold for all of their settings."""
OF_TWELVE_MONTHS = (
    "kafka-clients==4.4.0",
    "confluent-kafka-python==2.16.0",
    "kafka-python==3.0.12",
    "aiokafka==0.14.0",
    "sarama==1.61.1",
    "franz-go==1.22.2",
    "kafka-go==0.4.50",
    "platformatic-kafka==2.12.1",
)
MOST_MINUTES = 30
TWELVE_MONTHS = dt.timedelta(days=365)

Cells = list[str]

pytestmark = [
    pytest.mark.end_to_end,
    pytest.mark.long,
    pytest.mark.skipif(not (shutil.which("java") and shutil.which("mvn")), reason="needs Java and Maven"),
]


@pytest.fixture(autouse=True)
def _shipped_again() -> Iterator[None]:
    knowledge.use(None)
    yield
    knowledge.use(None)


def cells(file: str, columns: Sequence[str]) -> list[Cells]:
    return [row for _, row in knowledge.rows(file, columns)]


def use(file: str, columns: Sequence[str], rows: Sequence[Cells]) -> None:
    knowledge.use_package(brokers.base().with_texts({file: csv_text(columns, rows)}))


def without_sources(rows: Sequence[Cells]) -> set[tuple[str, ...]]:
    return {tuple(row[:-1]) for row in rows}


def test_releases_of_twelve_months_are_read_again():
    """Request versions and feature levels of each release, patch by patch."""
    committed = {row[0]: dt.date.fromisoformat(row[1]) for row in cells(releases.FILE, releases.COLUMNS)}
    since = max(committed.values()) - TWELVE_MONTHS
    young = {release for release, day in committed.items() if day > since}
    before = {
        "rows": without_sources([row for row in cells(served.FILE, served.COLUMNS) if row[0] in young]),
        "levels": {release: features.supported().get(release) for release in young},
    }
    assert len(young) >= 5
    started = time.monotonic()
    knowledge.use_package(Package.of_texts("older", knowledge.shipped_built_at(), older_texts(young)))
    assert not young & set(releases.known())
    steps = list(brokers.add_all(MavenRepository(CACHE / "artefacts")))
    assert [step for step in steps if not step.is_done and step.release in young] == []
    after = {
        "rows": without_sources([row for row in cells(served.FILE, served.COLUMNS) if row[0] in young]),
        "levels": {release: features.supported().get(release) for release in young},
    }
    assert after["rows"] == before["rows"]
    assert after["levels"] == before["levels"]
    assert time.monotonic() - started < MOST_MINUTES * 60


def older_texts(young: set[str]) -> dict[str, str]:
    """The files without what is about these releases; a range that ends in one ends before them."""
    texts = dict(knowledge.texts())
    kept = [release for release in releases.known() if release not in young]
    for file, columns in ((releases.FILE, releases.COLUMNS), (served.FILE, served.COLUMNS)):
        texts[file] = csv_text(columns, [row for row in cells(file, columns) if row[0] not in young])
    for file, text in texts.items():
        header, *rows = csv.reader(io.StringIO(text))
        for first, last in (("release_from", "release_to"), ("broker_from", "broker_to")):
            if first in header:
                rows = list(clipped(rows, header.index(first), header.index(last), kept))
        texts[file] = csv_text(header, rows)
    return texts


def clipped(rows: Sequence[Cells], first: int, last: int, kept: Sequence[str]) -> Iterator[Cells]:
    """`first`, `last`: columns of a range of releases, of which the last may be open or a list."""
    for row in rows:
        begins = row[first].split()[0] if row[first] else ""
        if begins in releases.known() and begins not in kept:
            continue
        ends = [each for each in row[last].split() if each in kept or each not in releases.known()]
        if row[last] and not ends:
            ends = [max((each for each in kept if is_before(each, row[last].split()[0])), key=releases.parse)]
        yield [*row[:last], " ".join(ends), *row[last + 1 :]]


def is_before(release: str, other: str) -> bool:
    return releases.parse(release) < releases.parse(other)


def test_what_libraries_of_twelve_months_send_is_as_in_the_table():
    """Highest and lowest versions on brokers of each time, of the newest known release of each library that had one in the last twelve
    months: at least 98 % of the rows that a program uses."""
    equal, different = [], []
    with older_brokers.measuring(CACHE) as measuring:
        for subject in map(knowledge_measure.library, OF_TWELVE_MONTHS):
            library, version = knowledge_measure.as_in_table(subject)
            compared = compared_with_table.with_table(library, version, "", measuring.run(subject))
            equal += [f"{subject.text} {api}" for api in compared.equal]
            different += [f"{subject.text} {each}" for each in compared.differences]
    share = len(equal) / (len(equal) + len(different))
    print(
        f"{len(equal)} of {len(equal) + len(different)} rows ({share:.1%}) as in the table",
        *different,
        sep="\n",
    )
    assert share >= 0.98, different


@pytest.mark.parametrize("library", LIBRARIES)
def test_the_newest_version_of_a_library_is_measured_again(library: str):
    """At least 98 % of its rows are as they were: the same API with the same lowest and highest version."""
    newest = version_text(library, known_versions()[library][1])
    before = rows_of(library, newest)
    previous = known_before(library, newest)
    started = time.monotonic()
    withhold(library, newest, previous)
    assert known_versions()[library][1] == client_versions.parse(previous)
    with Progress("measuring") as progress:
        (step,) = knowledge_measure.add_measured([Subject(library, newest)], CACHE, progress)
    assert step.is_done, step.said
    after = rows_of(library, newest)
    equal = len(before & after) / len(before | after)
    print(f"{library} {newest}: {equal:.1%} of {len(before)} rows")
    assert equal >= 0.98, before ^ after
    assert time.monotonic() - started < MOST_MINUTES * 60


def rows_of(library: str, version: str) -> set[tuple[int, int, int]]:
    """API key, lowest and highest version."""
    wanted = client_versions.parse(version)
    return {
        (row.api_key, row.versions.min, row.versions.max)
        for row in client_ranges.read(file_of(library))
        if row.library == library and row.version_from <= wanted <= row.version_to
    }


def known_before(library: str, newest: str) -> str:
    """The version at which rows ended before the newest was added: where it got rows of its own, others say it; else it was the one
    that was published before."""
    wanted = client_versions.parse(newest)
    ranges = [row for row in client_ranges.read(file_of(library)) if row.library == library]
    if any(row.version_from == wanted for row in ranges):
        return version_text(library, max(row.version_to for row in ranges if row.version_to < wanted))
    published = newer.published(library, CACHE)
    return published[published.index(newest) - 1]


def withhold(library: str, newest: str, previous: str) -> None:
    """Rows of the newest version alone go; others end at the version before it."""
    file, columns = file_of(library), client_ranges.COLUMNS
    place: Callable[[str], int] = columns.index
    rows = []
    for row in cells(file, columns):
        is_newest = row[place("library")] == library and client_versions.parse(
            row[place("version_to")]
        ) == client_versions.parse(newest)
        if is_newest and client_versions.parse(row[place("version_from")]) == client_versions.parse(newest):
            continue
        if is_newest:
            row = [*row]
            row[place("version_to")] = previous
        rows.append(row)
    use(file, columns, rows)
