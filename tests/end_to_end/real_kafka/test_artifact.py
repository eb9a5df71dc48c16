"""What a platform review looks at: the plugin's jar and its list of parts, as `make plugin` leaves them."""

import json
import zipfile
from collections.abc import Iterator

import pytest

from .kafka_broker import _VERSION, PLUGIN

LICENCES = {"LICENSE", "LICENSE.txt", "NOTICE", "NOTICE.txt"}
LICENCES |= {"FastDoubleParser-LICENSE", "FastDoubleParser-ThirdParty-LICENSE", "Schubfach-LICENSE"}


@pytest.fixture
def jar() -> Iterator[zipfile.ZipFile]:
    with zipfile.ZipFile(PLUGIN) as opened:
        yield opened


def _files(jar: zipfile.ZipFile) -> set[str]:
    return {name for name in jar.namelist() if not name.endswith("/")}


def test_nothing_has_a_name_that_another_jar_may_have(jar):
    """`mime.types` is what the AWS SDK looks for under this name."""
    foreign = {name for name in _files(jar) if not name.startswith(("clienttelemetry/", "META-INF/"))}
    assert foreign == {"mime.types"}
    meta = {name.removeprefix("META-INF/") for name in _files(jar) if name.startswith("META-INF/")}
    services = {name for name in meta if name.startswith("services/")}
    assert all(name.startswith("services/clienttelemetry.shaded.") for name in services)
    assert meta - services == LICENCES | {"MANIFEST.MF"}


def test_licences_and_notices_are_there_once(jar):
    assert jar.read("META-INF/LICENSE") == (PLUGIN.parents[2] / "LICENSE").read_bytes()
    notice = jar.read("META-INF/NOTICE.txt").decode()
    assert notice.count("AWS SDK for Java 2.0") == 1
    assert "included in LICENSE.txt" in notice
    assert "Such other license terms" in jar.read("META-INF/LICENSE.txt").decode()


def test_the_version_is_everywhere(jar):
    assert _VERSION in PLUGIN.name
    assert f"Implementation-Version: {_VERSION}" in jar.read("META-INF/MANIFEST.MF").decode()
    assert f"version={_VERSION}" in jar.read("clienttelemetry/plugin.properties").decode()


def test_the_list_of_parts_is_what_the_jar_has(jar):
    parts = json.loads(PLUGIN.with_name(PLUGIN.stem + "-sbom.json").read_text())
    assert (parts["bomFormat"], parts["metadata"]["component"]["version"]) == ("CycloneDX", _VERSION)
    listed = {(part["group"], part["name"]) for part in parts["components"]}
    assert {group for group, _ in listed} == {
        "software.amazon.awssdk",
        "org.reactivestreams",
    }
    assert all(part["licenses"] and part["hashes"] for part in parts["components"])
    shaded = {name.removeprefix("clienttelemetry/shaded/") for name in _files(jar) if "/shaded/" in name}
    folders = {"/".join(name.split("/")[:4]) for name in shaded if name.startswith("software/amazon/awssdk/")}
    assert len(folders) > 15 and ("software.amazon.awssdk", "s3") in listed
