"""`client-telemetry join`: real report, repositories, SBOMs and pods through the command."""

import json
import re
import shutil
from copy import deepcopy
from pathlib import Path

import pytest
from client_telemetry.cli import join

from tests.image_files import image, layer, oci_files, write_tar

WHOLE = Path(__file__).parents[2] / "data/reports/whole/upgrade"
REPORT = json.loads((WHOLE / "report.json").read_text())
DIGEST, OTHER = "sha256:" + "1a" * 32, "sha256:" + "2b" * 32
SEEN_AT = "2026-11-21T05:47:53.000000Z"


def report(tmp_path, **clients):
    """The report with one application of each given client: changes to its row of the client that declares no library."""
    content = deepcopy(REPORT)
    unknown = next(row for row in content["clients"] if row["is_unidentified"])
    content["clients"] = [
        deepcopy(unknown)
        | {
            "client_id": name,
            "application": name,
            "group_ids": [],
            "principal": f"User:{name}",
            "addresses": 1,
        }
        | {"address_sample": ["10.1.2.3"], "candidates": [], "identified_as": "not identified"}
        | changes
        for name, changes in clients.items()
    ]
    content["applications"] = [
        deepcopy(content["applications"][0]) | {"name": name, "clients": [place]}
        for place, name in enumerate(clients)
    ]
    file = tmp_path / "report.json"
    file.write_text(json.dumps(content))
    return file


def write(folder, **files):
    for name, text in files.items():
        file = folder / name.replace("__", "/").replace("_dot_", ".")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text if isinstance(text, str) else json.dumps(text))
    return folder


def sbom(*versions, digest=DIGEST, package="kafka-python", source=""):
    labels = (
        [{"name": "syft:image:labels:org.opencontainers.image.source", "value": source}] if source else []
    )
    return {
        "bomFormat": "CycloneDX",
        "metadata": {
            "component": {"type": "container", "name": "erp:1", "version": digest},
            "properties": labels,
        },
        "components": [
            {"name": package, "version": each, "purl": f"pkg:pypi/{package}@{each}"} for each in versions
        ],
    }


def pod(digest=DIGEST, address="10.1.2.3", name="erp-0", **changes):
    statuses = changes.pop(
        "containers", [{"name": "erp", "image": "erp:1", "imageID": f"ghcr.io/acme/erp@{digest}"}]
    )
    status = {
        "phase": "Running",
        "podIP": address,
        "startTime": "2026-11-01T00:00:00Z",
        "containerStatuses": statuses,
    }
    return {
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "erp"},
        "spec": changes.pop("spec", {}),
        "status": status | changes,
    }


def joined(capsys, report, *arguments):
    try:
        code = join.main([str(report), *map(str, arguments), "--format", "json"])
    except SystemExit as ended:
        code = ended.code
    printed = capsys.readouterr()
    return code, json.loads(printed.out) if printed.out else {}, printed.err


def pods(tmp_path, *items):
    file = tmp_path / "pods.json"
    file.write_text(json.dumps({"kind": "List", "items": items}))
    return "--workloads", file


def findings(document, client=0):
    return {
        each["kind"]: (each["certainty"], each["text"]) for each in document["clients"][client]["findings"]
    }


def test_a_library_is_proved_by_address_and_digest(tmp_path, capsys):
    written = write(tmp_path / "w", a_dot_json=sbom("1.3.5"))
    _, document, _ = joined(capsys, report(tmp_path, erp={}), written, *pods(tmp_path, pod()))
    certainty, text = findings(document)["library proved"]
    assert (certainty, "its image has kafka-python 1.3.5; by its requests: not identified" in text) == (
        "certain",
        True,
    )
    assert "images prove that of 1" in document["sentence"]


SIDECAR = {"name": "proxy", "image": "proxy:1", "imageID": OTHER}
MAIN = {"name": "erp", "image": "erp:1", "imageID": DIGEST}
ENDED = {"terminated": {"finishedAt": "2026-11-01T00:00:10Z"}}


@pytest.mark.parametrize(
    ("items", "client", "doubt"),
    [
        ([pod(spec={"hostNetwork": True})], {}, "shares the address"),
        ([pod(phase="Succeeded")], {}, "the pod is over"),
        ([pod(), pod(OTHER, name="b")], {}, "2 workloads have this address"),
        ([pod(startTime="2026-11-21T05:45:00Z")], {}, "after the client was first seen"),
        ([pod(containers=[MAIN, SIDECAR])], {}, "the image of container proxy was not scanned"),
        (
            [pod()],
            {"address_sample": ["10.1.2.3", "10.9.9.9"], "addresses": 2},
            "other addresses of the client",
        ),
        ([pod()], {"addresses": 12}, "1 of its 12 addresses are in the report"),
        (
            [pod(containers=[{"name": "erp", "image": "erp:1", "imageID": ""}])],
            {},
            "by name only: a tag may be moved",
        ),
    ],
)
def test_what_stands_between_address_and_image_makes_a_library_likely_only(
    tmp_path, capsys, items, client, doubt
):
    written = write(tmp_path / "w", a_dot_json=sbom("1.3.5"))
    _, document, _ = joined(capsys, report(tmp_path, erp=client), written, *pods(tmp_path, *items))
    (link,) = document["clients"][0]["artefacts"]
    assert link["certainty"] == "likely" and any(doubt in because for because in link["because"]), link
    assert "library proved" not in findings(document)


@pytest.mark.parametrize(
    "items",
    [
        [pod(startTime="2026-11-21T06:00:00Z")],
        [pod(OTHER)],
        [pod(address="10.9.9.9")],
        [pod(phase="Succeeded"), pod(OTHER, name="b")],
    ],
)
def test_another_pod_proves_nothing(tmp_path, capsys, items):
    written = write(tmp_path / "w", a_dot_json=sbom("1.3.5"))
    _, document, _ = joined(capsys, report(tmp_path, erp={}), written, *pods(tmp_path, *items))
    assert document["clients"][0]["artefacts"] == []
    assert document["seen_not_written"] == [document["clients"][0]["anchor"]]


def test_a_container_with_a_program_that_hides_its_packages_may_have_kafka_clients(tmp_path, capsys):
    written = write(tmp_path / "w", a_dot_json=sbom("1.3.5"))
    files, digest = oci_files(
        [image([layer(files={"app": b"\x7fELF" + b"\0" * 200 + b"UPX!" + b"\0" * 99})])], "proxy:1"
    )
    write_tar(written / "proxy.tar", files)
    sidecar = {"name": "proxy", "image": "proxy:1", "imageID": digest}
    _, document, _ = joined(
        capsys, report(tmp_path, erp={}), written, *pods(tmp_path, pod(containers=[MAIN, sidecar]))
    )
    (link,) = document["clients"][0]["artefacts"]
    assert link["certainty"] == "likely"
    assert "the image of container proxy could not be read whole" in link["because"]


def test_containers_without_kafka_clients_and_ended_ones_leave_no_doubt(tmp_path, capsys):
    written = write(tmp_path / "w", a_dot_json=sbom("1.3.5"), b_dot_json=sbom(digest=OTHER))
    ended = {"name": "migrate", "image": "m:1", "imageID": "sha256:" + "9" * 64, "state": ENDED}
    item = pod(containers=[MAIN, SIDECAR], initContainerStatuses=[ended])
    _, document, _ = joined(capsys, report(tmp_path, erp={}), written, *pods(tmp_path, item))
    assert findings(document)["library proved"][0] == "certain"


def test_several_documents_about_one_image_leave_no_doubt_which_container_it_is(tmp_path, capsys):
    """Beside an image lies its SBOM, or those of two tools, which name other digests of it: manifest, index, image id."""
    first, second = sbom("1.3.5"), sbom("1.3.5")
    second["metadata"]["properties"].append({"name": "aquasecurity:trivy:ImageID", "value": OTHER})
    written = write(tmp_path / "w", a_dot_json=first, b_dot_json=second)
    _, document, _ = joined(capsys, report(tmp_path, erp={}), written, *pods(tmp_path, pod()))
    assert [each["certainty"] for each in document["clients"][0]["artefacts"]] == ["certain", "certain"]
    assert findings(document)["library proved"][0] == "certain"


def test_several_containers_with_kafka_clients_leave_a_doubt(tmp_path, capsys):
    written = write(tmp_path / "w", a_dot_json=sbom("1.3.5"), b_dot_json=sbom("1.3.5", digest=OTHER))
    both = pods(tmp_path, pod(containers=[MAIN, SIDECAR]))
    _, document, _ = joined(capsys, report(tmp_path, erp={}), written, *both)
    because = [text for each in document["clients"][0]["artefacts"] for text in each["because"]]
    assert "several containers of the pod have Kafka clients" in because
    assert findings(document)["library likely"][0] == "likely"


def test_the_json_is_written_row_by_row_as_it_would_be_whole(tmp_path, capsys):
    written = write(
        tmp_path / "w", a_dot_json=sbom("1.3.5"), b_dot_json=sbom("1.3.5", digest=OTHER), c_dot_json="{"
    )
    arguments = [str(report(tmp_path, erp={}, other={})), str(written), "--format", "json"]
    join.main([*arguments, *map(str, pods(tmp_path, pod()))])
    text = capsys.readouterr().out
    document = json.loads(text)
    assert len(document["clients"]) == 2 and document["written_not_comparable"]
    assert text == json.dumps(document, indent=1) + "\n"


def test_fixed_in_the_repository_and_not_deployed(tmp_path, capsys):
    written = write(
        tmp_path / "w",
        a_dot_json=sbom("1.3.5", source="https://github.com/acme/erp"),
        erp__requirements_dot_txt="kafka-python==2.2.0\n",
        erp__a_dot_py="import kafka\n",
        erp___dot_git__config='[remote "origin"]\n\turl = https://token@github.com/Acme/erp.git\n',
    )
    _, document, _ = joined(capsys, report(tmp_path, erp={}), written, *pods(tmp_path, pod()))
    certainty, text = findings(document)["fixed in the repository, not deployed"]
    assert (certainty, text.startswith("github.com/acme/erp has kafka-python 2.2.0, which is safe; ")) == (
        "certain",
        True,
    )
    assert "token" not in json.dumps(document)


def test_deployed_and_not_in_the_repository(tmp_path, capsys):
    written = write(
        tmp_path / "w",
        a_dot_json=sbom("1.3.5", source="https://github.com/acme/erp"),
        erp__requirements_dot_txt="confluent-kafka==2.6.1\n",
        erp___dot_git__config='[remote "origin"]\n\turl = git@github.com:acme/erp.git\n',
    )
    _, document, _ = joined(capsys, report(tmp_path, erp={}), written, *pods(tmp_path, pod()))
    _, text = findings(document)["deployed, not in the repository"]
    assert text.startswith(
        "kafka-python 1.3.5 runs, and the files that were read of github.com/acme/erp name librdkafka"
    )


def test_an_image_with_two_versions_proves_none(tmp_path, capsys):
    written = write(tmp_path / "w", a_dot_json=sbom("1.3.5", "2.2.0"))
    _, document, _ = joined(capsys, report(tmp_path, erp={}), written, *pods(tmp_path, pod()))
    assert set(findings(document)) == {"image has two versions"}


def test_an_image_that_does_not_fit_the_requests_is_a_contradiction(tmp_path, capsys):
    written = write(tmp_path / "w", a_dot_json=sbom("2.2.0"))
    client = {
        "candidates": [{"library": "sarama", "versions": "sarama", "exact": 9}],
        "identified_as": "sarama",
    }
    _, document, _ = joined(capsys, report(tmp_path, erp=client), written, *pods(tmp_path, pod()))
    assert set(findings(document)) == {"what is written does not fit what was seen"}


@pytest.mark.parametrize(
    ("settings", "client", "certainty"),
    [
        ("kafka.group.id=erp", {"group_ids": ["erp"]}, "likely"),
        ("spring.kafka.client-id: erp", {"client_id": "erp-0"}, "likely"),
        ("KAFKA_CLIENT_ID=erp", {"client_id": "erp"}, "likely"),
        ("kafka:\n  application.id: erp", {"group_ids": ["erp"]}, "likely"),
        ("kafka.sasl.username=erp", {}, "possible"),
        (
            'sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required username="erp" password="x";',
            {},
            "possible",
        ),
        ("kafka.client.id=rdkafka", {"client_id": "rdkafka", "principal": None}, None),
        ("kafka.client.id=other", {"client_id": "erp2", "principal": None}, None),
    ],
)
def test_names_agree(tmp_path, capsys, settings, client, certainty):
    written = write(
        tmp_path / "w", requirements_dot_txt="kafka-python==2.2.0\n", src__app_dot_properties=settings
    )
    client = {"client_id": "x"} | client
    _, document, _ = joined(capsys, report(tmp_path, erp=client), written)
    assert [link["certainty"] for link in document["clients"][0]["artefacts"]] == (
        [certainty] if certainty else []
    )


def test_a_name_that_several_have_decides_nothing(tmp_path, capsys):
    written = write(
        tmp_path / "w",
        a__requirements_dot_txt="kafka-python==2.2.0\n",
        b__go_dot_mod="module x\n\nrequire github.com/twmb/franz-go v1.18.0\n",
        a__app_dot_properties="kafka.group.id=shared\n",
        b__app_dot_properties="kafka.group.id=shared\n",
    )
    _, document, _ = joined(capsys, report(tmp_path, erp={"group_ids": ["shared"]}), written)
    assert [link["certainty"] for link in document["clients"][0]["artefacts"]] == ["possible", "possible"]
    assert findings(document) == {}


def test_a_name_that_very_many_have_is_neither_searched_nor_called_unseen(tmp_path, capsys):
    for number in range(30):
        write(
            tmp_path / f"w/{number}",
            requirements_dot_txt="kafka-python==1.3.5\n",
            app_dot_properties="kafka.group.id=template\n",
        )
    _, document, _ = joined(capsys, report(tmp_path, erp={"group_ids": ["template"]}), tmp_path / "w")
    links = document["clients"][0]["artefacts"]
    assert len(links) == 20 and "30 artefacts have it" in links[0]["because"]
    assert (document["written_not_seen"], len(document["written_not_comparable"])) == ([], 10)


def test_written_and_not_seen_is_counted_apart(tmp_path, capsys):
    written = write(
        tmp_path / "w",
        monthly__go_dot_mod="module x\n\nrequire github.com/Shopify/sarama v1.27.0\n",
        monthly__app_dot_properties="kafka.group.id=monthly\n",
        nameless__go_dot_mod="module y\n\nrequire github.com/Shopify/sarama v1.27.0\n",
    )
    code, document, errors = joined(capsys, report(tmp_path, erp={"verdict": "safe"}), written)
    (row,) = document["written_not_seen"]
    assert row["why"].startswith("no broker saw group 'monthly'") and row["verdict"] == "breaks"
    (row,) = document["written_not_comparable"]
    assert "neither a client id nor a group of its own is written with it" in row["why"]
    assert "none of 1 application break" in document["sentence"]
    assert "Written, and seen by no broker: 1 artefact, of which 1 would break" in document["sentence"]
    seen = "no connection to broker 3 was observed: clients that use no other broker are missing"
    unseen = "written, not seen: no-go: 2 artefacts with the verdict breaks"
    assert (code, errors) == (3, f"seen: cannot tell: {seen}; {unseen}\n")


def test_hostile_names_are_shown_as_text(tmp_path, capsys):
    evil = "<script>alert(1)</script>\x1b[31m"
    written = write(
        tmp_path / "w",
        requirements_dot_txt="kafka-python==2.2.0\n",
        app_dot_properties="kafka.group.id=erp\n",
    )
    file = report(tmp_path, evil={"client_id": evil, "group_ids": ["erp"]})
    for form in ("text", "markdown"):
        join.main([str(file), str(written), "--format", form])
        printed = capsys.readouterr().out
        assert "\x1b" not in printed and "␛" in printed
        if form == "markdown":
            assert "<script>" not in re.sub(r"`[^`]*`", "", printed)


def test_a_csv_and_a_hosts_file_lead_to_a_repository(tmp_path, capsys):
    written = write(
        tmp_path / "w",
        erp__requirements_dot_txt="kafka-python==2.2.0\n",
        erp___dot_git__config='[remote "origin"]\n\turl = git@github.com:acme/erp.git\n',
    )
    (tmp_path / "hosts").write_text("10.1.2.3 erp-1.corp\n")
    (tmp_path / "cmdb.csv").write_text("hostname;repo\nERP-1;https://github.com/acme/erp\n")
    arguments = ("--workloads", tmp_path / "hosts", "--workloads", tmp_path / "cmdb.csv")
    _, document, _ = joined(capsys, report(tmp_path, erp={}), written, *arguments)
    (link,) = document["clients"][0]["artefacts"]
    assert link["certainty"] == "likely"
    assert link["because"][0].startswith("10.1.2.3 is the host of") and link["because"][0].endswith(
        "cmdb.csv:2"
    )


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("{", "is not the report.json of an upgrade report: name that file"),
        ("[]", "not the report.json of an upgrade report"),
        ("[" * 100_000, "is not the report.json of an upgrade report"),
        ('{"clients": []}', "not the report.json of an upgrade report"),
    ],
)
def test_a_file_that_is_no_report_is_one_line(tmp_path, capsys, content, reason):
    (tmp_path / "report.json").write_text(content)
    code, _, errors = joined(capsys, tmp_path, tmp_path)
    assert (code, reason in errors, errors.count("\n")) == (2, True, 1), errors


def test_files_that_are_not_there_are_one_line(tmp_path, capsys):
    file = report(tmp_path, erp={})
    for arguments in ((tmp_path / "nowhere",), (tmp_path, "--workloads", tmp_path / "nowhere")):
        code, _, errors = joined(capsys, file, *arguments)
        assert (code, "nowhere: No such file or directory" in errors, errors.count("\n")) == (2, True, 1)


def test_the_page_of_the_report_says_so_too(tmp_path, capsys):
    folder = tmp_path / "report"
    shutil.copytree(WHOLE, folder)
    written = tmp_path / "w"
    written.mkdir()
    (written / "go.mod").write_text("module m\n\nrequire github.com/IBM/sarama v1.30.0\n")
    (written / "kafka.properties").write_text("bootstrap.servers=kafka:9092\nclient.id=monthly-close\n")
    _, document, _ = joined(capsys, folder, written, "--add")
    kept = json.loads((folder / "written.json").read_text())
    assert kept["written_not_seen"] == document["written_not_seen"] != []
    assert "monthly-close" in (folder / "index.html").read_text()
    code, _, error = joined(capsys, folder / "report.json", written, "--add")
    assert (code, "--add needs the folder of a published report" in error) == (2, True)


def test_the_worst_client_of_a_folder_decides_whatever_its_files_are_called(tmp_path, capsys):
    written = write(
        tmp_path / "w",
        a__api__go_dot_mod="module x\n\nrequire github.com/twmb/franz-go v1.18.0\n",
        a__api__requirements_dot_txt="kafka-python==1.3.5\n",
        a__api__app_dot_properties="kafka.client.id=monthly\n",
    )
    _, document, _ = joined(capsys, report(tmp_path, erp={}), written)
    (artefact,) = document["written_not_seen"]
    assert [each["library"] for each in artefact["clients"]] == ["kafka-python", "franz-go"]
    assert artefact["verdict"] == "breaks"
