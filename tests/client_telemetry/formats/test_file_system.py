"""The file system of a location: one per process, whoever asks first."""

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from client_telemetry.formats.raw.file_system import file_system, forget_file_systems
from pyarrow import fs

THREADS = 8


def test_threads_that_ask_at_once_share_one_file_system(monkeypatch: pytest.MonkeyPatch) -> None:
    """A second one would be waited for as long as any thread reads from the first."""
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    forget_file_systems()
    created: list[str] = []
    another = threading.Event()
    connect = fs.FileSystem.from_uri

    class Slow(fs.FileSystem):
        @classmethod
        def from_uri(cls, url: str) -> Any:
            created.append(url)
            (another.set if len(created) > 1 else lambda: another.wait(0.5))()
            return connect(url)

    monkeypatch.setattr(fs, "FileSystem", Slow)
    try:
        with ThreadPoolExecutor(THREADS) as pool:
            found = list(pool.map(lambda _: file_system("s3://raw/dump"), range(THREADS)))
        assert created == ["s3://raw/dump"]
        assert all(files is found[0][0] for files, _ in found)
    finally:
        forget_file_systems()
