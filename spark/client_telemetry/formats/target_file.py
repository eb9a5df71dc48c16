"""The file that keeps what brokers answered: JSON, dated, with the SHA-256 of its content, one line for each API.

A file is read back only if its content still has its digest: what somebody has edited was not measured.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final, NotRequired, TypedDict, cast

from client_telemetry import Unusable

FORMAT: Final = "client-telemetry target 1"
LARGEST_FILE: Final = 16 * 1024 * 1024
"""Bytes."""


NONCE_TWICE: Final = "sent twice"
NONCE_FOREIGN: Final = "foreign"
"""Keys of `scram_nonce`: how the nonce that ends a login is wrong."""
ACCEPTED: Final = "accepted"
REFUSED: Final = "refused"
"""Its values."""


class UnusableTarget(Unusable):
    """Not a file of a measured target; the message says why."""


class Level(TypedDict):
    """Of a feature. `finalized`: 0 = not; `supported`: `1-3`, None = brokers do not say."""

    finalized: int
    supported: str | None


class Content(TypedDict):
    """What readers of a target file need of it. `answers`: of brokers that answered alike, API -> outcome -> versions."""

    measured_at: str
    bootstrap: str
    answers_like: list[str]
    features: dict[str, Level]
    mechanisms: list[str]
    scram_nonce: NotRequired[dict[str, str]]
    product: NotRequired[str]
    answers: list[dict[str, dict[str, str]]]
    sha256: NotRequired[str]


def ranges(versions: Iterable[int]) -> str:
    """
    >>> ranges([0, 1, 2, 5])
    '0-2,5'
    """
    parts: list[list[int]] = []
    for version in sorted(versions):
        if parts and version == parts[-1][1] + 1:
            parts[-1][1] = version
        else:
            parts.append([version, version])
    return ",".join(str(low) if low == high else f"{low}-{high}" for low, high in parts)


def parse_ranges(text: str) -> tuple[int, ...]:
    """
    >>> parse_ranges("0-2,5")
    (0, 1, 2, 5)
    """
    versions: list[int] = []
    for part in filter(None, text.split(",")):
        low, _, high = part.partition("-")
        versions.extend(range(int(low), min(int(high or low), int(low) + 1000) + 1))
    return tuple(versions)


def text(content: Mapping[str, object]) -> str:
    """The file's text. `content`: everything but the digest."""
    return _lines({**content, "sha256": digest(content)}) + "\n"


def digest(content: Mapping[str, object]) -> str:
    """Of everything but the digest itself, hex."""
    canonical = json.dumps(
        {key: value for key, value in content.items() if key != "sha256"},
        sort_keys=True,
        separators=(",", ":"),
    )
    return hashlib.sha256(canonical.encode()).hexdigest()


def _lines(value: object, indent: str = "") -> str:
    """As JSON, a line for each entry that has no entries with entries of their own."""
    if not isinstance(value, Mapping | list) or not any(
        isinstance(each, Mapping | list) for each in _items(value)
    ):
        return json.dumps(value, ensure_ascii=False)
    inner = indent + " "
    if isinstance(value, Mapping):
        entries = [
            f"{json.dumps(key, ensure_ascii=False)}: {_lines(each, inner)}" for key, each in value.items()
        ]
        return "{\n" + ",\n".join(inner + entry for entry in entries) + f"\n{indent}}}"
    return "[\n" + ",\n".join(inner + _lines(each, inner) for each in value) + f"\n{indent}]"


def _items(value: Mapping[str, object] | Sequence[object]) -> Iterable[object]:
    return value.values() if isinstance(value, Mapping) else value


def read(path: Path) -> Content:
    """Raises UnusableTarget."""
    try:
        if path.stat().st_size > LARGEST_FILE:
            raise UnusableTarget(f"{path}: too large for a file that `client-telemetry probe` wrote")
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise UnusableTarget(f"{path}: {error.strerror}") from error
    except ValueError as error:
        raise UnusableTarget(f"{path}: not a file that `client-telemetry probe` wrote: {error}") from error
    return parse(text, str(path))


def parse(text: str, path: str) -> Content:
    """`path`: what messages call the text. Raises UnusableTarget."""
    try:
        content = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UnusableTarget(f"{path}: not a file that `client-telemetry probe` wrote: {error}") from error
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise UnusableTarget(f"{path}: not a file that `client-telemetry probe` wrote (format {FORMAT!r})")
    if content.get("sha256") != digest(content):
        raise UnusableTarget(f"{path}: it was edited after it was measured: probe the brokers again")
    return cast("Content", content)
