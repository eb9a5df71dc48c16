"""The 42 applications of the fleet, and two later ones, by nothing but their images: real packages in the layers that a Dockerfile
leaves, and the pods that run them by digest.
"""

import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from client_telemetry.artefacts.scan import scan
from client_telemetry.formats.written_file import CONTRADICTION, PROVED
from client_telemetry.inventory import workload_files
from client_telemetry.inventory.joined import join
from client_telemetry.inventory.links import CERTAIN
from client_telemetry.inventory.seen import from_report
from client_telemetry.inventory.written import collect

from tests.end_to_end.fleet_images import installed
from tests.fleet import APPS, LATER, OPERATORS, app_of, expected, report_document, said
from tests.image_files import (
    COMPRESSIONS,
    Image,
    image,
    layer,
    oci_files,
    saved_files,
    saved_with_layout,
    write_folder,
    write_tar,
)

pytestmark = [pytest.mark.end_to_end, pytest.mark.long]


FORMS = ("layout", "layout in a tar", "saved before Docker 25", "saved since", "two platforms, attested")
NODE = "10.30.0."
REGISTRY = "registry.example/fleet"


def layers_of(folder: Path) -> list[bytes]:
    """The layers of an application on top of one of Debian, as installed.py leaves them."""
    base = installed.kept("base", lambda target: installed.debian(target, "netbase", "media-types"))
    return [layer({"": root}) for root in (base / "0", *sorted(folder.iterdir()))]


def write(layers: list[bytes], form: str, path: Path, name: str, first: int) -> str:
    """Writes an image in a form, its layers with the compressions that follow each other from the `first` on; returns the digest by
    which a pod that runs it names it.
    """
    compressions = [list(COMPRESSIONS)[(first + number) % 3] for number in range(len(layers))]
    if form == "saved before Docker 25":
        files, known_as = saved_files(image(layers), name)
    elif form == "saved since":
        files, known_as = saved_with_layout(image(layers, compressions), name)
    elif form == "two platforms, attested":
        both: list[Image] = [image(layers, compressions, each) for each in ("amd64", "arm64")]
        files, known_as = oci_files(both, name, attested=True)
    else:
        files, known_as = oci_files([image(layers, compressions)], name)
    if form == "layout":
        write_folder(path, files)
    else:
        write_tar(path.with_suffix(".tar"), files)
    return known_as


@pytest.fixture(scope="module")
def digests(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, dict[str, str]]]:
    """A folder with the image of every application, and the digest of each."""
    if missing := [each for each in installed.TOOLS if not shutil.which(each)]:
        pytest.skip(f"{', '.join(missing)}: not installed")
    folder = tmp_path_factory.mktemp("images")
    by_app = {
        app: write(
            layers_of(installed.of_app(app)),
            FORMS[number % len(FORMS)],
            folder / app,
            f"{REGISTRY}/{app}:1",
            number,
        )
        for number, app in enumerate(sorted(APPS))
    }
    yield folder, by_app
    shutil.rmtree(folder)


@pytest.mark.parametrize("app", sorted(APPS))
def test_the_image_of_an_application_names_its_library_and_version(digests, app):
    folder, _ = digests
    (path,) = (each for each in folder.iterdir() if app_of_file(each.name) == app)
    result = scan([path], "3.9.1", "4.0.0")
    assert {said(each.client) for each in result.found} == {expected(app)}
    assert result.unread == []


def app_of_file(name: str) -> str:
    """Of an image's file, or the one by which its folder is known."""
    return Path(name.removesuffix("/oci-layout")).name.removesuffix(".tar")


def pods(by_app: dict[str, str], addresses: dict[str, str]) -> object:
    """What `kubectl get pods -A -o json` says."""
    return {
        "apiVersion": "v1",
        "kind": "List",
        "items": [
            {
                "metadata": {"name": f"{app}-6f7d-abcde", "namespace": "fleet", "uid": app},
                "spec": {
                    "nodeName": "node-1",
                    "containers": [{"name": "app", "image": f"{REGISTRY}/{app}:1"}],
                },
                "status": {
                    "phase": "Running",
                    "podIP": addresses[app],
                    "podIPs": [{"ip": addresses[app]}],
                    "startTime": "2026-11-20T00:00:00Z",
                    "containerStatuses": [
                        {
                            "name": "app",
                            "image": f"{REGISTRY}/{app}:1",
                            "imageID": f"{REGISTRY}/{app}@{by_app[app]}",
                            "started": True,
                            "state": {"running": {"startedAt": "2026-11-20T00:00:00Z"}},
                        }
                    ],
                },
            }
            for app in addresses
        ],
    }


def test_every_unidentified_client_is_proved_by_its_image_alone(digests, tmp_path):
    folder, by_app = digests
    running = sorted(set(APPS) - LATER)
    addresses = {app: f"{NODE}{number + 1}" for number, app in enumerate(running)}
    document = report_document()
    for row, client in zip(document["clients"], from_report(document).clients, strict=True):
        row["address_sample"] = [addresses.get(app_of(client), "10.99.0.1")]
    seen = from_report(document)
    assert sum(client.is_unidentified for client in seen.clients) == 8
    (tmp_path / "pods.json").write_text(json.dumps(pods(by_app, addresses)))

    written = collect([folder], seen.source, seen.target)
    assert {each.kind for each in written.artefacts} == {"image"}
    joined = join(written, seen, workload_files.read([tmp_path / "pods.json"]))

    right, proved = set(), []
    for row in joined.rows:
        app = app_of(row.client)
        assert not [each for each in row.findings if each.kind == CONTRADICTION]
        if not app:
            assert row.client.client_id in OPERATORS and not row.links
            continue
        # Of applications with the same files, saved without an index, the image id is the same.
        assert app in {app_of_file(link.artefact.name) for link in row.links}
        assert {link.certainty for link in row.links} == {CERTAIN}
        assert {said(each.client) for link in row.links for each in link.artefact.clients} == {expected(app)}
        right.add(app)
        named = [each for each in row.findings if each.kind == PROVED]
        if named:
            assert " ".join(expected(app)) in named[0].text
        if row.client.is_unidentified:
            proved += named
    assert len(proved) == 8
    assert right == set(running)
    unlinked = {app_of_file(row.artefact.name) for row in (*joined.not_seen, *joined.not_comparable)}
    assert unlinked == LATER


def debian_version(folder: Path, package: str) -> str:
    """The upstream version of a package that dpkg installed below a folder, by dpkg itself."""
    command = [
        "dpkg-query",
        f"--admindir={folder}/0/var/lib/dpkg",
        "-W",
        "-f=${source:Upstream-Version}",
        package,
    ]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def scanned(folder: Path, path: Path) -> list[tuple[str, str]]:
    """Each client that a scan finds in an image of the layers, and why its version is not known."""
    write(layers_of(folder), "saved since", path / "image", "other:1", 0)
    result = scan([path / "image.tar"], "3.9.1", "4.0.0")
    assert result.unread == []
    return sorted((each.client.text, each.client.why_unknown) for each in result.found)


def test_a_binding_that_a_distribution_packages_has_its_librdkafka(tmp_path):
    """Debian 12 has python3-confluent-kafka 1.7.0 with librdkafka1 2.0.2."""
    packages = ("python3-confluent-kafka", "librdkafka1")
    folder = installed.kept("python3-confluent-kafka", lambda target: installed.debian(target, *packages))
    library, binding = debian_version(folder, "librdkafka1"), debian_version(folder, packages[0])
    assert library != binding
    assert scanned(folder, tmp_path) == [(f"librdkafka {library} in confluent-kafka-python {binding}", "")]


def test_a_program_of_a_distribution_has_its_librdkafka(tmp_path):
    folder = installed.kept("kcat", lambda target: installed.debian(target, "kcat", "librdkafka1"))
    assert scanned(folder, tmp_path) == [(f"librdkafka {debian_version(folder, 'librdkafka1')}", "")]


def test_a_go_program_that_is_linked_dynamically_has_the_librdkafka_of_the_image(tmp_path):
    folder = installed.kept("dynamic-go", installed.dynamic_go)
    library = debian_version(folder, "librdkafka1")
    assert scanned(folder, tmp_path) == [(f"librdkafka {library} in confluent-kafka-go 1.4.2", "")]


def test_a_stripped_rust_program_says_its_crate(tmp_path):
    folder = installed.kept("rust", installed.rust)
    assert scanned(folder, tmp_path) == [("rskafka 0.5.0", "")]
