"""What changed between two knowledge bases, in sentences. It compares rows as text: both need not be loadable at once."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from client_telemetry.knowledge import CHECKED_FILES, CHECKED_ON, broker_configuration, broker_metrics
from client_telemetry.knowledge_package import release_differences
from client_telemetry.knowledge_package.release_differences import Row, table

_CALLED: Mapping[str, str] = {
    "apis.csv": "API",
    "known_issues.csv": "known issue",
    "mixed_window_issues.csv": "issue of the rolling upgrade",
    "cluster_notes.csv": "cluster note",
    "products.csv": "product advice",
    "product_client_ids.csv": "client id of a product",
    "library_advice.csv": "advice",
    "library_edits.csv": "edit",
    "client_software.csv": "software name",
    "default_client_ids.csv": "default client id",
    "confluent_platform.csv": "Confluent Platform",
    "broker_features.csv": "feature",
    "feature_api_versions.csv": "feature level",
    "error_codes.csv": "error code",
    "version_negotiation.csv": "version negotiation of",
    "version_aliases.csv": "version alias",
    "removed_settings.csv": "removed setting",
}
"""File -> what a row is called; of other files, rows are counted."""
_KEYS = {**CHECKED_FILES, "broker_features.csv": ("feature", "release_from")}
_NO_FACTS = ("source", CHECKED_ON)
_LIBRARIES = ("client_api_versions.csv", "unnamed_client_api_versions.csv")
_BINDINGS = "binding_librdkafka_versions.csv"
_RELEASES, _SERVED, _UNREVIEWED = "releases.csv", "broker_api_versions.csv", "unreviewed_releases.csv"
_SAID_BY_RELEASE = (
    _RELEASES,
    _SERVED,
    _UNREVIEWED,
    broker_configuration.FILE,
    broker_configuration.RELEASES_FILE,
    broker_metrics.FILE,
    broker_metrics.RELEASES_FILE,
)


def sentences(old: Mapping[str, str], new: Mapping[str, str]) -> list[str]:
    """One sentence for each change between the texts of two sets of files; empty if there is none. A changed source or day of the
    last check alone is no change.
    """
    said = [*_releases(old, new), *_served(old, new), *_newest(old, new)]
    said += release_differences.sentences(old, new)
    for file in sorted({*old, *new}):
        before, after = table(old, file), table(new, file)
        if file in _CALLED:
            said += _keyed(_CALLED[file], _KEYS[file], before, after)
        elif file not in _SAID_BY_RELEASE:
            said += _counted(file, before, after)
    return said


def _releases(old: Mapping[str, str], new: Mapping[str, str]) -> Iterator[str]:
    before, after = ([row["release"] for row in table(texts, _RELEASES)] for texts in (old, new))
    by_release = {release: dict(_ranges(new, release)) for release in after}
    for release in after:
        if release not in before:
            yield f"Kafka {release} is new: {_compared(release, after, by_release)}."
    for release in before:
        if release not in after:
            yield f"Kafka {release} is no longer known."
    unread, read = (
        {row["release"]: row["not_known"] for row in table(texts, _UNREVIEWED)} for texts in (new, old)
    )
    for release, what in unread.items():
        if read.get(release) != what:
            yield f"Not known for {release}: {what}."
    for release in read.keys() - unread.keys():
        yield f"Kafka {release}: its notes have been read."


def _compared(release: str, known: Sequence[str], by_release: Mapping[str, Mapping[str, str]]) -> str:
    """The request versions of a release beside those of the release before it."""
    mine, place = by_release[release], known.index(release)
    if not place:
        return f"{len(mine)} APIs"
    previous = known[place - 1]
    changes = list(_changes(by_release[previous], mine))
    return f"{len(mine)} APIs; against {previous}: {', '.join(changes) or 'the same request versions'}"


def _ranges(texts: Mapping[str, str], release: str) -> Iterator[tuple[str, str]]:
    for row in table(texts, _SERVED):
        if row["release"] == release:
            low, high = row["served_min"], row["served_max"]
            yield row["api_name"], f"v{low}" if low == high else f"v{low}–v{high}"


def _changes(before: Mapping[str, str], after: Mapping[str, str]) -> Iterator[str]:
    for api in sorted({*before, *after}):
        if api not in before:
            yield f"{api} {after[api]} is new"
        elif api not in after:
            yield f"{api} is gone"
        elif before[api] != after[api]:
            yield f"{api} {after[api]} (was {before[api]})"


def _served(old: Mapping[str, str], new: Mapping[str, str]) -> Iterator[str]:
    """Releases that both know, and of which they say different things."""
    columns = ("served_min", "served_max", "advertised_min", "advertised_max", "deprecated", "condition")
    before, after = (_by_release(texts, columns) for texts in (old, new))
    for release in after:
        if release in before and (changes := list(_changes(before[release], after[release]))):
            yield f"Kafka {release} is known differently: {', '.join(changes)}."


def _by_release(texts: Mapping[str, str], columns: Sequence[str]) -> dict[str, dict[str, str]]:
    by_release: dict[str, dict[str, str]] = {}
    for row in table(texts, _SERVED):
        low, high, advertised_low, advertised_high, deprecated, condition = (
            row[column] for column in columns
        )
        text = f"v{low}–v{high}, advertised v{advertised_low}–v{advertised_high}"
        text += f", deprecated {deprecated}" * bool(deprecated) + f", needs a {condition}" * bool(condition)
        by_release.setdefault(row["release"], {})[row["api_name"]] = text
    return by_release


def _newest(old: Mapping[str, str], new: Mapping[str, str]) -> Iterator[str]:
    """Libraries and bindings of which another version is the newest known one."""
    for newest in (newest_libraries, newest_bindings):
        before, after = newest(old), newest(new)
        for each in sorted(after):
            if each not in before:
                yield f"{each} is new, up to {after[each]}."
            elif before[each] != after[each]:
                yield f"{each} is known up to {after[each]} (was {before[each]})."
        for each in sorted(before.keys() - after.keys()):
            yield f"{each} is no longer known."


def newest_libraries(texts: Mapping[str, str]) -> dict[str, str]:
    """Library -> the newest version that is known of it; its rows may be in two files, as it began to declare its name."""
    return _newest_versions(
        [row for file in _LIBRARIES for row in table(texts, file)], "library", "version_to"
    )


def newest_bindings(texts: Mapping[str, str]) -> dict[str, str]:
    """Likewise of bindings of librdkafka, which have versions of their own."""
    return _newest_versions(table(texts, _BINDINGS), "binding", "binding_version")


def _newest_versions(rows: Iterable[Row], name: str, version: str) -> dict[str, str]:
    """Name -> its highest version, as it is written."""
    newest: dict[str, str] = {}
    for row in rows:
        known = newest.get(row[name])
        if known is None or _numbers(row[version]) > _numbers(known):
            newest[row[name]] = row[version]
    return newest


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) if part.isdecimal() else 0 for part in version.removeprefix("v").split("."))


def _keyed(what: str, columns: Sequence[str], before: Sequence[Row], after: Sequence[Row]) -> Iterator[str]:
    old, new = (
        {tuple(row.get(column, "") for column in columns): row for row in rows} for rows in (before, after)
    )
    for key, row in new.items():
        name = " ".join(filter(None, key))
        if key not in old:
            yield f"{what} {name} is new{_gist(row)}."
            continue
        changed = [
            f"{column} {row[column] or 'empty'} (was {old[key].get(column) or 'empty'})"
            for column in row
            if column not in _NO_FACTS and row[column] != old[key].get(column, "")
        ]
        if changed:
            yield f"{what} {name} changed: {'; '.join(changed)}."
    for key in old.keys() - new.keys():
        yield f"{what} {' '.join(filter(None, key))} is gone."


def _gist(row: Row) -> str:
    text = next((row[column] for column in ("explanation", "what", "advice", "edit") if row.get(column)), "")
    return f": {text.rstrip('.')}" if text else ""


def _counted(file: str, before: Sequence[Row], after: Sequence[Row]) -> Iterator[str]:
    old, new = (
        {tuple(cell for column, cell in row.items() if column not in _NO_FACTS) for row in rows}
        for rows in (before, after)
    )
    added, gone = len(new - old), len(old - new)
    if added or gone:
        yield f"{file}: {added} row{'s' * (added != 1)} added, {gone} gone."
