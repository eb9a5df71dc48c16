"""What runs where: pods as the Kubernetes API describes them, CSVs of configuration databases, hosts files."""

import json

import pytest
from client_telemetry.inventory import workload_files
from client_telemetry.inventory.workloads import UnusableWorkloads

DIGEST = "sha256:" + "1a" * 32
OTHER = "sha256:" + "2b" * 32


def pod(name="orders-7d9f-x", *, spec=None, status=None, metadata=None):
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "shop"} | (metadata or {}),
        "spec": {"containers": [{"name": "orders", "image": "ghcr.io/acme/orders:1.2"}]} | (spec or {}),
        "status": {"phase": "Running", "podIP": "10.1.2.3", "startTime": "2026-11-01T08:00:00Z"}
        | (status or {}),
    }


def container(name, image_id, image="ghcr.io/acme/orders:1.2", **more):
    return {"name": name, "image": image, "imageID": image_id} | more


def read(tmp_path, content, name="pods.json"):
    file = tmp_path / name
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    return workload_files.read([file])


def pods(tmp_path, *items):
    return read(tmp_path, json.dumps({"kind": "List", "apiVersion": "v1", "items": items})).all


@pytest.mark.parametrize(
    "image_id",
    [
        f"docker-pullable://ghcr.io/acme/orders@{DIGEST}",
        f"ghcr.io/acme/orders@{DIGEST}",
        f"docker://{DIGEST}",
        DIGEST,
    ],
)
def test_an_image_is_known_by_its_digest_as_every_runtime_writes_it(tmp_path, image_id):
    (only,) = pods(tmp_path, pod(status={"containerStatuses": [container("orders", image_id)]}))
    (running,) = only.containers
    assert running.digests == {DIGEST}


@pytest.mark.parametrize(
    ("metadata", "name"),
    [
        ({}, "shop/Pod/orders-7d9f-x"),
        (
            {
                "labels": {"pod-template-hash": "7d9f"},
                "ownerReferences": [{"kind": "ReplicaSet", "name": "orders-7d9f", "controller": True}],
            },
            "shop/Deployment/orders",
        ),
        ({"ownerReferences": [{"kind": "ReplicaSet", "name": "orders-7d9f"}]}, "shop/ReplicaSet/orders-7d9f"),
        ({"ownerReferences": [{"kind": "Job", "name": "report-29405960"}]}, "shop/CronJob/report"),
        ({"ownerReferences": [{"kind": "StatefulSet", "name": "orders"}]}, "shop/StatefulSet/orders"),
    ],
)
def test_a_pod_is_named_after_what_runs_it(tmp_path, metadata, name):
    (only,) = pods(tmp_path, pod(metadata=metadata))
    assert only.name == name


def test_both_families_of_addresses_and_every_kind_of_container(tmp_path):
    ended = {"terminated": {"exitCode": 0, "finishedAt": "2026-11-01T08:00:05Z"}}
    status = {
        "podIPs": [{"ip": "10.1.2.3"}, {"ip": "FD00:10:0:0::3"}],
        "initContainerStatuses": [container("migrate", OTHER, state=ended)],
        "containerStatuses": [container("orders", DIGEST)],
        "ephemeralContainerStatuses": [container("debugger", OTHER)],
    }
    spec = {"containers": [{"name": "orders"}, {"name": "late", "image": "late:1"}]}
    (only,) = pods(tmp_path, pod(spec=spec, status=status))
    assert only.addresses == ("10.1.2.3", "fd00:10::3")
    assert [each.name for each in only.containers] == ["migrate", "orders", "late", "debugger"]
    assert [bool(each.ended_at) for each in only.containers] == [True, False, False, False]


def test_the_network_of_the_node_and_pods_that_are_over(tmp_path):
    shared, over = pods(tmp_path, pod(spec={"hostNetwork": True}), pod(status={"phase": "Succeeded"}))
    assert (shared.shares_address, shared.is_over, over.shares_address, over.is_over) == (
        True,
        False,
        False,
        True,
    )


def test_documents_of_several_clusters_in_a_row(tmp_path):
    one = json.dumps({"kind": "List", "items": [pod()]}, indent=1)
    found = read(tmp_path, f"\n{one}\n{one}\n").all
    assert len(found) == 2


@pytest.mark.parametrize(
    ("header", "row", "expected"),
    [
        ("ip_address,application", "10.1.2.3,erp", ("erp", ("10.1.2.3",), ())),
        ("IP Address;Application Name;Owner", "10.1.2.3;erp;billing", ("erp", ("10.1.2.3",), ())),
        ("Hostname\tu_application.name\tIP", "erp-1\terp\t10.1.2.3", ("erp", ("10.1.2.3",), ("erp-1",))),
        ("privateIpAddress|service", "::ffff:10.1.2.3|erp", ("erp", ("10.1.2.3",), ())),
        ("fqdn,repository", "erp-1.corp,git@github.com:acme/erp.git", ("erp-1.corp", (), ("erp-1.corp",))),
        ("ip,app", '"10.1.2.3, 10.1.2.4",erp', ("erp", ("10.1.2.3", "10.1.2.4"), ())),
    ],
)
def test_a_csv_with_the_headers_that_people_write(tmp_path, header, row, expected):
    for encoding in ("utf-8-sig", "utf-16"):
        (only,) = read(tmp_path, f"{header}\r\n{row}\r\n".encode(encoding), "cmdb.csv").all
        assert (only.name, only.addresses, only.hosts) == expected


def test_rows_without_a_place_or_without_a_statement_say_nothing(tmp_path):
    text = "sep=;\nip;application\nn/a;erp\n10.1.2.3;-\nnull;null\n10.1.2.4;erp\n"
    (only,) = read(tmp_path, text, "cmdb.csv").all
    assert (only.addresses, only.where.endswith("cmdb.csv:6")) == (("10.1.2.4",), True)


def test_a_hosts_file_names_addresses(tmp_path):
    found = read(tmp_path, "# hosts\n10.1.2.3 erp-1.corp erp-1\nfd00::/64 office\n", "hosts")
    assert (found.hosts_of("10.1.2.3"), found.hosts_of("fd00::7"), found.all) == (
        ["erp-1.corp"],
        ["office"],
        [],
    )


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ('{"items": [', "not JSON: Expecting value at line 1"),
        ("[" * 100_000, "not JSON: nested too deeply"),
        ('{"items": []}', "no pods in it: write it with `kubectl get pods --all-namespaces -o json`"),
        ('{"kind": "List", "items": [{"kind": "Service", "status": {}}]}', "no pods in it"),
        ("apiVersion: v1\nitems:\n- kind: Pod\n", "not JSON: write it with `kubectl get pods"),
        (
            "NAMESPACE   NAME   READY   STATUS   IP\nerp  erp-0  1/1  Running  10.1.2.3\n",
            "not JSON: write it with",
        ),
        ("name,application\n", None),
        ("ip,color\n10.1.2.3,red\n", "no column that says what runs there"),
        ("10.1.2.3,erp\n", "no column with addresses or hosts: name one `ip_address` or `hostname`"),
        ("10.1.2.3 erp\nnonsense here\n", "line 2: 'nonsense' is neither an address nor a network"),
        (b"\xff\x00\x80", "not UTF-8 at byte 0"),
        ("", "no column with addresses or hosts"),
    ],
)
def test_what_cannot_be_used_is_refused_with_its_reason(tmp_path, content, reason):
    if reason is None:
        assert read(tmp_path, content, "x").all == []
        return
    with pytest.raises(UnusableWorkloads) as refused:
        read(tmp_path, content, "x")
    assert reason in str(refused.value) and "\n" not in str(refused.value)


def test_a_file_that_is_too_large_is_not_read(tmp_path, monkeypatch):
    monkeypatch.setattr(workload_files, "LARGEST_BYTES", 2**20)
    with (tmp_path / "pods.json").open("wb") as file:
        file.truncate(2**30)
    with pytest.raises(UnusableWorkloads, match="larger than 1 MiB: export one namespace a file"):
        workload_files.read([tmp_path / "pods.json"])
