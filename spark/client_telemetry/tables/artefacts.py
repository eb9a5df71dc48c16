"""What is written about clients: the Kafka client libraries that SBOMs, images and lock files name."""

from client_telemetry.tables import rows
from client_telemetry.tables.suite import WARNING, aggregate_is, every, is_one_of, is_zero, rows_satisfy
from client_telemetry.tables.table import (
    BOOLEAN,
    CLUSTER_ID,
    DATE,
    INT,
    STRING,
    STRINGS,
    ArrayType,
    Column,
    Table,
    required,
    struct,
)

ARTEFACTS: "Table[rows.ArtefactRow]" = Table(
    name="artefacts",
    comment="One row per Kafka client library that an artefact (SBOM, image, folder of a repository) names, and one per artefact "
    "that names none.",
    columns=(
        CLUSTER_ID,
        required("dt", DATE, "UTC day of the inventory: what was in its location when it ran"),
        required("artefact", STRING, "File or folder, relative to the location of the inventory"),
        required("kind", STRING, "image (an SBOM or image with a digest), otherwise repository"),
        required(
            "digests",
            STRINGS,
            "sha256:… of the image's indexes, manifest and configuration, sorted; empty = not known",
        ),
        required("image_names", STRINGS, "References of the image with their tags, sorted"),
        Column("repository", STRING, "host/path of the repository it was built from; null = not known"),
        Column("owner", STRING, "By owner rules, CODEOWNERS or Backstage; null = not known"),
        Column(
            "library", STRING, "Client library; null = none, or nothing is known of what the package sends"
        ),
        Column("library_version", STRING, "Of the library, inside a binding too; null = not known"),
        Column(
            "why_unknown",
            STRING,
            "Why library or version are not known, and without a purl why parts of it were not read; null = they are",
        ),
        Column("purl", STRING, "Package that names it, as a package URL; null = no Kafka client was found"),
        Column("file", STRING, "Where it is written, relative to the location; null = no Kafka client"),
        Column("line", INT, "Line of the file, from 1; null = the file has no lines"),
        Column("inside", STRING, "Path in the archive or image; null = in none"),
        required("client_ids", STRINGS, "Client ids written as literals with it, sorted"),
        required("group_ids", STRINGS, "Groups and application ids of Streams, likewise"),
        required("principals", STRINGS, "User names of SASL, likewise; without `User:`"),
        Column(
            "seen_on",
            STRINGS,
            "Workloads that run the image according to the cluster's workloads file, as namespace/kind/name, sorted; null = there "
            "is no such file, or the digest is not known",
        ),
        Column(
            "version_from",
            STRING,
            "What decides the version where it is not written itself, such as a parent; null = it is, or it is not known",
        ),
        Column(
            "names",
            ArrayType(struct(kind=STRING, value=STRING, written_in=STRING)),
            "Client ids, groups and principals with file and line; null = a row of before they were kept",
        ),
        Column(
            "code_was_read",
            BOOLEAN,
            "Whether code that imports the library was read; null as for names",
        ),
        Column(
            "pinned_versions",
            ArrayType(struct("release", value=STRING, release=STRING, written_in=STRING)),
            "Protocol versions that this code pins: as written, as a release (null = it is none), file and line",
        ),
        Column(
            "sasl_mechanisms",
            ArrayType(struct(mechanism=STRING, written_in=STRING)),
            "SASL mechanisms that configuration files beside it name, with file and line",
        ),
        Column(
            "doubt",
            STRING,
            "Why the application may run with another version, or without the library, such as Maven's scope provided; null = nothing "
            "that was read says so",
        ),
        Column(
            "left_out",
            STRING,
            "Why the library that the package brings along is not packaged, such as Maven's scope test of its own; null likewise",
        ),
    ),
    key=("cluster_id", "dt", "artefact", "purl", "file", "line", "inside"),
    expectations=lambda: {
        "kind_is_known": is_one_of("kind", ("image", "repository"), "kind is image or repository"),
        "digests_are_digests": rows_satisfy(
            every("digests", "d", "d rlike '^sha256:[0-9a-f]{{64}}$'"),
            "digests are sha256: and 64 hex digits",
        ),
        "unknown_has_a_reason": rows_satisfy(
            "purl is null or (library is not null and library_version is not null) or why_unknown is not null",
            "a package whose library or version is not known says why",
        ),
        "a_library_is_written_somewhere": rows_satisfy(
            "(purl is null) = (file is null) and (purl is not null or library is null)",
            "a library has a package and a place",
        ),
        "images_have_digests": rows_satisfy(
            "kind <> 'image' or size(digests) > 0",
            "an image is known by a digest; without one it cannot be found where it runs",
            severity=WARNING,
        ),
        "every_artefact_is_here": is_zero(
            "count(distinct artefact) - {artefacts}",
            "each artefact that was read has a row",
        ),
        "all_files_were_read": aggregate_is(
            "{unread} + 0 * count(*)",
            "no file that names packages was left unread",
            at_most=0,
            severity=WARNING,
        ),
    },
)
