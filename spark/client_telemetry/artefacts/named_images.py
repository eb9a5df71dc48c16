"""Images that Compose files, values of Helm charts, kustomizations, Kubernetes manifests, Terraform and Nomad name. What is in an image is not known by its name:
each is a lead, not a client.

Events of the YAML parser are read one by one: aliases are not followed, so a document is as large as its text.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Final, NamedTuple

import yaml

from client_telemetry.artefacts import tree
from client_telemetry.artefacts.packages import ReadOther, Unreadable
from client_telemetry.artefacts.readers.lines import numbered

LARGEST_BYTES: Final = 2**20
DEEPEST: Final = 64
_MARK = re.compile(r"""(?:^|[\s{,"'-])(?:[\w-]*image|repository)["']?\s*:""", re.MULTILINE | re.IGNORECASE)
_COMPOSE = re.compile(r"^[\"']?services[\"']?\s*:", re.MULTILINE)
_MANIFEST = re.compile(r"^[\"']?kind[\"']?\s*:", re.MULTILINE)
_VALUES = re.compile(r"(?:.*[._-])?values(?:[._-].*)?\.ya?ml", re.IGNORECASE)
_KUSTOMIZATION = re.compile(r"kustomization(?:\.ya?ml)?", re.IGNORECASE)
_IMAGE_LINE = re.compile(r"""^\s*(?:-\s+)?["']?image["']?\s*:[ \t]*["']?\w""", re.MULTILINE)
_HCL: Final = (".tf", ".hcl", ".nomad")
_HCL_IMAGE = re.compile(r"""^\s*\\?["']?image\\?["']?\s*[=:]\s*\\?"([^"\\]+)\\?",?\s*(?:(?:#|//).*)?$""")
_TEMPLATE = "{{"
_STRIMZI = re.compile(r"^apiVersion\s*:\s*[\"']?kafka\.strimzi\.io/", re.MULTILINE)
_OF_STRIMZI: Final = {
    "KafkaBridge": "quay.io/strimzi/kafka-bridge",
    **dict.fromkeys(("KafkaConnect", "KafkaMirrorMaker", "KafkaMirrorMaker2"), "quay.io/strimzi/kafka"),
}
"""Kinds of Strimzi's resources that are clients of Kafka, and the image that its cluster operator runs for them by default
(STRIMZI_KAFKA_CONNECT_IMAGES and the like in its deployment): tagged `<release of Strimzi>-kafka-<spec.version>`."""
_REFERENCE = re.compile(
    r"(?P<name>(?:[\w.-]+(?::\d+)?/)?[a-z0-9][a-z0-9._-]*(?:/[a-z0-9][a-z0-9._-]*)*)"
    r"(?::(?P<tag>\w[\w.-]{0,127}))?(?:@(?P<digest>sha256:[0-9a-f]{64}))?"
)
"""As the reference grammar of the distribution project has it."""
_VARIABLE = re.compile(r"\$\{(\w+)(?::?-([^${}]*))?\}|\$(\w+)")
_ASSIGNED = re.compile(r"^\s*(?:export\s+)?(\w+)\s*=\s*[\"']?([^\"'#\n]*?)[\"']?\s*$", re.MULTILINE)


def is_read(path: str, size: int) -> bool:
    """Whether a file may name images; of one that is too large, whether its name says so."""
    name = PurePosixPath(path).name
    suffix = PurePosixPath(path).suffix.lower()
    if suffix in _HCL:
        return size <= LARGEST_BYTES
    if suffix not in (".yml", ".yaml"):
        return False
    return size <= tree.LARGEST_BYTES or "compose" in name.lower() or bool(_VALUES.fullmatch(name))


class NamedImage(NamedTuple):
    """`reference`: as it is pulled, `name:tag@digest`, as far as it is written. `why_unknown`: why its tag is not known."""

    reference: str
    name: str
    tag: str
    file: str
    line: int
    why_unknown: str = ""


@dataclass
class _Level:
    """A mapping or a list that the parser is in; `key` is the one whose value comes next."""

    path: tuple[str, ...]
    is_mapping: bool
    key: str | None = None
    key_line: int = 0
    scalars: dict[str, tuple[str, int]] = field(default_factory=dict)

    def child(self) -> tuple[str, ...]:
        return (*self.path, self.key or "") if self.is_mapping else self.path


_Mapping = tuple[tuple[str, ...], Mapping[str, tuple[str, int]]]


def read(path: str, shown: str, text: str, read_other: ReadOther) -> Iterator[NamedImage]:
    """Nothing for other YAML files. `read_other`: the text of a file beside this one (Compose reads `.env` there).
    Raises Unreadable.
    """
    if _KUSTOMIZATION.fullmatch(PurePosixPath(path).name):
        yield from _kustomized(shown, text)
        return
    if PurePosixPath(path).suffix.lower() in _HCL:
        yield from _of_hcl(shown, text)
        return
    is_values = bool(_VALUES.fullmatch(PurePosixPath(path).name))
    is_compose = bool(_COMPOSE.search(text))
    if not (_MARK.search(text) if is_values or is_compose else _is_manifest(text)):
        return
    variables = dict(_ASSIGNED.findall(read_other(".env") or "")) if is_compose else {}
    spec: Mapping[str, tuple[str, int]] = {}
    for where, scalars in _mappings(text):
        for written, line in _written(where, scalars, is_values, is_compose):
            if image := _named(written, line, shown, variables):
                yield image
        if where == ("spec",):
            spec = scalars
        elif where == ():
            yield from _of_operator(scalars, spec, shown)
            spec = {}


def _of_hcl(shown: str, text: str) -> Iterator[NamedImage]:
    """`image` of containers, of tasks in `jsonencode` and of JSON in texts. Disks and machines have images too: of those without a tag,
    a digest or a registry nothing is said.
    """
    for number, line in numbered(text):
        match = _HCL_IMAGE.match(line)
        written = match[1] if match else ""
        is_of_container = ":" in written.rpartition("/")[2] or "." in written.partition("/")[0]
        if is_of_container and (image := _named(written, number, shown, {})):
            yield image


def _of_operator(
    resource: Mapping[str, tuple[str, int]], spec: Mapping[str, tuple[str, int]], file: str
) -> Iterator[NamedImage]:
    """A resource of Strimzi that names no image, and has none built, gets one of the operator's."""
    kind, line = resource.get("kind", ("", 0))
    api, _ = resource.get("apiVersion", ("", 0))
    if not api.startswith("kafka.strimzi.io/") or kind not in _OF_STRIMZI or spec.keys() & {"image", "build"}:
        return
    name, (release, _) = _OF_STRIMZI[kind], spec.get("version", ("", 0))
    reference = f"{name}:*-kafka-{release}" if release and kind != "KafkaBridge" else name
    yield NamedImage(reference, name, "", file, line, f"{kind} of Strimzi: its operator chooses the image")


def _kustomized(shown: str, text: str) -> Iterator[NamedImage]:
    """`images` of a kustomization: what the images of its manifests become."""
    for where, scalars in _mappings(text):
        if where != ("images",) or not scalars.keys() & {"newName", "newTag", "digest"}:
            continue
        name, line = scalars.get("newName") or scalars.get("name") or ("", 0)
        tag, digest = _texts(scalars, "newTag", "digest")
        if image := _named(_joined(name, tag, digest), line, shown, {}):
            yield image


def _is_manifest(text: str) -> bool:
    """Templates of charts are none: their images are in the chart's values."""
    if _TEMPLATE in text or not _MANIFEST.search(text):
        return False
    return bool(_IMAGE_LINE.search(text) or _STRIMZI.search(text))


def _written(
    where: tuple[str, ...], scalars: Mapping[str, tuple[str, int]], is_values: bool, is_compose: bool
) -> Iterator[tuple[str, int]]:
    """References as they stand in one mapping, with their lines."""
    if is_compose:
        top = where[0] if where else ""
        is_image = "build" not in scalars and (top == "services" or top.startswith("x-"))
    else:
        # Of a container, or of a resource that an operator turns into containers (`KafkaConnect` of Strimzi).
        is_image = is_values or "spec" in where
    if is_image and (image := scalars.get("image")):
        yield image
    if is_values and not is_compose and (repository := scalars.get("repository")):
        registry, tag, digest = _texts(scalars, "registry", "tag", "digest")
        name = f"{registry.rstrip('/')}/{repository[0]}" if registry else repository[0]
        yield _joined(name, tag, digest if digest.startswith("sha256:") else ""), repository[1]


def _texts(scalars: Mapping[str, tuple[str, int]], *keys: str) -> Iterator[str]:
    return (scalars.get(key, ("", 0))[0].strip() for key in keys)


def _joined(name: str, tag: str, digest: str) -> str:
    return name + (f":{tag}" if tag else "") + (f"@{digest}" if digest else "")


def _named(written: str, line: int, file: str, variables: Mapping[str, str]) -> NamedImage | None:
    """None for what is no reference to an image."""
    text = _VARIABLE.sub(
        lambda match: variables.get(match[1] or match[3], match[2] or match[0]), written.strip()
    )
    unset = "$" in text
    match = _REFERENCE.fullmatch(re.sub(r":[^:/@]*\$.*", "", text) if unset else text)
    if match is None:
        return None
    name = _short(match["name"])
    why = ""
    if not match["digest"] and (unset or not match["tag"]):
        why = f"its tag is a variable ({written.strip()[:200]})" if unset else "no tag is written"
    return NamedImage(match[0], name, match["tag"] or "", file, line, why)


def _mappings(text: str) -> Iterator[_Mapping]:
    """The scalars of every mapping, with where it stands; keys of a mapping that has been read whole. Raises Unreadable."""
    if len(text) > LARGEST_BYTES:
        raise Unreadable(f"images that it names: more than {LARGEST_BYTES // 2**20} MiB of YAML, not read")
    levels: list[_Level] = []
    try:
        for event in yaml.parse(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
            if isinstance(event, yaml.CollectionStartEvent):
                if len(levels) >= DEEPEST:
                    raise Unreadable(f"images that it names: YAML nested more than {DEEPEST} deep, not read")
                path = levels[-1].child() if levels else ()
                levels.append(_Level(path, isinstance(event, yaml.MappingStartEvent)))
            elif isinstance(event, yaml.CollectionEndEvent):
                done = levels.pop()
                if done.is_mapping:
                    yield done.path, done.scalars
                _value_read(levels)
            elif isinstance(event, yaml.ScalarEvent) and levels and levels[-1].is_mapping:
                _scalar_read(levels[-1], event)
            elif isinstance(event, yaml.AliasEvent):
                _value_read(levels)
    except yaml.YAMLError as error:
        mark = error.problem_mark if isinstance(error, yaml.MarkedYAMLError) else None
        line = f" in line {mark.line + 1}" if mark is not None else ""
        raise Unreadable(f"images that it names: not YAML{line}") from None


def _scalar_read(level: _Level, event: yaml.ScalarEvent) -> None:
    if level.key is None:
        level.key = event.value
        return
    line = event.start_mark.line + 1 if event.start_mark is not None else 1
    level.scalars[level.key] = (event.value, line)
    level.key = None


def _value_read(levels: list[_Level]) -> None:
    """A mapping, list or alias was the value of the key, if one waits; else it is a key itself, which names nothing."""
    if levels and levels[-1].is_mapping:
        level = levels[-1]
        if level.key is not None:
            level.scalars.setdefault(level.key, ("", 0))
        level.key = None if level.key is not None else ""


def unread(images: Iterable[NamedImage], read_names: Iterable[str]) -> Iterator[NamedImage]:
    """Each reference once, without those whose content was read: `read_names`, as SBOMs and saved images name theirs."""
    done = {_short(name) for name in read_names}
    for image in images:
        if (short := _short(image.reference)) not in done:
            done.add(short)
            yield image


def _short(reference: str) -> str:
    return reference.removeprefix("docker.io/").removeprefix("library/")
