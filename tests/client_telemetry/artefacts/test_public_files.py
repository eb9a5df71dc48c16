"""Lock files and manifests of public repositories with the answers that a person gave: tests/data/artefacts/public.

`answers.csv` has one row for each client that a file names, with its line, what says that it is for development only, or `(none)`, and where
the file is from.
Large files are excerpts: what they say about Kafka.
"""

import csv
from collections import defaultdict
from pathlib import Path

import pytest
from client_telemetry.artefacts import tree
from client_telemetry.artefacts.scan import named_in

PUBLIC = Path(__file__).parents[2] / "data/artefacts/public"
with (PUBLIC / "answers.csv").open(encoding="utf-8", newline="") as opened:
    ROWS = list(csv.DictReader(opened))
ANSWERS: dict[str, list[tuple[str, str, str, str]]] = defaultdict(list)
for row in ROWS:
    answer = (row["line"], row["client"], row["unknown"], row["development"])
    ANSWERS[row["file"]] += [] if row["client"] == "(none)" else [answer]


def files():
    return {
        f"{repository.name}/{file.path}": file
        for repository in sorted(PUBLIC.iterdir())
        if repository.is_dir()
        for file in tree.files(repository)
    }


@pytest.mark.parametrize("name", sorted(ANSWERS))
def test_a_public_file_says_what_a_person_reads_in_it(name):
    found = named_in(files()[name]) or []
    said = [
        (str(package.line or ""), client.text, client.why_unknown, package.development)
        for package, client in found
    ]
    assert sorted(said) == sorted(ANSWERS[name])


def test_every_answer_has_its_source_and_a_licence_that_permits_it():
    assert len(ANSWERS) >= 290
    for row in ROWS:
        assert "@" in row["source"] and row["licence"].split()[0] in {
            "Apache-2.0",
            "MIT",
            "BSD-2-Clause",
            "BSD-3-Clause",
            "CC0-1.0",
        }
