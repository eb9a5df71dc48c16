"""The FileIO of tables in an S3 store: pyarrow's, with fewer requests.

Every file of a table has a unique name and never changes. So nobody asks whether a name is taken, a small file is sent
in one request instead of three, and metadata that this process has read or written is not read again.
"""

import io
import threading
from collections import OrderedDict
from typing import Protocol, cast

from pyiceberg.io import InputFile, InputStream, OutputFile, OutputStream
from pyiceberg.io.pyarrow import PyArrowFile

from client_telemetry.lake.iceberg_internals import DelayedOpenFileIO, parts_of

_METADATA = (".avro", ".metadata.json")
_MOST_BYTES = 64 * 2**20
_LARGEST = 4 * 2**20


class _Contents:
    """Files by location; those that were not used for the longest time go first."""

    def __init__(self) -> None:
        self._files: OrderedDict[str, bytes] = OrderedDict()
        self._bytes = 0
        self._lock = threading.Lock()

    def get(self, location: str) -> bytes | None:
        with self._lock:
            content = self._files.get(location)
            if content is not None:
                self._files.move_to_end(location)
            return content

    def add(self, location: str, content: bytes) -> None:
        if len(content) > _LARGEST:
            return
        with self._lock:
            self._bytes += len(content) - len(self._files.pop(location, b""))
            self._files[location] = content
            while self._bytes > _MOST_BYTES:
                self._bytes -= len(self._files.popitem(last=False)[1])

    def remove(self, location: str) -> None:
        with self._lock:
            self._bytes -= len(self._files.pop(location, b""))


_CONTENTS = _Contents()
"""Metadata files that this process has read or written."""


class StoreFileIO(DelayedOpenFileIO):
    """Used like pyarrow's."""

    def new_input(self, location: str) -> PyArrowFile:
        return _StoredFile.of(super().new_input(location))

    def new_output(self, location: str) -> PyArrowFile:
        return _StoredFile.of(super().new_output(location))

    def delete(self, location: str | InputFile | OutputFile) -> None:
        _CONTENTS.remove(location if isinstance(location, str) else location.location)
        super().delete(location)


class _OfArrow(Protocol):
    """What pyarrow's streams have and pyiceberg's types of them do not say."""

    def size(self) -> int: ...

    def tell(self) -> int: ...


class _StoredFile(PyArrowFile):
    _size: int | None = None
    """Of a data file that was opened."""

    @classmethod
    def of(cls, file: PyArrowFile) -> "_StoredFile":
        return cls(file.location, *parts_of(file))

    def __len__(self) -> int:
        content = _CONTENTS.get(self.location)
        if content is not None:
            return len(content)
        return super().__len__() if self._size is None else self._size

    def open(self, seekable: bool = True) -> InputStream:
        if not self._is_metadata:
            stream = super().open(seekable)
            if seekable:
                self._size = cast("_OfArrow", stream).size()
            return stream
        content = _CONTENTS.get(self.location)
        if content is None:
            with super().open() as stream:
                content = stream.read()
            _CONTENTS.add(self.location, content)
        return cast("InputStream", io.BytesIO(content))

    def create(self, overwrite: bool = False) -> OutputStream:
        stream = super().create(overwrite=True)
        return cast("OutputStream", _Remembered(self.location, stream)) if self._is_metadata else stream

    @property
    def _is_metadata(self) -> bool:
        return self.location.endswith(_METADATA)


class _Remembered:
    """Writes to the store, and keeps what was written once the store has it."""

    def __init__(self, location: str, stream: OutputStream):
        self._location, self._stream = location, stream
        self._parts: list[bytes] = []

    def write(self, part: bytes) -> int:
        self._parts.append(bytes(part))
        return self._stream.write(part)

    def tell(self) -> int:
        return cast("_OfArrow", self._stream).tell()

    def close(self) -> None:
        self._stream.close()
        if self._parts:
            _CONTENTS.add(self._location, b"".join(self._parts))

    def __enter__(self) -> "_Remembered":
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        if error is not None:
            self._parts.clear()
        self.close()
