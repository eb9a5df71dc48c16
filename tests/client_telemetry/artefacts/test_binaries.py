"""Jars, wheels, Go programs and images, built here; what is too large, nested too deeply or no archive at all is refused."""

import bz2
import gzip
import hashlib
import io
import json
import lzma
import struct
import tarfile
import zipfile
import zlib
from random import Random

import pytest
import zstandard
from client_telemetry.artefacts.binaries import archives, images, layers, programs
from client_telemetry.artefacts.scan import scan

from tests.image_files import image, layer, saved_files

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


_COMPRESS = {
    ".tar.gz": gzip.compress, ".tgz": gzip.compress, ".tar.zst": zstandard.compress, ".tar.xz": lzma.compress, ".tar.bz2": bz2.compress,
}  # fmt: skip
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


@pytest.mark.parametrize("ending", [ending for ending in images.SAVED if ending != ".tar"])
@pytest.mark.parametrize("first", ["manifest.json", f"sha256:{'a' * 64}", f"./{'b' * 64}/"])
def test_an_image_is_read_however_its_file_is_compressed(tmp_path, ending, first):
    files = {first: ""} if first != "manifest.json" else {}
    layers_of_it = [tar({"var/lib/dpkg/status": DPKG})]
    named = {f"{number}/layer.tar": content for number, content in enumerate(layers_of_it)}
    manifest = json.dumps([{"Config": "c.json", "Layers": list(named)}])
    content = tar({**files, "manifest.json": manifest, **named})
    assert clients(tmp_path, f"app{ending}", _COMPRESS[ending](content)) == [
        ("var/lib/dpkg/status", "librdkafka 1.6.0", "")
    ]


def test_a_compressed_tar_that_is_no_image_is_not_unpacked(tmp_path, monkeypatch):
    """Charts, sources and packages of npm, which repositories have."""
    monkeypatch.setattr(images.tempfile, "TemporaryFile", lambda: pytest.fail("unpacked"))
    (tmp_path / "chart.tgz").write_bytes(gzip.compress(tar({"chart/Chart.yaml": "name: x", "chart/a": ""})))
    result = scan([tmp_path], "3.9.2", "4.3.1")
    assert (result.found, result.unread) == ([], [])
    assert refusal(tmp_path, "chart.tgz", gzip.compress(tar({"a": ""}))).startswith("no image")


def test_a_compressed_image_that_ends_early_or_is_too_large_is_refused(tmp_path, monkeypatch):
    content = gzip.compress(saved(Random(1).randbytes(2**16)))
    assert refusal(tmp_path, "a.tar.gz", content[:-5000]) == "the compressed file ends early"
    monkeypatch.setattr(images, "MOST_BYTES", 100)
    assert refusal(tmp_path, "a.tar.gz", content).endswith("refused")


def test_a_wheel(tmp_path):
    metadata = "Metadata-Version: 2.1\nName: confluent_kafka\nVersion: 1.7.0\n\nName: other\n"
    assert clients(tmp_path, "a.whl", jar({"confluent_kafka-1.7.0.dist-info/METADATA": metadata})) == [
        ("", "librdkafka 1.7.0 in confluent-kafka-python 1.7.0", "")
    ]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"\x7fELF" + b"\0" * 200 + b"UPX!" + b"\0" * 99, "a program that UPX has packed"),
        (b"\x7fELF" + b"\0" * 9000 + b"\0.text\0.svm_heap\0.data\0", "a native image of GraalVM"),
    ],
)
def test_a_program_that_hides_its_packages_is_said_to_be_unread(tmp_path, content, reason):
    assert refusal(tmp_path, "app", content).startswith(reason)


def test_a_program_that_knows_the_word_of_a_packer_is_not_packed(tmp_path):
    """Scanners have it among their texts."""
    assert clients(tmp_path, "app", b"\x7fELF" + b"\0" * 9000 + b"UPX!" + b"\0" * 99) == []


def go_program(lines: str) -> bytes:
    return b"\x7fELF" + b"\0" * programs._PIECE + START + lines.encode() + END + b"\0" * 100


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


def clients_of_image(tmp_path, *layers: bytes) -> list[tuple[str, str, str]]:
    files, _ = saved_files(image(layers), "shop/orders:1")
    return clients(tmp_path, "image.tar", layer(files=files))


def test_a_whiteout_hides_lower_layers_and_nothing_of_its_own_layer(tmp_path):
    """Builders sort the files of a layer by name: `.pnpm` stands before `.wh..wh..opq`."""
    old = layer(files={"app/node_modules/kafkajs/package.json": '{"name": "kafkajs", "version": "1.4.0"}'})
    new = '{"name": "kafkajs", "version": "2.2.4"}'
    path = "app/node_modules/.pnpm/kafkajs@2.2.4/node_modules/kafkajs/package.json"
    for whiteout in ("app/node_modules/.wh..wh..opq", "app/.wh.node_modules"):
        second = layer(files={path: new, whiteout: ""})
        assert clients_of_image(tmp_path, old, second) == [(path, "kafkajs 2.2.4", "")]


def test_a_file_or_link_in_the_place_of_a_folder_removes_the_folder(tmp_path):
    old = layer(files={"app/lib/kafka-clients.jar": KAFKA})
    assert clients_of_image(tmp_path, old, layer(files={"app/lib": ""})) == []
    assert clients_of_image(tmp_path, old, layer(links={"app/lib": "srv/lib"})) == []


def test_a_hard_link_has_the_content_of_its_target(tmp_path):
    """As pnpm and uv leave it where their store is in the same layer."""
    linked = "app/node_modules/kafkajs/package.json"
    content = '{"name": "kafkajs", "version": "2.2.4"}'
    assert clients_of_image(
        tmp_path, layer(files={"root/store/3f-exec": content}, links={linked: "root/store/3f-exec"})
    ) == [(linked, "kafkajs 2.2.4", "")]


PYTHON_3 = "usr/lib/python3.9/site-packages"
METADATA = "Metadata-Version: 1.1\nName: kafka-python\nVersion: 1.3.5\n"


@pytest.mark.parametrize(
    ("path", "content"),
    [
        (f"{PYTHON_3}/kafka_python-1.3.5.dist-info/METADATA", METADATA),
        (f"{PYTHON_3}/kafka_python-1.3.5-py3.9.egg-info/PKG-INFO", METADATA),
        (f"{PYTHON_3}/kafka_python-1.3.5.egg-info", METADATA),
        (f"{PYTHON_3}/kafka_python-1.3.5-py3.9.egg/EGG-INFO/PKG-INFO", METADATA),
        (f"{PYTHON_3}/kafka-python-1.3.5.dist-info/METADATA", METADATA),
        ("src/kafka_python.egg-info/PKG-INFO", METADATA),
        (f"{PYTHON_3}/kafka_python-1.3.5-py3.9.egg", jar({"EGG-INFO/PKG-INFO": METADATA})),
        (
            "srv/job.pex",
            jar({".deps/kafka_python-1.3.5.whl/kafka_python-1.3.5.dist-info/METADATA": METADATA}),
        ),
        ("srv/job.pyz", jar({"site-packages/kafka_python-1.3.5.dist-info/METADATA": METADATA})),
        ("opt/conda/conda-meta/kafka-python-1.3.5-py39_0.json", "{}"),
    ],
    ids=[
        "wheel",
        "setup.py",
        "distutils",
        "egg folder",
        "with a hyphen",
        "editable",
        "egg",
        "pex",
        "shiv",
        "conda",
    ],
)
def test_a_python_package_is_known_however_it_was_installed(tmp_path, path, content):
    assert clients_of_image(tmp_path, layer(files={path: content})) == [(path, "kafka-python 1.3.5", "")]


BINDING = f"{PYTHON_3}/confluent_kafka-1.7.0.dist-info/METADATA"
NO_LIBRARY = "it runs with the librdkafka of the system (no librdkafka is beside its modules)"


@pytest.mark.parametrize(
    ("files", "client"),
    [
        (
            {f"{PYTHON_3}/confluent_kafka.libs/librdkafka-9561dbe6.so.1": b""},
            "librdkafka 1.7.0 in confluent-kafka-python 1.7.0",
        ),
        (
            {f"{PYTHON_3}/confluent_kafka/.libs/librdkafka-9561dbe6.so.1": b""},
            "librdkafka 1.7.0 in confluent-kafka-python 1.7.0",
        ),
        ({"var/lib/dpkg/status": DPKG}, "librdkafka 1.6.0 in confluent-kafka-python 1.7.0"),
        (
            {"usr/local/lib/librdkafka.so.1": b"", "usr/local/lib/pkgconfig/rdkafka.pc": "Version: 2.3.0\n"},
            "librdkafka 2.3.0 in confluent-kafka-python 1.7.0",
        ),
    ],
    ids=["wheel", "old wheel", "of the distribution", "built there"],
)
def test_a_binding_has_the_librdkafka_that_it_is_linked_to(tmp_path, files, client):
    """Debian 12's python3-confluent-kafka 1.7.0 is linked to its librdkafka1 2.0.2; so is what pip builds there."""
    image_layer = layer(files={BINDING: "Name: confluent-kafka\nVersion: 1.7.0\n", **files})
    assert [said for _, said, _ in clients_of_image(tmp_path, image_layer)] == [client]


@pytest.mark.parametrize(
    ("files", "why"),
    [
        ({}, f"{NO_LIBRARY}: the version of which is not known here"),
        (
            {"var/lib/dpkg/status": DPKG, "usr/local/lib/pkgconfig/rdkafka.pc": "Version: 2.3.0\n"},
            f"{NO_LIBRARY}: the system has 1.6.0 and 2.3.0",
        ),
        (
            {"var/lib/dpkg/status": DPKG, "usr/local/lib/librdkafka.so.1": b""},
            f"{NO_LIBRARY}: the system has 1.6.0 and one of unknown version",
        ),
    ],
    ids=["nowhere", "two", "one known and one not"],
)
def test_a_binding_whose_librdkafka_is_not_known_is_unknown(tmp_path, files, why):
    image_layer = layer(files={BINDING: "Name: confluent-kafka\nVersion: 1.7.0\n", **files})
    found = {said: reason for _, said, reason in clients_of_image(tmp_path, image_layer)}
    assert found["confluent-kafka 1.7.0"] == why


@pytest.mark.parametrize(
    ("files", "client"),
    [
        ({"build/deps/librdkafka.so.1": b""}, "librdkafka 2.6.1 in node-rdkafka 3.2.1"),
        ({}, "librdkafka 1.6.0 in node-rdkafka 3.2.1"),
    ],
    ids=["its own", "of the distribution"],
)
def test_node_rdkafka_has_the_librdkafka_that_it_is_linked_to(tmp_path, files, client):
    """Its binding.gyp links build/deps/librdkafka.so, or with BUILD_LIBRDKAFKA=0 the one of the system."""
    folder = "srv/node_modules/node-rdkafka"
    built = {"build/Release/node-librdkafka.node": b"", "package.json": NODE_RDKAFKA, **files}
    in_image = layer(
        files={
            **{f"{folder}/{path}": content for path, content in built.items()},
            "var/lib/dpkg/status": DPKG,
        }
    )
    assert client in [said for _, said, _ in clients_of_image(tmp_path, in_image)]


def test_node_rdkafka_that_was_not_built_has_the_librdkafka_of_its_release(tmp_path):
    """As `npm ci --ignore-scripts` leaves it: nothing shows what it would be linked to."""
    path = "srv/node_modules/node-rdkafka/package.json"
    assert clients_of_image(tmp_path, layer(files={path: NODE_RDKAFKA})) == [
        (path, "librdkafka 2.6.1 in node-rdkafka 3.2.1", "")
    ]


NODE_RDKAFKA = '{"name": "node-rdkafka", "version": "3.2.1"}'


def test_a_librdkafka_that_nothing_names_is_unknown_unless_its_package_does(tmp_path):
    why = "a library file that no package and no rdkafka.pc names"
    path = "usr/local/lib/librdkafka.so.1"
    assert clients_of_image(tmp_path, layer(files={path: b""})) == [(path, "librdkafka", why)]
    packaged = {"usr/lib/x86_64-linux-gnu/librdkafka.so.1": b"", "var/lib/dpkg/status": DPKG}
    assert clients_of_image(tmp_path, layer(files=packaged)) == [
        ("var/lib/dpkg/status", "librdkafka 1.6.0", "")
    ]
    carried = {"app/node_modules/node-rdkafka/build/deps/librdkafka.so.1": b""}
    assert clients_of_image(tmp_path, layer(files=carried)) == []


DYNAMIC = "dep\tgithub.com/confluentinc/confluent-kafka-go/v2\tv2.3.0\th1:a=\nbuild\t-tags={}\n"


@pytest.mark.parametrize("tags", ["dynamic", "netgo,dynamic", "dynamic,musl"])
def test_a_go_program_with_the_librdkafka_of_the_system_does_not_have_the_one_of_its_release(tmp_path, tags):
    program = go_program(DYNAMIC.format(tags))
    why = "it runs with the librdkafka of the system (built with -tags dynamic): the version of which is not known here"
    name = "github.com/confluentinc/confluent-kafka-go/v2 v2.3.0"
    assert clients(tmp_path, "orders", program) == [("", name, why)]
    in_image = layer(files={"usr/bin/orders": program, "var/lib/dpkg/status": DPKG})
    assert [said for _, said, _ in clients_of_image(tmp_path, in_image)] == [
        "librdkafka 1.6.0 in confluent-kafka-go 2.3.0"
    ]
    static = go_program(DYNAMIC.format("musl"))
    assert [said for _, said, _ in clients(tmp_path, "orders", static)] == [
        "librdkafka 2.3.0 in confluent-kafka-go 2.3.0"
    ]


def rust_program(*texts: bytes, crates: list[dict[str, str]] | None = None) -> bytes:
    """A 64-bit ELF file with texts in it, and the section that `cargo auditable` adds."""
    names = b"\0.dep-v0\0"
    content = zlib.compress(json.dumps({"packages": crates}).encode()) if crates is not None else b""
    body = b"".join(texts)
    start = 64 + len(body)
    sections = [(0, 0, 0), (1, start, len(content)), (9, start + len(content), len(names))]
    table = start + len(content) + len(names)
    header = b"\x7fELF\x02\x01\x01".ljust(16, b"\0") + struct.pack("<HHIQQQ", 2, 62, 1, 0, 0, table)
    header += struct.pack("<IHHHHHH", 0, 64, 0, 0, 64, 3, 2)
    written = [struct.pack("<IIQQQQ24x", name, 1, 0, 0, offset, size) for name, offset, size in sections]
    return header + body + content + names + b"".join(written)


LIBRDKAFKA = b"topic.metadata.refresh.sparse\0"
SOURCES = b"/root/.cargo/registry/src/index.crates.io-1949cf8c6b5b557f/"
NOT_SHOWN = "rdkafka 0.36.2 is in the program; which librdkafka it was built with does not show"


def crate(name: str, version: str, source: str = "crates.io") -> dict[str, str]:
    return {"name": name, "version": version, "source": source}


@pytest.mark.parametrize(
    ("program", "client"),
    [
        (rust_program(SOURCES + b"rskafka-0.5.0/src/client.rs"), ("rskafka 0.5.0", "")),
        (rust_program(SOURCES + b"rdkafka-0.36.2/src/client.rs", LIBRDKAFKA), ("rdkafka", NOT_SHOWN)),
        (
            rust_program(
                LIBRDKAFKA, crates=[crate("rdkafka", "0.36.2"), crate("rdkafka-sys", "4.8.0+2.3.0")]
            ),
            ("librdkafka 2.3.0 in rust-rdkafka 0.36.2", ""),
        ),
        (
            rust_program(crates=[crate("kafka", "0.10.0", "git")]),
            ("kafka", "locked to git, not a release"),
        ),
        (
            rust_program(LIBRDKAFKA),
            ("librdkafka", "librdkafka is linked into the program, and nothing in it says which version"),
        ),
    ],
    ids=["paths", "paths, a version of librdkafka", "auditable", "auditable, a commit", "C"],
)
def test_a_program_that_is_not_in_go_says_what_compilers_left_in_it(tmp_path, program, client):
    assert clients(tmp_path, "orders", program) == [("", *client)]
    in_image = layer(files={"usr/bin/orders": program})
    assert clients_of_image(tmp_path, in_image) == [("usr/bin/orders", *client)]


def test_a_rust_program_without_a_librdkafka_in_it_has_that_of_the_system(tmp_path):
    program = rust_program(crates=[crate("rdkafka", "0.36.2"), crate("rdkafka-sys", "4.8.0+2.3.0")])
    in_image = layer(files={"usr/bin/orders": program, "var/lib/dpkg/status": DPKG})
    assert [said for _, said, _ in clients_of_image(tmp_path, in_image)] == [
        "librdkafka 1.6.0 in rust-rdkafka 0.36.2"
    ]
    (found,) = clients(tmp_path, "orders", program)
    assert "the librdkafka of the system (no librdkafka is in the program)" in found[2]


def test_a_program_that_says_nothing_about_its_packages_names_no_client(tmp_path):
    assert clients(tmp_path, "orders", rust_program(b"Kafka")) == []
    damaged = rust_program(LIBRDKAFKA, crates=[crate("rdkafka", "0.36.2")]).replace(b"x\x9c", b"xx")
    assert [said for _, said, _ in clients(tmp_path, "orders", damaged)] == ["librdkafka"]


def test_what_a_package_was_built_of_is_no_program_of_its_own(tmp_path):
    """node-rdkafka leaves objects, tests and examples; its package says which librdkafka it is."""
    program = rust_program(LIBRDKAFKA)
    kept = {
        f"app/node_modules/node-rdkafka/{path}": program for path in ("deps/examples/performance", "a.node")
    }
    object_file = program[:16] + b"\x01\0" + program[18:]
    assert clients_of_image(tmp_path, layer(files={**kept, "app/src/rdkafka_conf.o": object_file})) == []


def test_a_program_is_read_wherever_it_is(tmp_path):
    program = go_program("dep\tgithub.com/IBM/sarama\tv1.40.1\th1:a=\n")
    for path in ("usr/libexec/shop/orders", "var/task/bootstrap", "data/orders.real"):
        assert clients_of_image(tmp_path, layer(files={path: program})) == [(path, "sarama 1.40.1", "")]


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
    for damaged_layer in (b"\x28\xb5\x2f\xfd", damaged):
        assert "the layer " in refusal(tmp_path, "a.tar", saved(damaged_layer))
    assert refusal(tmp_path, "a.tar", tar({"manifest.json": '[{"Layers": ["gone.tar"]}]'})) == (
        "the layer gone.tar is not there"
    )
    monkeypatch.setattr(layers, "MOST_LAYER_BYTES", 2**20)
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


def _of_a_large_window(content: bytes) -> bytes:
    """zstd whose reader has to keep 256 MiB."""
    written = io.BytesIO()
    settings = zstandard.ZstdCompressionParameters(window_log=28)
    with zstandard.ZstdCompressor(compression_params=settings).stream_writer(written, closefd=False) as frame:
        frame.write(content)
    return written.getvalue()


@pytest.mark.parametrize(
    ("layer", "reason"),
    [
        (_of_a_large_window(LAYER), "too much memory"),
        (gzip.compress(gzip.compress(LAYER)), " header"),
        (lzma.compress(LAYER), " header"),
        (gzip.compress(LAYER)[:-100], "ended before the end-of-stream marker"),
    ],
    ids=["a large window", "twice", "xz", "cut off"],
)
def test_layers_that_a_log_may_be_and_an_image_is_not_are_refused(tmp_path, layer, reason):
    """Logs are read that way (sources/compression.py)."""
    assert reason in refusal(tmp_path, "image.tar", saved(layer))


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
