"""Where what commands fetch is kept for the next time."""

from pathlib import Path

from client_telemetry.knowledge.package import UnusablePackage


def user_cache(of: str) -> Path:
    """The folder of the user's cache for something. Raises UnusablePackage where nothing tells where that is."""
    try:
        from platformdirs import user_cache_path
    except ModuleNotFoundError:
        raise UnusablePackage("no folder for what is fetched: name one with --cache") from None
    return user_cache_path("client-telemetry", appauthor=False) / of
