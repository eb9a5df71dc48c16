"""The manifest of the files that ship with the program: when they last changed, and their digests (`make generated`).

They are not signed: the wheel that has them is what one trusts. A package that is built from them is.
"""

import datetime as dt

from client_telemetry import knowledge
from client_telemetry.knowledge_package.package_files import Manifest, manifest_of

SOURCES = ("the files of a checkout, each row of which names its source",)


def manifest() -> Manifest:
    """As it stands in the folder of the files."""
    return Manifest.parse("shipped knowledge base", knowledge.shipped_manifest().encode())


def text() -> str:
    """The text of manifest.json: as it is if no file has changed since, else of today."""
    today = dt.datetime.combine(dt.datetime.now(dt.UTC).date(), dt.time(), dt.UTC)
    new = manifest_of(knowledge.shipped_texts(), today, SOURCES)
    try:
        old = manifest()
    except ValueError:
        return new.content().decode()
    return (old if old.sha256 == new.sha256 else new).content().decode()
