"""Jars, wheels, Go programs and images, built here; what is too large, nested too deeply or no archive at all is refused."""

import gzip
import hashlib
import io
import json
import tarfile
import zipfile
from random import Random

import pytest
import zstandard
from client_telemetry.artefacts.binaries import archives, go_programs, images
from client_telemetry.artefacts.scan import scan

CLASS = "org/apache/kafka/clients/NetworkClient.class"
START = bytes.fromhex("3077af0c9274080241e1c107e6d618e6")
END = bytes.fromhex("f932433186182072008242104116d8f2")
DPKG = "Package: librdkafka1\nStatus: install ok installed\nVersion: 1.6.0-1\n\nPackage: kcat\nStatus: deinstall ok config-files\nVersion: 1\n"


def jar(files: dict[str, str | bytes]) -> bytes:
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return written.getvalue()


def tar(files: dict[str, str | bytes]) -> bytes:
    written = io.BytesIO()
    with tarfile.open(fileobj=written, mode="w") as archive:
        for name, content in files.items():
            data = content.encode() if isinstance(content, str) else content
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return written.getvalue()


def saved(*layers: bytes) -> bytes:
    names = {f"{number}/layer.tar": layer for number, layer in enumerate(layers)}
    return tar({"manifest.json": json.dumps([{"Config": "c.json", "Layers": list(names)}]), **names})


def clients(tmp_path, name: str, content: bytes) -> list[tuple[str, str, str]]:
    """(path inside, client, why its version is unknown) of a file."""
    (tmp_path / name).write_bytes(content)
    result = scan([tmp_path / name], "3.9.2", "4.3.1")
    assert result.unread == []
    return sorted((found.place.inside, found.client.text, found.client.why_unknown) for found in result.found)


def refusal(tmp_path, name: str, content: bytes) -> str:
    (tmp_path / name).write_bytes(content)
    (unread,) = scan([tmp_path / name], "3.9.2", "4.3.1").unread
    return unread.reason


KAFKA = jar({CLASS: b"", "kafka/kafka-version.properties": "commitId=1\nversion=2.0.1\n"})


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        (
            {CLASS: b"", "kafka/kafka-version.properties": "version=2.0.1\n"},
            [("", "kafka-clients 2.0.1", "")],
        ),
        (
            {"BOOT-INF/lib/kafka-clients-2.0.1.jar": KAFKA, "BOOT-INF/lib/x.jar": jar({"a": ""})},
            [("BOOT-INF/lib/kafka-clients-2.0.1.jar", "kafka-clients 2.0.1", "")],
        ),
        (
            {"lib/kafka-clients-0.11.0.3.jar": jar({CLASS: b""})},
            [("lib/kafka-clients-0.11.0.3.jar", "kafka-clients 0.11.0.3", "")],
        ),
        (
            {"com/acme/shaded/kafka/clients/NetworkClient.class": b""},
            [("", "kafka-clients", "shaded, cannot tell the version")],
        ),
        (
            {"META-INF/maven/org.springframework.kafka/spring-kafka/pom.properties": "version=3.1.0\n"},
            [("", "kafka-clients 3.6.0 brought by spring-kafka 3.1.0", "")],
        ),
        ({"kafka/kafka-version.properties": "version=2.0.1\n"}, []),
    ],
    ids=["plain", "nested", "by its name", "shaded", "what brings it", "no classes"],
)
def test_a_jar(tmp_path, files, expected):
    assert clients(tmp_path, "app.jar", jar(files)) == expected


def test_jars_in_jars_in_jars_end(tmp_path):
    content = KAFKA
    for _ in range(6):
        content = jar({"a.jar": content})
    assert refusal(tmp_path, "app.jar", content) == "jars are nested more than 4 deep"


def test_a_zip_bomb_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(archives, "LARGEST_ENTRY_BYTES", 2**20)
    bomb = jar({"lib/a.jar": b"\0" * (2**20 + 1)})
    assert len(bomb) < 5000
    assert refusal(tmp_path, "app.jar", bomb) == "lib/a.jar unpacks to more than 1 MiB: refused"


def test_no_archive(tmp_path):
    assert refusal(tmp_path, "app.jar", b"x").startswith("not a ZIP archive")
    assert refusal(tmp_path, "a.tar", b"x").startswith("not a tar file")
    assert refusal(tmp_path, "a.tar", tar({"x": ""})).startswith("no image")


def test_a_wheel(tmp_path):
    metadata = "Metadata-Version: 2.1\nName: confluent_kafka\nVersion: 1.7.0\n\nName: other\n"
    assert clients(tmp_path, "a.whl", jar({"confluent_kafka-1.7.0.dist-info/METADATA": metadata})) == [
        ("", "librdkafka 1.7.0 in confluent-kafka-python 1.7.0", "")
    ]


def go_program(lines: str) -> bytes:
    return b"\x7fELF" + b"\0" * go_programs._PIECE + START + lines.encode() + END + b"\0" * 100


def test_a_go_program(tmp_path):
    lines = "path\tx\nmod\tx\t(devel)\t\ndep\tgithub.com/IBM/sarama\tv1.40.1\th1:a=\ndep\tgithub.com/twmb/franz-go\tv1.0.0\n=>\tgithub.com/acme/franz-go\tv1.2.3\th1:b=\n"
    assert clients(tmp_path, "orders", go_program(lines)) == [
        ("", "github.com/twmb/franz-go", "replaced by github.com/acme/franz-go v1.2.3, another module"),
        ("", "sarama 1.40.1", ""),
    ]


LAYER = tar(
    {
        "var/lib/dpkg/status": DPKG,
        "usr/lib/python3/dist-packages/kafka_python-1.3.5.dist-info/METADATA": "Name: kafka-python\nVersion: 1.3.5\n",
        "app/node_modules/kafkajs/package.json": '{"name": "kafkajs", "version": "1.4.0"}',
        "usr/local/bundle/specifications/ruby-kafka-0.6.5.gemspec": "",
        "app/orders.jar": jar({"BOOT-INF/lib/kafka-clients-2.0.1.jar": KAFKA}),
        "usr/bin/orders": go_program("dep\tgithub.com/IBM/sarama\tv1.40.1\th1:a=\n"),
    }
)


def test_an_image_of_docker_save(tmp_path):
    assert clients(tmp_path, "image.tar", saved(LAYER)) == [
        ("app/node_modules/kafkajs/package.json", "kafkajs 1.4.0", ""),
        ("app/orders.jar!BOOT-INF/lib/kafka-clients-2.0.1.jar", "kafka-clients 2.0.1", ""),
        ("usr/bin/orders", "sarama 1.40.1", ""),
        ("usr/lib/python3/dist-packages/kafka_python-1.3.5.dist-info/METADATA", "kafka-python 1.3.5", ""),
        ("usr/local/bundle/specifications/ruby-kafka-0.6.5.gemspec", "ruby-kafka 0.6.5", ""),
        ("var/lib/dpkg/status", "librdkafka 1.6.0", ""),
    ]


def test_later_layers_replace_and_remove(tmp_path):
    second = tar(
        {
            "var/lib/dpkg/status": DPKG.replace("1.6.0", "2.3.0"),
            "app/.wh.orders.jar": "",
            "usr/.wh..wh..opq": "",
        }
    )
    assert clients(tmp_path, "image.tar", saved(LAYER, gzip.compress(second))) == [
        ("app/node_modules/kafkajs/package.json", "kafkajs 1.4.0", ""),
        ("var/lib/dpkg/status", "librdkafka 2.3.0", ""),
    ]


def test_an_oci_layout_as_a_folder(tmp_path):
    layer = gzip.compress(tar({"lib/apk/db/installed": "P:librdkafka\nV:1.5.0-r0\n\nP:musl\nV:1\n"}))

    def blob(content: bytes) -> dict[str, str]:
        digest = hashlib.sha256(content).hexdigest()
        (tmp_path / "blobs/sha256").mkdir(parents=True, exist_ok=True)
        (tmp_path / f"blobs/sha256/{digest}").write_bytes(content)
        return {"digest": f"sha256:{digest}"}

    manifest = blob(json.dumps({"layers": [blob(layer)]}).encode())
    index = blob(json.dumps({"manifests": [manifest]}).encode())
    (tmp_path / "index.json").write_text(json.dumps({"manifests": [index]}))
    (tmp_path / "oci-layout").write_text('{"imageLayoutVersion": "1.0.0"}')
    (found,) = scan([tmp_path], "3.9.2", "4.3.1").found
    assert (found.client.text, found.place.inside) == ("librdkafka 1.5.0", "lib/apk/db/installed")


def test_what_of_an_image_is_not_read_is_said(tmp_path, monkeypatch):
    damaged = zstandard.compress(LAYER)[:-20] + b"\0" * 20
    for layer in (b"\x28\xb5\x2f\xfd", damaged):
        assert "the layer " in refusal(tmp_path, "a.tar", saved(layer))
    assert refusal(tmp_path, "a.tar", tar({"manifest.json": '[{"Layers": ["gone.tar"]}]'})) == (
        "the layer gone.tar is not there"
    )
    monkeypatch.setattr(images, "MOST_LAYER_BYTES", 2**20)
    for compress in (gzip.compress, zstandard.compress):
        bomb = compress(tar({"big": b"\0" * 2**21}))
        assert refusal(tmp_path, "a.tar", saved(bomb)).endswith("GiB: refused")


def test_layers_of_every_compression_are_read(tmp_path):
    plain = clients(tmp_path, "image.tar", saved(LAYER))
    assert plain
    for compress in (gzip.compress, zstandard.compress):
        assert clients(tmp_path, "image.tar", saved(compress(LAYER))) == plain
    frames = zstandard.compress(LAYER[:1000]) + zstandard.compress(LAYER[1000:])
    assert clients(tmp_path, "image.tar", saved(frames)) == plain


def test_a_part_that_cannot_be_read_hides_nothing_of_the_rest(tmp_path):
    layer = tar({"var/lib/rpm/Packages": "x", "app/broken.jar": "x", "app/a.jar": KAFKA})
    (tmp_path / "image.tar").write_bytes(saved(layer))
    result = scan([tmp_path / "image.tar"], "3.9.2", "4.3.1")
    assert [found.client.text for found in result.found] == ["kafka-clients 2.0.1"]
    assert [(unread.file, unread.reason.partition(":")[0]) for unread in result.unread] == [
        (
            f"{tmp_path}/image.tar (var/lib/rpm/Packages)",
            "rpm database in a form that cannot be read here (Berkeley DB)",
        ),
        (f"{tmp_path}/image.tar (app/broken.jar)", "not a ZIP archive"),
    ]


def test_a_damaged_archive_or_image_is_never_a_traceback(tmp_path):
    random = Random(1)
    seeds = {
        "a.jar": jar(
            {"lib/a.jar": KAFKA, "META-INF/maven/org.apache.kafka/kafka-clients/pom.properties": "version=1"}
        ),
        "a.tar": saved(gzip.compress(tar({"var/lib/dpkg/status": DPKG, "app/a.jar": KAFKA}))),
    }
    for number in range(300):
        name = ("a.jar", "a.tar")[number % 2]
        content = bytearray(seeds[name])
        for _ in range(random.randint(1, 8)):
            content[random.randrange(len(content))] = random.randrange(256)
        (tmp_path / name).write_bytes(
            content[: random.choice((len(content), random.randrange(len(content))))]
        )
        scan([tmp_path / name], "3.9.2", "4.3.1")
