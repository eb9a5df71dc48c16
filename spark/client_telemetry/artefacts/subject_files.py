"""Which files are about an image or a repository as a whole, and what they say of it."""

import posixpath

from client_telemetry.artefacts import files, subjects, tree
from client_telemetry.artefacts.binaries import images
from client_telemetry.artefacts.packages import Unreadable
from client_telemetry.artefacts.subjects import NOTHING, Subject


def is_image(file: tree.File) -> bool:
    return is_saved(file) or posixpath.basename(file.path) == "oci-layout"


def is_saved(file: tree.File) -> bool:
    """Whether the name is that of an image in one file."""
    return file.path.lower().endswith(images.SAVED)


def of_file(file: tree.File) -> Subject | None:
    """None for a file that is neither an SBOM nor an image."""
    try:
        if is_image(file):
            if is_saved(file):
                with file.open() as opened, images.opened_tar(opened) as open_member:
                    subject = subjects.of_image(open_member)
            else:
                subject = subjects.of_image(lambda path: tree.open_beside(file, path))
        elif files.is_sbom(file.path, lambda: file.beginning().decode("utf-8", "replace")):
            subject = subjects.of_sbom(file.text())
        else:
            return None
    except Unreadable:
        return NOTHING
    return subject._replace(digests=subject.digests | subjects.digests(file.path))
