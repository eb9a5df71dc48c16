"""What sources and configuration files beside a lock file say about its clients."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Pin:
    """A setting in code or configuration that pins the protocol version. `release` is None if the text is no release."""

    library: str
    text: str
    release: str | None
    where: str


@dataclass(frozen=True)
class CodeSeen:
    """What the sources beside a lock file say."""

    libraries: frozenset[str] = frozenset()
    """Libraries that sources which were read import: had they pinned a version there, it would be in `pins`."""
    pins: tuple[Pin, ...] = ()
    mechanisms: tuple[tuple[str, str], ...] = ()
    """SASL mechanisms that configuration files name, each with its place. Others may be used elsewhere."""


NO_CODE = CodeSeen()
