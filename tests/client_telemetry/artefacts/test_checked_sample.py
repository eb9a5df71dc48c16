"""How often a scan is wrong about files whose answers do not come from a scan: those that were worked out before a reader ran, and what
the tools that wrote the others were told to install (tests/data/artefacts/README.md, by_tools/README.md).

    pytest -s tests/client_telemetry/artefacts/test_checked_sample.py

prints the counts.
"""

from collections import Counter
from collections.abc import Iterable, Iterator

from client_telemetry.artefacts import tree
from client_telemetry.artefacts.scan import named_in

from tests.client_telemetry.artefacts.test_other_parsers import TOOLS, WRITTEN
from tests.client_telemetry.artefacts.test_public_files import ANSWERS, files

ANSWERED_BEFORE = ("go-modules/", "crates/", "npm/", "pypi/")
"""Folders of `public`."""


def sample() -> Iterator[tuple[tree.File, set[tuple[str, str]]]]:
    """Each file with the libraries and versions in it; of a client whose version the file does not say, none."""
    public = files()
    for name, answers in ANSWERS.items():
        if name.startswith(ANSWERED_BEFORE):
            yield public[name], libraries(client for _, client, unknown, _ in answers if not unknown)
    for path, file in TOOLS.items():
        yield file, libraries(WRITTEN[path.partition("/")[0]]) - NOT_KNOWN


def libraries(clients: Iterable[str]) -> set[tuple[str, str]]:
    """Of 'librdkafka 2.3.0 in confluent-kafka-python 2.3.0': ('librdkafka', '2.3.0')."""
    return {(words[0], words[1]) for client in clients if len(words := client.split()) > 1}


NOT_KNOWN = libraries(
    (
        "kafka-python-ng 2.2.3",
        "no-kafka 3.4.3",
        "longlang/phpkafka 1.2.5",
        "mateusjunges/laravel-kafka 2.4.0",
        "enqueue/rdkafka 0.10.19",
    )
)
"""Of these packages nothing is known about what they send: a scan says so."""


def test_no_library_and_no_version_of_the_sample_is_wrong():
    counts: Counter[str] = Counter()
    for file, known in sample():
        found = [client for _, client in named_in(file) or []]
        said = {(client.written.library, client.written.version) for client in found if client.written}
        names = {library for library, _ in known}
        counts["files"] += 1
        counts["libraries with a version"] += len(known)
        counts["wrong library"] += sum(library not in names for library, _ in said)
        counts["wrong version"] += sum(library in names for library, _ in said - known)
        counts["missed"] += len(known - said)
        counts["said to be unknown"] += sum(client.written is None for client in found)
    print(*(f"{what}: {number}" for what, number in counts.items()), sep=", ")
    assert counts["files"] >= 60
    assert counts["wrong library"] == 0
    assert counts["wrong version"] * 100 <= counts["libraries with a version"]
    assert counts["missed"] == 0
