"""A client's day in curves: read from the one file among the day's `curves-*.json` that holds it, drawn here as on the pages that jobs
publish (docs/fleet-page.md)."""

import json
import zlib
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from typing import Any

from markupsafe import Markup

from telemetry_pages.light import module
from telemetry_pages.published import FLEET, NotPublished, Published

INDEX = "curves.json"
AT_ONCE = 8
"""Days that are looked into at the same time: an object store answers each in its own time."""


def client_day(
    published: Published, cluster: str, day: str, client_id: str | None, principal: str
) -> dict[str, Any]:
    """What the page of a client shows: `client`, `marks` in words, and `drawings` of what brokers and the client itself counted.
    Raises NotPublished."""
    index = published.document(FLEET, cluster, day, INDEX)
    client = _client(published, cluster, day, index, (client_id, principal))
    if client is None:
        raise NotPublished(f"No such client on {day} in {cluster}.")
    return {"client": client, "marks": _starts(index), "drawings": _drawn(client, index)}


def days_with(
    published: Published, cluster: str, days: Iterable[str], client_id: str | None, principal: str
) -> list[str]:
    """Those of the published days on which the client was seen, in their order; a day that cannot be read is left out."""

    def is_there(day: str) -> bool:
        try:
            index = published.document(FLEET, cluster, day, INDEX)
            return _client(published, cluster, day, index, (client_id, principal)) is not None
        except NotPublished:
            return False

    asked = list(days)
    with ThreadPoolExecutor(AT_ONCE) as pool:
        return [day for day, found in zip(asked, pool.map(is_there, asked), strict=True) if found]


def _client(
    published: Published, cluster: str, day: str, index: dict[str, Any], key: tuple[str | None, str]
) -> dict[str, Any] | None:
    number = zlib.crc32(json.dumps(list(key)).encode()) % index["files"]
    document = published.document(FLEET, cluster, day, f"curves-{number:04}.json")
    found = (each for each in document["clients"] if (each["client_id"], each["principal"]) == key)
    return next(found, None)


def _starts(index: dict[str, Any]) -> list[str]:
    """Within the time that is drawn."""
    until = index["since"] + index["slots"] * index["seconds"]
    marks = [(at, words) for at, words in index["marks"] if index["since"] <= at <= until]
    return [f"{datetime.fromtimestamp(at, UTC):%H:%M} {words.replace(' started', '')}" for at, words in marks]


def _drawn(client: dict[str, Any], index: dict[str, Any]) -> list[tuple[str, Markup]]:
    draw = module("reports/curves.py")
    per_minute = 60 / index["seconds"]
    marks = [draw.Mark(at, words) for at, words in index["marks"]]
    slots = range(index["slots"])

    def line(name: str, values: dict[int, float], absent: float | None) -> Any:
        # Days that an older version published do not say which slots were seen in part.
        partial = set() if absent is None else set(index.get("partial", ()))
        left_out = partial if values.keys() - partial else set()
        points = [
            (
                index["since"] + (slot + 0.5) * index["seconds"],
                None if slot in left_out else values.get(slot, absent),
            )
            for slot in slots
        ]
        return draw.Line(name, points)

    def figure(title: str, unit: str, lines: list[Any]) -> Markup:
        until = index["since"] + index["slots"] * index["seconds"]
        return draw.curve(title, unit, lines, marks, least_time=index["since"], greatest_time=until)

    requests, refused = [], []
    for key, points in client["requests"].items():
        api, _, version = key.partition(":")
        words = f"{index['apis'][api]} v{version}"
        requests.append((words, {int(p[0]): p[1] * per_minute for p in points}))
        if any(p[2] for p in points):
            refused.append((words, {int(p[0]): p[2] * per_minute for p in points}))
    requests.sort(key=lambda each: (-sum(each[1].values()), each[0]))
    open_ = {int(p[0]): p[1] for p in client["connections"]}
    of_brokers = [
        figure("Connections", f"open in each {index['seconds']} s", [line("connections", open_, 0.0)])
    ]
    of_brokers += [
        figure(words, "requests a minute", [line(words, values, 0.0)]) for words, values in requests
    ]
    own = [
        figure(
            index["metrics"][name]["words"],
            index["metrics"][name]["unit"],
            [line(name, {int(p[0]): p[1] for p in points}, None)],
        )
        for name, points in sorted(client["metrics"].items())
    ]
    sections = [
        ("Connections and requests, as brokers recorded them", of_brokers),
        (
            "Requests that brokers refused",
            [figure(w, "requests a minute", [line(w, v, 0.0)]) for w, v in refused],
        ),
        ("What its instances measured (KIP-714)", own),
    ]
    return [(words, draw.small_multiples(figures)) for words, figures in sections if any(figures)]
