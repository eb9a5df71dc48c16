"""A published folder in an object store, read file by file."""

from dataclasses import dataclass

from pyarrow import fs

from client_telemetry.formats.raw.file_system import file_system
from client_telemetry.formats.report_file import NAME


@dataclass(frozen=True)
class StoredFolder:
    """`location`: a URL. Raises OSError where the store cannot be read."""

    location: str

    def __str__(self) -> str:
        return self.location.partition("?")[0].rstrip("/")

    def names(self) -> list[str]:
        """Of the report.json of all upgrade reports."""
        files, root = self._files
        selector = fs.FileSelector(f"{root}/upgrade_impact", allow_not_found=True, recursive=True)
        paths = [info.path for info in files.get_file_info(selector) if info.base_name == NAME]
        names = (path.removeprefix(root).lstrip("/") for path in paths)
        return sorted(name for name in names if "/." not in name)

    def folders(self, name: str) -> list[str]:
        """Names of the folders in a folder of this name, sorted; none if there is no such folder."""
        files, root = self._files
        selector = fs.FileSelector(f"{root}/{name}", allow_not_found=True)
        infos = files.get_file_info(selector)
        return sorted(info.base_name for info in infos if info.type == fs.FileType.Directory)

    def read(self, name: str) -> bytes:
        """Raises FileNotFoundError if there is no such file."""
        files, root = self._files
        with files.open_input_stream(f"{root}/{name}", compression=None) as source:
            return bytes(source.read())

    def write(self, name: str, content: bytes) -> None:
        """Readers see the old content or the new one."""
        files, root = self._files
        with files.open_output_stream(f"{root}/{name}", compression=None) as out:
            out.write(content)

    @property
    def _files(self) -> tuple[fs.FileSystem, str]:
        files, root = file_system(self.location)
        return files, root.rstrip("/")
