"""docs/reliability.md names tests that there are."""

import re
from pathlib import Path

CHECKOUT = Path(__file__).parents[1]


def test_every_test_that_the_page_names_exists():
    page = (CHECKOUT / "docs/reliability.md").read_text()
    named = re.findall(r"`((?:test_\w+\.py)|\w+Test)(?:::(\w+))?`", page)
    assert len(named) > 20
    missing = []
    for file, function in named:
        name = file if file.endswith(".py") else f"{file}.java"
        folders = ("tests", "broker-plugin/src/test")
        paths = [path for folder in folders for path in (CHECKOUT / folder).rglob(name)]
        if not any(not function or f"def {function}(" in path.read_text() for path in paths):
            missing.append((file, function))
    assert missing == []
