import traceback
from pathlib import Path

import pytest
from client_telemetry.formats.raw.file_system import UnusableLocation, without_userinfo

from include.clusters import (
    CHECKOUT,
    ClustersFileMissing,
    InvalidClustersFile,
    UnknownCluster,
    read_clusters,
)

LOCATIONS = "lake: s3://tables/lake\npublish: /srv/published\nresults: var/results\n"
TWO = """clusters:
  - {name: east, cluster_id: -aaa, raw: s3://dumps/east}
  - {name: west, cluster_id: bbb, raw: dumps/west, owners: owners.yaml}
"""


def test_the_shipped_file_names_the_two_sample_clusters_with_their_dumps(monkeypatch):
    monkeypatch.delenv("CLIENT_TELEMETRY_CLUSTERS", raising=False)
    clusters = read_clusters()
    assert list(clusters.by_name) == ["telemetry_cluster", "fleet"]
    for cluster in clusters.by_name.values():
        manifests = Path(cluster.raw) / "v1" / "dataset=manifests" / f"cluster={cluster.cluster_id}"
        assert manifests.is_dir()


def test_clusters_with_a_folder_of_artefacts(clusters_file):
    more = "{name: north, cluster_id: ccc, raw: dumps/north, artefacts: 's3://sboms/north', workloads: pods.json}"
    clusters_file(f"{LOCATIONS}{TWO}  - {more}\n")
    clusters = read_clusters()
    assert (clusters.with_artefacts([]), clusters.with_artefacts(["east"])) == (["north"], [])
    north = clusters.named("north")
    assert (north.artefacts, north.workloads) == ("s3://sboms/north", f"{CHECKOUT}/pods.json")


def test_urls_and_absolute_paths_stay_and_other_paths_start_at_the_checkout(clusters_file):
    clusters_file(LOCATIONS + TWO)
    clusters = read_clusters()
    assert clusters.lake == "s3://tables/lake"
    assert clusters.publish == "/srv/published"
    assert clusters.results == f"{CHECKOUT}/var/results"
    east, west = clusters.by_name.values()
    assert (east.cluster_id, east.raw, east.owners) == ("-aaa", "s3://dumps/east", None)
    assert (west.raw, west.owners) == (f"{CHECKOUT}/dumps/west", f"{CHECKOUT}/owners.yaml")


def test_how_long_tables_keep_their_rows_is_in_the_file(clusters_file):
    clusters_file(LOCATIONS + TWO)
    assert read_clusters().retention_days == {}
    clusters_file(LOCATIONS + TWO + "retention_days: {client_metrics: 30, clients: null}")
    assert read_clusters().retention_days == {"client_metrics": 30, "clients": None}


def test_a_retention_of_a_table_that_does_not_exist_is_refused_when_the_file_is_read(clusters_file):
    clusters_file(LOCATIONS + TWO + "retention_days: {client_metric: 30}")
    with pytest.raises(
        InvalidClustersFile, match="'client_metric', which does not exist; tables are raw_objects, "
    ):
        read_clusters()


@pytest.mark.parametrize(
    "location", ["s4://tables/lake", "S3://tables/lake", "https://host/lake", "ftp://host/lake"]
)
def test_a_scheme_that_jobs_cannot_read_is_refused_when_the_file_is_read(clusters_file, location):
    scheme = location.partition(":")[0]
    for text in (
        LOCATIONS.replace("s3://tables/lake", location) + TWO,
        LOCATIONS + TWO.replace("s3://dumps/east", location),
    ):
        clusters_file(text)
        with pytest.raises(InvalidClustersFile, match=f"{scheme}:// is no scheme of a location"):
            read_clusters()


def test_a_file_url_with_one_slash_is_one_with_three(clusters_file):
    clusters_file(LOCATIONS.replace("s3://tables/lake", "file:/srv/lake") + TWO)
    assert read_clusters().lake == "file:///srv/lake"


def test_what_a_cluster_has_of_its_own_are_locations(clusters_file):
    own = "owners: o.yaml, scram_users: s.txt, knowledge: /k, hosts: hosts"
    clusters_file(LOCATIONS + f"clusters:\n  - {{name: east, cluster_id: aaa, raw: r, {own}}}\n")
    east = read_clusters().named("east")
    assert (east.owners, east.scram_users) == (f"{CHECKOUT}/o.yaml", f"{CHECKOUT}/s.txt")
    assert (east.knowledge, east.hosts) == ("/k", f"{CHECKOUT}/hosts")


def test_a_source_is_given_as_it_stands_with_its_files_as_locations(clusters_file):
    clusters_file(
        LOCATIONS
        + """clusters:
  - {name: east, cluster_id: aaa, raw: r, source: {format: request_log, files: logs, release: 4.0.1}}
  - {name: west, cluster_id: bbb, raw: s, source: {format: request_log, files: [1=/logs/a, 2=logs/b]}}
"""
    )
    east, west = read_clusters().by_name.values()
    assert (east.source.format, east.source.release) == ("request_log", "4.0.1")
    assert east.source.files == [f"{CHECKOUT}/logs"]
    assert west.source.files == ["1=/logs/a", f"2={CHECKOUT}/logs/b"]


def test_a_run_takes_the_clusters_it_asks_for_once_each_and_all_if_it_asks_for_none(clusters_file):
    clusters_file(LOCATIONS + TWO)
    clusters = read_clusters()
    assert clusters.chosen([]) == ["east", "west"]
    assert clusters.chosen(["west"]) == ["west"]
    assert clusters.chosen(["west", "east", "west"]) == ["east", "west"]


def test_an_unknown_cluster_is_refused_with_the_names_there_are(clusters_file):
    clusters_file(LOCATIONS + TWO)
    with pytest.raises(UnknownCluster, match=r"no cluster 'north'.*names: east, west"):
        read_clusters().chosen(["east", "north"])


def test_a_missing_file_says_where_it_was_looked_for_and_how_to_set_it(monkeypatch):
    monkeypatch.setenv("CLIENT_TELEMETRY_CLUSTERS", "/nowhere/clusters.yaml")
    with pytest.raises(ClustersFileMissing, match=r"/nowhere/clusters\.yaml.*CLIENT_TELEMETRY_CLUSTERS"):
        read_clusters()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        pytest.param("clusters: [", "cannot be read as YAML", id="no YAML"),
        pytest.param("", "the file must be a mapping", id="empty file"),
        pytest.param("- east", "the file must be a mapping", id="a list at the top"),
        pytest.param(LOCATIONS + "pool: 3\n" + TWO, "unknown key 'pool'", id="unknown key at the top"),
        pytest.param(TWO, "the file lacks 'lake'", id="no lake"),
        pytest.param("lake:\npublish: p\nresults: r\n" + TWO, "'lake' of the file is empty", id="empty lake"),
        pytest.param(
            "lake: 3\npublish: p\nresults: r\n" + TWO, "'lake' of the file must be a text", id="number"
        ),
        pytest.param(
            LOCATIONS + TWO + "retention_days: {clients: 0}", "to days, or to null", id="no days of retention"
        ),
        pytest.param(
            LOCATIONS + TWO + "retention_days: 90", "to days, or to null", id="retention of no table"
        ),
        pytest.param(LOCATIONS + "clusters: []", "at least one cluster", id="no cluster"),
        pytest.param(LOCATIONS + "clusters: {a: b}", "at least one cluster", id="clusters as a mapping"),
        pytest.param(LOCATIONS + "clusters: [east]", "cluster 1 must be a mapping", id="cluster as a text"),
        pytest.param(
            LOCATIONS + "clusters: [{name: a, cluster_id: b}]",
            "cluster 1 lacks 'raw'",
            id="cluster without raw",
        ),
        pytest.param(
            LOCATIONS + TWO + "  - {name: a, cluster_id: b, raw: c, owner: d}",
            "cluster 3 has the unknown key 'owner'",
            id="misspelled key",
        ),
        *(
            pytest.param(
                LOCATIONS + TWO + f"  - {{name: c, cluster_id: c, raw: c, {key}: {empty}}}",
                f"'{key}' of cluster 3 is empty: give a value, or remove the key",
                id=f"{key} without a value",
            )
            for key, empty in (("team", ""), ("owners", "''"), ("source", ""), ("source", "null"))
        ),
        pytest.param(
            LOCATIONS + TWO + "on: x", "the file has the unknown key 'True'", id="key that YAML reads as true"
        ),
        pytest.param(LOCATIONS + TWO + "5: x", "the file has the unknown key '5'", id="number as a key"),
        pytest.param(
            LOCATIONS + "clusters: [{name: a, cluster_id: b, rw: c}]",
            "cluster 1 has the unknown key 'rw'",
            id="misspelled key that is needed",
        ),
        pytest.param(
            LOCATIONS + TWO + "  - {name: c, cluster_id: c, raw: c, source: {format: a, files: [a, 3]}}",
            "'files' of the source of cluster 3 must be a text",
            id="number among files",
        ),
        pytest.param(
            LOCATIONS + TWO + "  - {name: c, cluster_id: c, raw: c, source: logs}",
            "the source of cluster 3 must be a mapping with the keys format, files, release, zone",
            id="source as a text",
        ),
        pytest.param(
            LOCATIONS
            + TWO
            + "  - {name: c, cluster_id: c, raw: c, source: {format: request_log, files: []}}",
            "the source of cluster 3 lacks 'files'",
            id="source without files",
        ),
        pytest.param(
            LOCATIONS + TWO + "  - {name: c, cluster_id: c, raw: c, source: {kind: a, format: b, files: d}}",
            "the source of cluster 3 has the unknown key 'kind'",
            id="source with an unknown key",
        ),
        pytest.param(
            LOCATIONS
            + TWO
            + "  - {name: c, cluster_id: c, raw: c, source: {format: a, files: b, release: 4.0}}",
            "'release' of the source of cluster 3 must be a text",
            id="line of releases as a number",
        ),
        pytest.param(
            LOCATIONS + TWO + "  - {name: east, cluster_id: c, raw: c}",
            "name 'east' is given twice",
            id="name twice",
        ),
        pytest.param(
            LOCATIONS + TWO + "  - {name: c, cluster_id: bbb, raw: c}",
            "cluster_id 'bbb' is given twice",
            id="cluster id twice",
        ),
        pytest.param(
            LOCATIONS + "clusters: [{name: ../east, cluster_id: a, raw: c}]",
            "cannot stand in a path",
            id="name that leaves its folder",
        ),
        pytest.param(
            LOCATIONS + "clusters: [{name: east, cluster_id: a/b, raw: c}]",
            "cannot stand in a path",
            id="cluster id with a slash",
        ),
    ],
)
def test_a_file_that_cannot_be_used_is_refused_with_its_path_and_the_reason(clusters_file, text, said):
    path = clusters_file(text)
    with pytest.raises(InvalidClustersFile) as refused:
        read_clusters()
    assert said in str(refused.value)
    assert str(path) in str(refused.value)


SECRET = "hidden/of+mine"


@pytest.mark.parametrize(
    ("location", "shown"),
    [
        (f"s3://AKIA:{SECRET}@bucket/raw", "s3://bucket/raw"),
        ("s3://hidden@bucket/raw", "s3://bucket/raw"),
        (f"S3://AKIA:{SECRET}@bucket/raw", "S3://bucket/raw"),
        ("s3a://AKIA:12hidden/3@bucket", "s3a://bucket"),
        ("s3://AKIA:12/hidden@bucket", "s3://bucket"),
        ("s3://AKIA:hidden", "s3://..."),
        ("hdfs://me:hidden@node:8020/raw", "hdfs://node:8020/raw"),
        ("s3://bucket/raw?access_key=hidden", "s3://bucket/raw"),
        ("s3://bucket/raw?region=x&Secret-Key=hidden", "s3://bucket/raw"),
    ],
)
def test_credentials_in_a_url_are_refused_and_not_repeated_here_and_by_jobs(clusters_file, location, shown):
    path = clusters_file(LOCATIONS + f"clusters: [{{name: a, cluster_id: b, raw: '{location}'}}]")
    with pytest.raises(InvalidClustersFile, match=f"{path}: ") as here:
        read_clusters()
    with pytest.raises(UnusableLocation) as of_jobs:
        without_userinfo(f'{{"files": ["{location}"]}}')
    for refused in (here, of_jobs):
        assert f"{shown} has a user or password in its URL" in str(refused.value)
        assert "hidden" not in "".join(traceback.format_exception(refused.value))


@pytest.mark.parametrize(
    "location",
    [
        "s3://bucket/a@b/key=c",
        "hdfs://node:8020/raw",
        "hdfs://[::1]:8020/raw",
        "file:///srv/a:b@c",
        "s3://bucket/logs?endpoint_override=127.0.0.1:9000&region=x",
        "/srv/a:b@c",
    ],
)
def test_other_colons_and_at_signs_are_no_credentials(clusters_file, location):
    clusters_file(LOCATIONS + f"clusters: [{{name: a, cluster_id: b, raw: '{location}'}}]")
    assert read_clusters().by_name["a"].raw == without_userinfo(location) == location
