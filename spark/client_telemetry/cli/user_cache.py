"""Where what commands fetch is kept for the next time."""

from pathlib import Path

from client_telemetry.knowledge import UnusablePackage


def cache_folder(named: Path | None, of: str) -> Path:
    """The folder that was named, otherwise that of the user's cache for something; absolute, because tools are run in other
    folders. Raises UnusablePackage where nothing tells where that is.
    """
    if named is not None:
        return named.resolve()
    try:
        from platformdirs import user_cache_path
    except ModuleNotFoundError:
        raise UnusablePackage("no folder for what is fetched: name one with --cache") from None
    return user_cache_path("client-telemetry", appauthor=False) / of
