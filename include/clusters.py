"""The clusters file: which clusters there are and where their dumps, tables and reports lie.

Belongs here: reading and checking that file. It is read by tasks while they run and never while a DAG is
parsed: parsing happens every few seconds and must not depend on a file that somebody is just editing.
"""

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import yaml
from airflow.sdk.exceptions import AirflowFailException
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PositiveInt,
    ValidationError,
    model_validator,
)
from pydantic_core import PydanticCustomError

from include.tables import RETENTION_TABLES

CHECKOUT = Path(__file__).resolve().parents[1]
DEFAULT_FILE = CHECKOUT / "include" / "clusters.yaml"
FILE_VARIABLE = "CLIENT_TELEMETRY_CLUSTERS"

NAMES = {"type": "array", "items": {"type": "string"}}
"""JSON schema of a Param that lists clusters."""

_NAME = r"^[A-Za-z0-9][A-Za-z0-9_-]*$"
_CLUSTER_ID = r"^[A-Za-z0-9_-]+$"
"""Kafka's cluster ids are URL-safe base64 of a UUID (org.apache.kafka.common.Uuid): they may begin with a dash."""

_STORES = ("s3", "s3a", "s3n", "gs")
_SCHEMES = ("file", "hdfs", "viewfs", "abfs", "abfss", "gcs", *_STORES)
"""What Arrow, with which jobs read and write, has a file system for (pyarrow.fs.FileSystem.from_uri)."""
_URL = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://([^/?#]*)(.*)", re.DOTALL)
_HOST = re.compile(r"(?:\[[^\]]*\]|[^:@\[\]]*)(?::\d*)?")
_BUCKET = re.compile(r"[^:@]*")
_SECRET_OPTION = re.compile(
    r"[?&][^=&]*(?:password|secret|token|credential|(?<!ssl)key)[^=&]*=", re.IGNORECASE
)
"""Jobs refuse the same (formats/raw/file_system.py); a test compares them."""


class ClustersFileError(AirflowFailException):
    """The clusters file cannot be used. A retry would read the same file, so the task fails at once."""


class ClustersFileMissing(ClustersFileError):
    """There is no file at the configured path."""


class InvalidClustersFile(ClustersFileError):
    """The file is no YAML, lacks something, names something twice or has a key that nobody reads."""


class UnknownCluster(ClustersFileError):
    """A run asks for a cluster that the file does not name."""


def _location(value: str) -> str:
    """A URL as it is, but file:/folder as file:///folder; a path made absolute from the root of the checkout. A URL with
    a user or password is refused: it would be seen in command lines and logs.
    """
    url = _URL.fullmatch(value)
    if url:
        scheme, authority, rest = url.groups()
        plain = _BUCKET if scheme.lower() in _STORES else _HOST
        if not plain.fullmatch(authority) or _SECRET_OPTION.search(rest):
            place = f"{authority}{rest}".partition("?")[0]
            # A secret key may contain slashes: the bucket is what follows the last @.
            shown = place.rpartition("@")[2] if "@" in place or ":" not in authority else "..."
            raise ValueError(
                f"{scheme}://{shown} has a user or password in its URL: leave them out, and set AWS_ACCESS_KEY_ID and "
                "AWS_SECRET_ACCESS_KEY in the environment of Airflow's workers, or use an instance role."
            )
        if scheme not in _SCHEMES:
            raise ValueError(
                f"{scheme}:// is no scheme of a location: use a path, file:///folder or s3://bucket/folder (docs/storage.md)."
            )
    value = re.sub(r"\Afile:/(?!/)", "file:///", value)
    return value if "://" in value else str(CHECKOUT / value)


def _file(value: str) -> str:
    """A location, maybe after the node id of the broker whose log it is: `1=/logs/a`."""
    match = re.match(r"(\d+=)?(.+)", value)
    return f"{match[1] or ''}{_location(match[2])}" if match else value


def _tables(days: dict[str, int | None]) -> dict[str, int | None]:
    if unknown := sorted(set(days) - set(RETENTION_TABLES)):
        raise ValueError(
            f"'retention_days' names a table {unknown[0]!r}, which does not exist; tables are {', '.join(RETENTION_TABLES)}."
        )
    return days


Location = Annotated[str, AfterValidator(_location)]
_File = Annotated[str, AfterValidator(_file)]


class _Entry(BaseModel):
    """A mapping of the file. What it leaves out is None."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    @model_validator(mode="before")
    @classmethod
    def _filled_in(cls, content: object) -> object:
        """A key without a value is not taken for one that is left out: an unfinished `team` would show pages to everybody."""
        if not isinstance(content, dict):
            return content
        for key, value in content.items():
            if value in ("", None) and key in cls.model_fields:
                raise PydanticCustomError("empty", "{key}", {"key": key})
        return {str(key): value for key, value in content.items()}


class Source(_Entry):
    """From what `raw` of a cluster is made."""

    format: str
    files: Annotated[
        list[_File], BeforeValidator(lambda files: files if isinstance(files, list) else [files])
    ] = Field(min_length=1)
    release: str | None = None
    zone: str | None = None


class Cluster(_Entry):
    """One Kafka cluster; locations are URLs or absolute paths."""

    name: str = Field(pattern=_NAME)
    cluster_id: str = Field(pattern=_CLUSTER_ID)
    raw: Location
    source: Source | None = None
    """None = `raw` is a dump."""
    owners: Location | None = None
    scram_users: Location | None = None
    """File with the output of `kafka-configs.sh --describe --entity-type users`."""
    knowledge: Location | None = None
    knowledge_package: Location | None = None
    """File or folder of a data package of the knowledge base (docs/knowledge.md)."""
    hosts: Location | None = None
    """File of addresses and host names, in the form of /etc/hosts."""
    artefacts: Location | None = None
    """Folder of SBOMs, images and checkouts (docs/join.md)."""
    workloads: Location | None = None
    """File of what runs where: pods as JSON, or a CSV of hosts."""
    targets: Location | None = None
    """Folder with files of `client-telemetry probe`, which questions may name (docs/probe.md)."""
    team: str | None = None
    """The team of Airflow's auth manager for which the cluster's pages are; None = for all who may read the DAGs."""


class Clusters(_Entry):
    """All clusters, and the locations that they share."""

    lake: Location
    publish: Location
    results: Location
    clusters: list[Cluster] = Field(min_length=1)
    retention_days: Annotated[dict[str, PositiveInt | None], AfterValidator(_tables)] = {}
    """Table to days, where it is not the default; None = for ever."""

    @property
    def by_name(self) -> dict[str, Cluster]:
        return {cluster.name: cluster for cluster in self.clusters}

    def named(self, name: str) -> Cluster:
        """The cluster of that name; UnknownCluster lists the names there are."""
        if name not in self.by_name:
            raise UnknownCluster(
                f"There is no cluster {name!r}. The clusters file ({clusters_file()}) names: "
                f"{', '.join(self.by_name)}. Ask for one of these, or add the cluster to the file."
            )
        return self.by_name[name]

    def chosen(self, names: Sequence[str]) -> list[str]:
        """The names asked for, once each and in the file's order; all of them if none was asked for."""
        asked = {self.named(name).name for name in names}
        return [name for name in self.by_name if name in asked or not asked]

    @property
    def teams(self) -> dict[str, str | None]:
        """Name of each cluster to its team."""
        return {name: cluster.team for name, cluster in self.by_name.items()}

    def with_artefacts(self, names: Sequence[str]) -> list[str]:
        """Those of the chosen ones that have a folder of artefacts."""
        return [name for name in self.chosen(names) if self.by_name[name].artefacts]


def clusters_file() -> Path:
    """Where the clusters file is: CLIENT_TELEMETRY_CLUSTERS, or the one that is shipped."""
    return Path(os.environ.get(FILE_VARIABLE) or DEFAULT_FILE)


def read_clusters() -> Clusters:
    """Read and check the clusters file; every error names the file and what to change in it."""
    path = clusters_file()
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8-sig"))
    except FileNotFoundError:
        raise ClustersFileMissing(
            f"There is no clusters file at {path}. Create it after the model of {DEFAULT_FILE}, "
            f"or set {FILE_VARIABLE} to the path of yours."
        ) from None
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise InvalidClustersFile(f"{path} cannot be read as YAML: {error}") from None

    try:
        clusters = Clusters.model_validate(content)
    except ValidationError as error:
        raise InvalidClustersFile(f"{path}: {_reason(error)}") from None
    for key in ("name", "cluster_id"):
        values = [getattr(cluster, key) for cluster in clusters.clusters]
        if twice := sorted({value for value in values if values.count(value) > 1}):
            raise InvalidClustersFile(
                f"{path}: {key} {twice[0]!r} is given twice; each cluster needs its own."
            )
    return clusters


_ENTRIES = {0: (Clusters, "the file"), 2: (Cluster, "cluster {}"), 3: (Source, "the source of cluster {}")}
"""By how deep they stand."""


def _reason(refused: ValidationError) -> str:
    """What to change, of the first mistake; a misspelled key is said before what lacks for it."""
    error = min(refused.errors(), key=lambda error: error["type"] != "extra_forbidden")
    kind, place = error["type"], error["loc"][:4]  # without the number of a file
    if kind == "value_error":
        return str(error["ctx"]["error"])
    if place[0:1] == ("retention_days",):
        return "'retention_days' must map tables to days, or to null for ever, such as client_metrics: 30."
    if place == ("clusters",) and kind != "missing":
        return "'clusters' must be a list with at least one cluster."
    *entry, key = (*place, error.get("ctx", {}).get("key")) if kind in ("model_type", "empty") else place
    model, where = _ENTRIES[len(entry)]
    where = where.format(*(number + 1 for number in entry[1:2]))
    keys = ", ".join(model.model_fields)
    return {
        "missing": f"{where} lacks {key!r}.",
        "empty": f"{key!r} of {where} is empty: give a value, or remove the key.",
        "too_short": f"{where} lacks {key!r}.",
        "extra_forbidden": f"{where} has the unknown key {key!r}; known keys are {keys}.",
        "model_type": f"{where} must be a mapping with the keys {keys}.",
        "string_type": f"{key!r} of {where} must be a text; put it in quotes if it is one.",
        "string_pattern_mismatch": f"{key} {error['input']!r} of {where} has characters that cannot stand in a path; "
        "use letters, digits, _ and -.",
    }[kind]
