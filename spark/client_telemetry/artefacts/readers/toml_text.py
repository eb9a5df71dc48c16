"""TOML of strangers: parsed whole or refused with the reason."""

import tomllib

from client_telemetry.artefacts.packages import Unreadable


def parse(text: str) -> dict[str, object]:
    """Raises Unreadable."""
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise Unreadable(f"not TOML: {error}") from None
