"""What was derived from the rows of one knowledge base is forgotten with it, in every room."""

import pytest
from client_telemetry import knowledge
from client_telemetry.knowledge import Package, known_packages
from client_telemetry.review import functions


@pytest.fixture
def _shipped_again():
    yield
    knowledge.use(None)


def package(file: str, old: str, new: str) -> Package:
    texts = knowledge.shipped_texts()
    assert old in texts[file]
    changed = {**texts, file: texts[file].replace(old, new)}
    return Package.of_texts("a copy", knowledge.shipped_built_at(), changed)


def test_packages_that_a_scan_knows_are_those_of_the_package_in_use(_shipped_again):
    assert known_packages.find("cargo", "samsa")
    knowledge.use_package(package(known_packages.FILE, "\ncargo,samsa,", "\ncargo,samsa-renamed,"))
    assert known_packages.find("cargo", "samsa") is None
    assert known_packages.find("cargo", "samsa-renamed")
    knowledge.use(None)
    assert known_packages.find("cargo", "samsa")


def test_caches_of_other_rooms_are_emptied(_shipped_again):
    functions.function(0, is_tool=False)
    assert functions.function.cache_info().currsize
    knowledge.use_package(package(known_packages.FILE, "\ncargo,samsa,", "\ncargo,samsa-renamed,"))
    assert not functions.function.cache_info().currsize
