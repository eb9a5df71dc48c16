"""What the knowledge base says of products is what was read in their repositories, and the page is current."""

from pathlib import Path

import pytest
from client_telemetry import knowledge
from client_telemetry.compatibility.own_knowledge import use_folder

from benchmarks import product_knowledge


def test_differences_are_explained_and_the_page_is_current():
    text, unexplained = product_knowledge.report()
    assert unexplained == []
    page = Path(__file__).parents[2] / "docs/accuracy-products.md"
    assert page.read_text(encoding="utf-8") == text, (
        "run python -m benchmarks.product_knowledge --write docs/accuracy-products.md"
    )


@pytest.fixture
def another_fix(tmp_path):
    (tmp_path / "products.csv").write_text(
        "product,library,apis,advice,source,confidence\n"
        "Vector,librdkafka,,upgrade Vector to 0.23.0 or later,wiki,documentation\n"
    )
    use_folder(tmp_path)
    yield
    knowledge.use(None)


def test_a_fix_that_names_another_release_is_a_difference(another_fix):
    _, unexplained = product_knowledge.report()
    assert {(each.component, each.what) for each in unexplained} == {
        ("Vector (kafka source and sink)", "first release"),
        ("Vector (kafka source and sink)", "SCRAM fix"),
    }
