"""Package URLs (purl): what SBOMs name packages by."""

from typing import NamedTuple

from packageurl import PackageURL

from client_telemetry.knowledge.known_packages import normal_name


class NamedPackage(NamedTuple):
    type: str
    name: str
    version: str | None


def parse(text: str) -> NamedPackage | None:
    """None if it is not a package URL.

    >>> parse("pkg:npm/%40confluentinc/kafka-javascript@0.2.0")
    NamedPackage(type='npm', name='@confluentinc/kafka-javascript', version='0.2.0')
    """
    try:
        url = PackageURL.from_string(text)
    except ValueError:
        return None
    name = f"{url.namespace}/{url.name}" if url.namespace else url.name
    if url.type in ("deb", "apk", "rpm", "conan", "conda"):
        name = url.name
    if url.subpath and url.type == "golang":
        name = f"{name}/{url.subpath}" if url.subpath.startswith("v") else name
    return NamedPackage(url.type, normal_name(url.type, name), url.version or None)


def text(type_: str, name: str, version: str | None) -> str:
    """The package URL of a package, with the namespace in its name.

    >>> text("maven", "org.apache.kafka/kafka-clients", "3.9.1"), text("npm", "@confluentinc/kafka-javascript", None)
    ('pkg:maven/org.apache.kafka/kafka-clients@3.9.1', 'pkg:npm/%40confluentinc/kafka-javascript')
    """
    namespace, _, plain = name.rpartition("/")
    return PackageURL(type_, namespace or None, plain, version).to_string()
