"""The clusters file: which clusters there are and where their dumps, tables and reports lie.

Belongs here: reading and checking that file. It is read by tasks while they run and never while a DAG is
parsed: parsing happens every few seconds and must not depend on a file that somebody is just editing.
"""

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import yaml
from airflow.sdk.exceptions import AirflowFailException

from include.tables import RETENTION_TABLES

CHECKOUT = Path(__file__).resolve().parents[1]
DEFAULT_FILE = CHECKOUT / "include" / "clusters.yaml"
FILE_VARIABLE = "CLIENT_TELEMETRY_CLUSTERS"

NAMES = {"type": "array", "items": {"type": "string"}}
"""JSON schema of a Param that lists clusters."""

_LOCATIONS = ("lake", "publish", "results")
_CLUSTER_KEYS = {
    "name": True,
    "cluster_id": True,
    "raw": True,
    "source": False,
    "owners": False,
    "scram_users": False,
    "knowledge": False,
    "knowledge_package": False,
    "hosts": False,
    "artefacts": False,
    "workloads": False,
    "targets": False,
    "team": False,
}
_SOURCE_KEYS = {"format": True, "files": True, "release": False, "zone": False}
"""Key -> is it required."""

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")
_CLUSTER_ID = re.compile(r"[A-Za-z0-9_-]+")
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


@dataclass(frozen=True)
class Cluster:
    """One Kafka cluster; locations are URLs or absolute paths. `source`: from what `raw` is made, with `format`, `files`
    (a list) and maybe `release` and `zone`; None = it is a dump."""

    name: str
    cluster_id: str
    raw: str
    source: dict[str, str | list[str]] | None = None
    owners: str | None = None
    scram_users: str | None = None
    """File with the output of `kafka-configs.sh --describe --entity-type users`."""
    knowledge: str | None = None
    knowledge_package: str | None = None
    """File or folder of a data package of the knowledge base (docs/knowledge.md)."""
    hosts: str | None = None
    """File of addresses and host names, in the form of /etc/hosts."""
    artefacts: str | None = None
    """Folder of SBOMs, images and checkouts (docs/join.md)."""
    workloads: str | None = None
    """File of what runs where: pods as JSON, or a CSV of hosts."""
    targets: str | None = None
    """Folder with files of `client-telemetry probe`, which questions may name (docs/probe.md)."""
    team: str | None = None
    """The team of Airflow's auth manager for which the cluster's pages are; None = for all who may read the DAGs."""


@dataclass(frozen=True)
class Clusters:
    """All clusters, and the locations that they share."""

    lake: str
    publish: str
    results: str
    by_name: dict[str, Cluster]
    retention_days: dict[str, int | None] = field(default_factory=dict)
    """Table to days, where it is not the default; None = for ever."""

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

    known = {**dict.fromkeys(_LOCATIONS, True), "clusters": True, "retention_days": False}
    top = _keys(path, "the file", content, known)
    if not isinstance(top["clusters"], list) or not top["clusters"]:
        raise InvalidClustersFile(f"{path}: 'clusters' must be a list with at least one cluster.")
    clusters = [_cluster(path, number, entry) for number, entry in enumerate(top["clusters"], start=1)]
    for key in ("name", "cluster_id"):
        values = [getattr(cluster, key) for cluster in clusters]
        twice = sorted({value for value in values if values.count(value) > 1})
        if twice:
            raise InvalidClustersFile(
                f"{path}: {key} {twice[0]!r} is given twice; each cluster needs its own."
            )
    locations = {key: _location(_text(path, "the file", key, top[key])) for key in _LOCATIONS}
    return Clusters(
        **locations,
        by_name={cluster.name: cluster for cluster in clusters},
        retention_days=_retention(path, top.get("retention_days")),
    )


def _retention(path: Path, content: object) -> dict[str, int | None]:
    days = content if content is not None else {}
    valid = isinstance(days, dict) and all(
        isinstance(table, str) and (kept is None or (type(kept) is int and kept > 0))
        for table, kept in days.items()
    )
    if not valid:
        raise InvalidClustersFile(
            f"{path}: 'retention_days' must map tables to days, or to null for ever, such as client_metrics: 30."
        )
    if unknown := sorted(set(days) - set(RETENTION_TABLES)):
        raise InvalidClustersFile(
            f"{path}: 'retention_days' names a table {unknown[0]!r}, which does not exist; tables are {', '.join(RETENTION_TABLES)}."
        )
    return days


def _cluster(path: Path, number: int, entry: object) -> Cluster:
    where = f"cluster {number}"
    entry = _keys(path, where, entry, _CLUSTER_KEYS)
    given = {key: _text(path, where, key, value) for key, value in entry.items() if key != "source"}
    for key, pattern in (("name", _NAME), ("cluster_id", _CLUSTER_ID)):
        if not pattern.fullmatch(given[key]):
            raise InvalidClustersFile(
                f"{path}: {key} {given[key]!r} of {where} has characters that cannot stand in a path; "
                "use letters, digits, _ and -."
            )
    own = _CLUSTER_KEYS.keys() - {"name", "cluster_id", "raw", "source", "team"}
    return Cluster(
        name=given["name"],
        cluster_id=given["cluster_id"],
        raw=_location(given["raw"]),
        source=_source(path, f"the source of {where}", entry["source"]) if "source" in entry else None,
        **{key: _location(given[key]) for key in own if given.get(key)},
        team=given.get("team") or None,
    )


def _source(path: Path, where: str, content: object) -> dict[str, str | list[str]]:
    source = _keys(path, where, content, _SOURCE_KEYS)
    files = source["files"] if isinstance(source["files"], list) else [source["files"]]
    if not files:
        raise InvalidClustersFile(f"{path}: {where} lacks 'files'.")
    source = {key: _text(path, where, key, value) for key, value in source.items() if key != "files"}
    return source | {"files": [_file(_text(path, where, "files", each)) for each in files]}


def _file(value: str) -> str:
    """A location, maybe after the node id of the broker whose log it is: `1=/logs/a`."""
    match = re.match(r"(\d+=)?(.+)", value)
    return f"{match[1] or ''}{_location(match[2])}" if match else value


def _keys(path: Path, where: str, content: object, known: dict[str, bool]) -> dict[str, object]:
    """The mapping itself, if it has all required keys and no unknown one."""
    if not isinstance(content, dict):
        raise InvalidClustersFile(f"{path}: {where} must be a mapping with the keys {', '.join(known)}.")
    unknown = sorted(str(key) for key in content if key not in known)
    if unknown:
        raise InvalidClustersFile(
            f"{path}: {where} has the unknown key {unknown[0]!r}; known keys are {', '.join(known)}."
        )
    missing = [key for key, required in known.items() if required and content.get(key) in (None, "")]
    if missing:
        raise InvalidClustersFile(f"{path}: {where} lacks {missing[0]!r}.")
    return content


def _text(path: Path, where: str, key: str, value: object) -> str:
    if not isinstance(value, str):
        raise InvalidClustersFile(
            f"{path}: {key!r} of {where} must be a text; put it in quotes if it is one."
        )
    return value


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
            raise InvalidClustersFile(
                f"{scheme}://{shown} has a user or password in its URL: leave them out, and set AWS_ACCESS_KEY_ID and "
                "AWS_SECRET_ACCESS_KEY in the environment of Airflow's workers, or use an instance role."
            )
        if scheme not in _SCHEMES:
            raise InvalidClustersFile(
                f"{scheme}:// is no scheme of a location: use a path, file:///folder or s3://bucket/folder (docs/storage.md)."
            )
    value = re.sub(r"\Afile:/(?!/)", "file:///", value)
    return value if "://" in value else str(CHECKOUT / value)
