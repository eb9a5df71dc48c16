"""What `knowledge build` finds by itself: the rows of the last twelve months are taken away, read and measured again, and are as
they were. It needs Maven Central and the registries of the libraries.
"""

import csv
import datetime as dt
import io
import shutil
import subprocess
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from client_telemetry import knowledge
from client_telemetry.cli import knowledge_build, knowledge_measure
from client_telemetry.compatibility import configuration_changes, java_properties
from client_telemetry.console.progress import Progress
from client_telemetry.knowledge import (
    Package,
    broker_classes,
    broker_configuration,
    broker_metrics,
    client_ranges,
    client_versions,
    features,
    releases,
    served,
    software,
)
from client_telemetry.knowledge.broker_release import csv_text
from client_telemetry.knowledge.software import JAVA_LIBRARY
from client_telemetry.knowledge_package import broker_jars, brokers, configuration, store
from client_telemetry.knowledge_package.artefacts import MavenRepository
from client_telemetry.rehearsal import broker_metrics as measured_metrics
from client_telemetry.rehearsal import compared_with_table, newer, older_brokers
from client_telemetry.rehearsal.library_rows import file_of
from client_telemetry.rehearsal.subjects import Subject, known_versions, version_text
from client_telemetry.rehearsal.workplace import NotInstalled

CACHE = Path(__file__).parents[2] / "var" / "e2e" / "rehearsal"
LIBRARIES = ("kafka-clients", "franz-go", "kafka-python", "sarama")
"""Of Java, Go and Python: those whose newest rows hold for all of their settings."""
MOST_MINUTES = 30
TWELVE_MONTHS = dt.timedelta(days=365)
THREE_MONTHS = dt.timedelta(days=92)
"""Of a single month there is sometimes no release of Kafka."""

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
    """Request versions, feature levels and configuration keys of each release, patch by patch."""
    committed = {row[0]: dt.date.fromisoformat(row[1]) for row in cells(releases.FILE, releases.COLUMNS)}
    since = max(committed.values()) - TWELVE_MONTHS
    young = {release for release, day in committed.items() if day > since}
    before = read_of(young)
    assert len(young) >= 5
    started = time.monotonic()
    knowledge.use_package(Package.of_texts("older", knowledge.shipped_built_at(), older_texts(young)))
    assert not young & set(releases.known())
    steps = list(brokers.add_all(MavenRepository(CACHE / "artefacts")))
    assert [step for step in steps if not step.is_done and step.release in young] == []
    after = read_of(young)
    for what, rows in before.items():
        assert after[what] == rows, what
    assert time.monotonic() - started < MOST_MINUTES * 60


def test_the_configuration_of_every_release_is_that_of_its_jars():
    repository = MavenRepository(CACHE / "artefacts")
    known = releases.known()
    broker_jars.fetch(repository, known)
    differing = [
        line
        for release in known
        for line in configuration.differences(release, configuration.read(repository, release))
    ]
    assert differing == []


KRAFT = """process.roles=broker,controller
listeners=C://:9093,PLAINTEXT://:9092
controller.listener.names=C
controller.quorum.voters=1@localhost:9093
listener.security.protocol.map=C:PLAINTEXT,PLAINTEXT:PLAINTEXT
"""
ZOOKEEPER = "broker.id=1\nzookeeper.connect=zk\n"


@pytest.mark.parametrize(
    ("release", "text", "says"),
    [
        ("4.0.0", f"{KRAFT}node.id=1\nzookeeper.connect=zk\nlog.message.format.version=3.0\nno.key=1\n", "accepted"),
        ("4.0.0", f"{KRAFT}broker.id=1\n", "accepted"),
        ("4.0.0", f"{KRAFT}broker.id=-1\n", "Invalid value -1 for configuration node.id"),
        ("3.8.1", f"{ZOOKEEPER}inter.broker.protocol.version=3.9\n", "Invalid value 3.9 for configuration inter.broker.protocol.version"),
        ("2.8.0", f"{ZOOKEEPER}log.message.format.version=3.0\n", "Invalid value 3.0 for configuration log.message.format.version"),
        ("3.9.1", f"{ZOOKEEPER}inter.broker.protocol.version=2.8-IV1\n", "accepted"),
        ("4.0.0", f"{KRAFT}node.id=1\ninter.broker.protocol.version=9.9\n", "accepted"),
        ("4.0.0", f"{KRAFT}node.id=1\ngroup.coordinator.rebalance.protocols=classic,streams\n", "Invalid value streams for configuration group.coordinator.rebalance.protocols"),
        ("3.9.1", f"{KRAFT}node.id=1\ngroup.consumer.assignors=uniform\n", "Class uniform cannot be found"),
        ("4.0.0", ZOOKEEPER, 'Missing required configuration "process.roles"'),
        ("4.0.0", f"{KRAFT}node.id=1\nlog.segment.bytes=1000\n", "Invalid value 1000 for configuration log.segment.bytes"),
        ("4.0.0", f"{KRAFT}node.id=1\nsasl.login.class=kafka.security.auth.SimpleAclAuthorizer\n", "Invalid value kafka.security.auth.SimpleAclAuthorizer for configuration sasl.login.class"),
        ("3.9.1", "broker.id=1\nzookeeper.connect=zk\nlog.segment.bytes=1000\nno.key=1\n", "accepted"),
        ("2.8.0", "broker.id=1\nzookeeper.connect=zk\nshare.coordinator.threads=1\n", "accepted"),
    ],
)  # fmt: skip
def test_what_is_said_of_settings_is_what_a_release_does_with_them(release, text, says, tmp_path):
    """Keys that it does not have are ignored; without a required one, or with a value out of range, it does not start."""
    file = tmp_path / "server.properties"
    file.write_text(text)
    repository = MavenRepository(CACHE / "artefacts")
    broker_jars.fetch(repository, [release])
    jars = ":".join(map(str, broker_jars.class_path(repository, release)))
    program = Path(__file__).with_name("AcceptsSettings.java")
    done = subprocess.run(["java", "-cp", jars, program, file], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1].startswith(says)
    found = configuration_changes.of_settings(java_properties.parse(text), "3.9.2", release)
    assert bool(found.missing or found.refused or found.gone_classes) == (says != "accepted")


@pytest.mark.parametrize("release", ["0.10.0.1", "0.11.0.3", "1.0.0", "2.3.1", releases.known()[-1]])
def test_metrics_of_a_release_are_measured_again(release, tmp_path):
    """But for what only some runs bring about (a fetch that expires), its broker shows the same, and its rows are as they were, beside
    those of the releases that were not run again.
    """
    (CACHE / "brokers").mkdir(parents=True, exist_ok=True)
    (tmp_path / "brokers").symlink_to(CACHE / "brokers")
    before = cells(broker_metrics.FILE, broker_metrics.COLUMNS)
    known = broker_metrics.seen(release)
    withhold_metrics(release)
    assert measured_metrics.lacking() == [release]
    step = measured_metrics.add(MavenRepository(CACHE / "artefacts"), release, tmp_path)
    assert step.is_done, step.said
    found = broker_metrics.seen(release)
    print(f"{release}: {len(found & known)} of {len(known)} metrics", found ^ known)
    assert len(found ^ known) <= 0.02 * len(known)
    differing = [list(metric[:3]) for metric in found ^ known]
    after = cells(broker_metrics.FILE, broker_metrics.COLUMNS)
    assert [row for row in after if row[:3] not in differing] == [
        row for row in before if row[:3] not in differing
    ]


def withhold_metrics(withheld: str) -> None:
    """The two files as they were if this release had not been run."""
    seen = {release: broker_metrics.seen(release) for release in broker_metrics.read() if release != withheld}
    names = {
        release: frozenset(
            metric.constant
            for metric in frozenset().union(*seen.values())
            if release in broker_metrics.ever_in_jars(metric)
        )
        for release in seen
    }
    sources = cells(broker_metrics.RELEASES_FILE, broker_metrics.RELEASES_COLUMNS)
    use_metrics([], [])
    rows = list(broker_metrics.with_runs(seen, names))
    use_metrics(rows, [row for row in sources if row[0] != withheld])


def use_metrics(rows: Sequence[Sequence[str]], runs: Sequence[Sequence[str]]) -> None:
    texts = {
        broker_metrics.FILE: csv_text(broker_metrics.COLUMNS, rows),
        broker_metrics.RELEASES_FILE: csv_text(broker_metrics.RELEASES_COLUMNS, runs),
    }
    knowledge.use_package(brokers.base().with_texts(texts))


def read_of(young: set[str]) -> dict[str, object]:
    return {
        "rows": without_sources([row for row in cells(served.FILE, served.COLUMNS) if row[0] in young]),
        "levels": {release: features.supported().get(release) for release in young},
        "configuration keys": cells(broker_configuration.FILE, broker_configuration.COLUMNS),
        "classes": cells(broker_classes.FILE, broker_classes.COLUMNS),
        "releases whose configuration was read": cells(
            broker_configuration.RELEASES_FILE, broker_configuration.RELEASES_COLUMNS
        ),
    }


def older_texts(young: set[str]) -> dict[str, str]:
    """The files without what is about these releases; a range that ends in one ends before them."""
    texts = dict(knowledge.texts())
    kept = [release for release in releases.known() if release not in young]
    for file, columns in (
        (releases.FILE, releases.COLUMNS),
        (served.FILE, served.COLUMNS),
        (broker_configuration.RELEASES_FILE, broker_configuration.RELEASES_COLUMNS),
        (broker_metrics.RELEASES_FILE, broker_metrics.RELEASES_COLUMNS),
    ):
        texts[file] = csv_text(columns, [row for row in cells(file, columns) if row[0] not in young])
    for file, text in texts.items():
        header, *rows = csv.reader(io.StringIO(text))
        for first, last in (
            ("release_from", "release_to"),
            ("broker_from", "broker_to"),
            ("in_jars_from", "in_jars_to"),
        ):
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
        for subject in [Subject(name, versions[-1]) for name, versions in known_since(TWELVE_MONTHS).items()]:
            library, version = knowledge_measure.as_in_table(subject)
            try:
                runs = measuring.run(subject)
            except NotInstalled as error:
                print(f"{subject.text}: not measured: {error}")
                continue
            compared = compared_with_table.with_table(library, version, "", runs)
            equal += [f"{subject.text} {api}" for api in compared.equal]
            different += [f"{subject.text} {each}" for each in compared.differences]
    share = len(equal) / (len(equal) + len(different))
    print(
        f"{len(equal)} of {len(equal) + len(different)} rows ({share:.1%}) as in the table",
        *different,
        sep="\n",
    )
    assert share >= 0.98, different


def known_since(time_ago: dt.timedelta) -> dict[str, list[str]]:
    """Program -> the versions that its registry has since then and the knowledge base knows, oldest first. Registries that do not say
    when are left out."""
    since = dt.datetime.now(dt.UTC).date() - time_ago
    found = {}
    for name in newer.programs():
        try:
            published = newer.since(name, CACHE, since)
        except NotInstalled as error:
            print(f"{name}: left out: {error}")
            continue
        oldest = known_versions()[newer.library_of(name)][0] if name not in software.bindings() else ()
        known = [
            each for each in published if oldest <= client_versions.parse(each) <= newer.newest_known(name)
        ]
        if known:
            found[name] = known
    return found


def test_all_that_is_new_in_three_months_is_built_at_once(tmp_path, monkeypatch, capsys):
    """Of Kafka and of each library whose registry has dates what is younger than that is taken away; one command brings it back.
    Frameworks are not among it: Maven has no days."""
    published = known_since(THREE_MONTHS)
    kafka = set(published.pop(JAVA_LIBRARY, ()))
    young = {
        program: newest for program in published if (newest := beyond_the_old(program, published[program]))
    }
    measured_again = {
        (newer.library_of(program), knowledge_measure.as_in_table(Subject(program, version))[1])
        for program, versions in young.items()
        for version in versions
    }
    before = {each: rows_of(*each) for each in measured_again}
    bindings = {program: software.bindings()[program] for program in young if program in software.bindings()}
    served_before = without_sources([row for row in cells(served.FILE, served.COLUMNS) if row[0] in kafka])
    knowledge.use_package(Package.of_texts("older", knowledge.shipped_built_at(), older_texts(kafka)))
    for program in young:
        withhold_since(program, young[program])
    monkeypatch.setattr(store, "activate", lambda: None)
    started = time.monotonic()
    ended = knowledge_build.main(["--out", str(tmp_path / "package"), "--newer", "--cache", str(CACHE)])
    minutes = (time.monotonic() - started) / 60
    said = capsys.readouterr().out
    equal = sum(len(rows & rows_of(*each)) for each, rows in before.items())
    different = {each: sorted(rows - rows_of(*each)) for each, rows in before.items()}
    count = sum(map(len, before.values()))
    print(
        young,
        f"{minutes:.1f} minutes, exit code {ended}",
        said,
        f"{equal} of {count} rows",
        different,
        sep="\n",
    )
    for program, versions in bindings.items():
        assert {each: software.bindings()[program].get(each) for each in versions} == versions
    assert (
        without_sources([row for row in cells(served.FILE, served.COLUMNS) if row[0] in kafka])
        == served_before
    )
    # A build continues the lowest versions of the newest row: those of platformatic-kafka since 2.10 were read and measured otherwise.
    equal += sum(
        is_same_but_for_lowest(row, rows_of(*each))
        for each, rows in different.items()
        for row in rows
        if each[0] == "platformatic-kafka"
    )
    assert equal >= 0.98 * count, different
    assert minutes < MOST_MINUTES


def is_same_but_for_lowest(row: tuple[int, int, int], others: set[tuple[int, int, int]]) -> bool:
    key, _, highest = row
    return any((key, highest) == (other_key, other_highest) for other_key, _, other_highest in others)


def beyond_the_old(program: str, young: Sequence[str]) -> list[str]:
    """The young versions after which there are only young ones: others are patches of older lines."""
    versions = [
        each
        for each in newer.published(program, CACHE)
        if client_versions.parse(each) <= newer.newest_known(program)
    ]
    last_old = max((place for place, each in enumerate(versions) if each not in young), default=-1)
    return versions[last_old + 1 :]


def withhold_since(program: str, young: Sequence[str]) -> None:
    """What is known of these newest versions of a library goes, or of a binding and the librdkafka that it alone carries."""
    library = newer.library_of(program)
    if library == program:
        first = client_versions.parse(young[0])
        older = [client_versions.parse(each) for each in newer.published(program, CACHE)]
        previous = version_text(library, max(each for each in older if each < first))
    else:
        columns = software.BINDINGS_COLUMNS
        kept = [
            row for row in cells(software.BINDINGS_FILE, columns) if row[0] != program or row[1] not in young
        ]
        use(software.BINDINGS_FILE, columns, kept)
        previous = max((row[2] for row in kept if row[0] == program and row[2]), key=client_versions.parse)
    withhold_after(library, previous)


@pytest.mark.parametrize("library", LIBRARIES)
def test_the_newest_version_of_a_library_is_measured_again(library: str):
    """At least 98 % of its rows are as they were: the same API with the same lowest and highest version."""
    newest = version_text(library, known_versions()[library][1])
    before = rows_of(library, newest)
    previous = known_before(library, newest)
    started = time.monotonic()
    withhold_after(library, previous)
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


def withhold_after(library: str, previous: str) -> None:
    """Rows that begin after a version go; others end there at the latest."""
    file, columns = file_of(library), client_ranges.COLUMNS
    first, last = columns.index("version_from"), columns.index("version_to")
    most = client_versions.parse(previous)
    rows = []
    for row in cells(file, columns):
        if row[columns.index("library")] == library:
            if client_versions.parse(row[first]) > most:
                continue
            if client_versions.parse(row[last]) > most:
                row = [*row[:last], previous, *row[last + 1 :]]
        rows.append(row)
    use(file, columns, rows)
