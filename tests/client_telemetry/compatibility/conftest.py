"""Damaged knowledge files for the tests of what loading refuses."""

import pytest
from client_telemetry.compatibility import knowledge


@pytest.fixture
def damaged(monkeypatch):
    """damaged(module, row_number, column, value): the module reads its file (or `of`, another of its files) with that one
    cell changed.

    Returns nothing; the cached loaders of the module are emptied before and after.
    """
    emptied = []

    def empty(module):
        for each in vars(module).values():
            if hasattr(each, "cache_clear") and each.__module__ == module.__name__:
                each.cache_clear()

    def damage(
        module, row_number: int, column: str, value: str, repeat: bool = False, of: str | None = None
    ) -> None:
        def rows(file, columns):
            found = [(line, list(cells)) for line, cells in knowledge.rows(file, columns)]
            if file == (of or module.FILE):
                if repeat:
                    found.append((9999, list(found[row_number][1])))
                else:
                    found[row_number][1][columns.index(column)] = value
            return found

        empty(module)
        emptied.append(module)
        monkeypatch.setattr(module, "rows", rows)

    yield damage
    monkeypatch.undo()
    for module in emptied:
        empty(module)
