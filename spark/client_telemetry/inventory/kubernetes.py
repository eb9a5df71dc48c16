"""Pods as the Kubernetes API describes them (v1.Pod): `kubectl get pods -A -o json`, a single pod, or several documents in a
row, as from several clusters.
"""

import json
import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime

from client_telemetry.artefacts.packages import Unreadable
from client_telemetry.artefacts.readers.json_text import mapping, objects, text_of
from client_telemetry.artefacts.subjects import digests, repository
from client_telemetry.inventory.workloads import Container, UnusableWorkloads, Workload, plain_address

_OVER = ("Succeeded", "Failed")
_SCHEDULED_JOB = re.compile(r"(.+)-(?:\d{8,})")
"""A CronJob's jobs: its name and the scheduled time in minutes (since 1.21), or in seconds (before)."""
_SOURCES = ("org.opencontainers.image.source", "app.openshift.io/vcs-uri", "backstage.io/source-location")


def read(text: str, file: str) -> Iterator[Workload]:
    """Raises Unreadable and UnusableWorkloads."""
    count = 0
    for item in _items(text):
        if item.get("kind", "Pod") == "Pod" and isinstance(item.get("status"), dict):
            count += 1
            yield _pod(item, f"{file}: pod {count}")
    if not count:
        raise UnusableWorkloads("no pods in it: write it with `kubectl get pods --all-namespaces -o json`")


def _items(text: str) -> Iterator[Mapping[str, object]]:
    decoder, place, end = json.JSONDecoder(), len(text) - len(text.lstrip()), len(text.rstrip())
    while place < end:
        try:
            document, place = decoder.raw_decode(text, place)
        except json.JSONDecodeError as error:
            raise Unreadable(f"not JSON: {error.msg} at line {error.lineno}, column {error.colno}") from None
        except (ValueError, RecursionError):
            raise Unreadable("not JSON: nested too deeply, or a number with too many digits") from None
        for each in document if isinstance(document, list) else [document]:
            if isinstance(each, dict):
                yield from objects(each["items"]) if isinstance(each.get("items"), list) else [each]
        while place < end and text[place].isspace():
            place += 1


def _pod(pod: Mapping[str, object], where: str) -> Workload:
    metadata, spec, status = (mapping(pod.get(part)) for part in ("metadata", "spec", "status"))
    namespace, name = text_of(metadata.get("namespace")) or "default", text_of(metadata.get("name")) or ""
    annotations = mapping(metadata.get("annotations"))
    source = next((annotations[key] for key in _SOURCES if isinstance(annotations.get(key), str)), "")
    return Workload(
        name=f"{namespace}/{_controller(metadata, name)}",
        where=f"{where} ({namespace}/{name})",
        pod=f"{namespace}/{name}",
        addresses=_addresses(status),
        hosts=(name,) if name else (),
        containers=tuple(_containers(spec, status)),
        started_at=_time(status.get("startTime")),
        shares_address=bool(spec.get("hostNetwork")),
        is_over=status.get("phase") in _OVER,
        repository=repository(source.removeprefix("url:")),
    )


def _controller(metadata: Mapping[str, object], pod: str) -> str:
    """`Deployment/orders` for a pod of its ReplicaSet, `CronJob/report` for one of its jobs."""
    owners = objects(metadata.get("ownerReferences"))
    owner = next((each for each in owners if each.get("controller")), owners[0] if owners else {})
    kind, name = text_of(owner.get("kind")) or "Pod", text_of(owner.get("name")) or pod
    template = text_of(mapping(metadata.get("labels")).get("pod-template-hash"))
    if kind == "ReplicaSet" and template and name.endswith(f"-{template}"):
        return f"Deployment/{name.removesuffix(f'-{template}')}"
    if kind == "Job" and (match := _SCHEDULED_JOB.fullmatch(name)):
        return f"CronJob/{match[1]}"
    return f"{kind}/{name}"


def _addresses(status: Mapping[str, object]) -> tuple[str, ...]:
    texts = [
        text_of(status.get("podIP")),
        *(text_of(each.get("ip")) for each in objects(status.get("podIPs"))),
    ]
    found = (plain_address(text) for text in texts if text)
    return tuple(dict.fromkeys(address for address in found if address))


def _containers(spec: Mapping[str, object], status: Mapping[str, object]) -> Iterator[Container]:
    """What the status says, and containers that only the specification names: those have not run."""
    for part in ("initContainer", "container", "ephemeralContainer"):
        named = set()
        for entry in objects(status.get(f"{part}Statuses")):
            named.add(entry.get("name"))
            yield _container(entry)
        for entry in objects(spec.get(f"{part}s")):
            if entry.get("name") not in named:
                yield Container(text_of(entry.get("name")) or "", text_of(entry.get("image")) or "")


def _container(status: Mapping[str, object]) -> Container:
    """`imageID`: `docker-pullable://repository@sha256:…`, `repository@sha256:…` or, for images that no registry has,
    `docker://sha256:…` and `sha256:…`. The digest of `image` itself names an index of several platforms, or the same.
    """
    image, image_id = text_of(status.get("image")) or "", text_of(status.get("imageID")) or ""
    ended = mapping(mapping(status.get("state")).get("terminated")).get("finishedAt")
    return Container(text_of(status.get("name")) or "", image, digests(image, image_id), _time(ended))


def _time(value: object) -> datetime | None:
    try:
        time = datetime.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        return None
    return time.astimezone(UTC) if time and time.tzinfo else None
