"""The browser of the end-to-end tests: the system's Chromium, or the one that Playwright fetched."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser


@contextmanager
def chromium() -> Iterator["Browser"]:
    """A headless Chromium. Where there is none, the tests that ask for it are skipped with the reason."""
    from playwright.sync_api import sync_playwright

    system = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    with sync_playwright() as playwright:
        if system is None and not Path(playwright.chromium.executable_path).exists():
            pytest.skip("no browser: install Chromium (on Debian: apt-get install chromium)")
        browser = playwright.chromium.launch(executable_path=system, args=["--no-sandbox"])
        try:
            yield browser
        finally:
            browser.close()
