"""What is written about clients: the Kafka client libraries that SBOMs, images and lock files name."""

from typing import TYPE_CHECKING

from client_telemetry.tables.suite import RowRule, SliceRule, Suite, every
from client_telemetry.tables.table import CLUSTER_ID, DATE, INT, STRING, STRINGS, Column, Table

if TYPE_CHECKING:
    from client_telemetry.tables.rows import ArtefactRow

ARTEFACTS: "Table[ArtefactRow]" = Table(
    name="artefacts",
    comment="One row per Kafka client library that an artefact (SBOM, image, folder of a repository) names, and one per artefact "
    "that names none.",
    columns=(
        CLUSTER_ID,
        Column("dt", DATE, "UTC day of the inventory: what was in its location when it ran", nullable=False),
        Column(
            "artefact", STRING, "File or folder, relative to the location of the inventory", nullable=False
        ),
        Column(
            "kind", STRING, "image (an SBOM or image with a digest), otherwise repository", nullable=False
        ),
        Column(
            "digests",
            STRINGS,
            "sha256:… of the image's indexes, manifest and configuration, sorted; empty = not known",
            nullable=False,
        ),
        Column("image_names", STRINGS, "References of the image with their tags, sorted", nullable=False),
        Column("repository", STRING, "host/path of the repository it was built from; null = not known"),
        Column("owner", STRING, "By owner rules, CODEOWNERS or Backstage; null = not known"),
        Column(
            "library", STRING, "Client library; null = none, or nothing is known of what the package sends"
        ),
        Column("library_version", STRING, "Of the library, inside a binding too; null = not known"),
        Column("why_unknown", STRING, "Why library or version are not known; null = they are"),
        Column("purl", STRING, "Package that names it, as a package URL; null = no Kafka client was found"),
        Column("file", STRING, "Where it is written, relative to the location; null = no Kafka client"),
        Column("line", INT, "Line of the file, from 1; null = the file has no lines"),
        Column("inside", STRING, "Path in the archive or image; null = in none"),
        Column("client_ids", STRINGS, "Client ids written as literals with it, sorted", nullable=False),
        Column("group_ids", STRINGS, "Groups and application ids of Streams, likewise", nullable=False),
        Column("principals", STRINGS, "User names of SASL, likewise; without `User:`", nullable=False),
        Column(
            "seen_on",
            STRINGS,
            "Workloads that run the image according to the cluster's workloads file, as namespace/kind/name, sorted; null = there "
            "is no such file, or the digest is not known",
        ),
    ),
    key=("cluster_id", "dt", "artefact", "purl", "file", "line", "inside"),
)

SUITE = Suite(
    ARTEFACTS,
    (
        RowRule(
            "kind_is_known", "kind in ('image', 'repository')", "critical", "kind is image or repository"
        ),
        RowRule(
            "digests_are_digests",
            every("digests", "d", "d rlike '^sha256:[0-9a-f]{{64}}$'"),
            "critical",
            "digests are sha256: and 64 hex digits",
        ),
        RowRule(
            "unknown_has_a_reason",
            "purl is null or (library is not null and library_version is not null) or why_unknown is not null",
            "critical",
            "a package whose library or version is not known says why",
        ),
        RowRule(
            "a_library_is_written_somewhere",
            "(purl is null) = (file is null) and (purl is not null or library is null)",
            "critical",
            "a library has a package and a place",
        ),
        RowRule(
            "images_have_digests",
            "kind <> 'image' or size(digests) > 0",
            "warning",
            "an image is known by a digest; without one it cannot be found where it runs",
        ),
        SliceRule(
            "every_artefact_is_here",
            "count(distinct artefact) - {artefacts}",
            "critical",
            "each artefact that was read has a row",
            minimum=0,
            maximum=0,
        ),
        SliceRule(
            "all_files_were_read",
            "{unread} + 0 * count(*)",
            "warning",
            "no file that names packages was left unread",
            maximum=0,
        ),
    ),
)
