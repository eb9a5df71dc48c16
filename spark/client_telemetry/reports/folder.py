"""How published folders and files are put into place: a reader sees all of one or none. Local folders only."""

import json
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path

PAGE = "index.html"
"""Of every published folder."""


def replace_folder(folder: Path, contents: Iterable[tuple[str, str | Iterable[str]]]) -> None:
    """Puts `contents` (path within the folder, and text, whole or in pieces) there as a whole: written beside it and moved into
    place. (Two moves where a folder is replaced: for an instant in between there is none.) What a broken run left is removed."""
    partial, previous = (
        folder.with_name(f".{folder.name}.partial"),
        folder.with_name(f".{folder.name}.previous"),
    )
    shutil.rmtree(partial, ignore_errors=True)
    for path, text in contents:
        target = partial / path
        target.parent.mkdir(parents=True, exist_ok=True)
        with target.open("wb") as out:
            for piece in (text,) if isinstance(text, str) else text:
                out.write(piece.encode())
    shutil.rmtree(previous, ignore_errors=True)
    if folder.exists():
        folder.rename(previous)
    partial.rename(folder)
    shutil.rmtree(previous, ignore_errors=True)


def publish(
    cluster: Path,
    name: str,
    contents: Iterable[tuple[str, str | Iterable[str]]],
    summary: Mapping[str, object],
) -> Path:
    """Puts a folder into that of its cluster, whose `latest.json` then names its page, with what lists show of it."""
    folder = cluster / name
    replace_folder(folder, contents)
    replace_file(cluster / "latest.json", json.dumps({"path": f"{name}/{PAGE}", **summary}, indent=1) + "\n")
    return folder


def replace_file(path: Path, text: str) -> None:
    """A reader sees the old text or the new one."""
    partial = path.with_name(f".{path.name}.partial")
    partial.write_text(text, encoding="utf-8")
    partial.replace(path)
