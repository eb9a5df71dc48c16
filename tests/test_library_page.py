from pathlib import Path

import library_page

PAGE = Path(__file__).parents[1] / "docs" / "libraries.md"


def test_what_it_says_of_versions():
    text = library_page.text()
    assert "| librdkafka | " in text and "| from 0.11.0 | from 1.8.0 |" in text
    assert "| kafka-node | nothing | 4.0.0 to 5.0.0 | no known version | no known version |" in text
    assert "| rskafka | `rskafka` | 0.1.0 to 0.6.0 | from 0.1.0 | has no groups |" in text


def test_the_page_is_the_one_in_docs():
    assert library_page.text() == PAGE.read_text(encoding="utf-8")
