"""include/releases.py: the releases that the trigger forms offer, from the knowledge base (`make generated`)."""

from client_telemetry.knowledge import releases

OLDEST = "2.4.0"
"""What is older is not offered; the command line and the jobs still take it."""


def text() -> str:
    """The module, as Python source."""
    offered = [
        release for release in reversed(releases.known()) if releases.parse(release) >= releases.parse(OLDEST)
    ]
    lines = [
        '"""The Kafka releases that the trigger forms offer, newest first.',
        "",
        f"Generated from spark/client_telemetry/knowledge/releases.csv (releases since {OLDEST}) and never edited",
        "by hand: DAG files must neither read files nor import the job side while they are parsed. A test holds the two",
        "together (tests/include/test_releases.py).",
        '"""',
        "",
        "RELEASES: tuple[str, ...] = (",
        *(f'    "{release}",' for release in offered),
        ")",
    ]
    return "\n".join(lines) + "\n"
